"""The parts of a connection's cost: which cases show them, and how much each is."""

from typing import Any

from kexbench.analysis.connection import HANDSHAKE, OBJECTS, TRANSFER, WHOLE, Part, base_of, connection_parts
from kexbench.analysis.estimates import difference_of_means
from kexbench.domain.cases import Case
from kexbench.domain.samples import Metric

BASE = Case(protocol="TLSv1.3", key_exchange="ECDHE-ECDSA", group="X25519", curve="P-256")


def varied(**changes: Any) -> Case:
    return Case.model_validate({**BASE.model_dump(), **changes})


def parts(*cases: Case) -> list[Part]:
    groups = connection_parts(cases)
    assert set(groups) <= {BASE}
    return groups.get(BASE, [])


def test_a_plan_of_handshakes_alone_has_no_parts() -> None:
    assert connection_parts([BASE, varied(chain_length=2), varied(cipher="CHACHA20-POLY1305")]) == {}


def test_a_part_is_a_metric_of_its_own_or_the_difference_to_the_case_without_it() -> None:
    chain, verified = varied(chain_length=2), varied(chain_length=2, verification=True)
    tickets, transfer = varied(tickets="default"), varied(transfer_bytes=4096)
    assert parts(BASE, chain, verified, tickets, transfer) == [
        Part("handshake", BASE, HANDSHAKE),
        Part("objects", BASE, OBJECTS),
        Part("verification", verified, HANDSHAKE, chain),
        Part("tickets", tickets, HANDSHAKE, BASE),
        Part("transfer", transfer, TRANSFER),
        Part("whole connection", BASE, WHOLE),
    ]


def test_what_is_loaded_for_each_connection_counts_as_objects() -> None:
    shared = varied(verification=True)
    one = varied(verification=True, context="connection")
    many = varied(verification=True, context="connection", trust_anchors=140)
    assert parts(shared, one, many) == [
        Part("context", one, OBJECTS, shared),
        Part("trust anchors", many, OBJECTS, one),
    ]


def test_a_difference_needs_the_case_without_the_part() -> None:
    assert parts(varied(verification=True), varied(tickets="default", transfer_bytes=1)) == [
        Part("whole connection", varied(tickets="default", transfer_bytes=1), WHOLE)
    ]


def test_threads_on_one_context_and_on_one_each_are_parts_with_wall_time() -> None:
    shared, own = varied(threads=2), varied(threads=2, context="thread")
    threads = parts(shared, own, varied(threads=2, tickets="default"))
    assert threads == [Part("threads", shared, HANDSHAKE), Part("threads", own, HANDSHAKE)]
    assert {part.wall for part in threads} == {Metric.ELAPSED_NS}


def test_parts_are_grouped_by_their_handshake() -> None:
    other = varied(protocol="TLSv1.2", tickets="default", cipher="AES-256-GCM")
    assert base_of(other) == varied(protocol="TLSv1.2")
    groups = connection_parts([other, varied(tickets="default"), varied(protocol="TLSv1.2"), BASE])
    assert list(groups) == [varied(protocol="TLSv1.2"), BASE], "in the order of the plan's cases"


def test_a_difference_of_means_has_the_interval_of_both() -> None:
    estimate = difference_of_means([12.0, 14.0, 13.0, 13.0], [10.0, 10.0, 11.0, 9.0])
    assert estimate.value == 3.0
    assert estimate.low is not None
    assert estimate.high is not None
    assert 1.5 < estimate.low < 2.5
    assert estimate.low + estimate.high == 6.0
    few = difference_of_means([12.0, 14.0], [10.0, 10.0, 11.0])
    assert (few.low, few.high, few.invocations) == (None, None, 2)
