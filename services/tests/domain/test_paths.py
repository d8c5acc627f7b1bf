"""A path has one text, which says all of it."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kexbench.domain.cases import Case, kinds_of
from kexbench.domain.paths import (
    BUSY,
    NETWORK_CPU_NS,
    PATH_PATTERN,
    PRESETS,
    NetworkPath,
    canonical_path,
    interval_ns,
    parse_path,
    path_label,
    text_of,
)

ECDHE = {"protocol": "TLSv1.3", "key_exchange": "ECDHE-ECDSA", "curve": "P-256", "group": "X25519"}


@st.composite
def paths(draw: st.DrawFn) -> NetworkPath:
    rate_mbit = draw(st.integers(0, 10_000_000)) / 1000
    return NetworkPath(
        round_trip_ms=draw(st.integers(0, 10_000_000)) / 1000,
        loss_percent=draw(st.integers(0, 500_000)) / 10_000,
        rate_mbit=rate_mbit,
        mtu=draw(st.integers(576, 9000)),
        queue_ms=draw(st.integers(1, 800)) if rate_mbit else 100,
        initial_window=draw(st.integers(1, 100)),
        split_hello=draw(st.just("drop") | st.integers(0, 10_000_000).map(lambda us: us / 1000)),
    )


@given(paths())
def test_the_text_of_a_path_gives_the_path_again(path: NetworkPath) -> None:
    text = text_of(path)
    assert parse_path(text) == path
    assert canonical_path(text) == canonical_path(path) == text
    assert canonical_path(json.loads(path.model_dump_json(by_alias=True))) == text
    assert re.search(PATH_PATTERN, text)
    assert re.fullmatch(r"[a-z0-9.-]{1,100}", text), "it stands in addresses and in the worker's protocol"


@given(paths())
def test_a_path_is_whole_numbers_for_the_emulator(path: NetworkPath) -> None:
    assert path.round_trip_ns == pytest.approx(path.round_trip_ms * 1e6, abs=1)
    assert path.loss_ppm == pytest.approx(path.loss_percent * 1e4, abs=1e-3)
    assert path.rate_bit_s == pytest.approx(path.rate_mbit * 1e6, abs=1e-3)
    assert (path.queue_bytes >= path.mtu) == (path.rate_bit_s > 0)


@pytest.mark.parametrize(
    ("written", "text", "label"),
    [
        ("continent", "continent", "path continent"),
        ({"roundTripMs": "30.916"}, "continent", "path continent"),
        ("30.916ms", "continent", "path continent"),
        ("50.0ms", "50ms", "path of 50 ms"),
        ({"roundTripMs": 50, "lossPercent": 0.1}, "50ms-loss-0.1", "path of 50 ms with 0.1% loss"),
        (
            {"round_trip_ms": 0.2, "rate_mbit": 10, "queue_ms": 20, "mtu": 1400, "initial_window": 30},
            "0.2ms-rate-10-queue-20-mtu-1400-window-30",
            "path of 0.2 ms with 10 Mbit/s and queue of 20 ms and MTU 1400 and window of 30",
        ),
        ({"roundTripMs": 0}, "0ms", "path of 0 ms"),
        ({"roundTripMs": 50, "splitHello": "drop"}, "50ms-split-drop", "path of 50 ms with split ClientHello dropped"),
        ("50ms-split-200.0", "50ms-split-200", "path of 50 ms with split ClientHello delayed by 200 ms"),
        ({"roundTripMs": 50, "splitHello": 0}, "50ms", "path of 50 ms"),
    ],
)
def test_what_people_write_has_one_text(written: object, text: str, label: str) -> None:
    assert canonical_path(written) == text
    assert path_label(text) == label


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("mars", "'mars' is not a path: use rack, region"),
        ("50", "'50' is not a path"),
        ("50ms-window-30-mtu-1400", "is not a path"),
        ("50ms-loss-90", "lossPercent: Input should be less than or equal to 50"),
        ({"roundTripMs": -1}, "roundTripMs: Input should be greater than or equal to 0"),
        ({"lossPercent": 1}, "a path needs roundTripMs"),
        ({"roundTripMs": 1, "jitterMs": 2}, "a path has no jitterMs; it has roundTripMs, lossPercent"),
        ({"roundTripMs": 1, "queueMs": 5}, "queueMs needs a rateMbit"),
        ({"roundTripMs": 0.00001}, "roundTripMs must be a multiple of 0.001, not 1e-05"),
        ({"roundTripMs": 1, "splitHello": "keep"}, "splitHello: must be drop, or a delay of 0 to 10000 milliseconds"),
        ({"roundTripMs": 1, "splitHello": "nan"}, "splitHello: must be drop"),
        ({"roundTripMs": "nan"}, "roundTripMs"),
        ({"roundTripMs": "inf"}, "roundTripMs"),
    ],
)
def test_a_wrong_path_says_what_is_wrong(written: object, fault: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fault)):
        canonical_path(written)


def test_every_preset_has_a_source_and_numbers_of_its_own() -> None:
    assert list(PRESETS) == ["rack", "region", "continent", "world", "4g", "satellite", "lossy-wifi"]
    assert len({preset.path for preset in PRESETS.values()}) == len(PRESETS)
    assert all(preset.source and preset.title for preset in PRESETS.values())
    assert [preset.path.round_trip_ms for preset in PRESETS.values()] == [0.2, 5.368, 30.916, 195.46, 170, 558, 50.916]


def test_a_case_keeps_the_text_and_tells_the_worker_nothing_of_it() -> None:
    case = Case.model_validate({**ECDHE, "path": {"roundTripMs": 50, "lossPercent": 1}})
    assert case.case_id == "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm_path-50ms-loss-1"
    assert case.label.endswith("X25519, path of 50 ms with 1% loss")
    assert case.variation == {"path": "50ms-loss-1"}
    assert case.network_path == NetworkPath(round_trip_ms=50, loss_percent=1)
    assert kinds_of(case) == ["paths"]
    assert case.is_countable, "its instructions are those in memory"
    assert "path" not in case.setup_fields()
    assert Case.model_validate(case.model_dump(mode="json")) == case
    assert Case.model_validate(ECDHE).network_path is None


def test_a_quic_case_may_have_a_path_and_anti_replay_on_it() -> None:
    early = {"resumption": "psk-dhe", "early_data_bytes": 100, "anti_replay": True}
    case = Case.model_validate({**ECDHE, "protocol": "QUICv1", "path": "continent", **early})
    assert case.case_id.endswith("_path-continent")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"protocol": "QUICv1", "path": "50ms-mtu-1227"}, "QUIC needs a path with an MTU of at least 1,228 bytes"),
        ({"protocol": "QUICv1", "path": "50ms-window-30"}, "QUIC takes no initialWindow"),
        ({"threads": 2}, "a path allows one thread"),
        ({"peer": "server:openssl@system"}, "a path allows no peer"),
        ({"server": "nginx"}, "nginx is measured without a path"),
        ({"context": "connection"}, "a path allows only a shared context"),
        ({"resumption": "psk-dhe", "early_data_bytes": 100, "anti_replay": True}, "a path allows no anti-replay"),
    ],
)
def test_what_a_path_does_not_allow(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Case.model_validate({**ECDHE, "path": "continent", **fields})


@given(paths(), st.floats(0, 1e8), st.integers(0, 1_000_000))
def test_connections_begin_seldom_enough(path: NetworkPath, handshake_ns: float, flight_bytes: int) -> None:
    apart_ns = interval_ns(path, handshake_ns, flight_bytes)
    assert apart_ns >= BUSY * (handshake_ns + NETWORK_CPU_NS) - 1
    if path.rate_bit_s:
        assert apart_ns >= BUSY * flight_bytes * 8e9 / path.rate_bit_s - 1
    assert path.round_trip_ns / apart_ns <= 401


@given(st.floats(10, 500), st.floats(0, 1e6))
def test_flights_of_connections_under_way_at_once_do_not_meet(round_trip_ms: float, handshake_ns: float) -> None:
    path = NetworkPath(round_trip_ms=round(round_trip_ms, 3))
    apart_ns = interval_ns(path, handshake_ns, 0)
    phases = [trips * path.round_trip_ns / apart_ns % 1 for trips in range(4)]
    gaps = [abs(a - b) for place, a in enumerate(phases) for b in phases[:place]]
    assert min(min(gap, 1 - gap) for gap in gaps) > 0.14


def test_sending_takes_the_headers_of_full_packets_too() -> None:
    assert NetworkPath(round_trip_ms=50).sending_ns(14_480) == 0
    assert NetworkPath(round_trip_ms=50, rate_mbit=1).sending_ns(14_480) == pytest.approx(10 * 1500 * 8e3)
