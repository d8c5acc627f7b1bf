"""What a mix of connections needs, in sentences."""

from kexbench.answers.capacity_shapes import MixChange, MixNeed, VersionNeed
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.numbers import counted, move_words, size_words
from kexbench.domain.upgrades import CellVerdict, UpgradeEnd

_NOT_COMPARED: dict[CellVerdict, str] = {
    "unlike": "not comparable, since the versions did different work",
    "apart": "not compared, since no subject links the runs that measured the versions",
    "unresolved": "too few invocations for a comparison",
}


def need_sentence(end: UpgradeEnd, need: MixNeed, connections_per_s: float) -> str:
    """`OpenSSL 3.5.5 needs 41.2 cores [40.8, 41.7] for 2,000 connections/s, 2 machines.`"""
    machines = f", {machines_words(need.machines)}" if need.machines else ""
    return f"{end.label} needs {cores_words(need.cores)} for {connections_per_s:,.10g} connections/s{machines}."


def change_sentence(before: VersionNeed, after: VersionNeed, change: MixChange) -> str:
    """`OpenSSL 3.5.5 needs 41.2 cores [40.8, 41.7] where 3.0.8 needs 63.4: 35.0% [34.5%, 35.5%] fewer.`"""
    first, second = before.end, after.end
    older = first.version if first.version != second.version else f"{first.version} ({first.source})"
    newer = second.label if first.version != second.version else f"{second.label} ({second.source})"
    needs = f"{newer} needs {cores_words(after.need.cores)} where {older} needs {_cores(before.need.cores.value)}"
    return f"{needs}: {change_words(change)}.{_machines_change(before.need.machines, after.need.machines)}"


def instead_sentence(end: UpgradeEnd, need: MixNeed, against: MixNeed, change: MixChange) -> str:
    """`With OpenSSL 3.5.5, the mix needs 41.2 cores [40.8, 41.7] where the other parts need 63.4: 35.0% …`"""
    needs = f"the mix needs {cores_words(need.cores)} where the other parts need {_cores(against.cores.value)}"
    return f"With {end.label}, {needs}: {change_words(change)}.{_machines_change(against.machines, need.machines)}"


def change_words(change: MixChange) -> str:
    """`35.0% [34.5%, 35.5%] fewer`, or why there is no such change."""
    move = change.move
    if move is None:
        return _NOT_COMPARED[change.verdict]
    if change.verdict == "more":
        return f"{size_words(move.ratio, move.low, move.high)} more"
    if change.verdict == "less":
        return f"{size_words(move.ratio, move.low, move.high)} fewer"
    if change.verdict == "same":
        return f"no change, {move_words(move.ratio, move.low, move.high)}"
    return f"unresolved, {resolved_words(move, change.resolves)}"


def resolved_words(move: Ratio, resolves: float | None) -> str:
    """`+3.1% [+0.4%, +5.9%], resolution 4.2%`: the size of a difference that is unresolved."""
    resolution = f", resolution {resolves:.1%}" if resolves else ""
    return f"{move_words(move.ratio, move.low, move.high)}{resolution}"


def cores_words(cores: Estimate) -> str:
    """`41.2 cores [40.8, 41.7]`."""
    interval = "" if cores.low is None or cores.high is None else f" [{_cores(cores.low)}, {_cores(cores.high)}]"
    return f"{_cores(cores.value)} cores{interval}"


def _cores(number: float) -> str:
    """Three digits, and all of a large number."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def machines_words(machines: Estimate) -> str:
    """`2 machines`, with `[2, 3]` where the interval of the cores leaves a choice."""
    interval = "" if machines.low == machines.high else f" [{machines.low:.0f}, {machines.high:.0f}]"
    return f"{counted(int(machines.value), 'machine')}{interval}"


def _machines_change(before: Estimate | None, after: Estimate | None) -> str:
    return f" {before.value:,.0f} → {machines_words(after)}." if before and after else ""
