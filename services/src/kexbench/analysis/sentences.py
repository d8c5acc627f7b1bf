"""The effect of an upgrade on the costs, in one sentence."""

from collections.abc import Mapping, Sequence
from math import inf, log

from kexbench.analysis.sides import moved_side
from kexbench.analysis.traits import EVERY_CASE
from kexbench.domain.components import components_words
from kexbench.domain.differences import Difference
from kexbench.domain.instruments import INSTRUMENTS, CountedSide
from kexbench.domain.metrics import Metric
from kexbench.domain.numbers import amounts_words, listed, move_words, signed_words
from kexbench.domain.profiles import UNNAMED, Culprit
from kexbench.domain.upgrades import NOT_JUDGED, CellVerdict, Factor, Side, UpgradeCell, UpgradeEnd
from kexbench.domain.verdicts import share_words

SIMILAR = 2
_SIDE_TEXT: dict[Side, str] = {"both": "", "client": "client CPU time ", "server": "server CPU time "}


def sentence(
    before: UpgradeEnd, after: UpgradeEnd, judged: Sequence[UpgradeCell], factors: Sequence[Factor] = ()
) -> str:
    """`OpenSSL 3.0.19 → 3.5.4: slower in 6 of 8 cases, by 2.1% to 8.4%; common factor: an RSA certificate (server CPU
    time +6.2% [5.8%, 6.6%]); 1 unresolved.`"""
    parts = [*_changes(judged), *_cause(judged, factors), *_uncompared(judged)]
    title = " ".join(filter(None, [upgrade_title(before, after), components_words(_components(judged))]))
    return f"{title}: {'; '.join(parts)}."


def metric_sentence(before: UpgradeEnd, after: UpgradeEnd, metric: Metric, judged: Sequence[UpgradeCell]) -> str:
    """`OpenSSL 3.4.1 → 3.5.0: client bytes 239 → 1,488 B (+523%) in 6 of 8 cases; negotiated differently: …`"""
    return f"{upgrade_title(before, after)}: {metric_changes(metric, judged) or f'no change of {metric.words}'}."


def metric_changes(metric: Metric, judged: Sequence[UpgradeCell]) -> str:
    """The changes with why the two are not alike; empty where nothing changed."""
    text, reasons = changes_and_reasons(metric, judged)
    return "; ".join([text, *reasons])


def changes_and_reasons(metric: Metric, judged: Sequence[UpgradeCell]) -> tuple[str, tuple[str, ...]]:
    """`server bytes up to 1,482 → 2,663 B (+79.7%) in 3 of 8 cases`, and then in how many it became less; empty where
    nothing changed. And what the two did differently, as far as known."""
    compared = [cell for cell in judged if cell.is_compared]
    more, less = _largest_first(_of(compared, "more")), _largest_first(_of(compared, "less"))
    if not more and not less:
        return "", ()
    noun = _noun(compared)
    parts = [f"{_largest(metric, more)}{share_words(len(more), len(compared), noun)}"] if more else []
    if less:
        share = f" in {len(less):,}" if more else share_words(len(less), len(compared), noun)
        parts.append(f"{_largest(metric, less)}{share}")
    reasons = [*more, *less][0].warnings if metric.row.exact else ()
    return f"{metric.words} {', '.join(parts)}", tuple(reasons)


def _largest_first(cells: Sequence[UpgradeCell]) -> list[UpgradeCell]:
    return sorted(cells, key=lambda cell: abs(log(cell.move.ratio)) if cell.move else inf, reverse=True)


def _largest(metric: Metric, cells: Sequence[UpgradeCell]) -> str:
    values = [amounts_words(cell.before_ns or 0.0, cell.after_ns or 0.0, metric.unit) for cell in cells]
    return f"{'up to ' if len(set(values)) > 1 else ''}{values[0]}"


def _noun(compared: Sequence[UpgradeCell]) -> str:
    """One case on two host kinds has two cells, which are not called cases."""
    return "case" if len({cell.case_id for cell in compared}) == len(compared) else "measurement"


def verdict_in_brief(judged: Sequence[UpgradeCell]) -> str:
    """`slower in 6 of 8 cases, faster in 1`, without sizes and causes."""
    return ", ".join(_changes(judged, in_brief=True))


def culprit_sentence(culprit: Culprit) -> str:
    """`ossl_rsa_decrypt adds 35.8% to the server's instructions in TLS 1.2 RSA, RSA 2048: 2 calls instead of 1.`"""
    row = INSTRUMENTS[culprit.instrument]
    first, second = culprit.calls
    noun = row.calls.partition(",")[0].removesuffix("s")
    calls = "" if round(first, 1) == round(second, 1) else f": {_calls(second, noun)} instead of {_number(first)}"
    place = f"{PLACES[culprit.side].format(row.amounts)} in {culprit.title}"
    has_name = not culprit.function.startswith(UNNAMED)
    subject = f"{culprit.function} adds" if has_name else f"{culprit.function.capitalize()} add"
    much = f"{culprit.amounts[1] - culprit.amounts[0]:,.0f}" if culprit.share == inf else f"{culprit.share:.1%}"
    return f"{subject} {much} to {place}{calls}."


