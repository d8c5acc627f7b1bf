"""From a spec to stored results on this machine: the one place where the stages follow each other."""

import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from kexbench.api.lab_models import Qualifications
from kexbench.api.resolving import resolved
from kexbench.client import ApiClient, ApiError, Refused, deliver_run
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.plans import SENTINEL, Plan
from kexbench.domain.runs import Purpose, Run, RunEvent, RunReason, RunState, Trigger
from kexbench.domain.versions import covers
from kexbench.execution.folder import RunFolder
from kexbench.execution.local import JobEnd, Places, run_job
from kexbench.execution.measuring import MeasuringLock
from kexbench.kits import KitError, Shelf, raise_all
from kexbench.kits.git import GitOrigin
from kexbench.planning.documents import DocumentError, Fault
from kexbench.planning.follow import follow_of
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Catalogue
from kexbench.runner.host import read_host_facts
from kexbench.runner.results import DamagedFile
from kexbench.service import ServiceUnavailable, reach_service
from kexbench.store.port import StoreError
from kexbench.wiring import Installation

_FULL_BYTES = 1 << 20
"""A disk with less space takes no invocation any more."""
DELIVERY_ERRORS = (ApiError, ServiceUnavailable, StoreError)


class RunGone(Exception):
    """A run that was begun cannot be gone on with; the text says why."""


class VersionMismatch(Exception):
    """A source gave another version than the catalogue promises."""


class Reporter(Protocol):
    """Who is told what happens while it happens."""

    def step(self, text: str) -> None: ...
    def measuring(self, case_id: str, done: int, total: int) -> None: ...
    def storing(self, done: int, total: int) -> None: ...


@dataclass(frozen=True)
class RunEnd:
    """How a run ended; `undelivered` says why results are still on disk only."""

    run: Run
    state: RunState
    detail: str
    undelivered: str | None


def read_plan(
    installation: Installation, spec: Path, report: Callable[[str], None] = lambda _: None
) -> tuple[Plan, str]:
    """The plan of a spec file and the file's text. With `resolve` the number of invocations follows from what is known
    of this machine; of a branch that it follows, the newest commit is planned. Raises DocumentError, and KitError where
    the branch can't be asked for."""
    text = read_spec(spec)
    catalogue = installation.catalogue()
    only = _newest_followed(installation, text, str(spec), catalogue, report)

    def known(invocations: int) -> Qualifications:
        with reach_service(installation) as address:
            return ApiClient.here(address).get(Qualifications, f"/qualifications?invocations={invocations}")

    return resolved(text, str(spec), partial(make_plan, text, str(spec), catalogue, only=only), known), text


def _newest_followed(
    installation: Installation, text: str, file: str, catalogue: Catalogue, report: Callable[[str], None]
) -> tuple[str, ...]:
    """The reference of the newest commit of the branch that a spec follows; nothing of any other spec. What is wrong
    with one is told with all its faults when it is planned."""
    try:
        follow = follow_of(text, file, catalogue)
    except DocumentError:
        return ()
    if follow is None:
        return ()
    branch = follow.branch
    newest = GitOrigin(installation.settings.cache).newest(SubjectRef.parse(branch.reference(branch.branch)), report)
    report(f"{branch.library} {branch.branch}: {newest.hash[:12]}, {newest.committed_at:%Y-%m-%d}, {newest.subject}")
    return (branch.reference(newest.hash),)


def read_spec(spec: Path) -> str:
    """The text of a spec file. Raises DocumentError."""
    try:
        return spec.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise DocumentError(str(spec), [Fault(1, 1, "", f"cannot be read: {reason}")]) from None


