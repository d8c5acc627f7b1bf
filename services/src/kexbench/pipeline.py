"""From a spec to stored results on this machine: the only place that runs the stages in order."""

import secrets
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from itertools import product
from pathlib import Path
from typing import Protocol

from kexbench import traces
from kexbench.answers.qualifications import Qualifications
from kexbench.answers.resolving import resolved
from kexbench.client import ApiClient, ApiError, Refused, deliver_run
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.libraries import not_built_with
from kexbench.domain.plans import SENTINEL, Plan
from kexbench.domain.runs import Purpose, Run, RunReason, RunState, Trigger
from kexbench.domain.versions import covers
from kexbench.execution.folder import RunFolder
from kexbench.execution.local import JobEnd, Places, run_job
from kexbench.execution.measuring import Interrupts, MeasuringLock, noting_interrupts
from kexbench.kits import KitError, KitStore, raise_all
from kexbench.kits.git import GitOrigin
from kexbench.planning.compose import quick_text
from kexbench.planning.documents import DocumentError, read_spec
from kexbench.planning.follow import follow_of
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Catalogue
from kexbench.queue.runs import run_event
from kexbench.runner.host import read_host_facts
from kexbench.runner.results import DamagedFile
from kexbench.service import ServiceUnavailable, reach_service
from kexbench.store.port import StoreError
from kexbench.wiring import Installation

_FULL_BYTES = 1 << 20
"""A disk with less free space counts as full."""
DELIVERY_ERRORS = (ApiError, ServiceUnavailable, StoreError)


class RunGone(Exception):
    """A started run cannot continue; the text says why."""


class VersionMismatch(Exception):
    """A source provides another version than the catalogue says."""


class Reporter(Protocol):
    """Receives the progress of a command."""

    def step(self, text: str) -> None: ...
    def measuring(self, case_id: str, done: int, total: int) -> None: ...
    def storing(self, done: int, total: int) -> None: ...


@dataclass(frozen=True)
class RunEnd:
    """How a run ended. `undelivered` says why its results are not stored yet."""

    run: Run
    state: RunState
    detail: str
    undelivered: str | None


def read_plan(
    installation: Installation,
    spec: Path,
    report: Callable[[str], None] = lambda _: None,
    *,
    quick: bool = False,
) -> tuple[Plan, str]:
    """The plan of a spec file and the file's text; `quick`: of the spec with few and short invocations.

    With `resolve` the number of invocations follows from this machine's qualifications. Of a followed branch the newest
    commit is planned. Raises DocumentError, and KitError if the branch cannot be read.
    """
    text = read_spec(spec)
    catalogue = installation.catalogue()
    only = _newest_followed(installation, text, str(spec), catalogue, report)
    if quick:
        make_plan(text, str(spec), catalogue, only=only)  # faults have places in the file
        text = quick_text(text, str(spec))

    def qualified(invocations: int) -> Qualifications:
        with reach_service(installation) as address:
            return ApiClient.here(address).get(Qualifications, f"/qualifications?invocations={invocations}")

    return resolved(text, str(spec), partial(make_plan, text, str(spec), catalogue, only=only), qualified), text


def _newest_followed(
    installation: Installation, text: str, file: str, catalogue: Catalogue, report: Callable[[str], None]
) -> tuple[str, ...]:
    """The reference of the newest commit of the branch that a spec follows; empty for other specs. Planning reports the
    faults of a spec."""
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


