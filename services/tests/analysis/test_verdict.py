"""A matrix judged as a whole: planted moves are found with their size, nothing else is."""

import gc

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kexbench.analysis.compared import CellData
from kexbench.analysis.detectable import smallest_detectable_change
from kexbench.analysis.estimates import compare
from kexbench.analysis.moves import Alike, LogMove, Pair, Sample, _Kind, moderated, moves
from kexbench.analysis.rounds import Batches
from kexbench.analysis.sides import moved_side
from kexbench.analysis.verdict import ONE_JOB, exact_verdict, judge, verdict_of
from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Ratio
from kexbench.domain.metrics import Exact, Metric
from kexbench.domain.spreads import spread_of
from kexbench.domain.upgrades import Side, UpgradeCell
from kexbench.domain.verdicts import RELEVANT
from tests.analysis.matrices import MATRIX, a_cell, a_matrix


def rsa_signs(case: Case) -> tuple[float, float]:
    return (0.1 if case.rsa_bits and case.resumption == "none" else 0.0), 0.0


def verdicts(judged: tuple[UpgradeCell, ...]) -> list[str]:
    return [cell.verdict for cell in judged]


def test_planted_moves_are_found_with_their_size_and_side_and_nothing_else_is() -> None:
    judged = judge(a_matrix(rsa_signs, invocations=20))
    assert [cell.case_id for cell in judged] == [case.case_id for case in MATRIX]
    assert verdicts(judged)[:4] == ["more"] * 4
    assert not {"more", "less"} & set(verdicts(judged)[4:])
    for cell in judged[:4]:
        assert cell.move is not None
        assert cell.move.low < 1.06 < cell.move.high
        assert cell.server is not None
        assert cell.server.ratio == pytest.approx(1.1, abs=0.01)
        assert moved_side(cell.client, cell.server) == "server"
        assert cell.paired
        assert cell.q is not None
        assert cell.q < 0.001


def varying(draw: np.random.Generator, spreads: tuple[float, float], batches: int, tails: float) -> CellData:
    """Six invocations of two threads: how much so many batches vary, in parts of a million."""
    shape = (6, batches)
    sides: list[dict[Side, Batches]] = [
        {
            "both": {
                f"run/{number % 2}/{number}": [1e6 * spread_of(costs)]
                for number, costs in enumerate(np.exp(spread * draw.standard_t(tails, shape)))
            }
        }
        for spread in spreads
    ]
    before, after = sides
    case = MATRIX[0].model_copy(update={"threads": 2})
    return CellData(
        case, HostKind("local", "x"), before, after, ("run",), (), False, metric=Metric.THROUGHPUT_SPREAD_PPM
    )


@pytest.mark.parametrize("batches", [10, 20])
@pytest.mark.parametrize("tails", [3, 1000])
def test_equal_variation_from_batch_to_batch_is_told_apart_no_more_often_than_stated(
    batches: int, tails: float
) -> None:
    draw = np.random.default_rng(3)
    cells = [judge([varying(draw, (0.02, 0.02), batches, tails)])[0] for _ in range(600)]
    assert np.mean([cell.q <= 0.05 for cell in cells if cell.q is not None]) < 0.075
    assert sum(cell.verdict in ("more", "less") for cell in cells) <= 6


def test_variation_of_ten_percent_is_told_from_two_and_a_third_more_does_not_count() -> None:
    draw = np.random.default_rng(4)
    larger = judge([varying(draw, (0.02, 0.1), 20, 1000) for _ in range(8)])
    assert verdicts(larger) == ["more"] * 8
    assert all(cell.move and cell.move.low < 5 < cell.move.high for cell in larger[:4])
    assert verdicts(judge([varying(draw, (0.1, 0.02), 40, 1000) for _ in range(8)])) == ["less"] * 8
    slightly = judge([varying(draw, (0.02, 0.027), 4000, 1000) for _ in range(8)])
    assert verdicts(slightly) == ["same"] * 8, "sure, but below the smallest relevant change of this metric"


def test_less_noise_shows_that_costs_are_the_same() -> None:
    assert set(verdicts(judge(a_matrix(noise=0.001)))) == {"same"}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([1000.0] * 3, [1020.0] * 3, "more"),
        ([1000.0], [1020.0], "more"),
        ([1000.0] * 3, [1009.0] * 3, "same"),
        ([1000.0] * 3, [990.0] * 3, "less"),
        ([1000.0, 1000.0], [1020.0, 1001.0], "unresolved"),
        ([1000.0, 1012.0], [1020.0, 1020.0], "unresolved"),
        ([0.0], [4.0], "more"),
        ([0.0], [3.0], "same"),
        ([4.0], [0.0], "less"),
    ],
)
def test_an_exact_metric_changed_if_all_values_after_differ_from_all_before(
    before: list[float], after: list[float], verdict: str
) -> None:
    """By 1%, and 4 at least."""
    assert exact_verdict(before, after, Exact(relevant=0.01, tolerance=4.0)) == verdict


