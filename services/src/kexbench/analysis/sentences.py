"""What became of the costs in an upgrade, in one sentence that needs no manual."""

from collections.abc import Sequence

from kexbench.analysis.traits import EVERY_CASE
from kexbench.analysis.verdict import moved_side
from kexbench.domain.components import ComponentChange, components_words
from kexbench.domain.upgrades import NOT_JUDGED, CellVerdict, Factor, Side, UpgradeCell, UpgradeEnd

_ON_SIDE: dict[Side, str] = {"both": "", "client": " of the client's CPU time", "server": " of the server's CPU time"}


def sentence(
    before: UpgradeEnd, after: UpgradeEnd, judged: Sequence[UpgradeCell], factors: Sequence[Factor] = ()
) -> str:
    """`OpenSSL 3.0.19 → 3.5.4: 6 of 8 cases cost more, by 2.1% to 8.4%; what they share is an RSA certificate
    (+6.2% [5.8%, 6.6%] of the server's CPU time); 1 could not be resolved.`"""
    told = [*_moved(judged), *_why(judged, factors), *_rest(judged)]
    title = " ".join(filter(None, [_title(before, after), components_words(_components(judged))]))
    return f"{title}: {'; '.join(told)}."


def _components(judged: Sequence[UpgradeCell]) -> list[ComponentChange]:
    """What changed along with the library, in any case."""
    return list(dict.fromkeys(change for cell in judged for change in cell.components))


def _title(before: UpgradeEnd, after: UpgradeEnd) -> str:
    if before.version == after.version:
        return f"{before.label} ({before.source}) → {after.version} ({after.source})"
    return f"{before.label} → {after.version}"


def _of(judged: Sequence[UpgradeCell], verdict: CellVerdict) -> list[UpgradeCell]:
    return [cell for cell in judged if cell.verdict == verdict]


def _moved(judged: Sequence[UpgradeCell]) -> list[str]:
    compared = [cell for cell in judged if cell.verdict not in NOT_JUDGED]
    if all(cell.move is None for cell in compared):
        return ["there is nothing to compare"]
    # One case on two host kinds is two cells; where that is so, they are not called cases.
    noun = "case" if len({cell.case_id for cell in compared}) == len(compared) else "measurement"
    more, less = _of(judged, "more"), _of(judged, "less")
    of_all = f"of {len(compared):,} {noun}{'' if len(compared) == 1 else 's'}"
    if not more and not less:
        return [f"nothing moved, {of_all}"]
    told = [(f"{{}} {of_all} {{}} more", more)] if more else []
    told += [(f"{{}}{'' if more else ' ' + of_all} {{}} less", less)] if less else []
    return [
        f"{words.format(f'{len(cells):,}', 'costs' if len(cells) == 1 else 'cost')}, by {_range(cells)}"
        for words, cells in told
    ]


def _range(cells: Sequence[UpgradeCell]) -> str:
    sizes = sorted(abs(cell.move.ratio - 1) for cell in cells if cell.move is not None)
    low, high = f"{sizes[0]:.1%}", f"{sizes[-1]:.1%}"
    return low if low == high else f"{low} to {high}"


def _why(judged: Sequence[UpgradeCell], factors: Sequence[Factor]) -> list[str]:
    moved = [*_of(judged, "more"), *_of(judged, "less")]
    if not factors:
        sides = {moved_side(cell.client, cell.server) for cell in moved}
        return [f"what moved is the {side}'s CPU time alone" for side in sides - {"both"} if len(sides) == 1]
    told = " and ".join(_factor(factor) for factor in factors)
    first = factors[0]
    if len(factors) > 1:
        return [f"most of it goes with {told}"]
    if first.dimension == EVERY_CASE:
        return [f"it goes with {told}"]
    direction: CellVerdict = "more" if first.ratio > 1 else "less"
    shared = first.moved == len(_of(judged, direction)) == len(moved) and len(moved) > 1
    return [f"what they share is {told}" if shared else f"most of it goes with {told}"]


def _factor(factor: Factor) -> str:
    known = " (or " + ", or ".join(factor.alike) + ", which the same cases have)" if factor.alike else ""
    change = f"{factor.ratio - 1:+.1%} [{factor.low - 1:.1%}, {factor.high - 1:.1%}]"
    return f"{factor.words or f'{factor.dimension} {factor.value}'}{known} ({change}{_ON_SIDE[factor.side]})"


def _rest(judged: Sequence[UpgradeCell]) -> list[str]:
    unresolved, unlike, apart = (len(_of(judged, verdict)) for verdict in ("unresolved", "unlike", "apart"))
    told = [f"{unresolved:,} could not be resolved"] if unresolved else []
    if unlike:
        told.append(f"{unlike:,} did not do the same in both and {'is' if unlike == 1 else 'are'} not judged")
    if apart:
        were = "was" if apart == 1 else "were"
        told.append(f"{apart:,} {were} measured in different runs that share no subject, and {were} not judged")
    return told
