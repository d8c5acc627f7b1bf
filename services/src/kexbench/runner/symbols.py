"""Names the addresses of a worker's stacks with the symbols of the files that they are in, and folds the stacks below
the worker's own functions into profiles."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kexbench.domain.instruments import INSTRUMENTS, CountedSide, Instrument, Part, root_of
from kexbench.domain.profiles import CallCost, FunctionCost, Profile
from kexbench.runner.callgrind import SLIGHT, Function, function_of
from kexbench.runner.records import MappedObject, Profiled, Stack

_FUNCTIONS = ("STT_FUNC", "STT_GNU_IFUNC", "STT_LOOS")
_HASH = re.compile(r"h[0-9a-f]{16}")


class Symbols:
    """The functions of one ELF file. A file that is none, such as the kernel's own, has no functions."""

    def __init__(self, path: str) -> None:
        self._starts: list[int] = []
        self._functions: list[tuple[int, str]] = []
        """The end of each, and its name."""
        for start, end, name in sorted(_functions_of(path)):
            self._starts.append(start)
            self._functions.append((end, name))

    def name(self, address: int) -> str:
        """`0x…` if no function has the address."""
        place = bisect_right(self._starts, address) - 1
        if place >= 0 and address < self._functions[place][0]:
            return self._functions[place][1]
        return f"{address:#x}"


def _functions_of(path: str) -> set[tuple[int, int, str]]:
    try:
        with Path(path).open("rb") as file:
            elf = ELFFile(file)
            tables = [elf.get_section_by_name(name) for name in (".symtab", ".dynsym")]
            table = next((each for each in tables if isinstance(each, SymbolTableSection)), None)
            return {
                (symbol["st_value"], symbol["st_value"] + symbol["st_size"], demangled(symbol.name))
                for symbol in (table.iter_symbols() if table else ())
                if symbol["st_info"]["type"] in _FUNCTIONS and symbol["st_value"] and symbol["st_size"]
            }
    except (OSError, ELFError):
        return set()


@lru_cache(maxsize=64)
def symbols_of(path: str) -> Symbols:
    """Kits never change, and a job counts the same few again and again."""
    return Symbols(path)


def demangled(name: str) -> str:
    """`bssl::ssl_run_handshake` of C++, and Rust's names without the hash of a build; any other name as it is.
    Parameters and templates are left out (Itanium C++ ABI, 5.1.2)."""
    if not name.startswith("_Z"):
        return name
    rest, names = name.removeprefix("_Z").lstrip("NKVr" if name.startswith("_ZN") else ""), []
    while match := re.match(r"\d+", rest):
        length = int(match[0])
        rest = rest[match.end() :]
        names.append(rest[:length])
        rest = rest[length:]
    plain = [each for each in names if not _HASH.fullmatch(each)]
    return "::".join("(anonymous namespace)" if each.startswith("_GLOBAL__N") else each for each in plain) or name


class _Namer:
    """Addresses of one worker."""

    def __init__(self, objects: Sequence[MappedObject]) -> None:
        self.worker = function_of("", objects[0].path)[1] if objects else ""
        self._bases = sorted((int(each.base, 16), each.path) for each in objects)
        self._known: dict[str, Function] = {}

    def function(self, address: str) -> Function:
        if address not in self._known:
            value = int(address, 16)
            place = bisect_right(self._bases, (value, "\U0010ffff")) - 1
            base, path = self._bases[place] if place >= 0 else (0, "???")
            self._known[address] = function_of(symbols_of(path).name(value - base), path)
        return self._known[address]


@dataclass
class _Costs:
    own: dict[Function, int] = field(default_factory=lambda: defaultdict(int))
    counts: dict[Function, int] = field(default_factory=lambda: defaultdict(int))
    edges: dict[tuple[Function, Function], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, path: Sequence[Function], stack: Stack) -> None:
        """`path`: the outermost function first."""
        self.own[path[-1]] += stack.amount
        self.counts[path[-1]] += stack.count
        for edge in dict.fromkeys(pairwise(path)):
            self.edges[edge] += stack.amount


def profiles_of(record: Profiled, instrument: Instrument, cpu_features: str | None) -> tuple[Profile, ...]:
    """One of each part, and of one handshake or connection."""
    namer = _Namer(record.objects)
    costs: dict[CountedSide, _Costs] = {side: _Costs() for side in INSTRUMENTS[instrument].parts}
    for stack in record.stacks:
        side = next((side for side in costs if side == stack.part), None)
        if side is not None:
            costs[side].add(_path(stack, instrument, side, namer), stack)
    return tuple(
        _profile(of_side, instrument, side, record.handshakes, cpu_features) for side, of_side in costs.items()
    )


def _path(stack: Stack, instrument: Instrument, side: CountedSide, namer: _Namer) -> list[Function]:
    """From the part's root to the function that the amount belongs to."""
    row = INSTRUMENTS[instrument]
    functions = _below_roots([namer.function(address) for address in stack.addresses], row.parts[side], namer.worker)
    if row.passing:
        while len(functions) > 1 and row.passing.fullmatch(functions[0][0]):
            functions = functions[1:]
    root = (root_of(instrument, side), namer.worker)
    path = [root, *reversed(functions)]
    return path[1:] if len(path) > 1 and path[1] == root else path


def _below_roots(functions: list[Function], part: Part, worker: str) -> list[Function]:
    """Up to the root, innermost first. Where there is none, as in a transfer, up to what the worker called."""
    for place, (name, library) in enumerate(functions):
        if name in part.roots and library == worker:
            return functions[: place + 1]
    inside = [place for place, (_, library) in enumerate(functions) if library != worker]
    return functions[: inside[-1] + 1] if inside else functions[:1]


def _profile(
    costs: _Costs, instrument: Instrument, side: CountedSide, handshakes: int, cpu_features: str | None
) -> Profile:
    total = sum(costs.own.values())
    return Profile(
        instrument=instrument,
        side=side,
        handshakes=handshakes,
        cpu_features=cpu_features,
        native_cpu_features=cpu_features,
        amount=total / handshakes,
        functions=tuple(
            FunctionCost(
                name=function[0],
                library=function[1],
                amount=own / handshakes,
                calls=costs.counts[function] / handshakes,
            )
            for function, own in costs.own.items()
        ),
        calls=tuple(
            CallCost(caller=caller, callee=callee, inclusive=amount / handshakes)
            for (caller, callee), amount in costs.edges.items()
            if amount > 0 and amount >= SLIGHT * total
        ),
    )