@given(values=st.lists(st.floats(1, 1e6), min_size=2, max_size=9))
def test_what_varies_as_a_subject_varies_with_itself_is_no_change(values: list[float]) -> None:
    assert exact_verdict(values, values[::-1], Exact(relevant=0.0, tolerance=0.5)) in ("same", "unresolved")


def test_what_is_cheaper_is_less() -> None:
    assert verdicts(judge(a_matrix(lambda _: (-0.1, -0.1)))) == ["less"] * len(MATRIX)


def test_a_move_below_what_is_relevant_is_none_however_sure() -> None:
    cells = a_matrix(lambda _: (0.008, 0.008), noise=0.0005)
    assert set(verdicts(judge(cells))) == {"more"}
    assert set(verdicts(judge(cells, relevant=0.02))) == {"same"}


def test_a_move_below_the_layout_floor_is_not_called_one() -> None:
    random = np.random.default_rng(1)
    cells = [
        a_cell(case, random, server=0.03, client=0.03, noise=0.001, floor=floor)
        for case in MATRIX
        for floor in (0, 0.05)
    ]
    judged = judge(cells)
    assert verdicts(judged) == ["more", "unresolved"] * len(MATRIX)
    assert {cell.resolves for cell in judged[1::2]} == {0.05}


@pytest.mark.parametrize(
    ("centre", "error", "word"),
    [
        (0.02, 0.002, "more"),
        (-0.02, 0.002, "less"),
        (0.0047, 0.0001, "same"),
        (0.0049, 0.0001, "unresolved"),
        (0.0051, 0.0001, "more"),
        (-0.0051, 0.0001, "less"),
        (0.0051, 0.0017, "unresolved"),
        (0.003, 0.0009, "same"),
        (0.003, 0.0011, "unresolved"),
        (0.2, 0.15, "unresolved"),
        (0.0, 0.0, "same"),
        (0.02, 0.0, "more"),
    ],
)
def test_a_verdict_needs_both_surety_and_size(centre: float, error: float, word: str) -> None:
    """Of many invocations, so that an interval is two errors wide to each side and 3.4 are detected."""
    move = LogMove(centre, error, 1e6, 1e6)
    assert verdict_of(move, move.chance, 3.42 * error, RELEVANT) == word


def test_what_is_unlike_is_shown_and_never_judged() -> None:
    random = np.random.default_rng(1)
    cells = [a_cell(case, random, server=0.5, client=0.5, unlike=place == 0) for place, case in enumerate(MATRIX)]
    judged = judge(cells)
    assert verdicts(judged) == ["unlike"] + ["more"] * 7
    assert (judged[0].move, judged[0].server, judged[0].q, judged[0].resolves) == (None, None, None, None)
    assert judged[0].before_ns == pytest.approx(1000, rel=0.2)
    assert judged[1:] == judge(cells[1:])


@pytest.mark.parametrize("paired", [True, False])
def test_a_cell_alone_has_the_interval_of_every_other_comparison(paired: bool) -> None:
    cell = a_cell(MATRIX[0], np.random.default_rng(1), server=0.02, jobs=1, paired=paired)
    expected, found = compare(cell.after["both"], cell.before["both"]), judge([cell])[0]
    assert expected is not None
    assert found.move is not None
    assert (found.move.ratio, found.move.low, found.move.high) == pytest.approx(
        (expected.ratio, expected.low, expected.high)
    )
    assert found.paired is paired


def test_a_cell_alone_resolves_what_as_many_invocations_of_its_noise_detect() -> None:
    cell = a_cell(MATRIX[0], np.random.default_rng(1), invocations=30, noise=0.01, jobs=1)
    # Two sides of 600 and 400, each with 1% noise, in two versions: sqrt(0.6^2 + 0.4^2) sqrt(2) % a pair.
    expected = smallest_detectable_change(0.01 * np.sqrt(0.52 * 2), 30)
    assert judge([cell])[0].resolves == pytest.approx(expected, rel=0.3)


def test_a_matrix_resolves_more_than_its_cells_alone() -> None:
    cells = a_matrix(invocations=3)
    alone = [judge([cell])[0].resolves or 0.0 for cell in cells]
    together = [cell.resolves or 0.0 for cell in judge(cells)]
    assert np.median(together) < np.median(alone) / 2


@pytest.mark.parametrize("invocations", [0, 1, 2])
def test_fewer_than_three_invocations_say_nothing(invocations: int) -> None:
    random = np.random.default_rng(1)
    cells = [a_cell(MATRIX[0], random, invocations=invocations), *a_matrix()]
    found = judge(cells)[0]
    assert (found.verdict, found.move, found.q, found.resolves) == ("unresolved", None, None, None)
    assert found.invocations == invocations
    assert (found.before_ns is None) is (invocations == 0)


