"""A/A runs with planted noise and planted layouts."""

from collections.abc import Sequence

import numpy as np
import pytest

from kexbench.analysis.detectable import smallest_detectable_change
from kexbench.analysis.qualification import CaseQualification, qualify_case

NOISE, DRIFT, LAYOUT = 0.005, 0.03, 0.004


def subjects(seed: int, offsets: Sequence[float], invocations: int = 200) -> list[dict[str, list[float]]]:
    """Of each subject one batch an invocation: 500 us, slow phases that all share, noise and a layout of its own."""
    random = np.random.default_rng(seed)
    phases = random.normal(0, DRIFT, invocations)
    return [
        {
            str(place): [float(5e5 * np.exp(offset + value))]
            for place, value in enumerate(phases + random.normal(0, NOISE, invocations))
        }
        for offset in offsets
    ]


def qualified(
    same: Sequence[dict[str, list[float]]], relinked: Sequence[dict[str, list[float]]] = (), group: int = 10
) -> CaseQualification:
    found = qualify_case("case", same, relinked, group=group, seed=1)
    assert found is not None
    return found


def test_noise_is_stated_with_and_without_what_subjects_share() -> None:
    found = qualified(subjects(1, [0, 0]))
    assert found.invocations == 200
    assert found.cv == pytest.approx(np.hypot(NOISE, DRIFT), rel=0.1)
    assert found.pair_sd == pytest.approx(1.066 * np.sqrt(2) * NOISE, rel=0.15)


def test_a_case_differs_from_itself_about_as_often_as_alpha_says() -> None:
    found = qualified(subjects(2, [0, 0])).false_positives
    assert found is not None
    assert (found.groups, found.tests) == (20, 4000)
    low, high = found.rate.bounds
    assert low <= 0.01 <= high


def test_a_difference_between_the_same_kits_shows_as_false_positives() -> None:
    found = qualified(subjects(3, [0, 0.02])).false_positives
    assert found is not None
    assert found.rate.bounds[0] > 0.5


def test_the_smallest_detectable_change_is_that_of_the_comparisons_to_come() -> None:
    same = subjects(4, [0, 0])
    ten, thirty = qualified(same), qualified(same, group=30)
    assert ten.smallest_detectable_change == smallest_detectable_change(ten.pair_sd, 10)
    assert thirty.smallest_detectable_change < ten.smallest_detectable_change
    assert ten.invocations_for(thirty.smallest_detectable_change) == 30


def test_four_subjects_make_two_pairs_and_a_third_is_left_over() -> None:
    four = subjects(5, [0, 0, 0, 0])
    assert qualified(four).invocations == 400
    assert qualified(four[:3]).invocations == 200


def test_the_layouts_spread_is_found_apart_from_the_noise() -> None:
    random = np.random.default_rng(6)
    spreads = []
    for seed in range(30):
        layouts = subjects(seed, random.normal(0, LAYOUT, 5).tolist())
        found = qualified(layouts[:2], layouts)
        assert found.layout_sd is not None
        spreads.append(found.layout_sd)
    assert np.sqrt(np.mean(np.square(spreads))) == pytest.approx(LAYOUT, rel=0.2)


def test_relinks_that_differ_by_noise_alone_have_no_layout_to_speak_of() -> None:
    floors = []
    for seed in range(20):
        found = qualified(subjects(seed, [0, 0]), subjects(seed + 100, [0] * 5))
        assert found.layout_floor is not None
        floors.append(found.layout_floor)
    assert np.median(floors) < 0.001
    assert 0.0 in floors


def test_the_floor_is_what_two_builds_differ_by_at_most_in_95_of_100_pairs() -> None:
    found = qualified(subjects(7, [0, 0]), subjects(8, [-0.01, 0, 0.01]))
    assert found.layout_sd is not None
    assert found.layout_floor == pytest.approx(np.exp(1.96 * np.sqrt(2) * found.layout_sd) - 1)
    assert found.cannot_resolve_below > 0.02
    assert found.cannot_resolve_below == found.layout_floor


def test_without_a_floor_the_smallest_detectable_change_is_the_limit() -> None:
    found = qualified(subjects(9, [0, 0]))
    assert found.cannot_resolve_below == found.smallest_detectable_change


@pytest.mark.parametrize("relinks", [0, 1, 2])
def test_fewer_than_three_relinks_tell_no_layout(relinks: int) -> None:
    found = qualified(subjects(10, [0, 0]), subjects(11, [0, 0.01, 0.02])[:relinks])
    assert (found.relinks, found.layout_sd, found.layout_floor) == (relinks, None, None)


def test_a_relink_without_numbers_does_not_count() -> None:
    layouts = subjects(12, [0, 0.01, -0.01])
    assert qualified(layouts[:2], [*layouts, {}]).relinks == 3
    assert qualified(layouts[:2], [*layouts[:2], {}]).layout_floor is None


def test_relinks_that_never_met_tell_no_layout() -> None:
    apart = [{f"{name}{key}": value for key, value in subjects(13, [0])[0].items()} for name in "abc"]
    assert qualified(subjects(13, [0, 0]), apart).layout_sd is None


def test_a_pool_too_small_for_two_groups_has_no_false_positive_rate() -> None:
    found = qualified(subjects(14, [0, 0], invocations=15))
    assert found.false_positives is None
    assert found.smallest_detectable_change > 0


@pytest.mark.parametrize(
    "same",
    [
        [],
        subjects(1, [0]),
        subjects(1, [0, 0], invocations=2),
        [{"a": [1.0], "b": [1.0], "c": [1.0]}, {"d": [1.0], "e": [1.0], "f": [1.0]}],
        [{"a": [1.0], "b": [0.0], "c": [1.0]}, {"a": [1.0], "b": [1.0], "c": [1.0]}],
    ],
    ids=["none", "one subject", "two invocations", "never together", "a zero"],
)
def test_what_is_no_aa_run_is_not_judged(same: list[dict[str, list[float]]]) -> None:
    assert qualify_case("case", same, group=10, seed=1) is None
