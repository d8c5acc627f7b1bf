"""Where exactly a step is: where the distributions differ most, if noise is far from normal."""

import numpy as np
import pytest

from kexbench.analysis.changepoints_place import REACH, better_places

LEVELS = np.log([1.0, 1.3, 1.7])


def jumping(count: int, seed: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """A machine that jumps between three levels."""
    random = np.random.default_rng(seed)
    return random.choice(LEVELS, count) + 0.01 * random.standard_normal(count)


def changed(seed: int, place: int = 60, count: int = 100) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """From the place on it has two levels, one of them far below: what shows at once in which levels there are."""
    random = np.random.default_rng(seed + 100)
    after = random.choice(np.log([0.7, 2.4]), count - place, p=[0.8, 0.2]) + 0.01 * random.standard_normal(
        count - place
    )
    return np.concatenate((jumping(place, seed), after))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("off", [-8, 0, 8])
def test_a_step_goes_where_the_levels_change(seed: int, off: int) -> None:
    (found,) = better_places(changed(seed), [60 + off])
    assert abs(found - 60) <= 2


def test_it_moves_by_so_much_and_no_more() -> None:
    (found,) = better_places(changed(0), [60 + REACH + 5])
    assert abs(found - (60 + REACH + 5)) <= REACH


@pytest.mark.parametrize("seed", range(20))
def test_normal_noise_leaves_it_where_it_is(seed: int) -> None:
    random = np.random.default_rng(seed)
    logs = 0.01 * random.standard_normal(120) + 0.05 * (np.arange(120) >= 60)
    assert better_places(logs, [60]) == (60,)


def test_neighbours_do_not_meet() -> None:
    for seed in range(40):
        random = np.random.default_rng(seed)
        places = sorted(random.choice(np.arange(2, 98), size=12, replace=False).tolist())
        found = better_places(changed(seed, int(random.integers(20, 80))), places)
        assert list(found) == sorted(set(found)), seed
        assert found[0] > 0
        assert found[-1] < 100


def test_what_does_not_scatter_stays() -> None:
    assert better_places(np.zeros(20), [10]) == (10,)
    assert better_places(np.zeros(20), []) == ()
