"""Counts what a worker does, function by function: instructions with callgrind, for one side of a case at a time, and
whatever the worker itself counts by stack."""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from kexbench.domain.hosts import HostLoad
from kexbench.domain.instruments import INSTRUMENTS, CountedSide, Instrument, parts_of
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.metrics import COUNTED
from kexbench.domain.profiles import Profile
from kexbench.domain.samples import SIGNALS_FROM_OUTSIDE, Invocation, Negotiated, Outcome, OutcomeKind, Sample
from kexbench.runner.callgrind import Counts, MalformedProfile, profile_of, read_counts
from kexbench.runner.cpus import Cpus
from kexbench.runner.invocation import CutShort
from kexbench.runner.job_input import JobInput
from kexbench.runner.order import Turn
from kexbench.runner.participant import (
    Dropped,
    Setting,
    expect,
    run_request,
    setup_request,
    setup_timeout_s,
    worker_faults,
)
from kexbench.runner.records import Batch, Profiled, Ready
from kexbench.runner.symbols import profiles_of

FEWER, MORE = 10, 30
"""Handshakes of the two runs whose difference is counted. With the one that proves the case they are fewer than the 32
after which OpenSSL makes new RSA blinding, in a random number of steps."""
PROFILED = 20
"""Handshakes of a profile that the worker counts itself."""
TIMEOUT_S = 300.0
"""Programs run fifty times slower under Valgrind."""


def count_invocation(
    job_input: JobInput, turn: Turn, cpus: Cpus, log: Path, load: Callable[[], HostLoad]
) -> Invocation:
    """What the instrument counts of each subject as samples, and as profiles if the turn examines. Raises CutShort."""
    instrument = job_input.measure.instrument
    case = next(case for case in job_input.cases if case.case_id == turn.case_id)
    started_at = datetime.now(UTC)
    setting = Setting(job_input, case, cpus, log)
    samples: list[Sample] = []
    negotiated: dict[str, Negotiated] = {}
    profiles: dict[str, tuple[Profile, ...]] = {}
    outcomes: list[Outcome] = []
    for reference in turn.block:
        try:
            if instrument is Instrument.INSTRUCTIONS:
                counted, agreed = count_instructions(setting, reference)
            else:
                counted, agreed = count_stacks(setting, reference, instrument)
        except Dropped as fault:
            if fault.signal in SIGNALS_FROM_OUTSIDE:
                raise CutShort(f"{reference}: {fault.reason}") from None
            outcomes.append(fault.outcome(reference))
            continue
        negotiated[reference] = agreed
        samples += _samples(reference, instrument, counted)
        if turn.examines:
            profiles[reference] = counted
    return Invocation(
        run_id=job_input.run_id,
        job_id=job_input.job.job_id,
        attempt=job_input.attempt,
        case_id=case.case_id,
        invocation=turn.invocation,
        host_id=job_input.host_id,
        host_load=load(),
        started_at=started_at.isoformat(timespec="milliseconds"),
        negotiated=negotiated,
        samples=tuple(samples),
        outcomes=tuple(outcomes),
        profiles=profiles,
    )


def count_instructions(setting: Setting, reference: str) -> tuple[tuple[Profile, ...], Negotiated]:
    """One handshake's, and those of a start if the run starts processes; and what both sides agreed on. Raises
    Dropped."""
    counted = [count(setting, reference, side) for side in parts_of(Instrument.INSTRUCTIONS)]
    profiles = [profile for profile, _ in counted]
    if setting.job_input.measure.starts_processes(setting.case):
        profiles.append(count_start(setting, reference, profiles[0]))
    return tuple(profiles), counted[0][1]


def count_stacks(setting: Setting, reference: str, instrument: Instrument) -> tuple[tuple[Profile, ...], Negotiated]:
    """What the worker counts by stack, in each part. Raises Dropped."""
    case = setting.case
    if not case.is_countable:
        raise _uncountable(f"{instrument} are counted in cases with one thread that plays both roles")
    with (
        setting.launch(reference, count_heap=INSTRUMENTS[instrument].watches_heap, threads=1) as worker,
        worker_faults(),
    ):
        ready = expect(Ready, worker.ask(setup_request(case, setting.files), setup_timeout_s(case)))
        request = f"profile id={case.case_id} of={instrument} handshakes={PROFILED}"
        record = expect(Profiled, worker.ask(request, TIMEOUT_S))
        features = worker.hello.cpu_features
    return profiles_of(record, instrument, features), ready.negotiated