def provide_kits(installation: Installation, plan: Plan, report: Callable[[str], None]) -> dict[str, KitManifest]:
    """The kits of a plan's subjects, peers and sentinel; missing kits are built.

    If a source cannot be reached, its last kit is used. Raises KitError, KitErrors or VersionMismatch.
    """
    kit_store = installation.kits()
    kits = {}
    if plan.sentinel:
        kits[SENTINEL] = kit_store.sentinel(SubjectRef.parse(plan.sentinel), report)
    subjects = {SubjectRef.parse(subject.reference): subject for subject in (*plan.subjects, *plan.peers)}
    results = {
        reference: _last_kit(kit_store, reference, result, report) if isinstance(result, KitError) else result
        for reference, result in kit_store.add_all(tuple(subjects), report).items()
    }
    raise_all([result for result in results.values() if isinstance(result, KitError)])
    for reference, kit in results.items():
        assert isinstance(kit, KitManifest), "the errors were just raised"
        declared = subjects[reference].declared_version
        if declared and not covers(declared, kit.version):
            raise VersionMismatch(
                f"{reference} is now version {kit.version}, but the catalogue says {declared}\n"
                f"  remedy: correct its entry in {installation.settings.catalogue}; "
                "kexbench catalogue check --apply corrects tracked entries"
            )
        kits[str(reference)] = kit
    return kits


def provide_servers(
    installation: Installation, plan: Plan, kits: Mapping[str, KitManifest], report: Callable[[str], None]
) -> None:
    """The web servers of a plan's cases, for each kit that can have them; missing ones are built. The sentinel goes
    without, if its files have changed since it was frozen. Raises KitError."""
    wanted = dict.fromkeys(case.server for case in plan.cases if case.has_server)
    servers = installation.servers()
    for server, (reference, kit) in product(wanted, kits.items()):
        if not_built_with(server, kit.library, kit.version):
            continue
        try:
            servers.add(server, kit.ref, kit, report)
        except KitError as error:
            if reference != SENTINEL or error.stage != "resolve":
                raise
            report(f"the sentinel has no {server}: {error.reason}")


def _last_kit(
    kit_store: KitStore, reference: SubjectRef, error: KitError, report: Callable[[str], None]
) -> KitManifest | KitError:
    """The last kit of a source that cannot be reached; the error if there is none, or for any other error. A path of
    this machine is always reached: if a tree there is not built, an older kit would hide that."""
    kit = kit_store.find(reference) if error.stage in ("resolve", "fetch") and not reference.is_local else None
    if kit is None:
        return error
    report(f"{error.reason}: continuing with {kit.folder_name}")
    return kit


def new_run(plan: Plan, spec_text: str, purpose: Purpose = Purpose.HISTORY) -> Run:
    """A run that a command starts."""
    created_at = datetime.now(UTC).replace(microsecond=0)
    return Run(
        run_id=f"{created_at:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}",
        created_at=created_at,
        trigger=Trigger.API,
        spec_text=spec_text,
        plan=plan,
        kits={},
        host=None,
        material={},
        purpose=purpose,
    )


def take_run(
    installation: Installation, run_id: str, report: Reporter, new: Run | None = None, *, queued: bool = False
) -> RunFolder:
    """The folder of a run, left by an earlier process or created now with all that the run needs. A `new` run is queued
    first; the executor has claimed a `queued` one. The caller holds the folder. Raises KitError, KitErrors,
    VersionMismatch, and RunGone."""
    if folder := known_run(installation, run_id):
        return folder
    with reach_service(installation) as address, closing(ApiClient.of_run(address, run_id)) as api:
        if new is not None:
            api.put_run(new)
        announced = api.queued_run(run_id)
        if announced.is_started:
            raise RunGone(f"the results of run {run_id} are no longer in {installation.run_folder(run_id).path}")
        if not queued:
            api.add_event(run_event(run_id, RunState.BUILDING, reason=RunReason.BY_COMMAND))
    with traces.span("build kits", run_id):
        kits = provide_kits(installation, announced.plan, report.step)
        provide_servers(installation, announced.plan, kits, report.step)
    report.step("providing keys and certificates")
    material = installation.material()
    provided = {case.case_id: material.provide(case) for case in announced.plan.cases}
    run = announced.model_copy(update={"kits": kits, "host": read_host_facts(), "material": provided})
    folder = installation.run_folder(run_id)
    folder.create(run)
    return folder


