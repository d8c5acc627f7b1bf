"""Each metric has an independent program or a reason why not, and the report lists all with what they are beside."""

from pathlib import Path

import pytest

from bench import metrics, report
from bench.__main__ import REPORT, ROOT
from bench.ages import loop_ages
from bench.metrics import BESIDE, ECDSA, HELD, SERVED, TRANSFER, Compared, Program, counted, loop_costs
from bench.turns import medians
from kexbench.domain.samples import Metric
from tests.bench.test_connections import a_turn

TOTALS = {
    "connections": 10,
    "client_allocations": 21_600,
    "server_allocations": 6_270,
    "client_bytes": 2_390,
    "server_bytes": 7_070,
    "client_records": 30,
    "server_records": 60,
    "round_trips": 10,
    "heap_peak_bytes": 178_312,
    "client_allocated_bytes": 1_776_680,
    "server_allocated_bytes": 1_316_260,
    "objects_allocated_bytes": 172_600,
    "kept_bytes": 0,
    "held": HELD,
    "client_held_bytes": 806_576,
    "server_held_bytes": 746_992,
}
AN_AGE = {"young_heap_bytes": 363_008, "old_heap_bytes": 363_008, "growth_bytes": 0}


@pytest.mark.parametrize("metric", Metric)
def test_every_metric_has_a_program_that_exists_or_a_reason(metric: Metric) -> None:
    beside = BESIDE[metric]
    if isinstance(beside, Program):
        assert (ROOT / "workers" / "handshake" / "bench" / beside.source).is_file()
    else:
        assert len(beside.split()) > 5


def test_the_programs_give_the_metrics_that_they_are_named_for() -> None:
    of_loop = {metric for metric, program in BESIDE.items() if program is Program.CONNECTION}
    assert set(loop_costs(a_turn())) == of_loop
    of_counts = {metric for metric, program in BESIDE.items() if program is Program.COUNTS}
    assert set(counted(TOTALS)) == of_counts
    of_ages = {metric for metric, program in BESIDE.items() if program is Program.AGE}
    assert set(loop_ages({"young_cpu_ns": 1, "old_cpu_ns": 2}, AN_AGE)) == of_ages


def test_what_is_held_is_divided_by_the_connections_held_and_the_rest_by_those_made() -> None:
    numbers = counted(TOTALS)
    assert numbers[Metric.SERVER_HELD_BYTES] == 46_687
    assert numbers[Metric.CLIENT_HELD_BYTES] == 50_411
    assert numbers[Metric.HEAP_PEAK_BYTES] == 178_312
    assert numbers[Metric.SERVER_BYTES] == 707
    assert numbers[Metric.ROUND_TRIPS] == 1
    assert numbers[Metric.ALLOCATED_BYTES] == 309_294


def test_times_of_the_loop_are_those_of_one_connection() -> None:
    costs = loop_costs(a_turn(handshake_ns=300_000, objects_ns=8_000))
    assert costs[Metric.CPU_NS] == 300_000
    assert costs[Metric.CLIENT_CPU_NS] == 75_000
    assert costs[Metric.CONNECTION_CPU_NS] == 308_000
    assert costs[Metric.SERVER_OBJECTS_CPU_NS] == 2_000
    assert costs[Metric.ELAPSED_NS] == 625_000
    assert costs[Metric.WALL_NS] == 375_000
    assert costs[Metric.FIRST_NS] == 600_000


@pytest.mark.parametrize(
    ("metric", "theirs", "ours", "differs"),
    [
        (Metric.SERVER_HELD_BYTES, 46_687, 747_680, True),
        (Metric.SERVER_HELD_BYTES, 46_687, 46_798, False),
        (Metric.SERVER_RECORDS, 6, 6.1, True),
        (Metric.SERVER_BYTES, 707.2, 707, False),
        (Metric.CLIENT_COUNTED_INSTRUCTIONS, 4_479_304, 4_340_004, True),
        (Metric.CPU_NS, 100, 300, False),
        (Metric.OLD_HEAP_BYTES, 363_008, 366_184, False),
        (Metric.OLD_HEAP_BYTES, 363_008, 371_000, True),
        (Metric.GROWTH_BYTES, 0, 0, False),
        (Metric.GROWTH_BYTES, 0, 24, True),
        (Metric.GROWTH_BYTES, 1020.9, 1024, False),
        (Metric.GROWTH_BYTES, 1020.9, 1048, True),
    ],
)
def test_a_number_that_no_machine_explains_may_not_differ(
    metric: Metric, theirs: float, ours: float, differs: bool
) -> None:
    assert Compared(metric, ECDSA, *medians([(theirs, ours)])).differs == differs


def test_a_ratio_is_of_turns() -> None:
    """The machine was twice as fast in the second turn."""
    assert medians([(100, 102), (50, 51), (100, 102)]) == pytest.approx((100, 102, 1.02))
    assert medians([(100, 51), (50, 51)]).ratio == pytest.approx((0.51 + 1.02) / 2)
    assert medians([(0, 0)]).ratio == 1
    assert medians([(0, 1)]).ratio == float("inf")


def test_the_table_lists_every_metric_with_its_program_both_numbers_with_units_and_the_ratio() -> None:
    table = report.metrics_table(
        [
            Compared(Metric.SERVER_HELD_BYTES, ECDSA, *medians([(46_687, 46_798)])),
            Compared(Metric.HANDSHAKE_P50_NS, SERVED, *medians([(1_500_000, 1_530_000)])),
            Compared(Metric.SERVER_TRANSFER_CPU_NS, TRANSFER, *medians([(8_000, 8_100)])),
        ],
        load=1.2,
    )
    assert table.startswith("Load average at the end: 1.")
    assert "plain_counts.c | 46,687 bytes | 46,798 bytes | 1.002 |" in table
    assert "plain_client.c | 1,500.0 µs | 1,530.0 µs | 1.020 |" in table
    assert "plain_connection.c | 8.0 µs | 8.1 µs | 1.012 |" in table
    assert f"| `client_cycles` |  | none: {metrics.NO_OTHER} |" in table


@pytest.mark.parametrize("metric", Metric)
def test_the_page_has_a_row_of_every_metric(metric: Metric) -> None:
    page = Path(REPORT).read_text(encoding="utf-8").partition("## Every metric beside")[2].partition("\n## ")[0]
    rows = [line for line in page.splitlines() if line.startswith(f"| `{metric}` |")]
    assert rows
    assert all(str(BESIDE[metric]) in row for row in rows)
