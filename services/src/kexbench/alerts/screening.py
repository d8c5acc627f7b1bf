"""The upgrades that an ended run measured, and their cells. Suspicions need a confirmation run."""

from collections.abc import Iterable
from dataclasses import dataclass

from kexbench.answers.judging import JudgedCells, judged_steps
from kexbench.answers.subjects import end_of, neighbours
from kexbench.domain.kits import Library, SubjectRef
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import UpgradeEnd, sides_of
from kexbench.domain.variants import Variant
from kexbench.store.port import SampleStore, Selection


@dataclass(frozen=True)
class Upgrade:
    library: Library
    before: UpgradeEnd
    after: UpgradeEnd

    @classmethod
    def of(cls, library: Library, before: Subject, after: Subject) -> "Upgrade":
        return cls(library, end_of(before), end_of(after))


def upgrades_of_run(store: SampleStore, run_id: str, metric: Metric) -> list[Upgrade]:
    """The neighbours in version order that a run measured in a metric, without variants."""
    rows = store.measured_subjects(Selection(metric, run_id=run_id))
    pairs = neighbours(row for row in rows if not _is_variant(row.subject))
    return [Upgrade.of(pair.library, pair.before, pair.after) for pair in pairs]


def cells_between(
    store: SampleStore, before: str, after: str, metric: Metric, relevant: float, run_id: str | None = None
) -> JudgedCells:
    """All cells of two subjects, by their names: of one run, or of the newest run that interleaved both."""
    step = (before, after)
    return judged_steps(store, [step], relevant, run_ids=(run_id, run_id), metrics=sides_of(metric))[step]


def _is_variant(subject: Subject) -> bool:
    return SubjectRef.parse(f"{subject.library}@{subject.source}").variant != Variant()


def named(upgrades: Iterable[Upgrade]) -> set[str]:
    """The names of the subjects of some upgrades."""
    return {end.subject for upgrade in upgrades for end in (upgrade.before, upgrade.after)}
