"""Metrics: what is measured, a row each. The worker's records, the API, titles and pages come from these rows."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self

from kexbench.domain.instruments import CountedSide, Instrument

Unit = Literal["ns", "bytes", "count", "ppm"]
"""Parts of a million are shown as percentages."""
Side = Literal["both", "client", "server"]
"""CPU time of both sides together, or of one."""


class MetricGroup(StrEnum):
    """What kind of thing a metric is, in the order in which people choose from them."""

    TIME = "Time"
    CONNECTION = "Whole connection"
    SERVER = "Web server"
    PATH = "Emulated path"
    START = "Start of a process"
    WIRE = "Bytes on the wire"
    STRUCTURE = "Structure"
    MEMORY = "Memory"
    AGE = "Age of a context"
    COUNTERS = "Hardware counters"
    CALLGRIND = "Counted by callgrind"
    ALLOCATIONS = "Counted allocations"
    ATOMICS = "Counted atomic operations"


@dataclass(frozen=True)
class Timed:
    """From timed batches: a total of the record `batch`, divided by another of its fields. Names are those of fields
    and properties of `runner.records.Batch`; by default, the total has the metric's own name."""

    disturbed: Literal["absent", "shared", "valid"] = "absent"
    """The value of a batch that other programs disturbed: none, since ticks and wall clock include their time; the same
    share of the CPU time as in other batches; or what was measured."""
    total: str = ""
    whole: str = ""
    """The total in cases that have the CPU time of the whole connection as theirs (`Case.is_whole_connection`)."""
    per: Literal["handshakes", "alone_handshakes", ""] = "handshakes"


@dataclass(frozen=True)
class Varied:
    """From the undisturbed timed batches of cases with several threads: how much a total of the record `batch` per
    handshake varies from batch to batch (`domain.spreads`), one value for each invocation."""

    total: str


@dataclass(frozen=True)
class Examined:
    """From the untimed pass, which gives one value for each invocation that has one (workers/handshake/PROTOCOL.md,
    "What is examined"): a total of the record `examined` under the metric's own name."""

    per: Literal["handshakes", "held_connections", ""] = "handshakes"
    heap: bool = False
    """Whether only a worker with the counter of allocations counts it."""


@dataclass(frozen=True)
class Loaded:
    """From loads on a web server: a total of the record `load` under the metric's own name. What is per connection is
    summed over the kinds of clients; anything else, such as a percentile, exists only for a single kind."""

    per: Literal["connections", ""] = ""


@dataclass(frozen=True)
class OverPath:
    """From the connections over an emulated path, in cases that have one."""

    per: Literal["connection", "invocation"] = "invocation"
    """Whether its sample has a value for each connection, in the order of their beginnings, or one for all."""


@dataclass(frozen=True)
class Started:
    """From fresh processes, in runs that start some: an array of the record `start`, one value for each process."""

    array: str


@dataclass(frozen=True)
class Aged:
    """From the connections that age a context, in runs whose spec asks for them (`measure.age`): one value for each
    invocation."""

    heap: bool = False
    """Whether only a worker with the counter of allocations counts it."""


@dataclass(frozen=True)
class Counted:
    """From an instrument that counts, in its runs: the sum over its parts."""

    sides: tuple[CountedSide, ...]
    by: Instrument = Instrument.INSTRUCTIONS
    total: Literal["amount", "calls"] = "amount"
    """Of a part's profile, in all functions."""


@dataclass(frozen=True)
class Exact:
    """Of a metric that every invocation measures alike: a change that all invocations of both versions show needs no
    statistics. The smallest change that counts is the larger of the two."""

    relevant: float
    """As a share of the value before."""
    tolerance: float
    """In the metric's unit. More than invocations of one subject differ by: DER gives signatures with ECDSA a variable
    length, and what has such a length varies in memory too."""

    def smallest_from(self, before: float) -> float:
        """The smallest change of a value that counts, in its unit."""
        return max(self.relevant * before, self.tolerance)


