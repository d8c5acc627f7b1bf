"""Nightly series out of a pool of invocations."""

from dataclasses import replace

import numpy as np
import pytest

from bench.scorecard.detectors import Detector
from bench.scorecard.pool import AGAIN, PLAIN, STEPS, burned
from bench.scorecard.steps import EDGE, NIGHTS, examine_steps, nights, pool_table, sentence, series_of, table
from tests.bench.scorecard.histories import made_up_pools

POOLS = made_up_pools(30)[:2]


def test_a_night_is_the_median_of_ten_neighbours() -> None:
    invocations = np.arange(40.0)
    found = nights(invocations, 500, np.random.default_rng(1))
    assert set(found) == {start + 4.5 for start in range(31)}


def test_an_invocation_is_relative_to_the_plain_kit_in_its_rounds_and_in_the_order_of_time() -> None:
    plain = {f"job/{number}": [100.0 + number, 50, 100, 400] for number in range(12)}
    again = {key: [1.02 * value for value in values[:3]] + [400.0] for key, values in plain.items()}
    again["job/10"] = [3 * value for value in plain["job/10"]]
    pool = replace(POOLS[0], batches={PLAIN: {"both": plain}, AGAIN: {"both": again}})
    assert pool.nightly(AGAIN) == pytest.approx([1.02] * 10 + [3, 1.02])


def test_a_step_is_where_the_label_says_and_is_of_the_slower_kit() -> None:
    for step, several in series_of(POOLS, 3).items():
        for number, one in enumerate(several):
            assert len(one.values) == NIGHTS
            assert one.null == (step == 0)
            pool = POOLS[number // 3]
            plain = {round(value, 12) for value in _all_nights(pool.nightly(AGAIN))}
            place = one.labels[0].index if one.labels else NIGHTS
            assert {round(value, 12) for value in one.values[:place]} <= plain
            if step:
                assert EDGE <= place < NIGHTS - EDGE
                slower = {round(value, 12) for value in _all_nights(pool.nightly(burned(step)))}
                assert {round(value, 12) for value in one.values[place:]} <= slower


def _all_nights(invocations: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[float]:
    return [float(np.median(invocations[start : start + 10])) for start in range(len(invocations) - 9)]


def test_the_same_pools_give_the_same_series() -> None:
    assert series_of(POOLS, 2) == series_of(POOLS, 2)


def test_who_knows_the_places_is_perfect_and_who_says_nothing_finds_nothing() -> None:
    series = series_of(POOLS, 3)
    known = {one.values: [label.index for label in one.labels] for several in series.values() for one in several}
    knowing = Detector("knowing", lambda values: known.get(tuple(values), []), ours=True)
    silent = Detector("silent", lambda _: [])
    examined = [examine_steps(one, series, 2) for one in (knowing, silent)]
    shown = table(examined)
    rows = [[cell.value for cell in row.cells] for row in shown.rows]
    assert rows[0][1:3] == [1.0, 0.0]
    assert rows[0][3:6] == [1.0] * 3
    assert rows[1][1:6] == [None, 0.0, 0.0, 0.0, 0.0]
    assert all(len(row.cells) == len(shown.columns) for row in shown.rows)
    assert sentence(examined) == (
        "knowing, finds 100% of the steps of 1%, 100% of the steps of 2%, 100% of the steps of 3%, with 0 false alarms "
        "in 309 series-weeks. The best other method by F1, silent, finds 0% of the steps of 1%, 0% of the steps of "
        "2%, 0% of the steps of 3%, with 0 false alarms in 309 series-weeks."
    )


def test_the_pool_measures_what_was_burned() -> None:
    (row, *_) = pool_table(POOLS).rows
    assert [cell.value for cell in row.cells[1:]] == pytest.approx([0, *STEPS], abs=0.002)
