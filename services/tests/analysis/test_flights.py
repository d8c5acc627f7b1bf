"""Round trips follow from sizes: checked against arithmetic on paper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.flights import Change, Flights, Step, changes, predict
from kexbench.domain.dimensions import Protocol, Resumption
from kexbench.domain.paths import NetworkPath

TLS_1_2, TLS_1_3, QUIC = Protocol.TLS_1_2, Protocol.TLS_1_3, Protocol.QUIC_V1
USUAL = NetworkPath(round_trip_ms=50)
SMALL = Flights(hello=250, server=1500, client_last=74)
WINDOW = 10 * 1448
"""Ten segments of 1500 bytes, less 52 of headers."""


def ml_dsa_flight(public_key: int, signature: int, chain: int) -> int:
    """A server's flight with X25519MLKEM768: certificates of about 250 bytes beside key and signature (FIPS 204), a
    CertificateVerify, and a ServerHello with 1120 bytes of key share."""
    return chain * (public_key + signature + 250) + signature + 1120 + 300


ML_DSA_65, ML_DSA_87 = (1952, 3309), (2592, 4627)


@pytest.mark.parametrize(
    ("protocol", "options", "handshake", "before_request"),
    [
        (TLS_1_2, {}, 2, 2),
        (TLS_1_3, {}, 1, 1),
        (TLS_1_2, {"resumption": Resumption.TICKET}, 1, 1),
        (TLS_1_2, {"resumption": Resumption.SESSION_ID}, 1, 1),
        (TLS_1_3, {"resumption": Resumption.PSK_DHE}, 1, 1),
        (TLS_1_3, {"resumption": Resumption.PSK_DHE, "sends_at_once": True}, 1, 0),
        (TLS_1_3, {"hello_retry": True}, 2, 2),
        (QUIC, {}, 1, 1),
        (QUIC, {"resumption": Resumption.PSK_DHE, "sends_at_once": True}, 1, 0),
    ],
)
def test_each_kind_of_handshake_has_its_round_trips(
    protocol: Protocol, options: dict[str, object], handshake: int, before_request: int
) -> None:
    prediction = predict(protocol, USUAL, SMALL, **options)  # type: ignore[arg-type]
    assert (prediction.handshake, prediction.before_request) == (handshake, before_request)
    assert prediction.connecting == (0 if protocol is QUIC else 1)


@pytest.mark.parametrize(
    ("window", "mtu", "key", "chain", "extra"),
    [
        (10, 1500, ML_DSA_65, 1, 0),  # 10.2 kB in 14.5 kB
        (10, 1500, ML_DSA_65, 2, 1),  # 15.8 kB
        (10, 1500, ML_DSA_65, 3, 1),  # 21.3 kB
        (10, 1500, ML_DSA_87, 1, 0),  # 13.5 kB
        (10, 1400, ML_DSA_87, 1, 1),  # 13.5 kB in 13.48 kB
        (10, 1500, ML_DSA_87, 2, 1),  # 21.0 kB
        (10, 1500, ML_DSA_87, 3, 1),  # 28.5 kB: the second window carries twice the first
        (30, 1500, ML_DSA_65, 3, 0),  # 43.4 kB
        (30, 1500, ML_DSA_87, 3, 0),
        (30, 1400, ML_DSA_87, 3, 0),  # 40.4 kB
        (3, 1500, ML_DSA_87, 2, 2),  # 3, then 6, then 12 segments: 15 are needed
    ],
)
def test_post_quantum_chains_pass_the_window_where_arithmetic_says(
    window: int, mtu: int, key: tuple[int, int], chain: int, extra: int
) -> None:
    path = NetworkPath(round_trip_ms=50, mtu=mtu, initial_window=window)
    server = ml_dsa_flight(*key, chain)
    prediction = predict(TLS_1_3, path, Flights(hello=1500, server=server))
    assert prediction.handshake == 1 + extra
    limit = window * (mtu - 52)
    assert [step for step in prediction.steps if step.kind == "server flight"] == (
        [Step("server flight", extra, server, limit)] if extra else []
    )


@pytest.mark.parametrize(
    ("server", "extra"),
    [(WINDOW, 0), (WINDOW + 1, 1), (3 * WINDOW, 1), (3 * WINDOW + 1, 2), (7 * WINDOW, 2), (7 * WINDOW + 1, 3)],
)
def test_slow_start_doubles_from_window_to_window(server: int, extra: int) -> None:
    assert predict(TLS_1_3, USUAL, Flights(250, server)).handshake == 1 + extra


@pytest.mark.parametrize(("window", "extra"), [(30, 1), (60, 1), (100, 1)])
def test_no_window_is_larger_than_what_the_other_side_takes_at_first(window: int, extra: int) -> None:
    """On Linux 6.18, a flight of 80,278 bytes took two round trips with windows of 60 and of 100 segments."""
    path = NetworkPath(round_trip_ms=50, initial_window=window)
    prediction = predict(TLS_1_3, path, Flights(hello=250, server=80_278))
    assert prediction.handshake == 1 + extra
    assert prediction.flights[1].limit_bytes == min(window, 45) * 1448


def test_a_client_hello_of_two_packets_costs_nothing_unless_the_window_is_one() -> None:
    hello = Flights(hello=1800, server=1500)
    assert predict(TLS_1_3, USUAL, hello).handshake == 1
    one = NetworkPath(round_trip_ms=50, initial_window=1)
    prediction = predict(TLS_1_3, one, hello)
    assert prediction.steps == (
        Step("connect", 1),
        Step("client hello", 1, 1800, 1448),
        Step("exchange", 1),
        Step("server flight", 1, 1500, 1448),
    )


def test_a_syn_that_is_repeated_above_a_second_leaves_the_window_as_it_is() -> None:
    """On Linux 6.18, a flight of 10,178 bytes took one round trip of 1,100 and of 2,900 ms."""
    flights = Flights(hello=173, server=10_178, client_last=64)
    for round_trip_ms in (1100, 2900):
        assert predict(TLS_1_3, NetworkPath(round_trip_ms=round_trip_ms), flights).handshake == 1


def test_a_large_client_certificate_delays_only_tls_1_2() -> None:
    flights = Flights(hello=250, server=1500, client_last=16_000)
    assert predict(TLS_1_2, USUAL, flights).steps[-2:] == (
        Step("client flight", 1, 16_000, WINDOW),
        Step("second exchange", 1),
    )
    assert predict(TLS_1_3, USUAL, flights).handshake == 1, "its handshake is done when the flight leaves"


@pytest.mark.parametrize(
    ("hello", "server", "extra", "kind", "limit"),
    [
        (300, 3600, 0, None, 0),  # three times 1200
        (300, 3601, 1, "limit", 3600),
        (300, 15_600, 1, "limit", 3600),  # then the window of 12,000
        (300, 15_601, 2, "limit", 3600),
        (1300, 7200, 0, None, 0),  # a hello of two datagrams doubles the limit
        (1300, 7201, 1, "limit", 7200),
        (4000, 12_000, 0, None, 0),  # 14,400, but the window is less
        (4000, 12_001, 1, "server flight", 12_000),
    ],
)
def test_quic_is_limited_to_three_times_what_it_received(
    hello: int, server: int, extra: int, kind: str | None, limit: int
) -> None:
    steps = predict(QUIC, USUAL, Flights(hello, server)).steps
    further = [step for step in steps if step.kind != "exchange"]
    assert [(step.kind, step.round_trips, step.limit_bytes) for step in further] == (
        [(kind, extra, limit)] if extra else []
    )


def test_a_retry_of_quic_lifts_the_limit() -> None:
    assert predict(QUIC, USUAL, Flights(300, 12_000), hello_retry=True).handshake == 2


sizes = st.integers(1, 200_000)
windows = st.integers(1, 100)


@given(sizes, sizes, windows, st.integers(576, 9000), st.sampled_from([TLS_1_2, TLS_1_3, QUIC]))
def test_more_bytes_never_take_less_and_a_larger_window_never_more(
    server: int, more: int, window: int, mtu: int, protocol: Protocol
) -> None:
    path = NetworkPath(round_trip_ms=1, mtu=mtu, initial_window=window)
    wider = path.model_copy(update={"initial_window": window + 1})
    small, large = (predict(protocol, path, Flights(250, size)).handshake for size in (server, server + more))
    assert small <= large
    assert predict(protocol, wider, Flights(250, server)).handshake <= small


@given(sizes, windows, st.sampled_from([TLS_1_2, TLS_1_3]))
def test_every_step_is_explained_by_its_bytes(server: int, window: int, protocol: Protocol) -> None:
    path = NetworkPath(round_trip_ms=1, initial_window=window)
    prediction = predict(protocol, path, Flights(250, server))
    assert prediction.handshake == sum(step.round_trips for step in prediction.steps[1:])
    for step in prediction.steps:
        assert (step.limit_bytes > 0) == (step.flight_bytes > step.limit_bytes)


def test_what_differs_between_two_handshakes_is_a_change_of_each_step_that_waits_for_more_or_less() -> None:
    small, large = (predict(TLS_1_3, USUAL, Flights(250, size)) for size in (13_700, 14_800))
    fits, waits = Step("server flight", 0, 13_700, WINDOW), Step("server flight", 1, 14_800, WINDOW)
    assert changes(small, large) == (Change(fits, waits),)
    assert [change.round_trips for change in changes(large, small)] == [-1]
    assert changes(large, large) == ()


def test_another_protocol_or_a_hello_retry_is_a_step_that_one_of_two_handshakes_lacks() -> None:
    newer, older, retried = (
        predict(protocol, USUAL, SMALL, hello_retry=retry)
        for protocol, retry in ((TLS_1_3, False), (TLS_1_2, False), (TLS_1_3, True))
    )
    assert changes(newer, older) == (Change(None, Step("second exchange", 1)),)
    assert changes(retried, newer) == (Change(Step("hello retry", 1), None),)


def test_the_window_of_a_quic_server_is_compared_with_its_limit() -> None:
    limited, free = (predict(QUIC, USUAL, Flights(hello, 7000)) for hello in (300, 5000))
    (change,) = changes(limited, free)
    assert (change.before, change.after) == (Step("limit", 1, 7000, 3600), Step("server flight", 0, 7000, 12_000))


@given(
    st.integers(100, 60_000), st.integers(100, 60_000), st.integers(1, 30), st.sampled_from([TLS_1_2, TLS_1_3, QUIC])
)
def test_the_changes_add_up_to_the_difference(first: int, second: int, window: int, protocol: Protocol) -> None:
    path = NetworkPath(round_trip_ms=50, initial_window=window)
    before, after = (predict(protocol, path, Flights(300, size, 74)) for size in (first, second))
    difference = after.handshake - before.handshake
    assert sum(change.round_trips for change in changes(before, after)) == difference
