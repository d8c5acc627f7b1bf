"""What a mix of connections costs: by hand, at its limits, and how often the intervals hold the truth."""

from math import exp, inf, log

import numpy as np
import pytest

from kexbench.analysis.capacity import (
    ChangedPart,
    correlation_of,
    judge_alone,
    judge_upgrade,
    load_shares,
    log_costs,
    mix_cost,
    other_parts,
    upgraded,
)
from kexbench.analysis.moves import LogMove, moves, pair
from kexbench.analysis.rounds import Batches, values_of
from kexbench.analysis.welch import welch_freedom


def known(cost: float, error: float, freedom: float = 9.0) -> LogMove:
    return LogMove(log(cost), error, freedom, freedom)


def test_the_cost_of_a_mix_by_hand() -> None:
    """3/4 x 100 + 1/4 x 300 = 150, half of it each: the error is the root of 0.005^2 + 0.01^2."""
    costs = [known(100, 0.01), known(300, 0.02)]
    whole = mix_cost([0.75, 0.25], costs)
    assert exp(whole.centre) == pytest.approx(150)
    assert load_shares([0.75, 0.25], costs) == pytest.approx([0.5, 0.5])
    assert whole.error == pytest.approx((0.005**2 + 0.01**2) ** 0.5)
    assert whole.freedom == pytest.approx(welch_freedom(np.array([0.25, 1.0]), np.array([9.0, 9.0])))


def test_a_mix_of_one_part_is_that_part() -> None:
    cost, move = known(100, 0.01, 4.3), LogMove(log(1.1), 0.002, 7.0, 6.0)
    assert mix_cost([1.0], [cost]) == cost
    change = upgraded([ChangedPart(1.0, cost, move, -0.7)])
    assert change.centre == pytest.approx(move.centre)
    assert (change.error, change.freedom, change.test_freedom) == (move.error, move.freedom, move.test_freedom)


def test_an_upgrade_by_hand() -> None:
    """Costs of 100 and 100 become 50 and 150, so the whole stays, and its parts are 1/4 and 3/4 instead of 1/2 each:
    1/4 and 3/4 of the changes' errors, and 1/4 of the errors before in opposite directions."""
    parts = [
        ChangedPart(0.5, known(100, 0.02), LogMove(log(0.5), 0.01, 9.0, 9.0), 0.0),
        ChangedPart(0.5, known(100, 0.02), LogMove(log(1.5), 0.01, 9.0, 9.0), 0.0),
    ]
    change = upgraded(parts)
    assert change.centre == pytest.approx(0)
    assert change.error == pytest.approx((0.0025**2 + 0.0075**2 + 2 * 0.005**2) ** 0.5)
    tied = [ChangedPart(each.share, each.before, each.move, -1.0) for each in parts]
    assert upgraded(tied).error == pytest.approx(((0.0025 + 0.005) ** 2 + (0.0075 - 0.005) ** 2) ** 0.5)


def test_other_parts_by_hand() -> None:
    """Half of the connections change from 400 to 100: 200 + 50 instead of 200 + 200. The common part is 4/5 instead of
    1/2 of the time, the new one 1/5 and the old one 1/2."""
    costs = [known(400, 0.01), known(100, 0.01), known(400, 0.01)]
    change = other_parts([0.5, 0.5, 0.0], [0.5, 0.0, 0.5], costs)
    assert exp(change.centre) == pytest.approx(250 / 400)
    assert change.error == pytest.approx(0.01 * (0.3**2 + 0.2**2 + 0.5**2) ** 0.5)


def test_the_same_parts_are_no_change_at_all() -> None:
    change = other_parts([0.4, 0.6], [0.4, 0.6], [known(400, 0.01), known(100, 0.01)])
    assert (change.centre, change.error) == (0, 0)
    assert judge_alone(change).verdict == "same"


def test_two_invocations_give_a_cost_without_an_interval() -> None:
    (few, enough) = log_costs([{"r/0/0": 100.0, "r/0/1": 100.0}, {f"r/0/{n}": 100.0 + n for n in range(6)}])
    assert exp(few.centre) == pytest.approx(100)
    assert few.error == inf
    assert enough.error < 1
    whole = mix_cost([0.5, 0.5], [few, enough])
    assert whole.error == inf
    assert mix_cost([0.0, 1.0], [few, enough]).error == pytest.approx(enough.error)
    assert judge_alone(other_parts([1.0, 0.0], [0.0, 1.0], [few, enough])).verdict == "unresolved"


