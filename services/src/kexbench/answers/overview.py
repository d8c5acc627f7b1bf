"""What is new of each library: its newest version, what the upgrade to it changed, and what nobody has measured yet."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import cast

from pydantic import Field

from kexbench.answers.judging import JudgedCells, judged_steps
from kexbench.answers.queued import UnderWay, under_way
from kexbench.answers.subjects import Neighbours, end_of, neighbours, version_order
from kexbench.answers.upgrade import UpgradeStory, UpgradeView, stories_of
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import CellVerdict, UpgradeEnd
from kexbench.domain.versions import version_key
from kexbench.domain.views import View
from kexbench.planning.catalogue import tracked
from kexbench.planning.spec import Catalogue
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import MeasuredSubjectRow, SampleStore, Selection, Store


class LibraryState(Frozen):
    library: Library
    newest: UpgradeEnd = Field(description="its newest measured version")
    measured_at: datetime = Field(description="when any of its versions was measured last")
    upgrade: UpgradeView | None = Field(description="to the newest version that shares a case with an earlier one")
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


def _summary(pair: Neighbours, cells: JudgedCells, story: UpgradeStory) -> UpgradeView:
    before, after = pair.ends
    counts: dict[CellVerdict, int] = defaultdict(int)
    for cell in cells.judged:
        counts[cell.verdict] += 1
    return UpgradeView(
        library=pair.library,
        cells=pair.cells,
        before=before,
        after=after,
        measured_at=pair.measured_at,
        sentence=story.told,
        counts=dict(counts),
    )


def _unmeasured(catalogue: Catalogue, library: str, measured: Iterable[Subject]) -> list[str]:
    """Commits do not count: a followed branch is ahead of all releases."""
    releases: Collection[str] = [subject.version_key for subject in measured if subject.commit is None]
    newest = max(releases, default="")
    return [
        entry.version
        for name, entry in tracked(catalogue)
        if name == library and entry.version and version_key(entry.version) > newest
    ]


class Overview(UnderWay):
    """What a maintainer looks at first."""

    libraries: list[LibraryState] = Field(description="the measured libraries, by name")
    specs: dict[str, datetime] = Field(description="when the newest run of each spec began, by name")
    views: list[View] = Field(description="named views, in the order of their file")


def overview(
    store: Store, catalogue: Catalogue, supplies: Supplies | LocalSupplies | None, views: Sequence[View]
) -> Overview:
    return Overview(
        libraries=library_states(store, catalogue),
        specs=dict(sorted(store.last_begun().items())),
        views=list(views),
        **dict(under_way(store, supplies)),
    )
