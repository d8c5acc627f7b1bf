"""What upgrades changed in the exact metrics that alerts screen, in words. Round trips over a path are those of
`waits.py`, which knows their cause."""

from collections.abc import Collection, Mapping, Sequence

from kexbench.analysis.sentences import changes_and_reasons, metric_changes
from kexbench.answers.judging import JudgedCells, judged_steps
from kexbench.answers.numbers import ANY_RUNS, RunIds, Step
from kexbench.answers.waits import waits_of_steps
from kexbench.answers.waits_words import changed_waits
from kexbench.domain.metrics import WATCHED, Metric
from kexbench.domain.upgrades import UpgradeCell
from kexbench.domain.verdicts import ExactChange
from kexbench.store.port import SampleStore

_WAITS = Metric.PATH_ROUND_TRIPS
Exactly = Mapping[Metric, JudgedCells]
"""The cells of an upgrade by metric."""


def exact_cells(store: SampleStore, steps: Collection[Step], run_ids: RunIds = ANY_RUNS) -> dict[Step, Exactly]:
    """Of upgrades in all their cases: by the given runs, or by those that compare them best."""
    stored = store.evidence().metrics()
    by_metric = {
        metric: judged_steps(store, steps, run_ids=run_ids, metrics={"both": metric})
        for metric in WATCHED
        if metric.row.exact and metric in stored
    }
    return {step: {metric: cells[step] for metric, cells in by_metric.items()} for step in steps}


def exact_sentences(exactly: Exactly) -> list[str]:
    """`Server bytes 1,482 → 2,663 B (+79.7%) in 3 of 8 cases.` for each metric that changed, then what the two did
    differently."""
    found = [changes_and_reasons(metric, cells.judged) for metric, cells in exactly.items() if metric is not _WAITS]
    reasons = dict.fromkeys(reason for _, its_reasons in found for reason in its_reasons)
    return [f"{text[0].upper()}{text[1:]}." for text in (*(text for text, _ in found if text), *reasons)]


def exact_changes(store: SampleStore, run_id: str, names: Mapping[Step, tuple[str, str]]) -> tuple[ExactChange, ...]:
    """Those of a run, where something became more first. `names`: of both ends of its upgrades."""
    run_ids = (run_id, run_id)
    waits = waits_of_steps(store, names, run_ids)
    changes = [
        ExactChange(
            metric=metric,
            before=names[step][0],
            after=names[step][1],
            more=_count(cells.judged, "more"),
            less=_count(cells.judged, "less"),
            text=text,
        )
        for step, exactly in exact_cells(store, names, run_ids).items()
        for metric, cells in exactly.items()
        if (text := changed_waits(waits[step].cases) if metric is _WAITS else metric_changes(metric, cells.judged))
    ]
    return tuple(sorted(changes, key=lambda change: not change.more))


def _count(cells: Sequence[UpgradeCell], verdict: str) -> int:
    return sum(cell.verdict == verdict for cell in cells)
