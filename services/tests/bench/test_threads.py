"""The worker's threads beside those of an independent loop: what is compared, what counts, and when they agree."""

import subprocess
from math import log, pi, sqrt
from pathlib import Path
from statistics import fmean, stdev

import pytest

from bench import report
from bench.machine import BenchError
from bench.threads import SUBJECTS, Round, Together, case_of, cases_of, thread_counts, together
from kexbench.domain.possible import impossible
from tests.runner.conftest import a_batch

WORKER = Path(__file__).parents[3] / "workers" / "handshake"
TWO = case_of(2)


def a_round(ratio: float, **others: int) -> Round:
    """Ten handshakes in a millisecond, and four of one thread alone in 0.7 ms."""
    usual = {"handshakes": 10, "elapsed_ns": 1_000_000, "thread_cpu_ns": 1_900_000}
    alone = {"alone_handshakes": 4, "alone_elapsed_ns": 700_000}
    return Round(a_batch(**usual | alone | others), 10_000 / ratio)


def test_one_thread_to_as_many_as_there_are_cpus() -> None:
    assert thread_counts(1) == [1]
    assert thread_counts(2) == [1, 2]
    assert thread_counts(12) == [1, 2, 4, 8, 12]
    assert thread_counts(16) == [1, 2, 4, 8, 16]
    assert case_of(4).threads == 4


def test_every_way_to_share_a_context_is_compared_where_the_library_has_it() -> None:
    shared = [(1, "shared"), (2, "shared"), (4, "pool")]
    assert [(case.threads, case.context) for case in cases_of(SUBJECTS[0], 2)] == shared
    assert [(case.threads, case.context) for case in cases_of(SUBJECTS[1], 2)] == [*shared, (2, "library")]
    assert all(impossible(case) is None for case in cases_of(SUBJECTS[1], 16))


def test_rates_are_compared_round_by_round_and_the_efficiency_has_its_own_base() -> None:
    found = together("openssl@x", "3", TWO, [[a_round(0.99), a_round(1.01), a_round(1.0)]] * 6)
    assert found.worker_rate == pytest.approx(10_000)
    assert (found.ratio.value, found.ratio.low, found.ratio.high) == pytest.approx((1, 1, 1))
    assert found.efficiency == pytest.approx(10_000 / (2 * 4 / 0.0007))
    assert found.agrees


def test_a_base_that_other_programs_disturbed_gives_no_efficiency() -> None:
    disturbed = a_round(1.0, alone_elapsed_ns=1_400_000, alone_others_ns=700_000)
    found = together("openssl@x", "3", TWO, [[a_round(1.0), disturbed, disturbed]] * 6)
    assert (found.rounds, found.disturbed) == (18, 0)
    assert found.efficiency == pytest.approx(10_000 / (2 * 4 / 0.0007))


@pytest.mark.parametrize(("ratio", "agrees"), [(0.96, False), (0.98, True), (1.02, True), (1.04, False)])
def test_three_percent_is_the_limit(ratio: float, agrees: bool) -> None:
    assert together("openssl@x", "3", TWO, [[a_round(ratio)]] * 6).agrees is agrees


def test_an_interval_that_reaches_into_the_limit_is_no_disagreement() -> None:
    assert together(
        "openssl@x", "3", TWO, [[a_round(ratio)] for ratio in (0.95, 0.95, 0.955, 0.955, 0.96, 0.98)]
    ).agrees


def test_the_worker_varies_as_kexbench_stores_it_and_the_loop_by_a_standard_deviation() -> None:
    changing = [
        a_round(ratio, elapsed_ns=ns) for ratio, ns in zip((0.8, 1, 1.25, 1, 1), (9, 10, 10, 10, 9), strict=True)
    ]
    found = together("openssl@x", "3", TWO, [changing, changing, changing[:4]])
    assert found.worker_spread == pytest.approx(sqrt(pi / 2) * 2 / 5 * log(10 / 9))
    rates = (12_500, 10_000, 8_000, 10_000, 10_000)
    assert found.loop_spread == pytest.approx(stdev(rates) / fmean(rates))
    few = together("openssl@x", "3", TWO, [changing[:4]])
    assert (few.worker_spread, few.loop_spread) == (None, None)


def test_rounds_in_which_other_programs_ran_are_left_out() -> None:
    disturbed = a_round(0.5, others_ns=20_000)
    found = together("openssl@x", "3", TWO, [[a_round(1.0), disturbed], [disturbed]])
    assert (found.rounds, found.disturbed) == (1, 2)
    assert found.ratio.value == pytest.approx(1)
    with pytest.raises(BenchError, match="other programs ran in every round; this machine is too busy"):
        together("openssl@x", "3", TWO, [[disturbed]])


def test_the_table_names_both_ends_and_counts_what_agrees() -> None:
    results: list[Together] = [
        together("openssl@debian/trixie", "3.5.9", TWO, [[a_round(ratio)]] * 6) for ratio in (1.01, 0.9)
    ]
    text = report.threads_table(results)
    assert text.startswith("1 of 2 agree within 3%. 0 more have an interval that reaches into 3%, 1 do not agree.")
    row = [cell.strip() for cell in text.splitlines()[4].split("|")[1:-1]]
    assert row == [
        "debian/trixie 3.5.9",
        "2",
        "shared",
        "9,901/s",
        "10,000/s",
        "+1.0% [+1.0%, +1.0%]",
        "87.5%",
        "–",
        "–",
        "6",
        "0",
    ]


def test_the_loop_counts_the_handshakes_of_all_its_threads(tmp_path: Path) -> None:
    """Whether they are as fast as the worker's is measured by `make bench` on an idle machine."""
    build = ["make", "-s", "-C", str(WORKER), f"BUILD={tmp_path}", "plain-threads"]
    if subprocess.run(build, capture_output=True, check=False).returncode:
        pytest.skip("OpenSSL's headers are not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    named = ["-keyout", str(key), "-out", str(certificate), "-subj", "/CN=kexbench.invalid"]
    subprocess.run([*request, *named], capture_output=True, check=True)
    for context in ("shared", "pool", "library"):
        words: list[str | Path] = [tmp_path / "plain_threads", certificate, key, "3", context]
        answer = subprocess.run(words, input="1000000\n", capture_output=True, text=True, check=True)
        handshakes, rate = answer.stdout.split()
        assert int(handshakes) >= 3
        assert float(rate) > 0
    wrong: list[str | Path] = [tmp_path / "plain_threads", certificate, key, "3", "shared", "0"]
    answer = subprocess.run(wrong, capture_output=True, text=True, check=False)
    assert (answer.returncode, "usage: plain_threads" in answer.stderr) == (1, True)
