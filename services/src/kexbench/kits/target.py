"""What kits are made for: this machine, or another architecture, whose programs an emulator starts here.

A kit for another architecture is linked by a cross compiler and proven under an emulator. It is measured nowhere but
on a machine of its own.
"""

import platform
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kexbench.kits.errors import StepFailed


@dataclass(frozen=True)
class Architecture:
    """The names one processor architecture has at Debian, and where its dynamic loader is."""

    debian: str
    triplet: str
    loader: Path


ARCHITECTURES = {
    "x86_64": Architecture("amd64", "x86_64-linux-gnu", Path("/lib64/ld-linux-x86-64.so.2")),
    "aarch64": Architecture("arm64", "aarch64-linux-gnu", Path("/lib/ld-linux-aarch64.so.1")),
    "riscv64": Architecture("riscv64", "riscv64-linux-gnu", Path("/lib/ld-linux-riscv64-lp64d.so.1")),
    "ppc64le": Architecture("ppc64el", "powerpc64le-linux-gnu", Path("/lib64/ld64.so.2")),
    "s390x": Architecture("s390x", "s390x-linux-gnu", Path("/lib/ld64.so.1")),
}


@dataclass(frozen=True)
class Target:
    """Where kits shall run, and the tools that make them for there.

    `machine` is the architecture as the kernel names it. `starter` stands before its programs on a command line.
    `libraries` is where its C library lies here; None: where this machine's own loader looks.
    """

    machine: str
    compiler: str = "cc"
    starter: tuple[str, ...] = ()
    libraries: Path | None = None

    @property
    def architecture(self) -> Architecture:
        return ARCHITECTURES[self.machine]

    @property
    def is_foreign(self) -> bool:
        return self.libraries is not None

    @property
    def loader(self) -> Path:
        """The dynamic loader that belongs to the C library here."""
        loader = self.architecture.loader
        return self.libraries / loader.name if self.libraries else loader

    @property
    def cross_prefix(self) -> str:
        """What stands before the names of its tools; nothing for this machine's."""
        return f"{self.architecture.triplet}-" if self.is_foreign else ""

    def command(self, arguments: Sequence[str]) -> list[str]:
        """How a program for the target is started here."""
        return [*self.starter, *arguments]


def target_for(machine: str | None = None) -> Target:
    """The target of this name; None: this machine. Raises StepFailed where it is unknown or its tools are missing."""
    here = platform.machine()
    wanted = machine or here
    if wanted not in ARCHITECTURES:
        raise StepFailed("resolve", f"kits can't be made for {wanted} yet", f"known are {', '.join(ARCHITECTURES)}")
    return Target(wanted) if wanted == here else _foreign(wanted)


def this_architecture() -> Architecture:
    """Raises StepFailed on a machine that kits can't be made for yet."""
    return target_for().architecture


def _foreign(machine: str) -> Target:
    """By the places that Debian's packages of cross tools use."""
    architecture = ARCHITECTURES[machine]
    emulator = f"qemu-{machine}-static"
    target = Target(
        machine,
        compiler=f"{architecture.triplet}-gcc",
        starter=(emulator,),
        libraries=Path(f"/usr/{architecture.triplet}/lib"),
    )
    packages = {
        target.compiler: f"gcc-{architecture.triplet.replace('_', '-')}",
        str(target.loader): f"libc6-dev-{architecture.debian}-cross",
        emulator: "qemu-user-static",
    }
    missing = [tool for tool in packages if shutil.which(tool) is None and not Path(tool).is_file()]
    if missing:
        raise StepFailed(
            "resolve",
            f"this machine can't make kits for {machine}: {', '.join(missing)} is missing",
            f"apt-get install {' '.join(packages[tool] for tool in missing)}",
        )
    return target
