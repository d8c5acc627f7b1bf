"""The search for the commit that changed the cost, over simulated histories with planted steps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from kexbench.analysis.bisect import (
    MOST_READINGS,
    READINGS_PER_BUILD,
    SURE,
    Evidence,
    Found,
    Next,
    Reading,
    Search,
    Try,
    Unsure,
    changes,
    most_builds,
    next_step,
    parts_of,
    posterior,
)
from kexbench.analysis.rounds import Vector

COMMITS = 63
"""Behind the good end: 64 with it."""
SD = 0.008
"""Of one build in one invocation. Two builds then differ by sqrt(2) as much, 1.1%: what the pool of 400 invocations of
a kit beside itself in docs/results/benchmarks.md has, whose interval is 0.106% to either side; 0.93% in docs/adr/0007.
Of ten invocations a ratio of two builds has the standard error 0.36%."""
LAYOUT = 0.001
"""What layout moves each build by, as a standard deviation."""


@dataclass
class History:
    """A history with a step from `first` on, whose commits `broken` cannot be built; and what was measured of it."""

    seed: int
    step: float = 0.02
    broken_count: int = 3
    invocations: int = 10
    heavy: bool = False
    layout: float = LAYOUT
    commits: int = COMMITS
    first: int = 0
    broken: frozenset[int] = frozenset()
    steps: list[float] = field(default_factory=list)
    places: dict[int, list[float]] = field(default_factory=dict)
    readings: Counter[int] = field(default_factory=Counter)
    failed: set[int] = field(default_factory=set)
    asked: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = np.random.default_rng(self.seed)
        self.first = self.first or int(self.chance.integers(1, self.commits + 1))
        drawn = self.chance.choice(np.arange(1, self.commits), self.broken_count, replace=False)
        self.broken = self.broken or frozenset(map(int, drawn))
        self.costs = self.layout * self.chance.standard_normal(self.commits + 1)
        self.costs[self.first :] += self.step

    @property
    def builds(self) -> int:
        return len(self.readings) + 2

    def noise(self, count: int) -> Vector:
        if self.heavy:  # scaled to the same spread
            return np.asarray(SD * self.chance.standard_t(4, count) / np.sqrt(2))
        return SD * self.chance.standard_normal(count)

    def measure_ends(self) -> bool:
        count = 2 * self.invocations
        self.steps += list(self.noise(count) + self.costs[-1] - self.noise(count) - self.costs[0])
        return changes([Reading.of(self.steps)])[0]

    def measure(self, commit: int) -> None:
        self.asked.append(commit)
        if commit in self.broken:
            self.failed.add(commit)
            return
        good, bad, placed = (self.noise(self.invocations) + self.costs[place] for place in (0, -1, commit))
        self.steps += list(bad - good)
        self.places.setdefault(commit, []).extend(placed - (good + bad) / 2)
        self.readings[commit] += 1

    def search(self, builds: int | None = None) -> Next | None:
        """What the search comes to; None where the ends do not differ."""
        if not self.measure_ends():
            return None
        while True:
            evidence = Evidence(Reading.of(self.steps), {at: Reading.of(logs) for at, logs in self.places.items()})
            known = Search(
                self.commits, (evidence,), self.readings, frozenset(self.failed), builds or most_builds(self.commits)
            )
            found = next_step(known)
            if not isinstance(found, Try):
                return found
            self.measure(found.commit)


def outcome(history: History) -> str:
    found = history.search()
    if isinstance(found, Found):
        assert found.probability >= SURE
        return "right" if found.first <= history.first <= found.last else "wrong"
    return "cannot say"


@pytest.mark.parametrize("heavy", [False, True], ids=["normal noise", "heavy tails"])
def test_a_step_of_two_percent_among_64_commits_is_found_in_at_most_ten_builds(heavy: bool) -> None:
    histories = [History(seed, heavy=heavy) for seed in range(100)]
    found = Counter(map(outcome, histories))
    assert found["right"] >= 95
    assert found["wrong"] <= 1
    assert max(history.builds for history in histories) <= most_builds(COMMITS) == 10


def test_a_commit_that_made_handshakes_cheaper_is_found_as_well() -> None:
    assert Counter(outcome(History(seed, step=-0.02)) for seed in range(40))["right"] >= 38


@pytest.mark.parametrize("invocations", [10, 30])
def test_a_step_below_the_noise_cannot_be_found(invocations: int) -> None:
    found = Counter(outcome(History(seed, step=0.0005, invocations=invocations)) for seed in range(100))
    assert found["cannot say"] >= 99


@pytest.mark.long
def test_where_the_step_is_hardly_above_the_noise_a_wrong_commit_is_hardly_ever_named() -> None:
    # One in three has no answer at all; layouts are a sixth of the step.
    found = Counter(outcome(History(seed, step=0.006, invocations=30)) for seed in range(300))
    assert found["wrong"] / (found["right"] + found["wrong"]) <= 0.03
    assert found["right"] >= 120


def test_a_first_bad_commit_behind_broken_ones_is_named_as_a_range() -> None:
    history = History(1, first=40, broken=frozenset({38, 39, 40}))
    found = history.search()
    assert isinstance(found, Found)
    assert (found.first, found.last) == (38, 41)
    assert {38, 39, 40} <= history.failed


def test_a_long_stretch_of_broken_commits_is_left_in_long_strides() -> None:
    history = History(1, first=900, commits=1000, broken=frozenset(range(400, 600)))
    found = history.search()
    assert isinstance(found, Found)
    assert (found.first, found.last) == (900, 900)
    assert len(history.failed) <= 12


def test_of_one_commit_nothing_needs_to_be_measured_but_the_ends() -> None:
    history = History(3, commits=1, broken_count=0)
    assert history.search() == Found(1, 1, 1.0)
    assert history.asked == []


def reading(centre: float, error: float = 0.002) -> Reading:
    return Reading(centre, error, 20)


def a_search(
    places: Mapping[int, float],
    *more: Mapping[int, float],
    readings: Mapping[int, int] | None = None,
    failed: Sequence[int] = (),
    builds: int = 10,
    error: float = 0.002,
) -> Search:
    """Of a step of 2%; each mapping is a case's commits with their places."""
    cases = [Evidence(reading(0.02), {at: reading(log, error) for at, log in each.items()}) for each in (places, *more)]
    return Search(COMMITS, tuple(cases), readings or dict.fromkeys(places, 1), frozenset(failed), builds)