def provide_kits(installation: Installation, plan: Plan, report: Callable[[str], None]) -> dict[str, KitManifest]:
    """The kit of every subject and peer of a plan and of its sentinel, made where it is missing.

    Where a source cannot be reached, the kit made from it before serves. Raises KitError, KitErrors or VersionMismatch.
    """
    shelf = installation.kits()
    kits = {}
    if plan.sentinel:
        kits[SENTINEL] = shelf.sentinel(SubjectRef.parse(plan.sentinel), report)
    subjects = {SubjectRef.parse(subject.reference): subject for subject in (*plan.subjects, *plan.peers)}
    made = {
        reference: _known(shelf, reference, result, report) if isinstance(result, KitError) else result
        for reference, result in shelf.add_all(tuple(subjects), report).items()
    }
    raise_all([result for result in made.values() if isinstance(result, KitError)])
    for reference, kit in made.items():
        assert isinstance(kit, KitManifest), "the errors were just raised"
        declared = subjects[reference].declared_version
        if declared and not covers(declared, kit.version):
            raise VersionMismatch(
                f"{reference} is now version {kit.version}, but the catalogue says {declared}\n"
                f"  remedy: correct its entry in {installation.settings.catalogue}, "
                "which kexbench catalogue check --apply does for what it tracks"
            )
        kits[str(reference)] = kit
    return kits


def _known(
    shelf: Shelf, reference: SubjectRef, error: KitError, report: Callable[[str], None]
) -> KitManifest | KitError:
    """The kit that was made before its source could not be reached; the error where there is none, or another one."""
    known = shelf.find(reference) if error.stage in ("resolve", "fetch") else None
    if known is None:
        return error
    report(f"{error.reason}: going on with {known.folder_name}")
    return known


def start_run(
    installation: Installation,
    plan: Plan,
    spec_text: str,
    report: Reporter,
    *,
    purpose: Purpose = Purpose.HISTORY,
) -> RunFolder:
    """Make what the run needs and write its facts. Raises KitError, KitErrors or VersionMismatch."""
    created_at = datetime.now(UTC).replace(microsecond=0)
    announced = Run(
        run_id=f"{created_at:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}",
        created_at=created_at,
        trigger=Trigger.COMMAND_LINE,
        spec_text=spec_text,
        plan=plan,
        kits={},
        host=None,
        material={},
        purpose=purpose,
    )
    run = _started(installation, announced, report)
    folder = installation.run_folder(run.run_id)
    folder.create(run)
    return folder


def take_run(installation: Installation, run_id: str, report: Reporter) -> RunFolder:
    """The folder of a run that was queued: as an earlier process left it, or begun now. Raises what start_run raises,
    RunGone, and Refused where somebody else has started it."""
    if folder := known_run(installation, run_id):
        return folder
    with reach_service(installation) as address:
        announced = ApiClient.of_run(address, run_id).queued_run(run_id)
    if announced.is_started:
        raise RunGone(f"what run {run_id} had measured is not in {installation.run_folder(run_id).path} any more")
    run = _started(installation, announced, report)
    folder = installation.run_folder(run_id)
    folder.create(run)  # first: ended behind this, another process finds what to tell the service
    try:
        with reach_service(installation) as address:
            ApiClient.of_run(address, run_id).put_run(run)
    except Refused:
        folder.discard()
        raise
    return folder


def _started(installation: Installation, run: Run, report: Reporter) -> Run:
    kits = provide_kits(installation, run.plan, report.step)
    report.step("providing keys and certificates")
    material = installation.material()
    provided = {case.case_id: material.provide(case) for case in run.plan.cases}
    return run.model_copy(update={"kits": kits, "host": read_host_facts(), "material": provided})


def execute_run(
    installation: Installation,
    folder: RunFolder,
    report: Reporter,
    lock: MeasuringLock | None = None,
    *,
    queued: bool = False,
) -> RunEnd:
    """Measure what is left of a run and deliver it. The caller holds the folder's lock, and `lock`, which keeps others
    from measuring. Of a `queued` run that is interrupted nothing is told: only who sees to the queue knows why.

    Raises KitError when a kit that the run began with is gone, and DamagedFile.
    """
    run = folder.run()
    folder.invocations(run)  # so that a damaged file is told before anything is measured
    places = places_of(installation, run)
    folder.reopen()
    _event(folder, run, RunState.RUNNING, "")
    state, detail, reason = _measure(installation, folder, run, places, report, lock)
    if not (queued and state is RunState.CANCELLED):
        _event(folder, run, state, detail, reason)
    try:
        deliver_run(installation, folder, report.storing)
    except Refused as error:
        return RunEnd(run, state, detail, _refusal(folder, error))
    except DELIVERY_ERRORS as error:
        again = "nothing is lost: the next kexbench run or serve stores it"
        return RunEnd(run, state, detail, f"{error}\n  remedy: {again}")
    folder.mark_delivered()
    return RunEnd(run, state, detail, None)


