"""Paths between client and server: round trip, loss, rate and sizes of an emulated network. A path has one text, which
a case keeps and its id contains: the name of a preset, or its numbers."""

import re
from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from kexbench.domain.dimensions import NOTHING
from kexbench.domain.frozen import Frozen

ROUND_TRIP_MAX_MS, LOSS_MAX_PERCENT, RATE_MAX_MBIT, QUEUE_MAX_MS = 10_000, 50, 10_000, 10_000
QUEUE_MAX_BYTES = 1 << 30
SPLIT_DELAY_MAX_MS = 10_000
SEGMENT_HEADERS_BYTES = 20 + 20 + 12
"""IPv4, TCP and its timestamps, as Linux sends them."""
DATAGRAM_BYTES, DATAGRAM_HEADERS_BYTES = 1200, 20 + 8
"""Of QUIC: what every path carries (RFC 9000, section 14), and IPv4 and UDP before it."""
ROUND_TRIP_STEP_MS, LOSS_STEP_PERCENT, RATE_STEP_MBIT = 0.001, 0.0001, 0.001
"""A microsecond, one packet of a million, and a kilobit a second: steps that the emulator has as whole numbers."""
_DECIMALS = 6
_NUMBER = r"(0|[1-9]\d{0,4})(\.\d{1,4})?"


def _split_hello(value: Any) -> Any:
    """Raises ValueError."""
    try:
        fits = value == "drop" or 0 <= float(value) <= SPLIT_DELAY_MAX_MS
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(f"must be drop, or a delay of 0 to {SPLIT_DELAY_MAX_MS} milliseconds, not {value!r}")
    return value if value == "drop" else float(value)


class NetworkPath(Frozen):
    """A path: the same in both directions. Loss hits each packet independently. Field names are camelCase in YAML."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    round_trip_ms: float = Field(
        ge=0, le=ROUND_TRIP_MAX_MS, description="time that a packet and its answer travel, in milliseconds"
    )
    loss_percent: float = Field(
        0, ge=0, le=LOSS_MAX_PERCENT, description="share of the packets of each direction that are lost"
    )
    rate_mbit: float = Field(
        0, ge=0, le=RATE_MAX_MBIT, description="megabits per second of each direction, or 0 for no limit"
    )
    mtu: int = Field(1500, ge=576, le=9000, description="bytes of the largest IP packet")
    queue_ms: int = Field(
        100,
        ge=1,
        le=QUEUE_MAX_MS,
        description="what the queue before the limit of the rate holds, as time; more is dropped",
    )
    initial_window: int = Field(
        10, ge=1, le=100, description="segments that TCP sends before the first acknowledgement (RFC 6928)"
    )
    split_hello: Annotated[float | Literal["drop"], BeforeValidator(_split_hello)] = Field(
        0.0,
        description="what a middlebox does with the packets of a ClientHello behind its first one: drop, or a delay in "
        "milliseconds",
    )

    @model_validator(mode="after")
    def _check(self) -> "NetworkPath":
        for name, step in (
            ("round_trip_ms", ROUND_TRIP_STEP_MS),
            ("loss_percent", LOSS_STEP_PERCENT),
            ("rate_mbit", RATE_STEP_MBIT),
            ("split_hello", ROUND_TRIP_STEP_MS),
        ):
            value = getattr(self, name)
            if value != "drop" and abs(value / step - round(value / step)) > 1e-6 * max(1, value / step):
                raise ValueError(f"{to_camel(name)} must be a multiple of {_text(step)}, not {value!r}")
        if not self.rate_mbit and self.queue_ms != NetworkPath.model_fields["queue_ms"].default:
            raise ValueError("queueMs needs a rateMbit: without a limit, no packet waits")
        if self.queue_bytes > QUEUE_MAX_BYTES:
            raise ValueError("the queue would hold more than 1 GiB: use a smaller queueMs or rateMbit")
        return self

    @property
    def round_trip_ns(self) -> int:
        return round(self.round_trip_ms * 1000) * 1000

    @property
    def loss_ppm(self) -> int:
        return round(self.loss_percent * 10_000)

    @property
    def rate_bit_s(self) -> int:
        return round(self.rate_mbit * 1000) * 1000

    @property
    def queue_bytes(self) -> int:
        """Of each direction, and no less than one packet; 0 without a limit of the rate."""
        return max(self.rate_bit_s * self.queue_ms // 8000, self.mtu) if self.rate_bit_s else 0

    @property
    def split_delay_ns(self) -> int:
        """0 where nothing is delayed, or all is dropped."""
        return 0 if self.split_hello == "drop" else round(self.split_hello * 1000) * 1000

    @property
    def segment_bytes(self) -> int:
        """What TCP sends in one packet."""
        return self.mtu - SEGMENT_HEADERS_BYTES

    def sending_ns(self, size_bytes: float) -> float:
        """How long the path's rate takes for the bytes of some flights, in full packets with their headers."""
        return size_bytes * self.mtu / self.segment_bytes * 8e9 / self.rate_bit_s if self.rate_bit_s else 0.0

    @property
    def numbers(self) -> str:
        """`50ms-loss-1-rate-9`: what differs from the defaults, always in this order."""
        parts = [f"{_text(self.round_trip_ms)}ms"]
        for word, name in _WORDS.items():
            if (value := getattr(self, name)) != NetworkPath.model_fields[name].default:
                parts.append(f"{word}-{_text(value)}")
        return "-".join(parts)

    @property
    def words(self) -> str:
        """`50 ms, 1% loss, 9 Mbit/s`."""
        usual = NetworkPath.model_fields
        parts = [
            f"{_text(self.round_trip_ms)} ms",
            *([f"{_text(self.loss_percent)}% loss"] if self.loss_percent else []),
            *([f"{_text(self.rate_mbit)} Mbit/s"] if self.rate_mbit else []),
            *([f"queue of {self.queue_ms} ms"] if self.queue_ms != usual["queue_ms"].default else []),
            *([f"MTU {self.mtu}"] if self.mtu != usual["mtu"].default else []),
            *([f"window of {self.initial_window}"] if self.initial_window != usual["initial_window"].default else []),
            *(["split ClientHello dropped"] if self.split_hello == "drop" else []),
            *([f"split ClientHello delayed by {_text(self.split_delay_ns / 1e6)} ms"] if self.split_delay_ns else []),
        ]
        return ", ".join(parts)

    def beside(self, round_trip_ms: float | None, loss_percent: float, rate_mbit: float | None) -> str:
        """`20.01 of 20 ms, 2.1% of 2% lost, 9.99 of 10 Mbit/s`: what was measured, beside what this path asks for."""
        parts = [f"{round_trip_ms:.4g} of {_text(self.round_trip_ms)} ms"] if round_trip_ms is not None else []
        if self.loss_percent:
            parts.append(f"{loss_percent:.2g}% of {_text(self.loss_percent)}% lost")
        if rate_mbit is not None:
            parts.append(f"{rate_mbit:.3g} of {_text(self.rate_mbit)} Mbit/s")
        return ", ".join(parts)