def test_nothing_is_known_beforehand_and_the_middle_is_measured_first() -> None:
    assert posterior(a_search({})) == pytest.approx(np.full(COMMITS, 1 / COMMITS))
    assert next_step(a_search({})) in (Try(31), Try(32))


def test_a_reading_at_one_end_leaves_the_commits_on_the_other_side() -> None:
    assert posterior(a_search({32: 0.01}))[:32].sum() > SURE
    assert posterior(a_search({32: -0.01}))[32:].sum() > SURE
    assert posterior(a_search({32: 0.0}))[:32].sum() == pytest.approx(32 / 63)


def test_a_build_in_doubt_is_measured_again_before_another_is_built() -> None:
    assert next_step(a_search({32: 0.001})) == Try(32)
    assert next_step(a_search({32: 0.01})) in (Try(16), Try(17))


def test_beside_a_commit_that_does_not_build_the_next_one_is_some_steps_away() -> None:
    found = next_step(a_search({}, failed=[32]))
    assert isinstance(found, Try)
    assert 2 <= abs(found.commit - 32) <= 12


def test_with_all_builds_used_up_only_what_is_built_is_measured_again() -> None:
    search = a_search({32: 0.01, 16: -0.01}, builds=4)
    assert next_step(search) in (Try(16), Try(32))
    tired = a_search({32: 0.01, 16: -0.01}, readings={32: MOST_READINGS, 16: MOST_READINGS}, builds=4)
    assert next_step(tired) == Unsure("spent", 17, 32)


