"""A damaged run keeps nobody from the others: `serve` starts, and says which file it is and what to do."""

import os
from pathlib import Path

import httpx

from tests.cli.conftest import TIMEOUT_S, Cli, stock
from tests.conftest import FakeKit
from tests.execution.test_damage import keep, nul_tail


def test_serve_starts_beside_a_damaged_run_and_says_which_file_it_is(cli: Cli) -> None:
    runs = cli.folder / "home" / "runs"
    keep(runs, "healthy", 1000)
    damaged = keep(runs, "damaged", 1000)
    nul_tail(damaged.path / "run.json")
    process = cli.start("serve", "--port", "0")
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "serving http" in line:
                break
        assert any("stored what run healthy had left on disk" in line for line in said), said
        assert any(str(damaged.path / "run.json") in line for line in said), said
        assert any("remedy: " in line for line in said)
        api = next(word for word in said[-1].split() if word.startswith("http")) + "/api/v1"
        assert [run["run_id"] for run in httpx.get(f"{api}/runs").json()["runs"]] == ["healthy"]
        health = httpx.get(f"{api}/health").json()
        assert health["status"] == "impaired"
        assert [(trouble["part"], str(damaged.path) in trouble["reason"]) for trouble in health["troubles"]] == [
            ("results", True)
        ]
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT_S)


def cut_parts(home: Path) -> set[str]:
    """Half of every part is gone, as after a power cut; the tables that had any."""
    damaged = set()
    for data in (home / "store" / "data" / "kexbench").glob("*/*/data.bin"):
        if data.parent.name != "detached":
            os.truncate(data, data.stat().st_size // 2)
            damaged.add(data.parent.parent.name)
    return damaged


def test_a_store_whose_parts_are_damaged_says_so_and_has_again_what_the_runs_hold(cli: Cli, fake_kit: FakeKit) -> None:
    stock(cli, fake_kit, "1.0+noise=0")
    assert cli("run", cli.spec("spec", "1.0+noise=0", invocations=3)).status == 0
    listed, exported = cli("runs", "list", "--json").json(), cli("export", "--format", "json").json()
    assert len(exported) == 6
    assert {"runs", "samples", "invocations", "run_events"} <= cut_parts(cli.folder / "home")
    with cli.serving() as (_, url):
        health = httpx.get(f"{url}/api/v1/health", trust_env=False).json()
        assert health["status"] == "impaired"
        (trouble,) = health["troubles"]
        assert (trouble["part"], "1 run was stored again" in trouble["reason"]) == ("store", True)
        assert "samples" in trouble["reason"]
    assert cli("runs", "list", "--json").json() == listed
    assert cli("export", "--format", "json").json() == exported
    with cli.serving() as (_, url):
        assert httpx.get(f"{url}/api/v1/health", trust_env=False).json()["status"] == "ok"
