"""What must hold between the real libraries' own numbers, whatever the machine: relations, no figures."""

from statistics import median

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.samples import Invocation, Metric
from tests.runner.real import GNUTLS, OPENSSL, MeasureReal, a_case, measure_real, values

__all__ = ["measure_real"]
pytestmark = [
    pytest.mark.real,
    pytest.mark.xdist_group("real"),
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


def typical(invocation: Invocation, subject: str, metric: Metric) -> float:
    return median(values(invocation, subject, metric))


def test_a_ticket_costs_much_less_than_the_handshake_that_it_replaces(subject: str, measure_real: MeasureReal) -> None:
    full = clean(measure_real(TLS_1_2, subject))
    resumed = clean(measure_real(varied(TLS_1_2, resumption="ticket"), subject))
    assert resumed.negotiated[subject].resumed
    for metric in (Metric.CPU_NS, Metric.SERVER_CPU_NS, Metric.SERVER_BYTES):
        assert typical(resumed, subject, metric) < 0.7 * typical(full, subject, metric), metric


def test_early_data_is_accepted_once_each_and_saves_the_signature_and_the_round_trip(
    subject: str, measure_real: MeasureReal
) -> None:
    full = clean(measure_real(TLS_1_3, subject))
    early = clean(measure_real(varied(TLS_1_3, **EARLY), subject))
    negotiated = early.negotiated[subject]
    assert (negotiated.resumed, negotiated.early_data_bytes) == (True, 1024)
    assert typical(early, subject, Metric.CPU_NS) < 0.9 * typical(full, subject, Metric.CPU_NS)
    assert typical(early, subject, Metric.CLIENT_BYTES) > typical(full, subject, Metric.CLIENT_BYTES) + 1024
    assert values(early, subject, Metric.ROUND_TRIPS) == (0,)
    assert values(full, subject, Metric.ROUND_TRIPS) == (1,)


def test_two_threads_do_the_same_handshakes_and_no_more_than_twice_as_many(
    subject: str, measure_real: MeasureReal
) -> None:
    alone = clean(measure_real(TLS_1_3, subject))
    both = clean(measure_real(varied(TLS_1_3, threads=2), subject))
    for metric in (Metric.CLIENT_BYTES, Metric.SERVER_BYTES):
        assert typical(both, subject, metric) == pytest.approx(typical(alone, subject, metric), rel=0.02)
    assert typical(both, subject, Metric.ELAPSED_NS) > 0.4 * typical(alone, subject, Metric.ELAPSED_NS)
    # On a machine that is busy with other things two threads may gain nothing, but a handshake costs what it costs.
    assert 0.5 < typical(both, subject, Metric.CPU_NS) / typical(alone, subject, Metric.CPU_NS) < 3


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
        assert peak > 1000
