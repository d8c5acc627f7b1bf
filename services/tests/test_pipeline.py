"""Kits on the way from a spec to a run."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, field_serializer

from kexbench import pipeline
from kexbench.analysis.detectable import invocations_for
from kexbench.answers.qualifications import QualificationRow, Qualifications
from kexbench.answers.resolving import invocations_to_resolve
from kexbench.answers.shapes import CaseView
from kexbench.client import ApiClient, deliver_run
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.plans import Plan
from kexbench.domain.runs import RunReason, RunState
from kexbench.execution.folder import RunFolder
from kexbench.execution.local import JobEnd
from kexbench.kits import KitError, KitErrors, KitStore
from kexbench.pipeline import (
    VersionMismatch,
    deliver_leftovers,
    execute_run,
    known_run,
    new_run,
    places_of,
    provide_kits,
    read_plan,
    take_run,
)
from kexbench.runner.job_input import JobInput
from kexbench.service import reach_service
from kexbench.settings import Settings
from kexbench.wiring import Installation
from tests import builders
from tests.kits.conftest import kitchen_in
from tests.kits.prefix_tree import write_tree

SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: kits }
subjects: [{ fake: tracked }]
matrix: { protocol: [TLSv1.2], keyExchange: [RSA] }
"""
CATALOGUE = """\
apiVersion: kexbench.dev/v1
kind: Catalogue
libraries:
  fake: [{{ source: "{source}", version: "{version}" }}]
"""


def installation(tmp_path: Path, *, source: str = "1.1.4", version: str = "1.1") -> Installation:
    catalogue = tmp_path / "libraries.yaml"
    catalogue.write_text(CATALOGUE.format(source=source, version=version))
    (tmp_path / "kits.yaml").write_text(SPEC)
    settings: dict[str, Any] = {"home": tmp_path / "home", "cache": tmp_path / "cache", "catalogue": catalogue}
    return Installation(Settings(**settings))


def test_a_kit_of_the_promised_version_is_provided(tmp_path: Path) -> None:
    one = installation(tmp_path)
    plan, _ = read_plan(one, tmp_path / "kits.yaml")
    (kit,) = provide_kits(one, plan, lambda _: None).values()
    assert kit.version == "1.1.4"


@pytest.mark.parametrize("promised", ["1.1.3", "1.1.40", "2"])
def test_a_source_that_gives_another_version_than_the_catalogue_says_is_refused(promised: str, tmp_path: Path) -> None:
    one = installation(tmp_path, version=promised)
    plan, _ = read_plan(one, tmp_path / "kits.yaml")
    with pytest.raises(VersionMismatch, match=rf"version 1\.1\.4, but the catalogue says {promised}"):
        provide_kits(one, plan, lambda _: None)


def test_a_source_that_cannot_be_reached_leaves_the_kit_made_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = installation(tmp_path)
    plan, _ = read_plan(one, tmp_path / "kits.yaml")
    made = provide_kits(one, plan, lambda _: None)

    def unreachable(
        self: KitStore, refs: tuple[SubjectRef, ...], *_: object, **__: object
    ) -> dict[SubjectRef, KitManifest | KitError]:
        return {ref: KitError(ref, "fetch", "the package archive can't be reached") for ref in refs}

    monkeypatch.setattr(KitStore, "add_all", unreachable)
    said: list[str] = []
    assert provide_kits(one, plan, said.append) == made
    assert "the package archive can't be reached: continuing with fake-1.1.4" in said[0]


def test_a_tree_that_is_no_longer_built_is_not_replaced_by_what_it_was(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "own")
    kitchen = kitchen_in(tmp_path)
    reference = SubjectRef.parse(f"openssl@prefix:{tree}")
    kitchen.add(str(reference))
    shutil.rmtree(tree / "lib")
    (result,) = kitchen.kit_store.add_all((reference,), lambda _: None).values()
    assert isinstance(result, KitError)
    said: list[str] = []
    assert pipeline._last_kit(kitchen.kit_store, reference, result, said.append) is result
    assert said == []


def test_a_source_that_was_never_reached_ends_the_run_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = installation(tmp_path, source="1.1.4+speed=9")
    plan, _ = read_plan(one, tmp_path / "kits.yaml")
    with pytest.raises(KitError, match="unknown setting"):
        provide_kits(one, plan, lambda _: None)
    assert one.run_folders() == []


