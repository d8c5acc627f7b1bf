"""Instruments: what decides whether a cost changed, a row each. Whatever counts by function follows from its row."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

CountedSide = Literal["client", "server", "objects", "start", "client_held", "server_held", "kept"]
"""The turns of a side; making and freeing the objects of both, which no time of a handshake includes; the start of a
process, from the library's own to the end of the first handshake; what a side of an open connection holds; and what
stays after a connection was freed."""


class Instrument(StrEnum):
    """What decides whether a cost changed."""

    TIME = "time"
    INSTRUCTIONS = "instructions"
    """Counted by callgrind, function by function. It needs no quiet machine."""
    ALLOCATIONS = "allocations"
    """Bytes that are allocated, counted in the worker, function by function."""

    @property
    def counts(self) -> bool:
        """Whether it counts by function. Counts hardly differ from run to run, and other programs do not change
        them."""
        return self is not Instrument.TIME


@dataclass(frozen=True)
class Part:
    """What is counted apart."""

    roots: tuple[str, ...]
    """The worker's functions that are counted, with all that they call."""
    per: str = "per handshake"
    """Behind a number, in sentences."""


@dataclass(frozen=True)
class InstrumentRow:
    measure: str
    """What decides, at the head of a table: `CPU time`."""
    counted_by: str = ""
    amounts: str = ""
    """What the numbers of a profile are, behind a number: `instructions`."""
    calls: str = "calls"
    """What is counted of a function beside its amount."""
    event: str = ""
    """In files of callgrind's format."""
    unit: Literal["none", "bytes"] = "none"
    """In files of speedscope's format."""
    smallest_change: float = 0.0
    """In one part of a handshake: a smaller one is none."""
    parts: Mapping[CountedSide, Part] = field(default_factory=dict)
    passing: re.Pattern[str] | None = None
    """Functions that only pass on what their callers ask for: their part is their callers'."""


START: CountedSide = "start"
"""Counted only in runs that start processes."""
_TURNS: dict[CountedSide, Part] = {
    "client": Part(("client_turn",)),
    "server": Part(("server_turn",)),
    "objects": Part(("make_objects", "free_objects")),
}
_ALLOCATORS = re.compile(
    r"(CRYPTO|OPENSSL|BUF|OSSL|ossl|gnutls|_gnutls|wolfSSL|nettle|s2n)_(secure_|aligned_|clear_)*"
    r"(m|z|c|re|clear_re|xre|x)?(alloc|dup|memdup|strdup|strndup)(_array|_zeroize|_fast)?"
    r"|_*(lib[cC]_)?(x?(m|c|re|memal|a)lloc|memalign|posix_memalign|reallocarray|strn?dup|realloc_array)"
    r"|__rdl_\w+|__rust_\w+|operator new.*"
)
INSTRUMENTS: Mapping[Instrument, InstrumentRow] = {
    Instrument.TIME: InstrumentRow("CPU time"),
    Instrument.INSTRUCTIONS: InstrumentRow(
        "Instructions",
        counted_by="callgrind",
        amounts="instructions",
        calls="calls, both sides",
        event="Ir",
        # The same program needs a few more to copy bytes from an address that is aligned otherwise.
        smallest_change=100,
        parts={**_TURNS, START: Part(("start_library", "first_context", "first_handshake"), "in one start")},
    ),
    Instrument.ALLOCATIONS: InstrumentRow(
        "Allocated bytes",
        counted_by="the worker's allocator",
        amounts="bytes",
        calls="allocations",
        event="Bytes",
        unit="bytes",
        smallest_change=8,
        parts={
            **_TURNS,
            "client_held": Part(("client_turn", "make_objects"), "held per open connection"),
            "server_held": Part(("server_turn", "make_objects"), "held per open connection"),
            "kept": Part(
                ("client_turn", "server_turn", "make_objects", "free_objects"), "kept per connection that was freed"
            ),
        },
        passing=_ALLOCATORS,
    ),
}
COUNTING = tuple(instrument for instrument in Instrument if instrument.counts)


def parts_of(instrument: Instrument) -> tuple[CountedSide, ...]:
    """What every run with it counts."""
    return tuple(side for side in INSTRUMENTS[instrument].parts if side != START)


def side_words(side: CountedSide) -> str:
    """`client held`"""
    return side.replace("_", " ")


def root_of(instrument: Instrument, side: CountedSide) -> str:
    """The function that all counts of a part are below. Where several are counted, it is made up."""
    first, *others = INSTRUMENTS[instrument].parts[side].roots
    return side if others else first
