"""What is new of each library: its newest version, what the upgrade to it changed, and what nobody has measured yet."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from pydantic import Field

from kexbench.analysis.attribution import attribute
from kexbench.analysis.sentences import sentence
from kexbench.comparison.order import version_order
from kexbench.comparison.upgrade_data import JudgedCells, Step, judged_steps, token_of
from kexbench.comparison.upgrade_ends import Neighbours, end_of, neighbours
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import CellVerdict, Factor, UpgradeEnd
from kexbench.domain.verdicts import RELEVANT
from kexbench.domain.versions import version_key
from kexbench.planning.catalogue import tracked
from kexbench.planning.spec import Catalogue
from kexbench.store.port import HostKindRow, MeasuredSubjectRow, SampleStore, Selection, SubjectRow


@dataclass(frozen=True)
class UpgradeStory:
    """What the changes of an upgrade have in common, and the result in a sentence."""

    factors: tuple[Factor, ...]
    sentence: str


def story_of(before: SubjectRow, after: SubjectRow, cells: JudgedCells, relevant: float) -> UpgradeStory:
    """The only place that words an upgrade, so that all pages say the same."""
    factors = attribute(cells.data, cells.judged, relevant)
    return UpgradeStory(factors, sentence(end_of(before), end_of(after), cells.judged, factors))


def stories_of(
    store: SampleStore, ends: Collection[tuple[SubjectRow, SubjectRow]], relevant: float = RELEVANT
) -> dict[tuple[SubjectRow, SubjectRow], UpgradeStory]:
    """Those of whole upgrades, kept as long as their results are the same. Missing ones are computed together."""
    kinds = store.host_kinds()

    def tell(keys: Sequence[_StoryKey]) -> dict[_StoryKey, UpgradeStory]:
        judged = judged_steps(store, {key.step for key in keys}, relevant)
        return {key: story_of(key.before, key.after, judged[key.step].ordered(kinds), relevant) for key in keys}

    kept = store.kept(
        [_StoryKey(before, after, relevant, tuple(kinds)) for before, after in ends],
        lambda evidence, key: token_of(evidence, key.step),
        tell,
    )
    return {(key.before, key.after): story for key, story in kept.items()}


@dataclass(frozen=True)
class _StoryKey:
    """What the story of an upgrade is kept by: among others, the order of host kinds."""

    before: SubjectRow
    after: SubjectRow
    relevant: float
    kinds: tuple[HostKindRow, ...]

    @property
    def step(self) -> Step:
        return self.before.name, self.after.name


class UpgradeSummary(Frozen):
    """An upgrade without its cells."""

    before: UpgradeEnd
    after: UpgradeEnd
    measured_at: datetime = Field(description="when `after` was measured last")
    sentence: str = Field(description="the same as in the upgrade's report")
    counts: dict[CellVerdict, int] = Field(description="the number of cells by verdict")


class LibraryState(Frozen):
    library: Library
    newest: UpgradeEnd = Field(description="its newest measured version")
    measured_at: datetime = Field(description="when any of its versions was measured last")
    upgrade: UpgradeSummary | None = Field(description="to the newest version that shares a case with an earlier one")
    unmeasured: list[str] = Field(description="tracked versions without results that are newer than all measured ones")


def library_states(store: SampleStore, catalogue: Catalogue) -> list[LibraryState]:
    """By name."""
    rows: dict[str, list[MeasuredSubjectRow]] = defaultdict(list)
    for row in store.measured_subjects(Selection(Metric.CPU_NS)):
        rows[row.subject.library].append(row)
    upgrades = {library: _newest_upgrade(neighbours(rows[library])) for library in rows}
    steps = {library: (pair.before.name, pair.after.name) for library, pair in upgrades.items() if pair}
    judged = judged_steps(store, list(steps.values()))
    stories = stories_of(store, [(pair.before, pair.after) for pair in upgrades.values() if pair])
    return [
        LibraryState(
            library=cast(Library, library),
            newest=end_of(max((row.subject for row in rows[library]), key=version_order)),
            measured_at=max(row.measured_at for row in rows[library]),
            upgrade=_summary(pair, judged[steps[library]], stories[pair.before, pair.after]) if pair else None,
            unmeasured=_unmeasured(catalogue, library, [row.subject for row in rows[library]]),
        )
        for library, pair in sorted(upgrades.items())
    ]


def _newest_upgrade(pairs: Sequence[Neighbours]) -> Neighbours | None:
    """The one to the newest version. Of several builds of that version, the one measured last."""
    newest = max((pair.after.version_key for pair in pairs), default=None)
    return next((pair for pair in pairs if pair.after.version_key == newest), None)


def _summary(pair: Neighbours, cells: JudgedCells, story: UpgradeStory) -> UpgradeSummary:
    before, after = pair.ends
    counts: dict[CellVerdict, int] = defaultdict(int)
    for cell in cells.judged:
        counts[cell.verdict] += 1
    return UpgradeSummary(
        before=before,
        after=after,
        measured_at=pair.measured_at,
        sentence=story.sentence,
        counts=dict(counts),
    )


def _unmeasured(catalogue: Catalogue, library: str, measured: Iterable[SubjectRow]) -> list[str]:
    """Commits do not count: a followed branch is ahead of all releases."""
    releases: Collection[str] = [subject.version_key for subject in measured if subject.commit is None]
    newest = max(releases, default="")
    return [
        entry.version
        for name, entry in tracked(catalogue)
        if name == library and entry.version and version_key(entry.version) > newest
    ]