def count(setting: Setting, reference: str, side: CountedSide) -> tuple[Profile, Negotiated]:
    """One handshake's instructions of a side, and what both sides agreed on. Raises Dropped."""
    library = LIBRARIES[setting.job_input.kits[reference].manifest.library]
    if library.uncountable:
        raise _uncountable(library.uncountable)
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise _uncountable("valgrind is not installed: install it, such as with apt install valgrind")
    if not setting.case.is_countable:
        raise _uncountable("instructions are counted in one thread that plays both roles")
    with setting.launch(reference) as worker:
        native = worker.hello.cpu_features
    fewer, more = (_run(valgrind, setting, reference, side, handshakes) for handshakes in (FEWER, MORE))
    profile = profile_of(side, fewer[0], more[0], MORE - FEWER)
    if profile.amount <= 0:
        raise _uncountable(f"the {side} had no instructions: its worker is too old, add the kit again")
    features = {"cpu_features": more[2], "native_cpu_features": native}
    return profile.model_copy(update=features), more[1]


def count_start(setting: Setting, reference: str, other: Profile) -> Profile:
    """The instructions of one process's start, from the library's own to the end of its first handshake. `other`: a
    profile of the same worker. Raises Dropped."""
    valgrind = shutil.which("valgrind")
    assert valgrind is not None
    with TemporaryDirectory(prefix="kexbench-count-") as folder:
        output = Path(folder) / "callgrind.out"
        launch = setting.launch_of(reference, "--start", "0,0", under=_callgrind(valgrind, output, "start"))
        request = setup_request(setting.case, setting.files) + "\n"
        with setting.log.open("ab") as log:
            try:
                process = subprocess.run(
                    launch.arguments,
                    cwd=launch.folder,
                    env=launch.environment,
                    input=request.encode(),
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    timeout=TIMEOUT_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise Dropped(OutcomeKind.HUNG, f"no start within {TIMEOUT_S:g} s") from None
        if process.returncode:
            reason = f"a start ended with status {process.returncode} while it was counted; the log says more"
            raise Dropped(OutcomeKind.ERROR, reason)
        profile = profile_of("start", Counts(), _counts_in(output), 1)
    features = {"cpu_features": other.cpu_features, "native_cpu_features": other.native_cpu_features}
    return profile.model_copy(update=features)


def _callgrind(valgrind: str, output: Path, side: CountedSide) -> tuple[str, ...]:
    """Its command, with counters that are on in the side's functions alone."""
    return (
        valgrind,
        "--tool=callgrind",
        f"--callgrind-out-file={output}",
        *(f"--toggle-collect={function}" for function in INSTRUMENTS[Instrument.INSTRUCTIONS].parts[side].roots),
    )


def _counts_in(output: Path) -> Counts:
    """Raises Dropped."""
    try:
        with output.open(encoding="utf-8", errors="replace") as lines:
            return read_counts(lines)
    except (OSError, MalformedProfile) as error:
        raise Dropped(OutcomeKind.ERROR, f"callgrind's output cannot be read: {error}") from None


def _run(
    valgrind: str, setting: Setting, reference: str, side: CountedSide, handshakes: int
) -> tuple[Counts, Negotiated, str | None]:
    """A whole life of the worker, with its counters on in the side's functions alone. Returns also the CPU features
    that the library chose its code by. Raises Dropped."""
    case = setting.case
    with TemporaryDirectory(prefix="kexbench-count-") as folder:
        output = Path(folder) / "callgrind.out"
        with setting.launch(reference, under=_callgrind(valgrind, output, side)) as worker, worker_faults():
            ready = expect(Ready, worker.ask(setup_request(case, setting.files), TIMEOUT_S))
            expect(Batch, worker.ask(run_request(case, handshakes, 0, handshakes), TIMEOUT_S))
            features = worker.hello.cpu_features
            worker.finish(TIMEOUT_S)
        return _counts_in(output), ready.negotiated, features


def _uncountable(reason: str) -> Dropped:
    """An outcome of a kind that is not tried again."""
    return Dropped(OutcomeKind.UNSUPPORTED, reason)


def _samples(reference: str, instrument: Instrument, profiles: Sequence[Profile]) -> list[Sample]:
    counted_sides = {profile.side for profile in profiles}
    totals = {("amount", profile.side): profile.amount for profile in profiles} | {
        ("calls", profile.side): sum(function.calls for function in profile.functions) for profile in profiles
    }
    return [
        Sample(subject=reference, metric=metric, values=(sum(totals[counted.total, side] for side in counted.sides),))
        for metric, counted in COUNTED.items()
        if counted.by is instrument and counted_sides >= set(counted.sides)
    ]