class Preset(NamedTuple):
    path: NetworkPath
    title: str
    source: str


_PAQUIN = "Paquin, Stebila and Tamvada, Benchmarking Post-Quantum Cryptography in TLS (PQCrypto 2020)"
PRESETS: Mapping[str, Preset] = {
    "rack": Preset(
        NetworkPath(round_trip_ms=0.2),
        "same rack",
        "Guo and others, Pingmesh (SIGCOMM 2015): the median within a pod is about 0.2 ms",
    ),
    "region": Preset(
        NetworkPath(round_trip_ms=5.368), "same region", f"{_PAQUIN}: twice their shortest delay of 2.684 ms"
    ),
    "continent": Preset(
        NetworkPath(round_trip_ms=30.916), "same continent", f"{_PAQUIN}: twice their delay of 15.458 ms"
    ),
    "world": Preset(
        NetworkPath(round_trip_ms=195.46), "other side of the world", f"{_PAQUIN}: twice their longest delay, 97.73 ms"
    ),
    "4g": Preset(
        NetworkPath(round_trip_ms=170, rate_mbit=9),
        "4G",
        "WebPageTest's connectivity profile 4G: 170 ms, 9 Mbit/s each way",
    ),
    "satellite": Preset(
        NetworkPath(round_trip_ms=558),
        "geostationary satellite",
        "RFC 2488, section 2: a round trip takes at least 558 ms",
    ),
    "lossy-wifi": Preset(
        NetworkPath(round_trip_ms=50.916, loss_percent=3),
        "lossy Wi-Fi",
        "the round trip of continent and 20 ms, the 90th percentile of a Wi-Fi hop (Sui and others, MobiSys 2016); "
        f"3% loss, from which large flights suffer ({_PAQUIN})",
    ),
}
"""Their numbers never change, since stored cases have their names: other numbers get another name."""
_WORDS = {
    "loss": "loss_percent",
    "rate": "rate_mbit",
    "queue": "queue_ms",
    "mtu": "mtu",
    "window": "initial_window",
    "split": "split_hello",
}
_PRESET_NAMES = {preset.path: name for name, preset in PRESETS.items()}
_NUMBERS = rf"(?P<trip>{_NUMBER})ms" + "".join(
    rf"(-{word}-(?P<{word}>{'drop|' if word == 'split' else ''}{_NUMBER}))?" for word in _WORDS
)
PATH_PATTERN = rf"^(-|{'|'.join(PRESETS)}|{re.sub(r'[?]P<[a-z]+>', '', _NUMBERS)})$"
"""For JSON Schema, which has no named groups."""


