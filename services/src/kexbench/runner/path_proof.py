"""Proves the emulator on this machine: connections of a kit over a short path, and what the path did."""

from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.cases import Case
from kexbench.domain.kits import Launch
from kexbench.domain.material import MaterialFiles
from kexbench.domain.paths import NetworkPath
from kexbench.runner.participant import SETUP_TIMEOUT_S, Dropped, expect, setup_request, worker_faults
from kexbench.runner.path import check_path, held_connections, path_request
from kexbench.runner.records import PathConnections, Ready
from kexbench.runner.worker import Worker

PROVED = NetworkPath(round_trip_ms=20, loss_percent=2, rate_mbit=10)
_CONNECTIONS, _INTERVAL_NS, _ANSWER_BYTES = 100, 20_000_000, 20_000
"""Answers that fill the queue, so that its rate shows, for most of the time: two seconds, and those that wait for
losses."""


@dataclass(frozen=True)
class PathProof:
    record: PathConnections | None
    """None where the path was not carried."""
    fault: str = ""
    """Why not."""


def prove_path(launch: Launch, case: Case, files: MaterialFiles, log: Path) -> PathProof:
    """`case`: one that the kit's library supports, without a path."""
    request = path_request(case, PROVED, _CONNECTIONS, "doctor", None).model_copy(
        update={"interval_ns": _INTERVAL_NS, "answer_bytes": _ANSWER_BYTES}
    )
    try:
        with worker_faults(), Worker(launch, log) as worker:
            expect(Ready, worker.ask(setup_request(case, files), SETUP_TIMEOUT_S))
            record = held_connections(worker, case, request)
        check_path(case, record, request)
    except Dropped as fault:
        return PathProof(None, fault.reason)
    return PathProof(record)
