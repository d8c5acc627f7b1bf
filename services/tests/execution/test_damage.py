"""Damage in the folder of a run holds up nothing else, and is reported with the file and the remedy."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kexbench.client import ApiClient
from kexbench.execution.folder import RunFolder
from kexbench.pipeline import deliver_leftovers
from kexbench.runner.results import append_result
from kexbench.service import reach_service
from kexbench.settings import Settings
from kexbench.wiring import Installation
from tests.builders import a_run, an_event, an_invocation

ONE, TWO = "fake@1.0", "fake@1.1"
Damage = Callable[[Path], None]


def keep(root: Path, run_id: str, cost_ns: float) -> RunFolder:
    """A run of three invocations that measured the same cost throughout; it waits for its delivery."""
    run, folder = a_run(run_id), RunFolder(root / run_id)
    folder.create(run)
    folder.add_event(an_event(run))
    for number in range(3):
        measured = an_invocation(run, number, cpu_ns={ONE: [cost_ns, cost_ns], TWO: [2 * cost_ns]})
        append_result(folder.results(run.plan.jobs[0]), measured)
    return folder


def cut(share: float) -> Damage:
    def damage(path: Path) -> None:
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * share)])

    return damage


def nul_tail(path: Path) -> None:
    """As of a file that had its length when the power failed, and not its content."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + bytes(len(content) - len(content) // 2))


def nul_behind(path: Path) -> None:
    path.write_bytes(path.read_bytes() + bytes(512))


