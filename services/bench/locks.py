"""`python -m bench.locks [SUBJECT ...]`: atomic operations of a handshake in versions of OpenSSL and GnuTLS, counted on
one core, beside what 15 threads of them lose, and docs/results/locks-and-atomics.md from it.

Without subjects, those of the page. Kits that do not exist are built. Exit status 1 if one cannot be counted here.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.machine import Machine
from bench.tables import markdown_table
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.instruments import Instrument
from kexbench.domain.profiles import Profile
from kexbench.files import write_whole
from kexbench.kits import KitError
from kexbench.runner.counting import count_stacks
from kexbench.runner.host import read_host_facts
from kexbench.runner.participant import Dropped

PAGE = Path(__file__).parents[2] / "docs/results/locks-and-atomics.md"
CASE = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519")
SUBJECTS = (
    "openssl@debian/bullseye",
    *(f"openssl@crate/{version}" for version in ("3.0.8", "3.1.4", "3.4.1", "3.5.0", "3.5.5", "3.6.3")),
    "openssl@debian/bookworm",
    "openssl@debian/trixie",
    "openssl@debian/sid",
    *(f"gnutls@debian/{suite}" for suite in ("bullseye", "bookworm", "trixie", "sid")),
)
SPEED_UPS = {
    ("openssl", "1.1.1w"): 11.6,
    ("openssl", "3.0.19"): 3.2,
    ("openssl", "3.5.9"): 9.0,
    ("gnutls", "3.8.9"): 11.5,
}
"""Rates of 15 threads on one context divided by that of one thread: a run of kexbench on a virtual machine with 16
CPUs, Intel Xeon 6/207, medians over two jobs of 60 batches."""
STANDS_FOR = {"3.0.22": "3.0.19"}
"""Versions that were not run with 15 threads, and the one of their series that was."""
MOST = 3
"""Functions named of each version."""
HEAD = """\
# Locks and atomic operations

`make locks` writes this page: how many atomic operations a handshake makes on memory that threads share, counted on
one core, beside the speed of 15 threads where it is known. Each is a full handshake with TLS 1.3, X25519, an ECDSA
certificate with P-256 and AES-128-GCM, without tickets, with making and freeing its objects. All threads use one
context.

- *shared*: atomic operations on memory that both of two threads change. On several cores such memory moves from one to
  the other.
- *busiest*: those on the one object that has most of them. It limits the rate of all threads together, since only one
  of them changes it at a time.
- *all*: with those on memory of one thread alone, such as the locks of its own allocator.
- *15 threads*: how many times faster than one, of 15 at best.

[How it is counted](../use/counting-locks.md)."""


@dataclass(frozen=True)
class Counted:
    library: str
    version: str
    shared: float
    busiest: float
    every: float
    functions: tuple[tuple[str, float], ...]
    """Those that change the busiest object, the most frequent first."""

    @property
    def speed_up(self) -> float | None:
        return SPEED_UPS.get((self.library, STANDS_FOR.get(self.version, self.version)))


def counted(library: str, version: str, profiles: Sequence[Profile]) -> Counted:
    by_side = {profile.side: profile for profile in profiles}
    busiest = by_side.pop("busiest")
    functions = sorted(busiest.functions, key=lambda function: -function.amount)
    return Counted(
        library=library,
        version=version,
        shared=sum(profile.amount for profile in by_side.values()),
        busiest=busiest.amount,
        every=sum(function.calls for profile in by_side.values() for function in profile.functions),
        functions=tuple((function.name, function.amount) for function in functions[:MOST]),
    )


def count(machine: Machine, reference: str) -> Counted:
    """Raises KitError and Dropped."""
    kit = machine.kit(reference)
    setting = machine.setting(CASE, {reference: kit}, batches=1)
    profiles, _ = count_stacks(setting, reference, Instrument.ATOMICS)
    return counted(kit.manifest.library, kit.manifest.version, profiles)


def table(versions: Sequence[Counted]) -> str:
    """The fewest shared operations first, which is the order that is foretold."""
    return markdown_table(
        ("library", "version", "shared", "busiest", "all", "15 threads", "who changes the busiest object"),
        [
            (
                row.library,
                row.version,
                f"{row.shared:,.0f}",
                f"{row.busiest:,.0f}",
                f"{row.every:,.0f}",
                "" if row.speed_up is None else f"{row.speed_up:.1f}",
                ", ".join(f"`{name}` {amount:,.0f}" for name, amount in row.functions),
            )
            for row in sorted(versions, key=lambda row: (row.shared, row.version))
        ],
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.locks")
    parser.add_argument("subjects", nargs="*", default=SUBJECTS, help="instead of those of the page")
    arguments = parser.parse_args()
    machine, versions, missing = Machine(), [], False
    for reference in arguments.subjects:
        try:
            versions.append(count(machine, reference))
        except (KitError, Dropped) as error:
            print(f"{reference}: not counted: {error}", file=sys.stderr)
            missing = True
    when = f"Counted on {datetime.now(UTC):%Y-%m-%d}, {read_host_facts().cpu_model}."
    text = "\n\n".join([HEAD, when, table(versions)])
    print(text)
    if tuple(arguments.subjects) == SUBJECTS and not missing:
        write_whole(PAGE, (text + "\n").encode())
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
