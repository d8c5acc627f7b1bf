"""Rough estimates of how long a plan takes."""

from kexbench.domain.cases import Case
from kexbench.domain.cpu_features import CpuFeatures
from kexbench.domain.dimensions import NOTHING, ContextUse, Resumption
from kexbench.domain.instruments import Instrument, parts_of
from kexbench.domain.paths import interval_ns
from kexbench.domain.plans import (
    HEAP_AGED,
    HEAP_STARTS,
    WARM_UP_BATCHES,
    Measure,
    Plan,
    examined_handshakes,
    least_handshakes,
)

INVOCATION_OVERHEAD_S = 0.05
"""Seconds for the start, set-up and probe handshake of one worker, if its server has one name."""
SERVER_NAME_S = 0.001
"""For the context of each further name."""
OVERLOOKED_S = 1.0
"""An untimed pass of this length is not estimated. With it, plans of earlier releases would have another id."""
COUNTED_RUNS = 2 * len(parts_of(Instrument.INSTRUCTIONS))
"""Of a worker under callgrind: two of different length for each side, and for the objects."""
COUNTING_OVERHEAD_S = 1.5
COUNTED_START = 50
COUNTED_HANDSHAKES = 20 * COUNTED_START
"""Handshakes of such a run, in native time: it is fifty times slower."""
PROFILED_HANDSHAKES = 4 * 20
"""Handshakes of a profile that the worker counts itself, with those before and after."""
_FLIGHT_BYTES, _ROUND_TRIPS = 4000, 5
"""A guess of what a server sends in a handshake over a path, and of the round trips of a connection."""
_SLOWER_CPU = {CpuFeatures.X86_64_V2: 3.0, CpuFeatures.X86_64_V3: 2.0}
"""Factors for OpenSSL's RSA, which gains most from new instructions."""


def estimated_seconds(cases: tuple[Case, ...], subjects: int, pools: int, measure: Measure) -> float:
    """Seconds of measuring on one node of each pool, one pool after the other."""
    return sum(case_seconds(case, subjects, measure) for case in cases) * pools


def job_seconds(plan: Plan) -> dict[str, float]:
    """Measuring seconds of each job of a plan, by its id. All jobs are estimated at once: each access to a case's id
    computes it, and a large plan has ten thousand cases."""
    cases = {case.case_id: case for case in plan.cases}
    seconds = {}
    for job in plan.jobs:
        measure = plan.measure.model_copy(update={"invocations": job.invocations, "jobs": 1})
        participants = sum(len(block) for block in job.blocks)
        seconds[job.job_id] = sum(case_seconds(cases[case_id], participants, measure) for case_id in job.case_ids)
    return seconds


def case_seconds(case: Case, subjects: int, measure: Measure) -> float:
    """Seconds of measuring all invocations of a case on one node."""
    handshake_s = handshake_seconds(case)
    if measure.instrument.counts and measure.instrument is not Instrument.INSTRUCTIONS:
        return (_worker_seconds(case) + PROFILED_HANDSHAKES * handshake_s) * subjects * measure.invocations
    starts = measure.starts if case.has_start else 0
    if measure.instrument is Instrument.INSTRUCTIONS:
        counted_start_s = (COUNTING_OVERHEAD_S + COUNTED_START * _start_seconds(case)) if starts else 0.0
        counted_set_up_s = COUNTING_OVERHEAD_S + COUNTED_START * _names_seconds(case)
        counted_s = COUNTED_RUNS * (counted_set_up_s + COUNTED_HANDSHAKES * handshake_s)
        return (counted_s + counted_start_s) * subjects * measure.invocations
    at_its_end = case.concurrency if case.has_server else 1
    if case.ecdsa_case:  # a batch has as many connections of the rarer kind as are under way at once
        at_its_end *= 100 // min(case.ecdsa_percent, 100 - case.ecdsa_percent)
    least_s, ends_s = least_handshakes(1e9 * handshake_s) * handshake_s, at_its_end * handshake_s
    turns = 2 if case.threads > 1 else 1  # all threads together, then one of them alone
    batch_s, warm_up_s = (
        (max(batch_ns / 1e9, least_s) + ends_s) * turns for batch_ns in (measure.batch_ns_of(case), measure.batch_ns)
    )
    workers = 1 if case.peer == NOTHING and not case.has_server else 3 if case.ecdsa_case else 2
    invocation_s = _worker_seconds(case) * workers + measure.batches * batch_s + WARM_UP_BATCHES * warm_up_s
    if case.ages:
        invocation_s += (measure.age + min(measure.age, HEAP_AGED)) * handshake_s
        invocation_s += 2 * _names_seconds(case) if measure.age else 0.0
    invocation_s += _path_seconds(case, handshake_s, measure.connections)
    # Two workers start processes, one of them so many, the other a few that count the heap.
    invocation_s += (2 * _worker_seconds(case) + (starts + HEAP_STARTS) * _start_seconds(case)) if starts else 0.0
    # The untimed pass of each job is made twice, because a second worker counts the heap.
    examined_s = 2 * examined_handshakes(1e9 * handshake_s) * handshake_s
    passes = min(measure.jobs, measure.invocations) if workers == 1 and examined_s > OVERLOOKED_S else 0
    return (invocation_s * measure.invocations + examined_s * passes) * subjects