def only_nul(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def garbage(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 3] + b"\xff\x00}{" + content[len(content) // 3 + 4 :])


def line_of_another_form(path: Path) -> None:
    path.write_bytes(b'{"a": 1}\n' + path.read_bytes())


def swapped(path: Path) -> None:
    """For the file of another run."""
    folder = next(parent for parent in path.parents if parent.parent.name == "runs")
    shutil.copyfile(folder.with_name("healthy") / path.relative_to(folder), path)


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def gone(path: Path) -> None:
    path.unlink()


DAMAGES: dict[str, Damage] = {
    **{f"cut at {share:.0%}": cut(share) for share in (0, 0.1, 0.5, 0.9, 0.999)},
    "nul tail": nul_tail,
    "nul behind": nul_behind,
    "only nul": only_nul,
    "garbage": garbage,
    "another form": line_of_another_form,
    "swapped": swapped,
    "a folder": folder_instead,
    "gone": gone,
}


@pytest.mark.thorough
def test_damage_in_any_file_of_a_run_is_reported_with_its_remedy_and_every_other_run_is_stored(tmp_path: Path) -> None:
    installation = Installation(Settings(home=tmp_path, cache=tmp_path / "cache"))
    healthy = keep(tmp_path / "runs", "healthy", 1000)
    files = [path.relative_to(healthy.path) for path in sorted(healthy.path.rglob("*")) if path.is_file()]
    assert [path.suffix for path in files] == [".ndjson", ".ndjson", ".json"]
    damaged = {}
    for place in files:
        for name, damage in DAMAGES.items():
            run_id = f"{place.parent.name or place.stem} {name}".strip().replace(" ", "-")
            folder = keep(tmp_path / "runs", run_id, 5000)
            damage(folder.path / place)
            damaged[folder.path.name] = folder.path / place
    keep(tmp_path / "runs", "zealous", 3000)

    faults: list[str] = []
    with reach_service(installation) as address:
        delivered = {run.run_id for run in deliver_leftovers(installation, faults.append)}
        client = ApiClient.here(address)
        costs = {run_id: stored_costs(client, run_id) for run_id in delivered}
        listed = {run["run_id"] for run in client.get(dict[str, Any], "/runs?limit=200")["runs"]}
        client.close()
    assert listed == delivered
    assert costs["healthy"] == {ONE: (1000, 3), TWO: (2000, 3)}
    assert costs["zealous"] == {ONE: (3000, 3), TWO: (6000, 3)}
    for run_id, path in damaged.items():
        of_the_run = [fault for fault in faults if fault.startswith(f"run {run_id} is not stored: {path}: ")]
        assert len(of_the_run) == (run_id not in delivered), run_id
        assert all("\n  remedy: " in fault for fault in of_the_run)
        if run_id in delivered:
            assert {cost for cost, _ in costs[run_id].values()} <= {5000, 10000}, "no number that nobody measured"
    assert len(faults) == len(damaged.keys() - delivered)
    harmless = {run_id for run_id, path in damaged.items() if path.name == "run.json"} & delivered
    assert harmless == set(), "without its facts nothing of a run is known"


def stored_costs(client: ApiClient, run_id: str) -> dict[str, tuple[float, int]]:
    """The cost of each subject in a run as it is shown, with the number of its invocations."""
    cells = client.get(dict[str, Any], f"/runs/{run_id}")["cells"]
    shown = [cell for cell in cells if cell["estimate"]]
    return {
        cell["subject"].partition("~")[0]: (cell["estimate"]["value"], cell["estimate"]["invocations"])
        for cell in shown
    }


@pytest.mark.thorough
@pytest.mark.parametrize("line", [1, 2])
def test_the_remedy_for_a_damaged_line_works(tmp_path: Path, line: int) -> None:
    installation = Installation(Settings(home=tmp_path, cache=tmp_path / "cache"))
    folder = keep(tmp_path / "runs", "mended", 1000)
    results = folder.results(folder.run().plan.jobs[0])
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join([*lines[: line - 1], b"\0\0\0\n", *lines[line:]]))
    faults: list[str] = []
    with reach_service(installation) as address:
        assert deliver_leftovers(installation, faults.append) == []
        (fault,) = faults
        assert f"{results}: line {line}: " in fault
        assert "delete that line" in fault
        results.write_bytes(b"".join([*lines[: line - 1], *lines[line:]]))
        assert [run.run_id for run in deliver_leftovers(installation, faults.append)] == ["mended"]
        client = ApiClient.here(address)
        assert stored_costs(client, "mended") == {ONE: (1000, 2), TWO: (2000, 2)}
        client.close()


def test_what_the_api_refuses_is_reported_with_a_remedy_and_kept(tmp_path: Path) -> None:
    installation = Installation(Settings(home=tmp_path, cache=tmp_path / "cache"))
    folder = keep(tmp_path / "runs", "refused", 1000)
    run = folder.run()
    unknown = an_invocation(run, 0, cpu_ns={ONE: [1]}).model_copy(update={"case_id": "another"})
    append_result(folder.results(run.plan.jobs[0]), unknown)
    keep(tmp_path / "runs", "taken", 1000)
    faults: list[str] = []
    with reach_service(installation):
        assert [run.run_id for run in deliver_leftovers(installation, faults.append)] == ["taken"]
    (fault,) = faults
    assert "run refused is not stored: " in fault
    assert "has no invocation 0 of case another\n  remedy: " in fault
    assert str(folder.path) in fault
    assert not folder.is_delivered()


def test_a_run_whose_end_only_the_lost_store_knew_is_not_measured_again(tmp_path: Path) -> None:
    """As one of the queue that was cancelled: its folder says that it runs."""
    installation = Installation(Settings(home=tmp_path, cache=tmp_path / "cache"))
    folder = keep(tmp_path / "runs", "cancelled", 1000)
    folder.mark_delivered()
    with reach_service(installation) as address:
        client = ApiClient.here(address)
        shown = client.get(dict[str, Any], "/runs/cancelled")
        assert stored_costs(client, "cancelled") == {ONE: (1000, 3), TWO: (2000, 3)}
        client.close()
    assert shown["summary"]["state"] == "failed"
    assert "kexbench runs resume cancelled" in shown["summary"]["detail"]