def test_every_kit_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    one = installation(tmp_path, source="1.1.4+speed=9")
    (tmp_path / "kits.yaml").write_text(SPEC.replace("fake: tracked", 'fake: [tracked, "1.2+haste=9", "1.3"]'))
    plan, _ = read_plan(one, tmp_path / "kits.yaml")
    with pytest.raises(KitErrors) as caught:
        provide_kits(one, plan, lambda _: None)
    assert [error.ref for error in caught.value.errors] == ["fake@1.1.4+speed=9", "fake@1.2+haste=9"]
    assert [kit.source for kit in one.kits().list()] == ["1.3"]


@contextmanager
def hearing_ctrl_c() -> Iterator[None]:
    """As a command does; a worker of the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Silent:
    """Nobody listens."""

    def step(self, text: str) -> None: ...
    def measuring(self, case_id: str, done: int, total: int) -> None: ...
    def storing(self, done: int, total: int) -> None: ...


def begun(installation: Installation, plan: Plan, text: str) -> RunFolder:
    """The folder of a run of a plan, of which nothing is measured yet."""
    run = new_run(plan, text)
    return take_run(installation, run.run_id, Silent(), run)


def begun_here(tmp_path: Path) -> tuple[Installation, RunFolder]:
    one = installation(tmp_path)
    return one, begun(one, *read_plan(one, tmp_path / "kits.yaml"))


def runs_as_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Starts a shell script in place of the runner."""
    script = tmp_path / "runner"
    script.write_text("\n".join(("#!/bin/sh", *lines, "")))
    script.chmod(0o700)
    monkeypatch.setattr("kexbench.execution.local.sys.executable", str(script))


def stored_state(one: Installation, run_id: str) -> str:
    """As the API shows it."""
    with reach_service(one) as address:
        client = ApiClient.here(address)
        states = {run["run_id"]: run["state"] for run in client.get(dict[str, Any], "/runs")["runs"]}
        client.close()
    return str(states[run_id])


def test_a_run_whose_kit_is_gone_is_not_resumed_and_says_why(tmp_path: Path) -> None:
    one, folder = begun_here(tmp_path)
    (kit,) = folder.run().kits.values()
    shutil.move(one.kits().folder(kit.kit_id), tmp_path / "elsewhere")
    with pytest.raises(KitError, match="is no longer in the kit store"):
        execute_run(one, folder, Silent())
    assert folder.events() == []