def test_a_side_that_nobody_measured_has_no_move() -> None:
    cell = a_cell(MATRIX[0], np.random.default_rng(1))
    found = judge([type(cell)(**{**vars(cell), "before": {"both": cell.before["both"]}})])[0]
    assert found.move is not None
    assert (found.client, found.server) == (None, None)


def test_one_job_is_named_and_two_are_not() -> None:
    random = np.random.default_rng(1)
    one, two = judge([a_cell(MATRIX[0], random, jobs=1), a_cell(MATRIX[1], random, jobs=2)])
    assert (one.warnings, two.warnings) == ((ONE_JOB,), ())


def test_a_noisy_host_kind_does_not_blur_a_quiet_one() -> None:
    random = np.random.default_rng(1)
    quiet = [a_cell(case, random) for case in MATRIX]
    noisy = [a_cell(case, random, noise=0.1, pool="noisy") for case in MATRIX]
    assert [cell.move for cell in judge([*quiet, *noisy])[:8]] == [cell.move for cell in judge(quiet)]


def test_no_cells_are_no_trouble() -> None:
    assert judge([]) == ()


def test_no_noise_is_no_trouble() -> None:
    def constant(cost: float) -> dict[str, list[float]]:
        return {f"run/{number % 2}/{number}": [cost] * 3 for number in range(5)}

    cell = a_cell(MATRIX[0], np.random.default_rng(1))
    cells = [
        type(cell)(**{**vars(cell), "before": {"both": constant(100)}, "after": {"both": constant(after)}})
        for after in (100, 100, 100, 103)
    ]
    judged = judge(cells)
    assert verdicts(judged) == ["same", "same", "same", "more"]
    assert judged[3].move is not None
    assert (judged[3].move.low, judged[3].move.high) == pytest.approx((1.03, 1.03))


@settings(max_examples=20)
@given(st.floats(0.001, 1000), st.integers(0, 100))
def test_the_unit_of_the_costs_does_not_matter(scale: float, seed: int) -> None:
    cells = a_matrix(rsa_signs, seed=seed, invocations=5)
    scaled = [
        type(cell)(
            **{
                **vars(cell),
                **{
                    version: {
                        side: {key: [value * scale for value in values] for key, values in batches.items()}
                        for side, batches in getattr(cell, version).items()
                    }
                    for version in ("before", "after")
                },
            }
        )
        for cell in cells
    ]
    for before, after in zip(judge(cells), judge(scaled), strict=True):
        assert before.move is not None
        assert after.move is not None
        assert vars(after.move) == pytest.approx(vars(before.move), rel=1e-4)


def missed(samples: list[Sample]) -> list[bool]:
    return [move.chance < 0.05 for move in moderated(samples)]