def _text(value: float | str) -> str:
    """Without a fraction that is zero."""
    return value if isinstance(value, str) else f"{value:.{_DECIMALS}f}".rstrip("0").rstrip(".")


def text_of(path: NetworkPath) -> str:
    """The one text of a path: a preset's name where the numbers are its own."""
    return _PRESET_NAMES.get(path) or path.numbers


@lru_cache(maxsize=1024)
def parse_path(text: str) -> NetworkPath:
    """The path of a text that is not `-`. Raises ValueError, which names the presets and the form of numbers."""
    if preset := PRESETS.get(text):
        return preset.path
    match = re.fullmatch(_NUMBERS, text)
    if match is None:
        known = ", ".join(PRESETS)
        raise ValueError(f"{text!r} is not a path: use {known}, numbers such as 50ms-loss-1, or a mapping")
    given = {to_camel(name): match[word] for word, name in _WORDS.items() if match[word] is not None}
    return _path_of({"roundTripMs": match["trip"], **given})


def canonical_path(value: Any) -> Any:
    """A path as people write it, a text or a mapping, as its one text. Raises ValueError."""
    if isinstance(value, NetworkPath):
        return text_of(value)
    if isinstance(value, Mapping):
        return text_of(_path_of(dict(value)))
    return text_of(parse_path(value)) if isinstance(value, str) and value != NOTHING else value


def _path_of(fields: dict[str, Any]) -> NetworkPath:
    """Raises ValueError with all that is wrong, in one line."""
    try:
        return NetworkPath.model_validate(fields)
    except ValidationError as error:
        raise ValueError("; ".join(_fault(each) for each in error.errors())) from None


def _fault(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        fields = ", ".join(map(to_camel, NetworkPath.model_fields))
        return f"a path has no {place}; it has {fields}"
    if error["type"] == "missing":
        return f"a path needs {place}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def path_label(text: str) -> str:
    """`path continent` or `path of 50 ms with 1% loss`."""
    if text in PRESETS:
        return f"path {text}"
    first, *others = parse_path(text).words.split(", ")
    return f"path of {first}" + (f" with {' and '.join(others)}" if others else "")


def hello_packets(path: NetworkPath, over_quic: bool, hello_bytes: int) -> int:
    """How many packets a ClientHello takes."""
    return ceil(hello_bytes / (DATAGRAM_BYTES if over_quic else path.segment_bytes))


NETWORK_CPU_NS = 400_000
"""CPU time of a connection's sockets and packets, on both sides and on the path, beside its cryptography: a guess, from
which only the pace follows."""
BUSY = 3
"""Connections begin so seldom that CPU and rate are in use for at most one part of so many: what one connection waits
must not come from the others."""
_GOLDEN = (3 - 5**0.5) / 2
_ROUND_TRIPS_UNDER_WAY = 400
"""Connections that begin in a round trip: a worker has at most 4,096 under way, and each takes some round trips."""


def interval_ns(path: NetworkPath, handshake_ns: float, flight_bytes: int) -> int:
    """The time from the beginning of a connection to that of the next one, where a handshake takes so much CPU time and
    its busier direction carries so many bytes.

    Flights follow each other by round trips. So the round trip is a whole number of intervals and a golden section of
    one: then the flights of connections that are under way at once arrive as far apart from each other as can be (the
    three-distance theorem), and not at the same moments again and again."""
    least_ns = BUSY * (handshake_ns + NETWORK_CPU_NS)
    if path.rate_bit_s:
        least_ns = max(least_ns, BUSY * flight_bytes * 8e9 / path.rate_bit_s)
    least_ns = max(least_ns, path.round_trip_ns / _ROUND_TRIPS_UNDER_WAY)
    intervals = path.round_trip_ns / least_ns - _GOLDEN
    return round(least_ns if intervals < 0 else path.round_trip_ns / (int(intervals) + _GOLDEN))
