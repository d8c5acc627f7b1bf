"""`kexbench runs add`: what another machine measured is stored here as it was, once, and shown without its kits."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kexbench.domain.runs import RunReason, RunState
from kexbench.execution.folder import RunFolder
from kexbench.runner.results import append_result
from tests.builders import HOST, a_run, all_invocations, an_event
from tests.cli.conftest import TIMEOUT_S, Cli
from tests.cli.queueing import serving

FOREIGN = HOST.model_copy(update={"cpu_model": "Foreign CPU 1"})
RUN = "20260101-120000-0a0b0c0d"
PLANNED = a_run().plan.invocations
KILLED = """
import os, signal, sys
import kexbench.execution.adding as adding, kexbench.pipeline as pipeline
place = sys.argv.pop(1)
kill = lambda *given, **named: os.kill(os.getpid(), signal.SIGKILL)
if place == "while it is copied":
    copy, files = adding.shutil.copytree, []
    adding.shutil.copytree = lambda *given, **named: copy(*given, **named, copy_function=kill)
elif place == "before it has its name":
    adding.make_folder = lambda path: kill() if path.name == "runs" else path.mkdir(exist_ok=True)
elif place == "before it is delivered":
    pipeline.deliver_added = kill
elif place == "before it is marked":
    adding.RunFolder.mark_delivered = kill
