"""What the changes of an upgrade have in common, and the result in a sentence."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from kexbench.analysis.attribution import attribute
from kexbench.analysis.sentences import sentence
from kexbench.answers.exact import Exactly, exact_cells, exact_sentences
from kexbench.answers.judging import JudgedCells, judged_steps, token_of
from kexbench.answers.missing import missing_cells
from kexbench.answers.numbers import Step
from kexbench.answers.subjects import Neighbours, end_of, neighbours
from kexbench.answers.waits import waits_of, waits_of_steps
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostChoice, HostKind
from kexbench.domain.kits import Library
from kexbench.domain.metrics import Metric
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import CellVerdict, Factor, MissingCell, UpgradeEnd
from kexbench.domain.verdicts import RELEVANT
from kexbench.domain.waits import Waits
from kexbench.planning.catalogue import released_between
from kexbench.planning.spec import Catalogue
from kexbench.store.port import SampleStore, Selection


@dataclass(frozen=True)
class UpgradeStory:
    """What the changes of an upgrade have in common, and the result in a sentence."""

    factors: tuple[Factor, ...]
    sentence: str
    waits: Waits

    @property
    def told(self) -> str:
        """All of it in one paragraph."""
        return " ".join(filter(None, [self.sentence, self.waits.sentence]))


def story_of(
    before: Subject, after: Subject, cells: JudgedCells, relevant: float, exactly: Exactly, waits: Waits
) -> UpgradeStory:
    """The only place that words an upgrade, so that all pages say the same."""
    factors = attribute(cells.data, cells.judged, relevant)
    text = sentence(end_of(before), end_of(after), cells.judged, factors)
    return UpgradeStory(factors, " ".join([text, *exact_sentences(exactly)]), waits)


def stories_of(
    store: SampleStore, ends: Collection[tuple[Subject, Subject]], relevant: float = RELEVANT
) -> dict[tuple[Subject, Subject], UpgradeStory]:
    """Those of whole upgrades, kept as long as their results are the same. Missing ones are computed together."""
    kinds = store.host_kinds()

    def tell(keys: Sequence[_StoryKey]) -> dict[_StoryKey, UpgradeStory]:
        steps = {key.step for key in keys}
        judged, exactly = judged_steps(store, steps, relevant), exact_cells(store, steps)
        waits = waits_of_steps(store, steps)
        return {
            key: story_of(
                key.before, key.after, judged[key.step].ordered(kinds), relevant, exactly[key.step], waits[key.step]
            )
            for key in keys
        }

    kept = store.kept(
        [_StoryKey(before, after, relevant, tuple(kinds)) for before, after in ends],
        lambda evidence, key: token_of(evidence, key.step),
        tell,
    )
    return {(key.before, key.after): story for key, story in kept.items()}


@dataclass(frozen=True)
class _StoryKey:
    """What the story of an upgrade is kept by: among others, the order of host kinds."""

    before: Subject
    after: Subject
    relevant: float
    kinds: tuple[HostKind, ...]

    @property
    def step(self) -> Step:
        return self.before.name, self.after.name


class UpgradeView(Frozen):
    """A version and its predecessor that share a case on a host kind."""

    library: Library
    before: UpgradeEnd
    after: UpgradeEnd
    measured_at: datetime = Field(description="when `after` was measured last")
    cells: int = Field(description="cases, on each host kind, that both have results of")
    sentence: str | None = Field(None, description="how the costs changed; null in a list of upgrades")
    counts: dict[CellVerdict, int] | None = Field(None, description="the number of cells by verdict, likewise")


class UpgradePage(Frozen):
    upgrades: list[UpgradeView]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


def _view(pair: Neighbours) -> UpgradeView:
    before, after = pair.ends
    return UpgradeView(library=pair.library, before=before, after=after, measured_at=pair.measured_at, cells=pair.cells)


def _notes(notes_by_version: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Notes such as `3.5.0: hybrid groups with ML-KEM are preferred`, without repetition."""
    return tuple(dict.fromkeys(f"{version}: {note}" for version, notes in notes_by_version for note in notes))


def upgrades(store: SampleStore, library: Library | None, limit: int, before: datetime | None = None) -> UpgradePage:
    """Those measured last come first. A page ends with all upgrades of one time."""
    all_pairs = neighbours(store.measured_subjects(Selection(Metric.CPU_NS, libraries=(library,) if library else ())))
    older = [pair for pair in all_pairs if before is None or pair.measured_at < before]
    page = [
        pair for place, pair in enumerate(older) if place < limit or pair.measured_at == older[limit - 1].measured_at
    ]
    return UpgradePage(
        upgrades=[_view(pair) for pair in page],
        next_before=page[-1].measured_at if len(page) < len(older) else None,
    )


class Upgrade(Frozen):
    """What the changes from one version of a library to another have in common, and what came with them."""

    sentence: str = Field(description="how the costs changed, and the common factors")
    factors: tuple[Factor, ...] = Field(description="the one that explains most first; empty where nothing moved")
    waits: Waits = Field(description="over emulated paths")
    missing: tuple[MissingCell, ...]
    defaults: tuple[str, ...] = Field(description="changed defaults")
    security: tuple[str, ...] = Field(description="security fixes in the versions after the first, up to the second")


def upgrade_of(
    store: SampleStore,
    catalogue: Catalogue,
    before: Subject,
    after: Subject,
    on: HostChoice,
    relevant: float = RELEVANT,
) -> Upgrade:
    """Of the selected cells, which are judged among all cells of the upgrade."""
    step = (before.name, after.name)

    def tell() -> tuple[UpgradeStory, list[MissingCell]]:
        judged = judged_steps(store, [step], relevant)[step]
        exactly = {
            metric: cells.where(lambda cell: on.holds(cell.host_kind))
            for metric, cells in exact_cells(store, [step])[step].items()
        }
        only_asides = store.evidence().left_out.issuperset(run_id for cell in judged.judged for run_id in cell.run_ids)
        return (
            story_of(
                before,
                after,
                judged.where(lambda cell: on.holds(cell.host_kind)).ordered(store.host_kinds()),
                relevant,
                exactly,
                waits_of([wait for wait in waits_of_steps(store, [step])[step].cases if on.holds(wait.host_kind)]),
            ),
            [cell for cell in missing_cells(store, before, after, asides=only_asides) if on.holds(cell.host_kind)],
        )

    story, missing = store.kept_value(
        ("upgrade", before, after, on, relevant),
        lambda evidence: (token_of(evidence, step), tuple(evidence.host_kinds())),
        tell,
    )
    between = released_between(catalogue, before.library, before.version_key, after.version_key)
    return Upgrade(
        sentence=story.sentence,
        factors=story.factors,
        waits=story.waits,
        missing=tuple(missing),
        defaults=_notes((version, entry.defaults) for version, entry in between),
        security=_notes((version, entry.security) for version, entry in between),
    )