@dataclass(frozen=True)
class MetricRow:
    name: str
    """The worker's, and the stored one."""
    group: MetricGroup
    title: str
    """For choices and heads of tables."""
    meaning: str
    """What a cell's number says: of a time, that is a rate."""
    origin: Timed | Varied | Examined | Loaded | OverPath | Started | Aged | Counted
    decides: Side | None = None
    """The side whose verdicts it decides, in runs with its instrument."""
    of_transfer: bool = False
    """Whether only cases with a transfer have it."""
    exact: Exact | None = None
    """None: judged by statistics, with the smallest relevant change of the spec."""
    relevant: float = 0.0
    """As a share: what is judged by statistics has no smaller relevant change, whatever a spec says."""
    watched: bool = False
    """Whether alerts screen it, unless a spec names metrics."""


(
    _TIME,
    _CONNECTION,
    _SERVER,
    _PATH,
    _START,
    _WIRE,
    _STRUCTURE,
    _MEMORY,
    _AGE,
    _COUNTERS,
    _CALLGRIND,
    _ALLOCATIONS,
    _ATOMICS,
) = MetricGroup
_WIRE_BYTES = Exact(relevant=0.005, tolerance=4)
_WHOLE = Exact(relevant=0.0, tolerance=0.5)
"""Of records and round trips, which are whole."""
_ALLOCATED = Exact(relevant=0.02, tolerance=2)
_HELD = Exact(relevant=0.02, tolerance=64)
_ASKED = Exact(relevant=0.001, tolerance=8)
_KEPT = Exact(relevant=0.0, tolerance=4)
_PEAK = Exact(relevant=0.02, tolerance=256)
_LIVE = Exact(relevant=0.02, tolerance=4096)
_GROWTH = Exact(relevant=0.02, tolerance=1)
"""A table that grows once in ten thousand connections is a fraction of a byte for each."""
_SHARED = Exact(relevant=0.01, tolerance=2)
_ATOMIC = Exact(relevant=0.02, tolerance=16)
"""The allocator's, which depend on what was freed before, are among them."""


