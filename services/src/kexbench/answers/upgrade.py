"""What the changes of an upgrade have in common, and the result in a sentence."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kexbench.analysis.attribution import attribute
from kexbench.analysis.sentences import sentence
from kexbench.answers.judging import JudgedCells, judged_steps, token_of
from kexbench.answers.numbers import Step
from kexbench.answers.subjects import end_of
from kexbench.domain.upgrades import Factor
from kexbench.domain.verdicts import RELEVANT
from kexbench.store.port import HostKindRow, SampleStore, SubjectRow


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
