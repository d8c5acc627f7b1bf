"""A damaged run keeps nobody from the others: `serve` starts, and says which file it is and what to do."""

import httpx

from tests.cli.conftest import TIMEOUT_S, Cli
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
