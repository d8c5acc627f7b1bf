"""What an upgrade changes for a user who waits over emulated paths: round trips with their cause, and times.

Each case uses the runs by which the upgrade is judged. Round trips are those that were counted, else those that follow
from the sizes of the flights (analysis/flights.py), which also say why they changed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from kexbench.analysis.compared import CellData
from kexbench.analysis.estimates import estimate_median
from kexbench.analysis.flights import Prediction, changes
from kexbench.answers.judging import JudgedCells, judged_steps
from kexbench.answers.numbers import ANY_RUNS, RunIds, Step
from kexbench.answers.paths import SIZES, prediction_of, title_of
from kexbench.answers.paths_words import path_words
from kexbench.answers.waits_words import cause_words, wait_words, waits_sentence
from kexbench.domain.metrics import Metric
from kexbench.domain.upgrades import UpgradeCell
from kexbench.domain.waits import NO_WAITS, Wait, Waits
from kexbench.store.port import SampleStore

_TIME, _ROUND_TRIPS = Metric.PATH_HANDSHAKE_P50_NS, Metric.PATH_ROUND_TRIPS


def waits_of_steps(store: SampleStore, steps: Collection[Step], run_ids: RunIds = ANY_RUNS) -> dict[Step, Waits]:
    """Of upgrades in all their cases: by the given runs, or by those that compare them best."""
    if _TIME not in store.evidence().metrics():
        return dict.fromkeys(steps, NO_WAITS)
    by_metric = {
        metric: judged_steps(store, steps, run_ids=run_ids, metrics={"both": metric})
        for metric in (_TIME, _ROUND_TRIPS, *SIZES)
    }
    return {
        step: waits_of(tuple(_waits({metric: cells[step] for metric, cells in by_metric.items()}))) for step in steps
    }


def waits_of(cases: Sequence[Wait]) -> Waits:
    return Waits(sentence=waits_sentence(cases), cases=tuple(cases))


def _waits(cells: Mapping[Metric, JudgedCells]) -> Iterator[Wait]:
    for data, _ in zip(cells[_TIME].data, cells[_TIME].judged, strict=True):
        here = {metric: of_metric.of(data.case.case_id, data.host_kind) for metric, of_metric in cells.items()}
        yield _wait(data, {metric: cell for metric, cell in here.items() if cell})


def _wait(data: CellData, cells: Mapping[Metric, tuple[CellData, UpgradeCell]]) -> Wait:
    before, after = (
        prediction_of(data.case, {metric: of.levels["both"][end] for metric, (of, _) in cells.items()}, chose)
        for end, chose in enumerate(data.negotiated)
    )
    basis, trips, more = _round_trips(cells[_ROUND_TRIPS][1] if _ROUND_TRIPS in cells else None, before, after)
    cause = _cause(before, after, more) if more and before and after else None
    times = [estimate_median(levels) for levels in data.levels["both"]]
    return Wait(
        case_id=data.case.case_id,
        title=title_of(data.case),
        path=data.case.path,
        path_words=path_words(data.case.path),
        host_kind=data.host_kind,
        basis=basis,
        round_trips_before=trips[0],
        round_trips_after=trips[1],
        more=more,
        handshake_before_ns=times[0],
        handshake_after_ns=times[1],
        cause=cause,
        sentence=wait_words(more, basis, cause),
    )


def _round_trips(
    counted: UpgradeCell | None, before: Prediction | None, after: Prediction | None
) -> tuple[Literal["measured", "predicted"] | None, tuple[float | None, float | None], int | None]:
    """Where they are from, those of both ends, and how many more all invocations show."""
    if counted and counted.is_compared and counted.before_ns is not None and counted.after_ns is not None:
        first, second = counted.before_ns, counted.after_ns
        more = None if counted.verdict == "unresolved" else round(second - first)
        return "measured", (first, second), more
    if before and after:
        ends = before.before_request, after.before_request
        return "predicted", ends, ends[1] - ends[0]
    return None, (None, None), None


def _cause(before: Prediction, after: Prediction, more: int) -> str | None:
    """None if the sizes predict another change."""
    found = changes(before, after)
    return cause_words(found) if sum(change.round_trips for change in found) == more else None