def test_a_verdict_is_that_of_one_comparison() -> None:
    def of(ratio: float, error: float, floor: float = 0.0) -> str:
        part = ChangedPart(1.0, known(100, 0.01), LogMove(log(ratio), error, 9.0, 9.0), 0.0, floor)
        return judge_upgrade([part]).verdict

    assert of(1.02, 0.002) == "more"
    assert of(0.98, 0.002) == "less"
    assert of(1.002, 0.001) == "same"
    assert of(1.02, 0.02) == "unresolved"
    assert of(1.02, 0.002, floor=0.03) == "unresolved", "two builds of one source differ by as much"


def test_the_floor_of_a_mix_is_the_mean_by_cpu_time() -> None:
    move = LogMove(log(1.02), 0.0001, 9.0, 9.0)
    parts = [ChangedPart(0.75, known(100, 0), move, 0.0, 0.02), ChangedPart(0.25, known(300, 0), move, 0.0, 0.0)]
    assert judge_upgrade(parts).resolves == pytest.approx(0.01)


def test_without_pairs_the_cost_before_is_a_part_of_the_change() -> None:
    before = {f"a/0/{n}": 100.0 for n in range(5)}
    batches = {unit: [100.0] for unit in before}, {f"b/0/{n}": [110.0] for n in range(5)}
    assert correlation_of(before, batches, known(1.1, 0.05), known(100, 0.03)) == pytest.approx(-0.6)
    assert correlation_of(before, batches, known(1.1, 0.02), known(100, 0.03)) == -1


COSTS, RATIOS, NOISE, SHARES = (65.0, 40.0, 400.0), (0.6, 1.0, 1.3), (0.003, 0.004, 0.01), (0.7, 0.2, 0.1)


def measured(random: np.random.Generator, invocations: int, *, paired: bool) -> list[tuple[Batches, Batches]]:
    """Each part before and after, on a machine whose speed drifts by 1% from invocation to invocation."""

    def costs(cost: float, noise: float, drift: list[float], run: str) -> Batches:
        return {
            f"{run}/{n % 2}/{n}": [float(cost * np.exp(drift[n] + noise * random.standard_normal()))]
            for n in range(invocations)
        }

    parts = []
    for cost, ratio, noise in zip(COSTS, RATIOS, NOISE, strict=True):
        first, second = (list(0.01 * random.standard_normal(invocations)) for _ in range(2))
        before = costs(cost, noise, first, "a")
        parts.append((before, costs(cost * ratio, noise, first if paired else second, "a" if paired else "b")))
    return parts


STORES = 300


def held(invocations: int, *, paired: bool) -> dict[str, int]:
    """In how many simulated stores each interval holds the truth."""
    random = np.random.default_rng(7)
    count = {"cost": 0, "upgrade": 0, "other parts": 0}
    totals = np.dot(SHARES, COSTS), np.dot(SHARES, np.multiply(COSTS, RATIOS))
    others = np.roll(SHARES, 1).tolist()
    truths = {
        "cost": log(totals[0]),
        "upgrade": log(totals[1] / totals[0]),
        "other parts": log(totals[0] / np.dot(others, COSTS)),
    }
    for _ in range(STORES):
        parts = measured(random, invocations, paired=paired)
        before = [{unit: values_of(values)[0] for unit, values in first.items()} for first, _ in parts]
        costs = log_costs(before)
        pairs = {place: found for place, each in enumerate(parts) if (found := pair(*each))}
        changes = moves(pairs, dict.fromkeys(pairs))
        changed = [
            ChangedPart(share, cost, changes[place], correlation_of(before[place], parts[place], changes[place], cost))
            for place, (share, cost) in enumerate(zip(SHARES, costs, strict=True))
        ]
        estimates = {
            "cost": mix_cost(SHARES, costs),
            "upgrade": upgraded(changed),
            "other parts": other_parts(SHARES, others, costs),
        }
        for what, estimate in estimates.items():
            low, high = estimate.bounds()
            count[what] += bool(low <= truths[what] <= high)
    return count


@pytest.mark.long
@pytest.mark.parametrize(("invocations", "paired"), [(4, True), (10, True), (6, False)])
def test_the_intervals_hold_the_truth_as_often_as_they_say(invocations: int, paired: bool) -> None:
    """95% of 300 are 285; all but one in a thousand such counts lie from 272 to 297."""
    counts = held(invocations, paired=paired)
    assert all(270 <= count <= 298 for count in counts.values()), counts