def execute_run(
    installation: Installation,
    folder: RunFolder,
    report: Reporter,
    lock: MeasuringLock | None = None,
    *,
    queued: bool = False,
) -> RunEnd:
    """Measure the rest of a run and deliver it. The caller holds the folder's lock, and `lock`, which keeps others
    from measuring. An interrupted `queued` run gets no event: only the executor knows why it was interrupted.

    Raises KitError if a kit of the run is gone, and DamagedFile.
    """
    run = folder.run()
    folder.invocations(run)  # reports a damaged file before anything is measured
    places = places_of(installation, run)
    folder.reopen()
    folder.add_event(run_event(run.run_id, RunState.RUNNING, reason=None if queued else RunReason.BY_COMMAND))
    with noting_interrupts() as interrupts:
        state, detail, reason = _measure(installation, folder, run, places, report, lock, interrupts)
    if not (queued and state is RunState.CANCELLED):
        folder.add_event(run_event(run.run_id, state, detail, reason))
    again = "nothing is lost: the next kexbench run or serve stores it"
    try:
        with noting_interrupts() as interrupts, interrupts.raised():
            deliver_run(installation, folder, report.storing)
    except Refused as error:
        return RunEnd(run, state, detail, _refusal(folder, error))
    except DELIVERY_ERRORS as error:
        return RunEnd(run, state, detail, f"{error}\n  remedy: {again}")
    except KeyboardInterrupt:
        return RunEnd(run, state, detail, f"interrupted\n  remedy: {again}")
    folder.mark_delivered()
    return RunEnd(run, state, detail, None)


def places_of(installation: Installation, run: Run) -> Places:
    """The folders that a run needs. Raises KitError if a kit of the run is gone."""
    kit_store = installation.kits()
    for reference, kit in run.kits.items():
        if kit_store.get(kit.kit_id) is None:
            reason = f"kit {kit.kit_id} of run {run.run_id} is no longer in the kit store"
            raise KitError(reference, "store", reason, "start a new run of the spec")
    has_servers = any(case.has_server for case in run.plan.cases)
    return Places(
        kits={reference: kit_store.folder(kit.kit_id) for reference, kit in run.kits.items()},
        material=installation.material().folder,
        servers={
            reference: installation.servers().of_kit(kit.kit_id) for reference, kit in run.kits.items() if has_servers
        },
    )


def known_run(installation: Installation, run_id: str) -> RunFolder | None:
    """The folder of a run on this machine, or None."""
    return next((folder for folder in installation.run_folders() if folder.path.name == run_id), None)


def deliver_leftovers(
    installation: Installation, on_fault: Callable[[str], None], *, queued: bool = False
) -> list[Run]:
    """Deliver runs whose own process ended too early. Returns the runs delivered now. `queued` says that an executor
    continues the interrupted runs of commands; without one they fail.

    A damaged or refused run does not hold up others: it stays on the disk, and `on_fault` receives the reason and the
    remedy.
    """
    delivered = []
    for folder in installation.run_folders():
        if folder.is_delivered():
            continue
        with folder.locked() as ours:
            if not ours:
                continue
            try:
                delivered.append(_deliver_leftover(installation, folder, queued=queued))
            except DamagedFile as error:
                on_fault(f"run {folder.path.name} is not stored: {error}")
            except Refused as error:
                on_fault(f"run {folder.path.name} is not stored: {_refusal(folder, error)}")
    return delivered


def stored_otherwise(installation: Installation, run: Run) -> bool:
    """Whether the store has another run with this id."""
    with reach_service(installation) as address, closing(ApiClient.of_run(address, run.run_id)) as api:
        try:
            return api.queued_run(run.run_id) != run
        except Refused as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return False
            raise


def deliver_added(installation: Installation, folder: RunFolder) -> str | None:
    """Deliver a run that was measured elsewhere. Returns why it is not stored yet, with the remedy."""
    with folder.locked() as ours:
        if not ours:
            return "another process delivers it\n  remedy: repeat the command, which then says that it is stored"
        if folder.is_delivered():
            return None
        try:
            deliver_run(installation, folder)
        except Refused as error:
            return _refusal(folder, error)
        except DELIVERY_ERRORS as error:
            return f"{error}\n  remedy: repeat the command, or start kexbench serve, which stores it"
        folder.mark_delivered()
    return None