def test_the_number_of_measurements_is_bounded_in_advance() -> None:
    places = dict.fromkeys(range(5, 60, 10), 0.0)
    for each, ended in ((6, False), (7, True)):
        search = a_search(places, readings=dict.fromkeys(places, each), error=0.02)
        assert (sum(search.readings.values()) >= READINGS_PER_BUILD * search.builds) is ended
        found = next_step(search)
        assert isinstance(found, Unsure if ended else Try)


def test_of_three_equal_steps_none_is_named() -> None:
    thirds = {15: -0.01, 16: -0.0035, 47: 0.0035, 48: 0.01, 46: -0.0035}
    assert next_step(a_search(thirds, error=0.0001)) == Unsure("split", 47, 47)


def test_the_commit_that_changed_the_case_with_the_larger_step_is_named() -> None:
    large, small = (
        Evidence(reading(0.8), {31: reading(-0.4), 32: reading(0.4)}),
        Evidence(reading(0.02), {31: reading(0.01), 32: reading(0.01)}),
    )
    found = next_step(Search(COMMITS, (small, large), {31: 1, 32: 1}, frozenset(), 10))
    assert isinstance(found, Found)
    assert (found.first, found.last, found.against) == (32, 32, ())
    assert parts_of(large, COMMITS, 32, 32).share == pytest.approx(1)
    assert parts_of(small, COMMITS, 32, 32).share == pytest.approx(0)


def drifting(seed: int, step: float, drift: float) -> History:
    """A history of which many commits change the cost a little, up and down, beside the one that has the step."""
    history = History(seed, step=step, broken_count=0, commits=31)
    moves = drift * history.chance.standard_normal(32)
    moves[history.first] = 0
    history.costs += np.cumsum(moves)
    return history


@pytest.mark.parametrize(("step", "drift"), [(0.84, 0.004), (0.84, 0.02), (0.1, 0.004)])
def test_in_a_history_of_many_small_changes_the_commit_with_the_step_is_found_with_its_share(
    step: float, drift: float
) -> None:
    for seed in range(60):
        history = drifting(seed, step, drift)
        found = history.search()
        assert isinstance(found, Found), f"seed {seed}: {found}"
        assert (found.first, found.last) == (history.first, history.first)
        evidence = Evidence(Reading.of(history.steps), {at: Reading.of(logs) for at, logs in history.places.items()})
        parts = parts_of(evidence, history.commits, found.first, found.last)
        good = history.costs[0]
        before, behind = (np.exp(history.costs[at] - good) for at in (history.first - 1, history.first))
        assert parts.between == pytest.approx(behind - before, abs=0.08)
        assert parts.before + parts.between + parts.behind == pytest.approx(
            np.expm1(history.costs[-1] - good), abs=0.08
        )


def test_two_cases_that_agree_are_surer_than_one() -> None:
    one, both = posterior(a_search({32: 0.004})), posterior(a_search({32: 0.004}, {32: 0.004}))
    assert both[:32].sum() > one[:32].sum()


def test_a_cost_that_went_up_and_down_before_is_named_beside_the_commit() -> None:
    places = {8: 0.01, 16: -0.01, 31: -0.01, 32: 0.01}
    found = next_step(a_search(places, error=0.0005, readings=dict.fromkeys(places, 1)))
    assert isinstance(found, Found)
    assert (found.first, found.last, found.against) == (32, 32, (8,))


def test_ends_differ_only_by_half_a_percent_or_more_and_beyond_their_noise() -> None:
    steps = [reading(0.02), reading(-0.02), reading(0.004, 0.0001), reading(0.006, 0.003)]
    assert changes(steps) == (True, True, False, False)


def test_a_reading_of_values_that_never_differ_has_no_error_and_is_believed_up_to_layouts() -> None:
    exact = Reading.of([0.01] * 6)
    assert exact.error == 0
    chances = posterior(Search(3, (Evidence(Reading.of([0.02] * 6), {1: exact}),), {1: 1}, frozenset(), 4))
    assert SURE < chances[0] < 1


@pytest.mark.parametrize(("commits", "builds"), [(1, 4), (2, 5), (63, 10), (64, 10), (65, 11), (1000, 14)])
def test_builds_are_those_of_halving_with_two_to_spare(commits: int, builds: int) -> None:
    assert most_builds(commits) == builds
