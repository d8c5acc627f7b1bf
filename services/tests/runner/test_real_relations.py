"""What must hold between the real libraries' own numbers, whatever the machine: relations, no figures."""

import numpy as np
import pytest

from kexbench.domain.cases import Case
from kexbench.domain.samples import Invocation, Metric
from kexbench.runner.records import Examined, Record
from kexbench.runner.worker import Worker
from tests.runner.real import GNUTLS, OPENSSL, MeasureReal, a_case, measure_real, real_kits, real_servers, values

__all__ = ["measure_real", "real_kits", "real_servers"]
pytestmark = [
    pytest.mark.real,
    pytest.mark.parametrize("subject", [OPENSSL, GNUTLS]),
]
TLS_1_2 = a_case("TLSv1.2", "ECDHE-RSA", group="P-256")
TLS_1_3 = a_case("TLSv1.3", "ECDHE-RSA", group="P-256")
EARLY = {"resumption": "psk-dhe", "early_data_bytes": 1024, "anti_replay": True}


def varied(case: Case, **more: object) -> Case:
    return Case.model_validate(case.model_dump() | more)


def clean(invocation: Invocation) -> Invocation:
    assert invocation.outcomes == ()
    return invocation


def least(invocation: Invocation, subject: str, metric: Metric) -> float:
    """Of all batches: what else the machine does can only add to it."""
    return min(values(invocation, subject, metric))


def test_a_ticket_costs_much_less_than_the_handshake_that_it_replaces(subject: str, measure_real: MeasureReal) -> None:
    full = clean(measure_real(TLS_1_2, subject))
    resumed = clean(measure_real(varied(TLS_1_2, resumption="ticket"), subject))
    assert resumed.negotiated[subject].resumed
    for metric in (Metric.CPU_NS, Metric.SERVER_BYTES):
        assert least(resumed, subject, metric) < 0.7 * least(full, subject, metric), metric


def test_early_data_is_accepted_once_each_and_saves_the_signature_and_the_round_trip(
    subject: str, measure_real: MeasureReal
) -> None:
    full = clean(measure_real(TLS_1_3, subject))
    early = clean(measure_real(varied(TLS_1_3, **EARLY), subject))
    negotiated = early.negotiated[subject]
    assert (negotiated.resumed, negotiated.early_data_bytes) == (True, 1024)
    assert least(early, subject, Metric.CPU_NS) < 0.9 * least(full, subject, Metric.CPU_NS)
    assert least(early, subject, Metric.CLIENT_BYTES) > least(full, subject, Metric.CLIENT_BYTES) + 1024
    assert values(early, subject, Metric.ROUND_TRIPS) == (0,)
    assert values(full, subject, Metric.ROUND_TRIPS) == (1,)


def test_two_threads_do_the_same_handshakes_and_no_more_than_twice_as_many(
    subject: str, measure_real: MeasureReal
) -> None:
    alone = clean(measure_real(TLS_1_3, subject))
    both = clean(measure_real(varied(TLS_1_3, threads=2), subject))
    again = clean(measure_real(TLS_1_3, subject))  # the machine may have been slower at first
    for metric in (Metric.CLIENT_BYTES, Metric.SERVER_BYTES):
        assert least(both, subject, metric) == pytest.approx(least(alone, subject, metric), rel=0.02)
    of_one = min(least(one, subject, Metric.CPU_NS) for one in (alone, again))
    assert 0.3 < least(both, subject, Metric.CPU_NS) / of_one < 5
    # Together they are done with a handshake in half the time that it takes each of them, or later where they wait.
    spent = zip(*(values(both, subject, metric) for metric in (Metric.ELAPSED_NS, Metric.CPU_NS)), strict=True)
    assert all(2 * elapsed_ns > 0.7 * cpu_ns for elapsed_ns, cpu_ns in spent)
    assert values(alone, subject, Metric.THROUGHPUT_SPREAD_PPM) == ()
    # Exported batches tell how much they vary: wall time is null where other programs disturbed one.
    clear = np.array(values(both, subject, Metric.WALL_NS))
    costs = np.array(values(both, subject, Metric.ELAPSED_NS))[~np.isnan(clear)] if len(clear) else np.array([])
    stored = values(both, subject, Metric.THROUGHPUT_SPREAD_PPM)
    assert len(stored) == (len(costs) >= 5)
    if stored:
        deviations = np.abs(np.log(costs / np.median(costs)))
        assert stored == pytest.approx((1e6 * np.sqrt(np.pi / 2) * deviations.mean(),), rel=0.01)


def test_the_untimed_pass_counts_records_round_trips_and_the_heap(subject: str, measure_real: MeasureReal) -> None:
    older, newer = clean(measure_real(TLS_1_2, subject)), clean(measure_real(TLS_1_3, subject))
    assert values(older, subject, Metric.ROUND_TRIPS) == (2,)
    assert values(newer, subject, Metric.ROUND_TRIPS) == (1,)
    for invocation in (older, newer):
        for metric in (Metric.CLIENT_RECORDS, Metric.SERVER_RECORDS):
            (records,) = values(invocation, subject, metric)
            assert 2 <= records <= 20, metric
        for metric in (Metric.CLIENT_ALLOCATIONS, Metric.SERVER_ALLOCATIONS):
            (allocations,) = values(invocation, subject, metric)
            assert allocations > 10, metric
        (peak,), (client,), (server,) = (
            values(invocation, subject, metric)
            for metric in (Metric.HEAP_PEAK_BYTES, Metric.CLIENT_HELD_BYTES, Metric.SERVER_HELD_BYTES)
        )
        assert min(client, server) > 1000
        assert client + server <= peak, "an open connection holds what its handshake left of its peak"


def test_an_open_connection_holds_what_the_worker_counted_by_the_connections_that_it_held(
    subject: str, measure_real: MeasureReal, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Examined] = []
    receive = Worker.receive

    def listening(worker: Worker, timeout_s: float) -> Record:
        record = receive(worker, timeout_s)
        if isinstance(record, Examined) and record.total(Metric.HEAP_PEAK_BYTES) is not None:
            counted.append(record)
        return record

    monkeypatch.setattr(Worker, "receive", listening)
    invocation = clean(measure_real(TLS_1_3, subject))
    (own,) = counted
    assert own.held_connections > 1
    for metric in (Metric.CLIENT_HELD_BYTES, Metric.SERVER_HELD_BYTES):
        held_bytes = own.total(metric)
        assert held_bytes
        assert values(invocation, subject, metric) == (held_bytes / own.held_connections,)