@pytest.mark.parametrize(
    ("free", "says"), [(0, "the disk is full: free some space"), (1 << 30, "the runner failed: see")]
)
def test_a_run_that_ended_on_a_full_disk_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, says: str
) -> None:
    one, folder = begun_here(tmp_path)
    monkeypatch.setattr(pipeline, "run_job", lambda *_: JobEnd.FAILED)
    monkeypatch.setattr("kexbench.pipeline.shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    assert execute_run(one, folder, Silent()).detail.startswith(says)
    assert folder.events()[-1].detail.startswith(says)


def test_a_run_that_reaches_its_maximum_duration_says_so_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, folder = begun_here(tmp_path)
    monkeypatch.setattr("kexbench.execution.local.JobInput.model_dump_json", _without_time)
    end = execute_run(one, folder, Silent())
    assert end.state is RunState.INCOMPLETE
    assert folder.events()[-1].reason is RunReason.OUT_OF_TIME
    assert end.detail == (
        "stopped after 60m (maxDuration), 0 of 10 invocations; "
        f"continue with kexbench run --resume {folder.run().run_id}"
    )


def test_a_run_whose_jobs_left_out_only_what_is_hopeless_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, folder = begun_here(tmp_path)
    monkeypatch.setattr(pipeline, "run_job", lambda *_: JobEnd.FINISHED)
    end = execute_run(one, folder, Silent())
    assert (end.state, end.detail, end.undelivered) == (RunState.FINISHED, "", None)


def test_a_run_interrupted_while_a_runner_starts_is_cancelled_and_has_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C reaches both; the runner dies of it, since it has no handler yet."""
    one, folder = begun_here(tmp_path)
    runs_as_runner(tmp_path, monkeypatch, "kill -INT $PPID $$")
    with hearing_ctrl_c():
        end = execute_run(one, folder, Silent())
    assert end.state is RunState.CANCELLED
    assert [event.state for event in folder.events()] == [RunState.RUNNING, RunState.CANCELLED]


def test_a_run_interrupted_before_its_runner_is_in_sight_is_cancelled_once_that_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, folder = begun_here(tmp_path)
    runners = []

    class Interrupted(subprocess.Popen[str]):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(["sh", "-c", "exit 3"], *given[1:], **named)
            runners.append(self)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("kexbench.execution.local.subprocess.Popen", Interrupted)
    with hearing_ctrl_c():
        end = execute_run(one, folder, Silent())
    assert end.state is RunState.CANCELLED
    assert [event.state for event in folder.events()] == [RunState.RUNNING, RunState.CANCELLED]
    assert [runner.returncode for runner in runners] == [3]


def test_a_run_interrupted_twice_ends_its_runner_at_once_and_is_cancelled_and_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, folder = begun_here(tmp_path)
    progress = 'echo \'{"case_id": "", "done": 0}\''
    runs_as_runner(tmp_path, monkeypatch, f"echo $$ > {tmp_path}/pid", progress, progress, "exec sleep 600")

    class InterruptsEachTime(Silent):
        def measuring(self, case_id: str, done: int, total: int) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    with hearing_ctrl_c():
        end = execute_run(one, folder, InterruptsEachTime())
    assert (end.state, end.undelivered) == (RunState.CANCELLED, None)
    assert stored_state(one, end.run.run_id) == RunState.CANCELLED
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


class InterruptedJson(BaseModel):
    """Ctrl-C while it is written, in the place of which pydantic raises an error of its own."""

    value: int = 1

    @field_serializer("value")
    def _interrupt(self, value: int) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return value


def interrupt(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def interrupt_in_json(*_: Any) -> None:
    InterruptedJson().model_dump_json()


@pytest.mark.parametrize("deliver", [interrupt, interrupt_in_json])
def test_a_run_interrupted_while_its_results_are_stored_says_that_nothing_is_lost(
    deliver: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, folder = begun_here(tmp_path)
    monkeypatch.setattr(pipeline, "deliver_run", deliver)
    with hearing_ctrl_c():
        end = execute_run(one, folder, Silent())
    assert end.state is RunState.CANCELLED
    assert end.undelivered == "interrupted\n  remedy: nothing is lost: the next kexbench run or serve stores it"
    assert not folder.is_delivered()
    monkeypatch.undo()
    assert [run.run_id for run in deliver_leftovers(one, pytest.fail)] == [end.run.run_id]
    assert stored_state(one, end.run.run_id) == RunState.CANCELLED


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_between_two_jobs_is_not_lost_where_python_ignores_its_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, folder = begun_here(tmp_path)

    class Freed:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    def deliver(*given: Any) -> None:
        Freed()
        deliver_run(*given)

    monkeypatch.setattr(pipeline, "deliver_run", deliver)
    monkeypatch.setattr(pipeline, "run_job", lambda *_: pytest.fail("the run goes on"))
    with hearing_ctrl_c():
        end = execute_run(one, folder, Silent())
    assert end.state is RunState.CANCELLED


def _without_time(job_input: JobInput) -> str:
    measure = job_input.measure.model_copy(update={"max_duration_s": 0})
    return BaseModel.model_dump_json(job_input.model_copy(update={"measure": measure}))


WITH_OTHERS = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: others }
subjects: [{ fake: tracked }, { openssl: crate/3.5.5 }]
matrix: { protocol: [TLSv1.2], keyExchange: [RSA], peer: ["-", "server:fake@1.2", "client:fake@1.1.4"] }
"""


def with_others(tmp_path: Path) -> tuple[Installation, Plan]:
    """An installation with a made-up sentinel, and a plan with peers. Only a real library beside it makes a plan take
    the sentinel; that one is taken out again, since nothing of it is needed to provide the rest."""
    one = installation(tmp_path)
    catalogue = tmp_path / "libraries.yaml"
    catalogue.write_text(catalogue.read_text().replace("libraries:", "sentinel: fake@9.0\nlibraries:"))
    (tmp_path / "others.yaml").write_text(WITH_OTHERS)
    plan, _ = read_plan(one, tmp_path / "others.yaml")
    assert plan.sentinel == "fake@9.0"
    return one, plan.model_copy(update={"subjects": plan.subjects[:1]})


def test_the_sentinel_and_every_peer_have_their_kits_each_once(tmp_path: Path) -> None:
    one, plan = with_others(tmp_path)
    said: list[str] = []
    kits = provide_kits(one, plan, said.append)
    assert {reference: kit.version for reference, kit in kits.items()} == {
        "sentinel": "9.0", "fake@1.1.4": "1.1.4", "fake@1.2": "1.2"
    }  # fmt: skip
    assert said[0] == "freezing a sentinel: there is none yet"
    frozen = one.kits().frozen()
    assert frozen is not None
    assert frozen.kit_id == kits["sentinel"].kit_id
    assert len(one.kits().list()) == 3


def test_a_plan_without_a_sentinel_freezes_none(tmp_path: Path) -> None:
    one, plan = with_others(tmp_path)
    kits = provide_kits(one, plan.model_copy(update={"sentinel": None}), lambda _: None)
    assert kits.keys() == {"fake@1.1.4", "fake@1.2"}
    assert one.kits().frozen() is None


@pytest.mark.thorough
@pytest.mark.parametrize("lost", ["sentinel", "fake@1.2"])
def test_a_run_whose_sentinel_or_peer_is_gone_is_not_resumed_and_says_whose_kit_it_is(
    lost: str, tmp_path: Path
) -> None:
    one, plan = with_others(tmp_path)
    folder = begun(one, plan, WITH_OTHERS)
    kit = folder.run().kits[lost]
    shutil.move(one.kits().folder(kit.kit_id), tmp_path / "elsewhere")
    with pytest.raises(KitError, match="is no longer in the kit store") as caught:
        execute_run(one, folder, Silent())
    assert str(caught.value).startswith(f"{lost}:")
    assert kit.kit_id in str(caught.value)
    assert caught.value.remedy == "start a new run of the spec"
    assert folder.events() == []


@pytest.mark.thorough
def test_a_run_with_all_its_kits_knows_where_each_lies(tmp_path: Path) -> None:
    one, plan = with_others(tmp_path)
    folder = begun(one, plan, WITH_OTHERS)
    run = folder.run()
    places = places_of(one, run)
    assert places.kits == {reference: one.kits().folder(kit.kit_id) for reference, kit in run.kits.items()}
    assert places.kits.keys() == {"sentinel", "fake@1.1.4", "fake@1.2"}
    assert all((places.material / files.key).is_file() for files in run.material.values())
    found = known_run(one, run.run_id)
    assert found is not None
    assert found.path == folder.path
    assert known_run(one, "another") is None


def qualified(**pair_sds: float) -> Qualifications:
    """By library, each of one case, which is all that the number of invocations depends on."""
    row = QualificationRow(
        library="openssl",
        case=CaseView.of(builders.a_plan().cases[0]),
        run_id="run",
        measured_at=builders.NOON,
        invocations=40,
        cv=0.01,
        pair_sd=0.01,
        group=10,
        smallest_detectable_change=0.01,
        false_positives=None,
        relinks=0,
        layout_floor=None,
        cannot_resolve_below=0.01,
    )
    rows = [
        row.model_copy(update={"library": library.rstrip("_"), "pair_sd": pair_sd})
        for library, pair_sd in pair_sds.items()
    ]
    return Qualifications(host_kind=None, mixed_pool=None, alpha=0.01, power=0.8, rows=rows)


def a_resolving_plan(share: str) -> Plan:
    text = builders.SPEC.replace("invocations: 6", f"resolve: {share}").replace(
        "  - fake: [1.0, 1.1]", "  - openssl: [system]\n  - gnutls: [system]"
    )
    return builders.a_plan(text)


def test_the_noisiest_case_of_all_libraries_decides_how_many_invocations_a_change_takes() -> None:
    known = qualified(openssl=0.004, openssl_=0.02, gnutls=0.01, fake=0.5)
    found = invocations_to_resolve(a_resolving_plan("1%"), known)
    assert found == invocations_for(0.02, 0.01)
    assert found > invocations_for(0.01, 0.01)


@pytest.mark.parametrize(
    ("known", "says"),
    [
        (qualified(openssl=0.01), "gnutls is not qualified on this machine: run kexbench qualify gnutls, or set"),
        (
            qualified(openssl=0.01, gnutls=0.9),
            "a change of 1.0% takes 9[0-9],[0-9]{3} invocations here, more than 1,000",
        ),
    ],
)
def test_a_change_that_cannot_be_resolved_is_reported_with_the_remedy(known: Qualifications, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        invocations_to_resolve(a_resolving_plan("1%"), known)