@pytest.mark.parametrize("heavy", [False, True], ids=["normal", "heavy"])
@pytest.mark.parametrize(("count", "cells"), [(3, 8), (10, 1), (10, 40)])
def test_intervals_hold_the_truth_about_as_often_as_they_claim(heavy: bool, count: int, cells: int) -> None:
    """1200 cells: their share has a standard error of 0.6%. `python -m bench.comparison` has more of them."""
    random = np.random.default_rng(7)
    wrong: list[bool] = []
    for _ in range(1200 // cells):
        logs = random.standard_t(4, (cells, count)) if heavy else random.standard_normal((cells, count))
        wrong += missed([Sample(one, ("",) * count, trimmed=True) for one in logs])
    assert 0.02 < np.mean(wrong) < 0.08


@pytest.mark.parametrize("jobs", [2, 5])
def test_what_jobs_differ_by_is_in_the_interval(jobs: int) -> None:
    """Jobs differ by as much as invocations do. Without the jobs' part ten invocations in two jobs are wrong in 40%."""
    random = np.random.default_rng(8)
    names = tuple(str(number % jobs) for number in range(10))
    wrong: list[bool] = []
    for _ in range(30):
        logs = random.standard_normal((40, 10)) + random.standard_normal((40, jobs))[:, np.arange(10) % jobs]
        wrong += missed([Sample(one, names, trimmed=True) for one in logs])
    assert np.mean(wrong) < 0.10


def test_lists_that_are_not_paired_worked_by_hand() -> None:
    """Both have variance 1, so the error is the root of 2/3. The interval has 8 degrees of freedom: 2.30600 times
    0.81650. The test has the 4 of Satterthwaite, whose two tails beyond 5 / 0.81650 hold 0.3602%."""
    samples = (Sample(np.array(logs), ("", "", ""), trimmed=False) for logs in ([-1.0, 0, 1], [4.0, 5, 6]))
    move = moves({0: Pair(tuple(samples))}, {0: None})[0]
    assert (move.centre, *move.bounds()) == pytest.approx((5, 5 - 1.88284, 5 + 1.88284), abs=1e-4)
    assert move.chance == pytest.approx(0.003602, abs=1e-6)


@example([[-0.0731880640426498] * 5 + [0.05]])
@given(st.lists(st.lists(st.floats(-0.1, 0.1), min_size=6, max_size=6), min_size=1, max_size=8))
def test_jobs_never_make_an_interval_shorter(matrix: list[list[float]]) -> None:
    def reaches(names: tuple[str, ...]) -> list[float]:
        found: list[LogMove] = moderated([Sample(np.array(logs), names, trimmed=True) for logs in matrix])
        return [high - low for low, high in (move.bounds() for move in found)]

    for one, two in zip(reaches(("a",) * 6), reaches(("a", "b") * 3), strict=True):
        assert two >= one * (1 - 1e-9)


def test_one_wild_invocation_in_ten_hardly_moves_a_cell_of_a_matrix() -> None:
    random = np.random.default_rng(9)
    calm = random.normal(0, 0.01, (20, 10))
    wild = calm.copy()
    wild[0, 0] = 5.0
    names = ("",) * 10
    without, found = (moderated([Sample(one, names, trimmed=True) for one in logs])[0] for logs in (calm, wild))
    assert found.centre == pytest.approx(without.centre, abs=0.006)
    assert found.error < 2 * without.error


@pytest.mark.parametrize(
    ("client", "server", "side"),
    [
        ((1.0, 0.99, 1.01), (1.1, 1.09, 1.11), "server"),
        ((1.1, 1.09, 1.11), (1.0, 0.99, 1.01), "client"),
        ((1.1, 1.09, 1.11), (1.1, 1.09, 1.11), "both"),
        ((1.01, 1.009, 1.011), (1.1, 1.09, 1.11), "server"),
        ((1.003, 1.002, 1.004), (1.004, 1.003, 1.005), "both"),
        (None, (1.1, 1.09, 1.11), "both"),
    ],
)
def test_a_side_moved_where_the_other_did_not(
    client: tuple[float, float, float] | None, server: tuple[float, float, float], side: str
) -> None:
    moves = [None if one is None else Ratio(ratio=one[0], low=one[1], high=one[2]) for one in (client, server)]
    assert moved_side(*moves) == side


def test_an_outlier_is_drawn_in_and_what_is_left_is_scaled_by_the_share_of_all_that_is_kept() -> None:
    """By hand: around the median of 1 lie -1, 0 and 9, of which 9 counts as 2: 1 + (1 / 3) / 0.8."""
    samples = Alike(np.array([[0.0, 1.0, 10.0]] * 2), trimmed=True)
    assert samples.within(np.array([2, 20])).tolist() == pytest.approx([2 / 3, 1])
    assert samples.cut_at(np.array([2, 20]), 0.8)[0].centre == pytest.approx(1 + 1 / 3 / 0.8)
    assert samples.cut_at(np.array([2, 20]), 1)[1].centre == pytest.approx(11 / 3), "the mean where nothing lies beyond"


def test_each_side_has_a_verdict_of_its_own_by_the_rule_of_both_together() -> None:
    judged = judge(a_matrix(rsa_signs, invocations=20, noise=0.002))
    for cell in judged:
        assert cell.client is not None
        assert cell.server is not None
        assert cell.client.verdict == "same"
        assert cell.client.low <= cell.client.ratio <= cell.client.high
        assert cell.server.verdict == cell.verdict
    assert verdicts(judged) == ["more"] * 4 + ["same"] * 4


def test_a_side_that_cannot_be_distinguished_from_no_change_says_so_whatever_it_seems_to_be() -> None:
    random = np.random.default_rng(3)
    (judged,) = judge([a_cell(MATRIX[0], random, server=0.0, client=0.0, noise=0.15, invocations=6)])
    assert judged.client is not None
    assert abs(judged.client.ratio - 1) > 0.01
    assert judged.client.verdict == "unresolved"


def test_moves_that_are_remembered_hold_no_samples() -> None:
    """They would be most of it: each new result makes another entry of all cells of its kind."""
    samples = [Sample(np.array([0.1, 0.2, 0.3 + place]), ("one", "one", "two"), trimmed=True) for place in range(3)]
    kind = _Kind(samples)
    assert moderated(samples) == moderated(samples)
    (remembered,) = [
        found for found in gc.get_objects() if isinstance(found, _Kind) and found == kind and found is not kind
    ]
    assert remembered.samples == ()
    others = [Sample(samples[0].logs, ("one", "two", "two"), trimmed=True), *samples[1:]]
    assert _Kind(others) != kind
