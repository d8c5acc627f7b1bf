"""Faults, drawn from a seed: processes killed at a system call or at a moment, a full disk, damaged files."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

WRITING = {
    "write,pwrite64,writev": 300,
    "rename,renameat,renameat2": 12,
    "fsync,fdatasync": 12,
    "unlink,unlinkat": 12,
    "openat": 2000,
    "mkdir,mkdirat": 20,
    "sendto,sendmsg": 40,
}
"""Groups of system calls, and the highest number of a call that is drawn. Each thread counts its own calls."""
ROLES = {
    "service": ("kexbench", "serve"),
    "measuring process": ("kexbench", "run", "--queued"),
    "runner": ("kexbench.runner",),
    "worker": ("--fake",),
}
"""Words that the command lines of processes have."""
LONGEST_S = 5.0
ENOSPC = "ENOSPC"


@dataclass(frozen=True)
class Injection:
    """What happens to any process of the service at one of its system calls."""

    calls: str
    when: int
    error: str = ""
    """Of every call from then on. Empty: kill -9 at the call."""

    def __str__(self) -> str:
        return f"{self.error or 'kill -9'} at {self.calls} number {self.when}"

    @property
    def prefix(self) -> tuple[str, ...]:
        """The command that runs another with this fault. strace follows all its processes."""
        effect = f"error={self.error}:when={self.when}+" if self.error else f"signal=KILL:when={self.when}"
        return "strace", "-f", "-o", os.devnull, "-e", f"trace={self.calls}", "-e", f"inject={self.calls}:{effect}"


@dataclass(frozen=True)
class Kill:
    """A process is killed so long after the service listens, or after the kill before."""

    role: str
    after_s: float

    def __str__(self) -> str:
        return f"kill -9 of the {self.role} after {self.after_s:.2f} s"

    @property
    def prefix(self) -> tuple[str, ...]:
        return ()


Fault = Injection | Kill
MOST_FURTHER = 5
"""Further kills in a round. They happen one after the other to what measures, which the service starts again."""


def draw_fault(random: Random) -> Fault:
    kind = random.random()
    if kind < 0.4:
        return Kill(random.choice(tuple(ROLES)), random.uniform(0, LONGEST_S))
    if kind < 0.85:
        calls, highest = random.choice(tuple(WRITING.items()))
        return Injection(calls, random.randint(1, highest))
    return Injection("write,pwrite64,writev", random.randint(1, WRITING["write,pwrite64,writev"]), ENOSPC)


def draw_further(random: Random) -> list[Kill]:
    measuring = [role for role in ROLES if role != "service"]
    return [
        Kill(random.choice(measuring), random.uniform(0.1, LONGEST_S / 2))
        for _ in range(random.randint(0, MOST_FURTHER))
    ]


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content))]


def _with_nul_tail(content: bytes, random: Random) -> bytes:
    """As of a file that had its length when the power failed, and not its content."""
    kept = random.randrange(len(content))
    return content[:kept] + bytes(len(content) - kept)


def _flipped(content: bytes, random: Random) -> bytes:
    place = random.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << random.randrange(8))]) + content[place + 1 :]


DAMAGES: dict[str, Callable[[bytes, Random], bytes]] = {
    "cut": _cut,
    "its tail all NUL": _with_nul_tail,
    "a bit flipped": _flipped,
}


def damage_a_file(home: Path, random: Random) -> str | None:
    """Damage one of the files of runs. Returns what was done."""
    files = sorted(path for path in home.glob("runs/*/**/*") if path.is_file() and path.stat().st_size)
    if not files:
        return None
    path, name = random.choice(files), random.choice(tuple(DAMAGES))
    path.write_bytes(DAMAGES[name](path.read_bytes(), random))
    return f"{path.relative_to(home)}: {name}"