class Metric(StrEnum):
    """What is measured, per handshake, with the unit last. A batch's total is divided by its handshakes. Some cases
    have the CPU time of the whole connection as theirs (`Case.is_whole_connection`)."""

    row: MetricRow

    def __new__(cls, row: MetricRow | str) -> Self:
        """Text is for the type checker only, which takes the look-up `Metric(name)` for a call of this."""
        assert isinstance(row, MetricRow)
        metric = str.__new__(cls, row.name)
        metric._value_ = row.name
        metric.row = row
        return metric

    @property
    def unit(self) -> Unit:
        if self.endswith("_ns"):
            return "ns"
        if self.endswith("_ppm"):
            return "ppm"
        return "bytes" if self.endswith("_bytes") else "count"

    @property
    def words(self) -> str:
        """In sentences: `CPU time`, `server bytes`, `handshake p99 time over a path`."""
        text = (
            self.removeprefix("path_")
            .removesuffix("_ns")
            .removesuffix("_ppm")
            .replace("_", " ")
            .replace("cpu", "CPU time")
        )
        text = text if self.unit != "ns" or "time" in text else f"{text} time"
        return f"{text} over a path" if self.startswith("path_") else text

    def relevant(self, asked: float) -> float:
        """The smallest relevant change, where a spec or a person asks for this one."""
        return max(asked, self.row.relevant)

    CPU_NS = MetricRow(
        "cpu_ns",
        _TIME,
        "CPU time, both sides",
        "handshakes per CPU-second, client and server together",
        Timed("shared", whole="connection_cpu_ns"),
        decides="both",
        watched=True,
    )
    CLIENT_CPU_NS = MetricRow(
        "client_cpu_ns",
        _TIME,
        "Client CPU time",
        "handshakes per CPU-second of the client",
        Timed(whole="client_connection_cpu_ns"),
        decides="client",
    )
    SERVER_CPU_NS = MetricRow(
        "server_cpu_ns",
        _TIME,
        "Server CPU time",
        "handshakes per CPU-second of the server",
        Timed(whole="server_connection_cpu_ns"),
        decides="server",
    )
    WALL_NS = MetricRow("wall_ns", _TIME, "Wall time", "handshakes per second of wall time", Timed())
    ELAPSED_NS = MetricRow(
        "elapsed_ns",
        _TIME,
        "Wall time of everything, all threads together",
        "handshakes per second of wall time, all threads together",
        Timed("valid"),
    )
    ALONE_NS = MetricRow(
        "alone_ns",
        _TIME,
        "Wall time of everything, each of the threads alone in turn",
        "handshakes per second of wall time, each of the threads alone in turn",
        Timed(total="alone_elapsed_ns", per="alone_handshakes"),
    )
    THROUGHPUT_SPREAD_PPM = MetricRow(
        "throughput_spread_ppm",
        _TIME,
        "Variation of throughput from batch to batch, all threads together",
        "how much the throughput of all threads together varies from batch to batch within a process",
        Varied("elapsed_ns"),
        relevant=0.5,
    )
    FIRST_NS = MetricRow(
        "first_ns",
        _TIME,
        "First handshake after a pause",
        "handshakes per second, if each cost as much as the first after a pause",
        Timed(per=""),
    )
    CONNECTION_CPU_NS = MetricRow(
        "connection_cpu_ns",
        _CONNECTION,
        "CPU time of a whole connection, both sides",
        "connections per CPU-second, client and server together",
        Timed("shared"),
    )
    CLIENT_CONNECTION_CPU_NS = MetricRow(
        "client_connection_cpu_ns",
        _CONNECTION,
        "Client CPU time of a whole connection",
        "connections per CPU-second of the client",
        Timed(),
    )
    SERVER_CONNECTION_CPU_NS = MetricRow(
        "server_connection_cpu_ns",
        _CONNECTION,
        "Server CPU time of a whole connection",
        "connections per CPU-second of the server",
        Timed(),
    )
    BACKGROUND_CPU_NS = MetricRow(
        "background_cpu_ns",
        _CONNECTION,
        "CPU time of the library's own threads",
        "connections per CPU-second of the library's own threads",
        Timed("valid"),
    )
    CLIENT_OBJECTS_CPU_NS = MetricRow(
        "client_objects_cpu_ns",
        _CONNECTION,
        "Client CPU time of making and freeing objects",
        "client sides made and freed per CPU-second",
        Timed(),
    )
    SERVER_OBJECTS_CPU_NS = MetricRow(
        "server_objects_cpu_ns",
        _CONNECTION,
        "Server CPU time of making and freeing objects",
        "server sides made and freed per CPU-second",
        Timed(),
    )
    CLIENT_TRANSFER_CPU_NS = MetricRow(
        "client_transfer_cpu_ns",
        _CONNECTION,
        "Client CPU time of receiving application data",
        "transfers received per CPU-second of the client",
        Timed(),
        of_transfer=True,
    )
    SERVER_TRANSFER_CPU_NS = MetricRow(
        "server_transfer_cpu_ns",
        _CONNECTION,
        "Server CPU time of sending application data",
        "transfers sent per CPU-second of the server",
        Timed(),
        of_transfer=True,
    )
    HANDSHAKE_P50_NS = MetricRow(
        "handshake_p50_ns",
        _SERVER,
        "Time until the handshake with a web server is done, median",
        "median time until the handshake with a web server is done",
        Loaded(),
    )
    HANDSHAKE_P99_NS = MetricRow(
        "handshake_p99_ns",
        _SERVER,
        "Time until the handshake with a web server is done, 99th percentile",
        "time until 99% of the handshakes with a web server are done",
        Loaded(),
    )
    RESPONSE_P50_NS = MetricRow(
        "response_p50_ns",
        _SERVER,
        "Time until a web server's response is complete, median",
        "median time until a web server's response is complete",
        Loaded(),
    )
    RESPONSE_P99_NS = MetricRow(
        "response_p99_ns",
        _SERVER,
        "Time until a web server's response is complete, 99th percentile",
        "time until 99% of a web server's responses are complete",
        Loaded(),
    )
    PATH_HANDSHAKE_P50_NS = MetricRow(
        "path_handshake_p50_ns",
        _PATH,
        "Time until the handshake over a path is done, median",
        "median time from the beginning of a connection over a path until the client's handshake is done",
        OverPath("connection"),
    )
    PATH_HANDSHAKE_P95_NS = MetricRow(
        "path_handshake_p95_ns",
        _PATH,
        "Time until the handshake over a path is done, 95th percentile",
        "time until 95% of the handshakes over a path are done",
        OverPath(),
    )
    PATH_HANDSHAKE_P99_NS = MetricRow(
        "path_handshake_p99_ns",
        _PATH,
        "Time until the handshake over a path is done, 99th percentile",
        "time until 99% of the handshakes over a path are done",
        OverPath(),
    )
    PATH_COMPUTING_P50_NS = MetricRow(
        "path_computing_p50_ns",
        _PATH,
        "Computing time within a handshake over a path, median",
        "median time that both sides compute in a handshake over a path; the rest of it is waiting",
        OverPath(),
    )
    PATH_FIRST_BYTE_P50_NS = MetricRow(
        "path_first_byte_p50_ns",
        _PATH,
        "Time until the first byte of an answer over a path, median",
        "median time from the beginning of a connection over a path until the first byte of the answer",
        OverPath("connection"),
    )
    PATH_ANSWER_P50_NS = MetricRow(
        "path_answer_p50_ns",
        _PATH,
        "Time until an answer over a path is complete, median",
        "median time from the beginning of a connection over a path until the last byte of the answer",
        OverPath("connection"),
    )
    PATH_ANSWER_P95_NS = MetricRow(
        "path_answer_p95_ns",
        _PATH,
        "Time until an answer over a path is complete, 95th percentile",
        "time until 95% of the answers over a path are complete",
        OverPath(),
    )
    PATH_ANSWER_P99_NS = MetricRow(
        "path_answer_p99_ns",
        _PATH,
        "Time until an answer over a path is complete, 99th percentile",
        "time until 99% of the answers over a path are complete",
        OverPath(),
    )
    PATH_ROUND_TRIPS = MetricRow(
        "path_round_trips",
        _PATH,
        "Round trips over a path before the request",
        "round trips that a client over a path waits after connecting before it may send its request",
        OverPath(),
        exact=_WHOLE,
        watched=True,
    )
    PATH_CLIENT_PACKETS = MetricRow(
        "path_client_packets",
        _PATH,
        "Packets sent by the client over a path",
        "packets that the client sent into the path per connection",
        OverPath(),
    )
    PATH_SERVER_PACKETS = MetricRow(
        "path_server_packets",
        _PATH,
        "Packets sent by the server over a path",
        "packets that the server sent into the path per connection",
        OverPath(),
    )
    PATH_CLIENT_BYTES = MetricRow(
        "path_client_bytes",
        _PATH,
        "Bytes of the client's packets over a path",
        "bytes of the packets that the client sent into the path per connection, with headers",
        OverPath(),
    )
    PATH_SERVER_BYTES = MetricRow(
        "path_server_bytes",
        _PATH,
        "Bytes of the server's packets over a path",
        "bytes of the packets that the server sent into the path per connection, with headers",
        OverPath(),
    )
    PATH_CLIENT_RETRANSMISSIONS = MetricRow(
        "path_client_retransmissions",
        _PATH,
        "Retransmissions by the client over a path",
        "segments that the client sent again per connection over a path",
        OverPath(),
    )
    PATH_SERVER_RETRANSMISSIONS = MetricRow(
        "path_server_retransmissions",
        _PATH,
        "Retransmissions by the server over a path",
        "segments that the server sent again per connection over a path",
        OverPath(),
    )
    PATH_CLIENT_HELLO_BYTES = MetricRow(
        "path_client_hello_bytes",
        _PATH,
        "Client's first flight over a path",
        "bytes of the client's first flight over a path",
        OverPath(),
        exact=_WIRE_BYTES,
    )
    PATH_SERVER_FLIGHT_BYTES = MetricRow(
        "path_server_flight_bytes",
        _PATH,
        "Server's largest flight over a path",
        "bytes of the server's largest flight of a handshake over a path",
        OverPath(),
        exact=_WIRE_BYTES,
    )
    PATH_CLIENT_LAST_FLIGHT_BYTES = MetricRow(
        "path_client_last_flight_bytes",
        _PATH,
        "Client's last flight over a path",
        "bytes of the client's last flight of a handshake over a path",
        OverPath(),
    )
    PATH_DELAY_P50_NS = MetricRow(
        "path_delay_p50_ns",
        _PATH,
        "Delay of a path, one way, median",
        "median time, one way, that packets were under way which found no queue",
        OverPath(),
    )
    PATH_LOST_PPM = MetricRow(
        "path_lost_ppm",
        _PATH,
        "Packets lost by a path",
        "share of the packets that the path lost",
        OverPath(),
    )
    PATH_CARRIED_BIT_S = MetricRow(
        "path_carried_bit_s",
        _PATH,
        "Rate of a path, bits per second",
        "bits per second that the path carried while its queue was not empty",
        OverPath(),
    )
    START_CPU_NS = MetricRow(
        "start_cpu_ns",
        _START,
        "CPU time of a start, until the first handshake is done",
        "processes started per CPU-second, from execve to the end of the first handshake",
        Started("total_cpu_ns"),
    )
    START_WALL_NS = MetricRow(
        "start_wall_ns",
        _START,
        "Wall time of a start, until the first handshake is done",
        "processes started per second, one after the other, from execve to the end of the first handshake",
        Started("total_wall_ns"),
    )
    START_LOAD_CPU_NS = MetricRow(
        "start_load_cpu_ns",
        _START,
        "CPU time of loading a program with its libraries",
        "processes per CPU-second from execve to main",
        Started("load_cpu_ns"),
    )
    START_LIBRARY_CPU_NS = MetricRow(
        "start_library_cpu_ns",
        _START,
        "CPU time of the library's own start, with FIPS self-tests",
        "starts of the library per CPU-second, with the self-tests of a FIPS provider",
        Started("library_cpu_ns"),
    )
    START_CONTEXT_CPU_NS = MetricRow(
        "start_context_cpu_ns",
        _START,
        "CPU time of the first contexts",
        "processes per CPU-second that make their first contexts, one for each side",
        Started("context_cpu_ns"),
    )
    START_KEYS_CPU_NS = MetricRow(
        "start_keys_cpu_ns",
        _START,
        "CPU time of loading the first key and chain",
        "processes per CPU-second that load their first key and chain",
        Started("keys_cpu_ns"),
    )
    START_TRUST_CPU_NS = MetricRow(
        "start_trust_cpu_ns",
        _START,
        "CPU time of loading trust anchors",
        "processes per CPU-second that load their trust anchors",
        Started("trust_cpu_ns"),
    )
    START_HANDSHAKE_CPU_NS = MetricRow(
        "start_handshake_cpu_ns",
        _START,
        "CPU time of a process's first handshake",
        "first handshakes of processes per CPU-second",
        Started("handshake_cpu_ns"),
    )
    START_READ_BYTES = MetricRow(
        "start_read_bytes",
        _START,
        "Bytes read by a start",
        "bytes that a process reads until its first handshake is done, without what it maps",
        Started("read_bytes"),
        exact=_HELD,
    )
    START_HEAP_BYTES = MetricRow(
        "start_heap_bytes",
        _START,
        "Heap held after a process's first handshake",
        "heap bytes that a process holds after its first handshake",
        Started("heap_bytes"),
        exact=_PEAK,
    )
    START_RESIDENT_BYTES = MetricRow(
        "start_resident_bytes",
        _START,
        "Memory of a process after its first handshake",
        "bytes of memory, pages of files included, that a process has after its first handshake",
        Started("resident_bytes"),
    )
    CLIENT_BYTES = MetricRow(
        "client_bytes",
        _WIRE,
        "Bytes sent by the client",
        "bytes sent by the client per handshake",
        Timed("valid"),
        exact=_WIRE_BYTES,
        watched=True,
    )
    SERVER_BYTES = MetricRow(
        "server_bytes",
        _WIRE,
        "Bytes sent by the server",
        "bytes sent by the server per handshake",
        Timed("valid"),
        exact=_WIRE_BYTES,
        watched=True,
    )
    CLIENT_RECORDS = MetricRow(
        "client_records",
        _STRUCTURE,
        "Records sent by the client",
        "records sent by the client per handshake",
        Examined(),
        exact=_WHOLE,
        watched=True,
    )
    SERVER_RECORDS = MetricRow(
        "server_records",
        _STRUCTURE,
        "Records sent by the server",
        "records sent by the server per handshake",
        Examined(),
        exact=_WHOLE,
        watched=True,
    )
    ROUND_TRIPS = MetricRow(
        "round_trips",
        _STRUCTURE,
        "Round trips before application data",
        "round trips before application data",
        Examined(),
        exact=_WHOLE,
        watched=True,
    )
    CLIENT_ALLOCATIONS = MetricRow(
        "client_allocations",
        _MEMORY,
        "Heap allocations of the client",
        "allocations of the client per handshake",
        Examined(heap=True),
        exact=_ALLOCATED,
        watched=True,
    )
    SERVER_ALLOCATIONS = MetricRow(
        "server_allocations",
        _MEMORY,
        "Heap allocations of the server",
        "allocations of the server per handshake",
        Examined(heap=True),
        exact=_ALLOCATED,
        watched=True,
    )
    HEAP_PEAK_BYTES = MetricRow(
        "heap_peak_bytes",
        _MEMORY,
        "Peak heap, both sides",
        "peak heap bytes of a handshake, client and server together",
        Examined(per="", heap=True),
        exact=_PEAK,
    )
    CLIENT_HELD_BYTES = MetricRow(
        "client_held_bytes",
        _MEMORY,
        "Heap held by an open client connection",
        "heap bytes held by an open connection on the client",
        Examined(per="held_connections", heap=True),
        exact=_HELD,
        watched=True,
    )
    SERVER_HELD_BYTES = MetricRow(
        "server_held_bytes",
        _MEMORY,
        "Heap held by an open server connection",
        "heap bytes held by an open connection on the server",
        Examined(per="held_connections", heap=True),
        exact=_HELD,
        watched=True,
    )
    YOUNG_CPU_NS = MetricRow(
        "young_cpu_ns",
        _AGE,
        "CPU time of a connection on a young context, both sides",
        "connections per CPU-second on a young context, client and server together",
        Aged(),
    )
    OLD_CPU_NS = MetricRow(
        "old_cpu_ns",
        _AGE,
        "CPU time of a connection on an old context, both sides",
        "connections per CPU-second on an old context, client and server together",
        Aged(),
    )
    YOUNG_HEAP_BYTES = MetricRow(
        "young_heap_bytes",
        _AGE,
        "Heap in use with a young context",
        "heap bytes in use with a young context while no connection is open, both sides",
        Aged(heap=True),
        exact=_LIVE,
    )
    OLD_HEAP_BYTES = MetricRow(
        "old_heap_bytes",
        _AGE,
        "Heap in use with an old context",
        "heap bytes in use with an old context while no connection is open, both sides",
        Aged(heap=True),
        exact=_LIVE,
    )
    GROWTH_BYTES = MetricRow(
        "growth_bytes",
        _AGE,
        "Heap that each connection leaves behind",
        "heap bytes that each connection leaves in use",
        Aged(heap=True),
        exact=_GROWTH,
        watched=True,
    )
    CLIENT_INSTRUCTIONS = MetricRow(
        "client_instructions",
        _COUNTERS,
        "Instructions of the client",
        "instructions of the client per handshake",
        Examined(),
    )
    SERVER_INSTRUCTIONS = MetricRow(
        "server_instructions",
        _COUNTERS,
        "Instructions of the server",
        "instructions of the server per handshake",
        Examined(),
    )
    CLIENT_CYCLES = MetricRow(
        "client_cycles", _COUNTERS, "Cycles of the client", "cycles of the client per handshake", Examined()
    )
    SERVER_CYCLES = MetricRow(
        "server_cycles", _COUNTERS, "Cycles of the server", "cycles of the server per handshake", Examined()
    )
    CLIENT_BRANCH_MISSES = MetricRow(
        "client_branch_misses",
        _COUNTERS,
        "Branch misses of the client",
        "branch misses of the client per handshake",
        Examined(),
    )
    SERVER_BRANCH_MISSES = MetricRow(
        "server_branch_misses",
        _COUNTERS,
        "Branch misses of the server",
        "branch misses of the server per handshake",
        Examined(),
    )
    CLIENT_CACHE_MISSES = MetricRow(
        "client_cache_misses",
        _COUNTERS,
        "Cache misses of the client",
        "cache misses of the client per handshake",
        Examined(),
    )
    SERVER_CACHE_MISSES = MetricRow(
        "server_cache_misses",
        _COUNTERS,
        "Cache misses of the server",
        "cache misses of the server per handshake",
        Examined(),
    )
    COUNTED_INSTRUCTIONS = MetricRow(
        "counted_instructions",
        _CALLGRIND,
        "Instructions counted by callgrind, both sides",
        "instructions per handshake, client and server together, counted by callgrind",
        Counted(("client", "server")),
        decides="both",
    )
    CLIENT_COUNTED_INSTRUCTIONS = MetricRow(
        "client_counted_instructions",
        _CALLGRIND,
        "Instructions of the client, counted by callgrind",
        "instructions of the client per handshake, counted by callgrind",
        Counted(("client",)),
        decides="client",
    )
    SERVER_COUNTED_INSTRUCTIONS = MetricRow(
        "server_counted_instructions",
        _CALLGRIND,
        "Instructions of the server, counted by callgrind",
        "instructions of the server per handshake, counted by callgrind",
        Counted(("server",)),
        decides="server",
    )
    OBJECTS_COUNTED_INSTRUCTIONS = MetricRow(
        "objects_counted_instructions",
        _CALLGRIND,
        "Instructions of making and freeing objects, counted by callgrind",
        "instructions of making and freeing objects per handshake, counted by callgrind",
        Counted(("objects",)),
    )
    START_COUNTED_INSTRUCTIONS = MetricRow(
        "start_counted_instructions",
        _CALLGRIND,
        "Instructions of a start, counted by callgrind",
        "instructions of a process from the library's start to the end of the first handshake, counted by callgrind",
        Counted(("start",)),
    )
    ALLOCATED_BYTES = MetricRow(
        "allocated_bytes",
        _ALLOCATIONS,
        "Bytes allocated, both sides",
        "bytes that both sides of a handshake allocate",
        Counted(("client", "server"), Instrument.ALLOCATIONS),
        decides="both",
        exact=_ASKED,
    )
    CLIENT_ALLOCATED_BYTES = MetricRow(
        "client_allocated_bytes",
        _ALLOCATIONS,
        "Bytes allocated by the client",
        "bytes that the client of a handshake allocates",
        Counted(("client",), Instrument.ALLOCATIONS),
        decides="client",
        exact=_ASKED,
    )
    SERVER_ALLOCATED_BYTES = MetricRow(
        "server_allocated_bytes",
        _ALLOCATIONS,
        "Bytes allocated by the server",
        "bytes that the server of a handshake allocates",
        Counted(("server",), Instrument.ALLOCATIONS),
        decides="server",
        exact=_ASKED,
    )
    OBJECTS_ALLOCATED_BYTES = MetricRow(
        "objects_allocated_bytes",
        _ALLOCATIONS,
        "Bytes allocated by making and freeing objects",
        "bytes that making and freeing the objects of a handshake allocates",
        Counted(("objects",), Instrument.ALLOCATIONS),
        exact=_ASKED,
    )
    KEPT_BYTES = MetricRow(
        "kept_bytes",
        _ALLOCATIONS,
        "Bytes kept after a connection was freed",
        "bytes that a connection leaves allocated after it was freed",
        Counted(("kept",), Instrument.ALLOCATIONS),
        exact=_KEPT,
    )
    SHARED_ATOMIC_OPERATIONS = MetricRow(
        "shared_atomic_operations",
        _ATOMICS,
        "Atomic operations on shared memory",
        "atomic operations per handshake on memory that threads share, with making and freeing its objects",
        Counted(("client", "server", "objects"), Instrument.ATOMICS),
        decides="both",
        exact=_SHARED,
    )
    CLIENT_SHARED_ATOMIC_OPERATIONS = MetricRow(
        "client_shared_atomic_operations",
        _ATOMICS,
        "Atomic operations of the client on shared memory",
        "atomic operations of the client per handshake on memory that threads share",
        Counted(("client",), Instrument.ATOMICS),
        decides="client",
        exact=_SHARED,
    )
    SERVER_SHARED_ATOMIC_OPERATIONS = MetricRow(
        "server_shared_atomic_operations",
        _ATOMICS,
        "Atomic operations of the server on shared memory",
        "atomic operations of the server per handshake on memory that threads share",
        Counted(("server",), Instrument.ATOMICS),
        decides="server",
        exact=_SHARED,
    )
    OBJECTS_SHARED_ATOMIC_OPERATIONS = MetricRow(
        "objects_shared_atomic_operations",
        _ATOMICS,
        "Atomic operations of making and freeing objects on shared memory",
        "atomic operations of making and freeing objects per handshake on memory that threads share",
        Counted(("objects",), Instrument.ATOMICS),
        exact=_SHARED,
    )
    BUSIEST_ATOMIC_OPERATIONS = MetricRow(
        "busiest_atomic_operations",
        _ATOMICS,
        "Atomic operations on the busiest object",
        "atomic operations per handshake on the one shared object that has most of them",
        Counted(("busiest",), Instrument.ATOMICS),
        exact=_SHARED,
    )
    ATOMIC_OPERATIONS = MetricRow(
        "atomic_operations",
        _ATOMICS,
        "Atomic operations",
        "atomic operations per handshake, on shared memory or not",
        Counted(("client", "server", "objects"), Instrument.ATOMICS, total="calls"),
        exact=_ATOMIC,
    )