PLACES: Mapping[CountedSide, str] = {
    "client": "the client's {}",
    "server": "the server's {}",
    "objects": "the objects' {}",
    "start": "the {} of a start",
    "client_held": "the {} that an open connection holds on the client",
    "server_held": "the {} that an open connection holds on the server",
    "kept": "the {} that a connection leaves when it is freed",
}


def _calls(number: float, noun: str) -> str:
    return f"{_number(number)} {noun}{'' if number == 1 else 's'}"


def _number(calls: float) -> str:
    """Whole from a thousand, where `g` would go over to powers of ten."""
    return f"{calls:,.0f}" if calls >= 1000 else f"{calls:.4g}"


def _components(judged: Sequence[UpgradeCell]) -> list[Difference]:
    """The components that changed along with the library, in any case."""
    return list(dict.fromkeys(change for cell in judged for change in cell.components))


def upgrade_title(before: UpgradeEnd, after: UpgradeEnd) -> str:
    """`OpenSSL 3.4.1 → 3.5.0`"""
    if before.version == after.version:
        return f"{before.label} ({before.source}) → {after.version} ({after.source})"
    return f"{before.label} → {after.version}"


def _of(judged: Sequence[UpgradeCell], verdict: CellVerdict) -> list[UpgradeCell]:
    return [cell for cell in judged if cell.verdict == verdict]


def _changes(judged: Sequence[UpgradeCell], *, in_brief: bool = False) -> list[str]:
    compared = [cell for cell in judged if cell.verdict not in NOT_JUDGED]
    if all(cell.move is None for cell in compared):
        return ["nothing to compare"]
    noun = _noun(compared)
    count = f"{len(compared):,} {noun}{'' if len(compared) == 1 else 's'}"
    slower, faster = _of(judged, "more"), _of(judged, "less")
    if not slower and not faster:
        return [f"no significant change in {count}", *([] if in_brief else _resolution(compared))]
    parts = [f"slower{share_words(len(slower), len(compared), noun)}"] if slower else []
    if faster:
        share = f" in {len(faster):,}" if slower else share_words(len(faster), len(compared), noun)
        parts.append(f"faster{share}")
    if in_brief:
        return parts
    return [f"{part}{_sizes(cells)}" for part, cells in zip(parts, filter(None, (slower, faster)), strict=True)]


def _resolution(compared: Sequence[UpgradeCell]) -> list[str]:
    """The smallest change that would have been detected in every cell."""
    smallest = [cell.resolves for cell in compared if cell.resolves is not None]
    return [f"a change of {max(smallest):.1%} or more would have been detected"] if smallest else []


def _sizes(cells: Sequence[UpgradeCell]) -> str:
    """The case and its change, or the range of several changes."""
    changes = sorted((cell.move.ratio - 1 for cell in cells if cell.move is not None), key=abs)
    if len(cells) == 1:
        return f": {cells[0].title} {signed_words(changes[0])}"
    low, high = f"{abs(changes[0]):.1%}", f"{abs(changes[-1]):.1%}"
    return f", by {low}" if low == high else f", by {low} to {high}"


def _cause(judged: Sequence[UpgradeCell], factors: Sequence[Factor]) -> list[str]:
    moved = [*_of(judged, "more"), *_of(judged, "less")]
    if not factors:
        sides = {moved_side(cell.client, cell.server) for cell in moved}
        return [f"only the {side}'s CPU time changed" for side in sides - {"both"} if len(sides) == 1]
    text = listed([_factor(factor) for factor in factors])
    first = factors[0]
    if len(factors) > 1:
        return [f"main factors: {text}"]
    if first.dimension == EVERY_CASE:
        return [f"a similar change in {text}"] if _is_similar(judged) else []
    direction: CellVerdict = "more" if first.ratio > 1 else "less"
    is_shared = first.moved == len(_of(judged, direction)) == len(moved) and len(moved) > 1
    return [f"{'common' if is_shared else 'main'} factor: {text}"]


def _is_similar(judged: Sequence[UpgradeCell]) -> bool:
    """Whether all changes have one direction, and the largest is at most SIMILAR times the smallest."""
    logs = [log(cell.move.ratio) for cell in judged if cell.move is not None]
    low, high = sorted((min(logs), max(logs)), key=abs)
    return low * high > 0 and abs(high) <= SIMILAR * abs(low)


def _factor(factor: Factor) -> str:
    also = f", which here always occurs with {' and '.join(factor.alike)}" if factor.alike else ""
    change = move_words(factor.ratio, factor.low, factor.high)
    return f"{factor.words or f'{factor.dimension} {factor.value}'}{also} ({_SIDE_TEXT[factor.side]}{change})"


def _uncompared(judged: Sequence[UpgradeCell]) -> list[str]:
    unresolved, unlike, apart = (len(_of(judged, verdict)) for verdict in ("unresolved", "unlike", "apart"))
    parts = [f"{unresolved:,} unresolved"] if unresolved else []
    if unlike:
        parts.append(f"{unlike:,} not compared, since the two versions did different work")
    if apart:
        parts.append(f"{apart:,} not compared, since no subject links the runs that measured them")
    return parts