def places_of(installation: Installation, run: Run) -> Places:
    """Where the parts of a run lie. Raises KitError when a kit that the run began with is gone."""
    shelf = installation.kits()
    for reference, kit in run.kits.items():
        if shelf.get(kit.kit_id) is None:
            reason = f"kit {kit.kit_id}, which run {run.run_id} began with, is not on the shelf any more"
            raise KitError(reference, "store", reason, "start a new run of the spec")
    return Places(
        kits={reference: shelf.folder(kit.kit_id) for reference, kit in run.kits.items()},
        material=installation.material().folder,
    )


def known_run(installation: Installation, run_id: str) -> RunFolder | None:
    """The folder of a run that this machine made, or None."""
    return next((folder for folder in installation.run_folders() if folder.path.name == run_id), None)


def deliver_leftovers(installation: Installation, on_fault: Callable[[str], None]) -> list[Run]:
    """Deliver runs whose own process ended before it could. Returns those delivered now.

    A run that is damaged or refused holds up no other: it stays on the disk as it is, and `on_fault` is told why and
    what to do.
    """
    delivered = []
    for folder in installation.run_folders():
        if folder.is_delivered():
            continue
        with folder.locked() as ours:
            if not ours:
                continue
            try:
                delivered.append(_deliver_left(installation, folder))
            except DamagedFile as error:
                on_fault(f"run {folder.path.name} is not stored: {error}")
            except Refused as error:
                on_fault(f"run {folder.path.name} is not stored: {_refusal(folder, error)}")
    return delivered


def _deliver_left(installation: Installation, folder: RunFolder) -> Run:
    run = folder.run()
    events = folder.events()
    if not run.was_queued and (not events or events[-1].state is RunState.RUNNING):
        detail = f"the measuring process ended; kexbench run --resume {run.run_id} goes on"
        _event(folder, run, RunState.FAILED, detail, RunReason.PROCESS_ENDED)
    deliver_run(installation, folder)
    folder.mark_delivered()
    return run


def _refusal(folder: RunFolder, error: Refused) -> str:
    """Why the API refused what a folder holds, and what to do; it would refuse the same again."""
    remedy = error.remedy or f"correct what is in {folder.path}, or move it out of the folder of runs"
    return f"{error.detail}\n  remedy: {remedy}"


def _measure(
    installation: Installation,
    folder: RunFolder,
    run: Run,
    places: Places,
    report: Reporter,
    lock: MeasuringLock | None,
) -> tuple[RunState, str, RunReason | None]:
    """All jobs, one after the other; the state of the run after them, with what is said of it and why.

    Between jobs nothing is measured, so what there is so far is delivered without disturbing
    anything; what fails now is sent at the end.
    """
    total = run.plan.invocations
    before = 0
    for job in run.plan.jobs:
        with suppress(*DELIVERY_ERRORS):
            deliver_run(installation, folder)
        end = run_job(folder, run, job, places, partial(_report_job, report, before, total), lock)
        if end is JobEnd.CANCELLED:
            return RunState.CANCELLED, f"cancelled; kexbench run --resume {run.run_id} goes on", None
        if end is JobEnd.FAILED:
            return RunState.FAILED, *_why_the_runner_failed(folder)
        before += job.count
    measured = len(folder.invocations(run))
    return RunState.FINISHED, "" if measured >= total else f"{measured} of {total} invocations", None


def _why_the_runner_failed(folder: RunFolder) -> tuple[str, RunReason]:
    """On a full disk its log, which says so, cannot be written either."""
    if shutil.disk_usage(folder.path).free < _FULL_BYTES:
        detail = f"the disk is full: free some space where {folder.path} lies, then resume the run"
        return detail, RunReason.DISK_FULL
    return f"the runner failed: see {folder.log}", RunReason.RUNNER_FAILED


def _report_job(report: Reporter, before: int, total: int, case_id: str, done: int) -> None:
    report.measuring(case_id, before + done, total)


def _event(folder: RunFolder, run: Run, state: RunState, detail: str, reason: RunReason | None = None) -> None:
    folder.add_event(RunEvent(run_id=run.run_id, at=datetime.now(UTC), state=state, detail=detail, reason=reason))
