"""Probes a kit's worker for its features and its library's defaults. Nothing here is a measurement."""

from pathlib import Path
from statistics import median
from typing import Protocol

from kexbench.domain.cases import Case
from kexbench.domain.kits import Launch, Library
from kexbench.domain.material import MaterialFiles
from kexbench.domain.metrics import Metric
from kexbench.domain.plans import EXAMINED_HANDSHAKES, MIN_HANDSHAKES
from kexbench.domain.probes import (
    DefaultHandshake,
    Feature,
    Finding,
    KitProbe,
    ProbeCutShort,
    ProbeFailed,
    defaults,
    full_handshakes,
    tried,
)
from kexbench.domain.samples import SIGNALS_FROM_OUTSIDE, OutcomeKind
from kexbench.runner.participant import Dropped, expect, run_request, setup_request, worker_faults
from kexbench.runner.records import Batch, Examined, Ready, Record
from kexbench.runner.worker import Worker

ANSWER_TIMEOUT_S = 10.0
MAX_ENDED_WORKERS = 5
SETUPS = 5


class ProbeMaterial(Protocol):
    """Keys and certificates in a folder."""

    folder: Path

    def provide(self, case: Case) -> MaterialFiles:
        """The files of a case. They are created if they do not exist."""
        ...


class WorkerProber:
    """Probes kits with the same keys."""

    def __init__(self, material: ProbeMaterial) -> None:
        self._material = material

    @property
    def material(self) -> Path:
        """The folder that the worker is started with."""
        return self._material.folder

    def probe(self, launch: Launch, library: Library, log: Path, *, fips: bool) -> KitProbe:
        """Try each case, the library's defaults first. The worker's stderr goes to `log`.

        Raises ProbeFailed.
        """
        session = _Session(launch, log)
        try:
            version = session.worker().hello.version
            by_default = tuple(self._default(session, case) for case in defaults(library))
            findings: dict[str, Finding] = {}
            features = []
            for dimension, case in tried(library, fips=fips):
                if case.case_id not in findings:
                    findings[case.case_id] = self._finding(session, case, runs=case in full_handshakes(library))
                value = str(getattr(case, dimension))
                features.append(Feature(**findings[case.case_id].model_dump(), dimension=dimension, value=value))
        except Dropped as fault:
            failure = ProbeCutShort if fault.signal in SIGNALS_FROM_OUTSIDE else ProbeFailed
            raise failure(fault.reason) from None
        finally:
            session.close()
        return KitProbe(library=library, version=version, features=tuple(features), defaults=by_default)

    def _finding(self, session: "_Session", case: Case, *, runs: bool) -> Finding:
        """Whether the case can be set up, and with `runs` whether a batch can be run."""
        try:
            expect(Ready, session.ask(setup_request(case, self._material.provide(case))))
            if runs:
                expect(Batch, session.ask(run_request(case, MIN_HANDSHAKES, 0, MIN_HANDSHAKES)))
        except Dropped as fault:
            session.note(fault)
            return Finding(case_id=case.case_id, result=fault.kind, reason=fault.reason, detail=fault.detail)
        return Finding(case_id=case.case_id, result="supported")

    def _default(self, session: "_Session", case: Case) -> DefaultHandshake:
        request = setup_request(case, self._material.provide(case))
        try:
            setups = [_measured_setup(session, request) for _ in range(SETUPS)]
            examined = expect(Examined, session.ask(f"examine id={case.case_id} handshakes={EXAMINED_HANDSHAKES}"))
        except Dropped as fault:
            session.note(fault)
            return DefaultHandshake(case_id=case.case_id, result=fault.kind, reason=fault.reason, detail=fault.detail)
        costs_ns = [cpu_ns for cpu_ns, _ in setups if cpu_ns is not None]
        return DefaultHandshake(
            case_id=case.case_id,
            result="supported",
            negotiated=setups[-1][1].negotiated,
            client_bytes=examined.client_bytes / examined.handshakes,
            server_bytes=examined.server_bytes / examined.handshakes,
            round_trips=examined.amount(Metric.ROUND_TRIPS),
            setup_cpu_ns=median(costs_ns) if costs_ns else None,
        )


def _measured_setup(session: "_Session", request: str) -> tuple[int | None, Ready]:
    """The setup's CPU time in ns, and the answer. Raises Dropped."""
    before_ns = session.worker().cpu_ns()
    ready = expect(Ready, session.ask(request))
    after_ns = session.worker().cpu_ns()
    return None if before_ns is None or after_ns is None else after_ns - before_ns, ready


class _Session:
    """A live worker, which is replaced when it ends: a worker that crashes on one case may support the next."""

    def __init__(self, launch: Launch, log: Path) -> None:
        self._launch = launch
        self._log = log
        self._worker: Worker | None = None
        self._ended = 0

    def worker(self) -> Worker:
        """Raises Dropped."""
        if self._worker is None:
            with worker_faults():
                self._worker = Worker(self._launch, self._log)
        return self._worker

    def ask(self, request: str) -> Record:
        """Raises Dropped."""
        worker = self.worker()
        with worker_faults():
            return worker.ask(request, ANSWER_TIMEOUT_S)

    def note(self, fault: Dropped) -> None:
        """Close a worker that crashed or hung. Raises ProbeCutShort if it was ended from outside, and ProbeFailed if
        too many workers ended."""
        if fault.signal in SIGNALS_FROM_OUTSIDE:
            raise ProbeCutShort(fault.reason)
        if fault.kind in (OutcomeKind.CRASHED, OutcomeKind.HUNG):
            self.close()
            self._ended += 1
            if self._ended == MAX_ENDED_WORKERS:
                raise ProbeFailed(f"{self._ended} workers crashed or hung, the last one with: {fault.reason}")

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None
