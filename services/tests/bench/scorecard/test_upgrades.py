"""Upgrades drawn from a pool of invocations that nobody measured."""

from bench.scorecard.peers_pairs import PAIR_TESTS
from bench.scorecard.upgrades import FACTORS, NOMINAL, false_positives, same_kit_table, sentence, slowed_table, upgrades
from tests.bench.scorecard.histories import made_up_pools

POOLS = made_up_pools()


def test_a_kit_upgraded_to_itself_alerts_nobody() -> None:
    found = list(upgrades(POOLS, 10))
    assert [one.confirmed for one in found] == [0] * 10
    assert same_kit_table(found).rows[1].cells[1].text.startswith("0 of 10: 0.0% [0.0%, ")


def test_what_is_slower_alerts_and_is_named() -> None:
    for slowed in FACTORS:
        found = list(upgrades(POOLS, 3, 0.03, slowed))
        assert [one.confirmed for one in found] == [4] * 3
        assert all(one.factors[0] == (slowed.dimension, slowed.value) for one in found)
        shown = slowed_table({(slowed, 0.03): found})
        assert shown.rows[0].cells[-1].text.startswith("3 of 3")
        assert len(shown.rows[0].cells) == len(shown.columns)
        assert f"3 of 3 if {slowed.dimension} {slowed.value} is 1% slower" in sentence(found, {(slowed, 0.01): found})


def test_half_of_the_matrix_has_each_factor() -> None:
    for slowed in FACTORS:
        assert sum(slowed.has(pool.case) for pool in POOLS) == 4


def test_upgrades_are_drawn_alike_each_time() -> None:
    assert list(upgrades(POOLS, 2)) == list(upgrades(POOLS, 2))


def test_batches_taken_for_measurements_see_changes_where_machines_wander() -> None:
    ours, _, pooled, *_ = PAIR_TESTS
    pools = POOLS[:2]
    of_ours = false_positives(ours, pools, 3, apart=True)
    of_pooled = false_positives(pooled, pools, 3, apart=True)
    assert len(of_ours[0]) == len(NOMINAL)
    assert sum(one[0].rejected for one in of_pooled) > 3 * sum(one[0].rejected for one in of_ours)
    assert of_ours[0][0].tests == 3 * (60 // 20)