from kexbench.cli.main import main
sys.argv = ["kexbench", "runs", "add", *sys.argv[1:]]
main()
"""
PLACES = ("while it is copied", "before it has its name", "before it is delivered", "before it is marked")


@dataclass(frozen=True)
class Elsewhere:
    runs: Path

    def __call__(self, run_id: str = RUN, *, ended: bool = True) -> Path:
        """The folder of a run that another machine measured and stored."""
        run = a_run(run_id, host=FOREIGN)
        folder = RunFolder(self.runs / run_id)
        folder.create(run)
        folder.add_event(an_event(run, reason=RunReason.BY_COMMAND))
        jobs = {job.job_id: job for job in run.plan.jobs}
        for measured in all_invocations(run):
            of_host = measured.model_copy(update={"host_id": FOREIGN.host_id})
            append_result(folder.results(jobs[measured.job_id]), of_host)
        if ended:
            folder.add_event(an_event(run, RunState.FINISHED, seconds=60))
        folder.log.write_text("a line of a worker\n")
        folder.mark_delivered()
        return folder.path


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path / "elsewhere" / "runs")


def added(cli: Cli, *paths: Path) -> list[tuple[str, str, bool]]:
    runs = json.loads(cli("runs", "add", *map(str, paths), "--json").out)["runs"]
    return [(each["run_id"], each["outcome"], each["is_stored"]) for each in runs]


def refusal(cli: Cli, path: Path) -> str:
    """Nothing of it is here afterwards."""
    before = here(cli)
    answer = cli("runs", "add", str(path))
    assert answer.status == 1, answer.out
    assert here(cli) == before
    assert "  refused: " in answer.out
    assert "remedy: " in answer.out
    return answer.out


def here(cli: Cli) -> dict[str, bytes]:
    runs = cli.folder / "home" / "runs"
    return {str(path.relative_to(runs)): path.read_bytes() for path in runs.rglob("*") if path.is_file()}


def stored(cli: Cli) -> dict[str, tuple[str, int]]:
    runs: list[dict[str, Any]] = cli("runs", "list", "--json").json()["runs"]
    return {run["run_id"]: (run["state"], run["invocations_stored"]) for run in runs}


def samples(cli: Cli) -> int:
    return len(cli("export").out.splitlines()) - 1


def test_a_run_keeps_its_id_its_machine_and_its_kits_and_is_added_once(cli: Cli, elsewhere: Elsewhere) -> None:
    source = elsewhere()
    of_source = {path.name: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    first = cli("runs", "add", str(source))
    assert (first.status, first.out) == (0, f"{RUN}  added\n"), first.err
    again = cli("runs", "add", str(source))
    assert (again.status, again.out) == (0, f"{RUN}  already here\n")
    assert stored(cli) == {RUN: ("finished", PLANNED)}
    assert samples(cli) == PLANNED
    detail = cli("runs", "show", RUN, "--json").json()
    assert [each["host"] for each in detail["hosts"]] == [FOREIGN.model_dump(mode="json")]
    assert set(detail["kits"]) == {"fake@1.0", "fake@1.1"}
    assert {path.name: path.read_bytes() for path in source.rglob("*") if path.is_file()} == of_source
    assert here(cli)[f"{RUN}/worker.log"] == b"a line of a worker\n"


def test_every_page_of_a_foreign_run_works_without_its_kits(cli: Cli, elsewhere: Elsewhere) -> None:
    assert added(cli, elsewhere()) == [(RUN, "added", True)]
    assert not (cli.folder / "home" / "kits").exists()
    assert not (cli.folder / "home" / "material").exists()
    with serving(cli) as served:
        run = served.ask("GET", f"/runs/{RUN}")
        assert [each["host"]["cpu_model"] for each in run["hosts"]] == ["Foreign CPU 1"]
        first, *_ = a_run().plan.cases
        for path in (
            *(f"/runs/{RUN}/{part}" for part in ("progress", "verdict")),
            "/matrix?pool=local&cpu_model=Foreign CPU 1",
            f"/matrix?run_id={RUN}",
            f"/trends?case_id={first.case_id}",
            f"/cpus?case_id={first.case_id}",
            f"/export?format=json&run_id={RUN}",
            *("/overview", "/filters", "/subjects", "/upgrades", "/security", "/scaling", "/qualifications", "/alerts"),
        ):
            served.ask("GET", path)


def test_folders_and_archives_of_runs_are_added(cli: Cli, elsewhere: Elsewhere, tmp_path: Path) -> None:
    ids = [f"20260101-12000{number}-0a0b0c0d" for number in range(4)]
    for run_id in ids[:2]:
        elsewhere(run_id)
    assert added(cli, elsewhere.runs) == [(run_id, "added", True) for run_id in ids[:2]]
    archive = tmp_path / "runs.tar.gz"
    with tarfile.open(archive, "w:gz") as writing:
        writing.add(elsewhere(ids[2]).parents[1], "home")
    assert added(cli, archive, elsewhere(ids[3])) == [
        *((run_id, "already here", True) for run_id in ids[:2]),
        (ids[2], "added", True),
        (ids[3], "added", True),
    ]
    assert stored(cli) == dict.fromkeys(ids, ("finished", PLANNED))
    assert not (cli.folder / "home" / ".adding").exists()


@pytest.mark.parametrize("place", [*(pytest.param(place, marks=pytest.mark.long) for place in PLACES[:-1]), PLACES[-1]])
def test_a_second_try_finishes_what_a_kill_interrupted(cli: Cli, elsewhere: Elsewhere, place: str) -> None:
    source = elsewhere()
    command = [sys.executable, "-c", KILLED, place, str(source)]
    killed = subprocess.run(command, env=cli.environment, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert killed.returncode == -9, killed.stderr
    is_here = f"{RUN}/run.json" in here(cli)
    assert is_here == place.startswith("before it is")
    assert added(cli, source) == [(RUN, "already here" if is_here else "added", True)]
    assert stored(cli) == {RUN: ("finished", PLANNED)}
    assert samples(cli) == PLANNED
    assert f"{RUN}/delivered" in here(cli)
    assert not (cli.folder / "home" / ".adding").exists()


def test_a_run_with_the_same_id_and_other_content_is_refused(cli: Cli, elsewhere: Elsewhere) -> None:
    source = elsewhere()
    assert added(cli, source) == [(RUN, "added", True)]
    results = next((source / "results").iterdir())
    results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:-1]))
    assert "is here with other content; nothing was overwritten" in refusal(cli, source)
    shutil.rmtree(cli.folder / "home" / "runs" / RUN)
    run_json = source / "run.json"
    run_json.write_text(run_json.read_text().replace("Foreign CPU 1", "Foreign CPU 2"))
    assert "the store has another run with this id" in refusal(cli, source)
    assert stored(cli) == {RUN: ("finished", PLANNED)}


def test_a_run_that_is_measured_or_has_not_ended_is_refused(cli: Cli, elsewhere: Elsewhere) -> None:
    source = elsewhere()
    with (source / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert f"run {RUN} is being measured" in refusal(cli, source)
    shutil.rmtree(source)
    assert f"run {RUN} has not ended" in refusal(cli, elsewhere(ended=False))


def test_a_damaged_run_is_refused_with_its_place_beside_others_that_are_added(cli: Cli, elsewhere: Elsewhere) -> None:
    damaged, other = elsewhere(), elsewhere("20260101-120001-0a0b0c0d")
    results = next((damaged / "results").iterdir())
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join([lines[0], b"{}\n", *lines[2:]]))
    answer = cli("runs", "add", str(elsewhere.runs))
    assert answer.status == 1
    assert f"{RUN}  refused: {results}: line 2: " in answer.out
    assert f"{other.name}  added\n" in answer.out
    assert list(stored(cli)) == [other.name]
    results.write_bytes(b"".join(lines).replace(b'"case_id":"tlsv1.2_rsa', b'"case_id":"tlsv1.1_rsa'))
    assert f"job {results.name.removesuffix('.1.ndjson')} has no invocation" in refusal(cli, damaged)
    (damaged / "run.json").unlink()
    assert "run.json: cannot be read: No such file or directory" in refusal(cli, elsewhere.runs)


@pytest.mark.parametrize("kind", ["link", "outside", "hard link", "link in a folder", "none"])
def test_an_archive_or_folder_that_leads_elsewhere_is_refused(
    cli: Cli, elsewhere: Elsewhere, tmp_path: Path, kind: str
) -> None:
    source, archive = elsewhere(), tmp_path / "runs.tar"
    (tmp_path / "secret").write_text("secret")
    if kind == "link in a folder":
        (source / "more").symlink_to(tmp_path / "secret")
        assert "more is neither a file nor a folder" in refusal(cli, source)
        return
    with tarfile.open(archive, "w") as writing:
        member = tarfile.TarInfo("../escaped" if kind == "outside" else f"{RUN}/more")
        if kind == "link":
            member.type, member.linkname = tarfile.SYMTYPE, str(tmp_path / "secret")
        elif kind == "hard link":
            member.type, member.linkname = tarfile.LNKTYPE, "run.json"
        writing.addfile(member)
    said = refusal(cli, archive)
    expected = {"link": "neither a file nor a folder", "hard link": "neither a file nor a folder"}
    expected |= {"outside": "outside the destination", "none": "has no folder of a run"}
    assert expected[kind] in said
    assert not any(path.name == "escaped" for path in tmp_path.rglob("*"))


def test_a_store_of_another_machine_is_refused(cli: Cli, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEXBENCH_API_URL", "https://kexbench.example.com")
    refused = cli("runs", "add", str(elsewhere()))
    assert refused.status == 2
    assert "kexbench runs add fills the store of this machine, but KEXBENCH_API_URL names a cluster" in refused.err
    assert not os.path.lexists(cli.folder / "home")