HELD_METRICS = frozenset(
    metric
    for metric in Metric
    if isinstance(origin := metric.row.origin, Examined) and origin.per == "held_connections"
)
"""Per connection that is held open, not per handshake."""
TIMED = {metric: origin for metric in Metric if isinstance(origin := metric.row.origin, Timed)}
VARIED = {metric: origin for metric in Metric if isinstance(origin := metric.row.origin, Varied)}
EXAMINED = {metric: origin for metric in Metric if isinstance(origin := metric.row.origin, Examined)}
LOADED = {metric: origin for metric in Metric if isinstance(origin := metric.row.origin, Loaded)}
OVER_PATH = {metric: origin for metric in Metric if isinstance(origin := metric.row.origin, OverPath)}
STARTED = {metric: origin for metric in Metric if isinstance(origin := metric.row.origin, Started)}
AGED = {metric: origin for metric in Metric if isinstance(origin := metric.row.origin, Aged)}
COUNTED = {metric: origin for metric in Metric if isinstance(origin := metric.row.origin, Counted)}
OF_EMULATOR = frozenset({Metric.PATH_DELAY_P50_NS, Metric.PATH_LOST_PPM, Metric.PATH_CARRIED_BIT_S})
"""What the path did, and no library."""
SPOILT_BY_PREEMPTION = frozenset(
    metric for metric, timed in TIMED.items() if timed.disturbed == "absent" and timed.per != "alone_handshakes"
)
"""Metrics that a disturbed batch cannot provide. CPU time remains valid. The turn of one thread alone has its own
disturbance."""
LATENCIES = tuple(metric for metric, loaded in LOADED.items() if not loaded.per)
"""Percentiles of a batch's connections to a web server."""
WATCHED = tuple(metric for metric in Metric if metric.row.watched)
"""What alerts screen, unless a spec names metrics."""
