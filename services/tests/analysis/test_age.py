"""Whether a context gets slower with each connection: planted slopes are found with their size, and none is not."""

import random

import pytest

from kexbench.analysis.age import AgedCell, ageings
from kexbench.domain.ages import connections_apart, old_points, points_of, young_points

MILLION = 1_000_000


def a_cell(seed: int, slope_ns: float = 0, *, invocations: int = 10, noise: float = 0.002) -> AgedCell:
    """Invocations on machines of different speed. `slope_ns`: for each million connections."""
    draw = random.Random(seed)
    speeds = {f"job-{number % 2}/{number}": draw.uniform(0.9, 1.1) for number in range(invocations)}
    apart = connections_apart(MILLION) / MILLION
    end = 100_000 + slope_ns * apart
    return AgedCell(
        young={key: (100_000 * speed * draw.gauss(1, noise),) for key, speed in speeds.items()},
        old={key: (end * speed * draw.gauss(1, noise),) for key, speed in speeds.items()},
        connections=MILLION,
    )


@pytest.mark.parametrize(("slope_ns", "verdict"), [(3000, "grows"), (0, "does not grow"), (-3000, "does not grow")])
def test_a_planted_slope_is_found_with_its_size(slope_ns: float, verdict: str) -> None:
    (ageing,) = ageings([a_cell(1, slope_ns)])
    assert ageing is not None
    low, high = ageing.slope.bounds
    assert (ageing.growth, ageing.slope.invocations) == (verdict, 10)
    assert low <= slope_ns * 1.05 + 100
    assert high >= slope_ns * 0.95 - 100
    assert ageing.slope.value == pytest.approx(slope_ns, abs=350)


def test_contexts_that_do_not_age_are_hardly_ever_said_to() -> None:
    verdicts = [ageing.growth for seed in range(200) if (ageing := ageings([a_cell(seed, noise=0.01)])[0])]
    assert verdicts.count("grows") <= 6
    assert verdicts.count("does not grow") + verdicts.count("unresolved") == 200 - verdicts.count("grows")


def test_too_few_invocations_say_nothing() -> None:
    assert ageings([a_cell(1, 3000, invocations=2)]) == [None]
    assert ageings([a_cell(1, 50_000, invocations=2), a_cell(2, 50_000)])[1] is not None


def test_young_and_old_points_are_a_fifth_each_and_leave_out_the_first() -> None:
    assert (young_points(100), old_points(100)) == (range(1, 20), range(80, 100))
    assert (young_points(10), old_points(10)) == (range(1, 2), range(8, 10))
    assert (young_points(2), old_points(2)) == (range(1), range(1, 2))
    assert [points_of(count) for count in (100, 1000, MILLION)] == [10, 100, 100]
    assert connections_apart(MILLION) == pytest.approx(795_000)