def _deliver_leftover(installation: Installation, folder: RunFolder, *, queued: bool) -> Run:
    run = folder.run()
    events = folder.events()
    if not queued and events and events[-1].reason is RunReason.BY_COMMAND:
        if len(folder.invocations(run)) >= run.plan.invocations:
            folder.add_event(run_event(run.run_id, RunState.FINISHED))
        else:
            detail = f"the measuring process ended; continue with kexbench run --resume {run.run_id}"
            folder.add_event(run_event(run.run_id, RunState.FAILED, detail, RunReason.PROCESS_ENDED))
    deliver_run(installation, folder)
    folder.mark_delivered()
    return run


def _refusal(folder: RunFolder, error: Refused) -> str:
    """Why the API refused the contents of a folder, and what to do. Retrying would not help."""
    remedy = error.remedy or f"correct the files in {folder.path}, or move it out of the folder of runs"
    return f"{error.detail}\n  remedy: {remedy}"


def _measure(
    installation: Installation,
    folder: RunFolder,
    run: Run,
    places: Places,
    report: Reporter,
    lock: MeasuringLock | None,
    interrupts: Interrupts,
) -> tuple[RunState, str, RunReason | None]:
    """Run all jobs in turn. Returns the state of the run afterwards, with its detail and reason.

    Between jobs nothing is measured, so delivering the results so far disturbs nothing. What cannot be delivered now
    is sent at the end.
    """
    total = run.plan.invocations
    done = 0
    is_out_of_time = False
    cancelled = RunState.CANCELLED, f"continue with kexbench run --resume {run.run_id}", None
    for job in run.plan.jobs:
        try:
            with interrupts.raised(), suppress(*DELIVERY_ERRORS):
                deliver_run(installation, folder)
            if interrupts.noted:
                return cancelled
            end = run_job(folder, run, job, places, partial(_report_job, report, done, total), interrupts, lock)
        except KeyboardInterrupt:  # while results are delivered, or for the second time
            return cancelled
        if end is JobEnd.CANCELLED:
            return cancelled
        if end is JobEnd.FAILED:
            return RunState.FAILED, *_runner_failure(folder)
        is_out_of_time |= end is JobEnd.OUT_OF_TIME
        done += job.count
    return _end_of(run, len(folder.invocations(run)), is_out_of_time=is_out_of_time)


def _end_of(run: Run, count: int, *, is_out_of_time: bool) -> tuple[RunState, str, RunReason | None]:
    """Of a run whose jobs have all ended with `count` invocations. Those with time left measured everything but what is
    hopeless."""
    if not is_out_of_time:
        return RunState.FINISHED, "", None
    return RunState.INCOMPLETE, _stopped(run, f"{count} of {run.plan.invocations} invocations"), RunReason.OUT_OF_TIME


def _stopped(run: Run, measured: str) -> str:
    seconds = run.plan.measure.max_duration_s
    limit = f"{seconds}s" if seconds % 60 else f"{seconds // 60}m"
    return f"stopped after {limit} (maxDuration), {measured}; continue with kexbench run --resume {run.run_id}"


def _runner_failure(folder: RunFolder) -> tuple[str, RunReason]:
    """A full disk is checked here, since the runner cannot write a log on it."""
    if shutil.disk_usage(folder.path).free < _FULL_BYTES:
        detail = f"the disk is full: free some space on the disk of {folder.path}, then resume the run"
        return detail, RunReason.DISK_FULL
    return f"the runner failed: see {folder.log}", RunReason.RUNNER_FAILED


def _report_job(report: Reporter, done_before: int, total: int, case_id: str, done: int) -> None:
    report.measuring(case_id, done_before + done, total)