def _path_seconds(case: Case, handshake_s: float, connections: int) -> float:
    """Of the connections over a case's path: they begin one after the other, and the last one has some round trips."""
    path = case.network_path
    if path is None:
        return 0.0
    apart_ns = interval_ns(path, 1e9 * handshake_s, _FLIGHT_BYTES + case.transfer_bytes)
    return (connections * apart_ns + _ROUND_TRIPS * path.round_trip_ns) / 1e9


def _names_seconds(case: Case) -> float:
    """Of the contexts of a server's further names."""
    return SERVER_NAME_S * (case.server_names - 1)


def _worker_seconds(case: Case) -> float:
    """Of a worker before its first batch."""
    return INVOCATION_OVERHEAD_S + _names_seconds(case)


def _start_seconds(case: Case) -> float:
    """CPU seconds of a process's start: a guess for all libraries."""
    anchors = 0.0002 * case.trust_anchors * (1 + case.client_authentication) if case.verification else 0.0
    return 0.01 + anchors + 0.03 * case.fips + _names_seconds(case) + handshake_seconds(case)


def handshake_seconds(case: Case) -> float:
    """CPU seconds of one connection, a guess for all libraries: RSA and DH grow with the cube of their size."""
    requests = case.requests_per_connection
    further = 0.0004 * case.verification + requests * case.transfer_bytes * 1e-9 + 0.0002 * case.has_server
    further += 0.00005 * (requests - 1) + 0.00001 * (case.certificate_names - 1)
    if case.context is ContextUse.CONNECTION:
        further += 0.002 + 0.00008 * case.trust_anchors
    resumed = case.resumed_percent / 100
    full = case.model_copy(update={"resumption": Resumption.NONE})
    return further + resumed * _handshake_seconds(case) + (1 - resumed) * _handshake_seconds(full)


def _handshake_seconds(case: Case) -> float:
    if case.punctures:
        return 0.003 + 0.0015 * case.false_positive_bits  # as many pairings on each side
    if case.resumption in (Resumption.SESSION_ID, Resumption.TICKET, Resumption.PSK):
        return 0.0002  # symmetric cryptography alone
    seconds = 0.0005
    signatures = 0 if case.resumption is Resumption.PSK_DHE else 1 + case.client_authentication
    if case.rsa_bits:
        seconds += signatures * 0.0008 * (case.rsa_bits / 2048) ** 3 * _SLOWER_CPU.get(case.cpu_features, 1.0)
    elif signatures > 1:
        seconds += 0.0003
    if case.group.startswith(("dh-", "ffdhe")):
        bits = int(case.group.removeprefix("dh-").removeprefix("ffdhe"))
        seconds += 0.009 * (bits / 2048) ** 3
    return seconds + 0.0001 * (case.hello_retry + case.chain_length - 1)
