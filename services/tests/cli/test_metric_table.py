"""`runs show --metric` prints what was asked for, in its own unit, with intervals and both ends of a change."""

from typing import cast
from urllib.parse import parse_qs, urlsplit

import pytest

from kexbench.answers.run import RunDetail
from kexbench.cli.report import print_report
from kexbench.client import ApiClient
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric
from tests.cli.test_step_tables import AFTER, BEFORE, CASES, CHANGE, a_cell, a_detail, words

UNITS = {"ns": "46.73 µs ±11.0%", "bytes": "46,730 B ±11.0%", "count": "46,730 ±11.0%", "ppm": "4.673% ±11.0%"}


class StandInApi:
    """Answers with a run of the metric that it is asked for."""

    page = None

    def get(self, _: type, path: str) -> RunDetail:
        metric = Metric(path.partition("?metric=")[2] or Metric.CPU_NS)
        cells = [
            a_cell(CASES[0], BEFORE, 46_730),
            a_cell(CASES[0], AFTER, 41_178, CHANGE),
            a_cell(CASES[1], BEFORE, None),
        ]
        return a_detail(cells, [BEFORE, AFTER]).model_copy(update={"metric": metric})


def printed(metric: Metric | None, capsys: pytest.CaptureFixture[str]) -> str:
    print_report(cast(ApiClient, StandInApi()), "a-run", metric)
    return words(capsys.readouterr().out.splitlines())


@pytest.mark.parametrize("metric", Metric)
def test_every_metric_is_printed_with_its_title_and_unit_and_no_rate(
    metric: Metric, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(metric, capsys)
    assert metric.row.title in text
    assert UNITS[metric.unit] in text
    assert "/s" not in text
    assert "CPU-second" not in text
    assert "from gnutls 3.7.9: −11.88% [−12.86%, −10.89%] less" in text
    assert "gnutls 3.7.9: unsupported: no such group" in text


def test_every_host_kind_of_a_run_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = [HostKind(pool=pool, cpu_model="Example CPU, microcode 0x1 & more") for pool in ("pool-a", "pool-b")]

    class OfTwoPools:
        page = None

        def get(self, _: type, path: str) -> RunDetail:
            asked = parse_qs(urlsplit(path).query)
            kind = kinds[0] if "pool" not in asked else HostKind(asked["pool"][0], asked["cpu_model"][0])
            cells = [a_cell(CASES[0], BEFORE, {"pool-a": 40_000, "pool-b": 50_000}[kind.pool])]
            return a_detail(cells, [BEFORE]).model_copy(update={"host_kind": kind, "host_kinds": kinds})

    for metric in (None, Metric.CPU_NS):
        print_report(cast(ApiClient, OfTwoPools()), "a-run", metric)
        text = words(capsys.readouterr().out.splitlines())
        assert [text.count(f"microcode 0x1 & more, {pool}") for pool in ("pool pool-a", "pool pool-b")] == [1, 1]
        assert all(number in text for number in (("25,000", "20,000") if metric is None else ("40 µs", "50 µs")))


def test_without_a_metric_times_are_rates(capsys: pytest.CaptureFixture[str]) -> None:
    assert "21,400/s → 24,285/s" in printed(None, capsys)
