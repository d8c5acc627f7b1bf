"""Reads callgrind's output (Valgrind manual, "Callgrind Format Specification") into the costs of functions."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath

from kexbench.domain.instruments import INSTRUMENTS, CountedSide, Instrument, root_of
from kexbench.domain.profiles import UNNAMED, CallCost, FunctionCost, Profile

Function = tuple[str, str]
"""A name and the library that it is in."""
_SPECIFICATION = re.compile(r"(?P<key>c?(?:ob|fn)|c?f[ile])=\((?P<id>\d+)\)(?: (?P<name>.*))?")
_CLONE = re.compile(r"(\.(part|constprop|isra|cold|lto_priv)(\.\d+)*)+$|@@?[A-Z][A-Za-z0-9_.]*$|'\d+$")
"""Suffixes that compilers and linkers add: clones, symbol versions, and callgrind's levels of recursion."""
_VERSION = re.compile(r"\.so[.\d]*$|-\d[.\d]*\.so$")

SLIGHT = 1e-4
"""Calls that cost less than this share of a side are left out."""


@dataclass
class Counts:
    """Totals over a whole run of a program."""

    own: dict[Function, int] = field(default_factory=lambda: defaultdict(int))
    calls: dict[tuple[Function, Function], tuple[int, int]] = field(default_factory=dict)
    """Calls and their inclusive instructions, by caller and callee."""

    @property
    def instructions(self) -> int:
        return sum(self.own.values())


class MalformedProfile(ValueError):
    """A line that callgrind would not write."""


def read_counts(lines: Iterable[str]) -> Counts:
    """The counts of one file. Raises MalformedProfile."""
    reader = _Reader()
    for number, line in enumerate(lines, start=1):
        try:
            reader.read(line)
        except (KeyError, ValueError):
            raise MalformedProfile(f"line {number} is not callgrind's: {line.strip()!r}") from None
    return reader.counts


class _Reader:
    """The state between the lines of a file: positions are written only where they change, names only once."""

    def __init__(self) -> None:
        self.counts = Counts()
        self._names: dict[tuple[str, str], str] = {}
        self._current = {"ob": "", "fn": "", "cob": "", "cfn": ""}
        self._called = 0

    def read(self, line: str) -> None:
        """Raises KeyError or ValueError."""
        if match := _SPECIFICATION.match(line):
            self._specify(match["key"], match["id"], match["name"])
        elif line.startswith("calls="):
            self._called = int(line.removeprefix("calls=").split()[0])
        elif line[:1].isdigit() or line.startswith(("+", "-", "*")):
            _, cost = line.split()
            self._add(int(cost))

    def _specify(self, key: str, number: str, name: str | None) -> None:
        kind = key.removeprefix("c")
        if kind not in ("ob", "fn"):
            return
        if name is not None:
            self._names[kind, number] = name
        self._current[key] = self._names[kind, number]

    def _add(self, cost: int) -> None:
        caller = function_of(self._current["fn"], self._current["ob"])
        if not self._called:
            self.counts.own[caller] += cost
            return
        edge = (caller, function_of(self._current["cfn"], self._current["cob"] or self._current["ob"]))
        calls, inclusive = self.counts.calls.get(edge, (0, 0))
        self.counts.calls[edge] = (calls + self._called, inclusive + cost)
        self._called, self._current["cob"] = 0, ""


def profile_of(side: CountedSide, fewer: Counts, more: Counts, handshakes: int) -> Profile:
    """One handshake's costs: the difference of two runs that made `handshakes` more or fewer, divided by that number.
    Whatever happens once in each is in neither."""

    def per_handshake(first: int, second: int) -> float:
        return (second - first) / handshakes

    root = root_of(Instrument.INSTRUCTIONS, side)
    roots = INSTRUMENTS[Instrument.INSTRUCTIONS].parts[side].roots
    called: dict[Function, float] = defaultdict(float)
    calls = []
    for (caller, callee), (count, inclusive) in more.calls.items():
        earlier_count, earlier_inclusive = fewer.calls.get((caller, callee), (0, 0))
        times = per_handshake(earlier_count, count)
        called[callee] += times
        cost = per_handshake(earlier_inclusive, inclusive)
        is_below_root = callee[0] in roots and callee[0] != root
        above = (root, callee[1]) if is_below_root else caller
        calls.append(CallCost(caller=above, callee=callee, inclusive=cost, calls=times))
    functions = {function: per_handshake(fewer.own.get(function, 0), own) for function, own in more.own.items()}
    amount = per_handshake(fewer.instructions, more.instructions)
    return Profile(
        side=side,
        handshakes=handshakes,
        amount=amount,
        functions=tuple(
            FunctionCost(name=function[0], library=function[1], amount=own, calls=called[function])
            for function, own in functions.items()
            if own > 0
        ),
        calls=tuple(call for call in calls if call.inclusive > 0 and call.inclusive >= SLIGHT * amount),
    )


def function_of(name: str, path: str) -> Function:
    """Without what compilers and linkers add to the name, and versions to that of the file."""
    library = _VERSION.sub("", PurePath(path).name)
    if name.startswith("0x"):
        return UNNAMED, library
    previous = ""
    while previous != name:
        previous, name = name, _CLONE.sub("", name)
    return name, library
