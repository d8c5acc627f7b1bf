"""`kexbench run` from a spec to a table, also beside a service, and after it was interrupted."""

import csv
import io
import json
import os
import signal
from pathlib import Path

import httpx2
import pytest

from tests.cli.conftest import TIMEOUT_S, Cli, stock
from tests.conftest import FakeKit

STEADY, SLOWER, CRASHING = "1.0+noise=0", "1.1+noise=0+step=1.02", "2.0+crash_after=30"


@pytest.fixture
def cli(cli: Cli, fake_kit: FakeKit) -> Cli:
    """Whose kit store has the kits already."""
    stock(cli, fake_kit, STEADY, SLOWER, CRASHING)
    return cli


def test_a_spec_ends_in_a_table_and_stored_results(cli: Cli) -> None:
    done = cli("run", cli.spec("steady", STEADY, SLOWER))
    assert done.status == 0, done.err
    lines = [line.split() for line in done.out.splitlines()]
    rates = next(position for position, words in enumerate(lines) if words[:3] == ["TLS", "1.2", "RSA"])
    assert lines[rates][3:] == ["+2.00%"] * 3
    assert lines[rates + 1] == ["RSA", "2048"] + ["[+2.00%,", "+2.00%]"] * 3
    assert lines[rates + 2] == ["2,500/s", "→", "2,451/s"] + ["slower"] * 3
    listed = cli("runs", "list", "--json").json()["runs"]
    assert [(run["spec_name"], run["state"], run["invocations_stored"]) for run in listed] == [
        ("steady", "finished", 12)
    ]


@pytest.mark.long
def test_several_specs_are_measured_in_their_order(cli: Cli) -> None:
    done = cli("run", cli.spec("second", STEADY), cli.spec("first", STEADY))
    assert done.status == 0, done.err
    listed = cli("runs", "list", "--json").json()["runs"]
    assert [(run["spec_name"], run["state"]) for run in listed] == [("first", "finished"), ("second", "finished")]


def test_a_fault_in_the_last_spec_is_known_before_the_first_one_is_measured(cli: Cli, tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.yaml"
    faulty.write_text(Path(cli.spec("faulty", STEADY)).read_text().replace("keyExchange", "keyExchagne"))
    done = cli("run", cli.spec("first", STEADY), str(faulty))
    assert done.status == 1
    assert "faulty.yaml:" in done.err
    assert cli("runs", "list", "--json").json()["runs"] == []


@pytest.mark.long
def test_a_quick_run_is_short_and_is_shown_until_another_run_has_results(cli: Cli) -> None:
    done = cli("run", cli.spec("steady", STEADY, SLOWER), "--quick")
    assert done.status == 0, done.err
    assert "slower" in done.out
    (first_look,) = cli("upgrade", "--json").json()["upgrades"]
    assert "step=" in first_look["after"]["source"]
    (run,) = cli("runs", "list", "--json").json()["runs"]
    assert (run["spec_name"], run["state"], run["invocations_stored"]) == ("steady", "finished", 6)
    detail = cli("runs", "show", run["run_id"], "--json").json()
    assert (detail["measure"]["invocations"], detail["measure"]["batches"]) == (3, 4)
    assert cli("run", "--resume", run["run_id"], "--quick").status == 2
    assert cli("run", cli.spec("other", STEADY)).status == 0
    assert cli("upgrade", "--json").json()["upgrades"] == []


def test_exported_samples_hold_every_batch(cli: Cli) -> None:
    cli("run", cli.spec("steady", STEADY))
    rows = list(csv.DictReader(io.StringIO(cli("export", "--metric", "server_cpu_ns").out)))
    assert len(rows) == 12
    assert {row["values"] for row in rows} == {"300000.0 300000.0 300000.0 300000.0"}
    assert cli("export", "--format", "json", "--metric", "server_cpu_ns").json()[0]["median"] == 300_000


@pytest.mark.long
def test_a_run_beside_a_service_appears_there(cli: Cli) -> None:
    with cli.serving() as (_, url):
        for name in ("first", "second"):
            done = cli("run", cli.spec(name, STEADY))
            assert done.status == 0, done.err
            assert f"{url}/runs/" in done.err
        runs = httpx2.get(f"{url}/api/v1/runs", trust_env=False).json()["runs"]
        assert [(run["spec_name"], run["state"], run["invocations_stored"]) for run in runs] == [
            ("second", "finished", 12),
            ("first", "finished", 12),
        ]


def test_a_second_service_says_where_the_first_one_is(cli: Cli) -> None:
    with cli.serving() as (_, url):
        done = cli("serve", "--port", "0")
    assert done.status == 1
    assert f"already serves this store at {url}" in done.err


@pytest.mark.thorough
def test_ctrl_c_keeps_complete_invocations_and_resume_measures_the_rest(cli: Cli) -> None:
    process = cli.start("run", cli.spec("long", STEADY, invocations=40))
    assert process.stderr is not None
    next(line for line in process.stderr if line.startswith("measured "))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130, err
    (run,) = cli("runs", "list", "--json").json()["runs"]
    assert run["state"] == "cancelled"
    assert 0 < run["invocations_stored"] < 80
    assert f"kexbench run --resume {run['run_id']}" in err

    done = cli("run", "--resume", run["run_id"])
    assert done.status == 0, done.err
    (run,) = cli("runs", "list", "--json").json()["runs"]
    assert (run["state"], run["invocations_stored"]) == ("finished", 80)


@pytest.mark.long
def test_a_killed_run_leaves_its_results_to_the_next_command(cli: Cli) -> None:
    process = cli.start("run", cli.spec("long", STEADY, invocations=40))
    assert process.stderr is not None
    next(line for line in process.stderr if line.startswith("measured "))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=TIMEOUT_S)
    listed = cli("runs", "list", "--json")
    (run_id,) = (run["run_id"] for run in listed.json()["runs"])
    assert f"kexbench run --resume {run_id} continues it" in listed.err
    done = cli("run", cli.spec("next", STEADY))
    assert done.status == 0, done.err
    assert "had left on disk" in done.err
    listed = cli("runs", "list", "--json")
    assert "ended before" not in listed.err
    runs = {run["spec_name"]: run for run in listed.json()["runs"]}
    assert runs["long"]["state"] == "failed"
    assert runs["long"]["invocations_stored"] >= 8
    assert "--resume" in runs["long"]["detail"]


def test_a_crashing_worker_costs_its_own_cells_only(cli: Cli) -> None:
    done = cli("run", cli.spec("crash", STEADY, CRASHING))
    assert done.status == 0, done.err
    assert "2,500" in done.out
    crashed = "fake 2.0: crashed: the worker was ended by signal 6: TLS 1.2 ECDHE-ECDSA, ECDSA P-256, P-256; "
    assert f"{crashed}TLS 1.2 RSA, RSA 2048\n" in done.out


@pytest.mark.long
def test_the_json_of_a_run_is_nothing_but_json(cli: Cli) -> None:
    done = cli("run", cli.spec("steady", STEADY), "--json")
    assert json.loads(done.out)["summary"]["state"] == "finished"


def test_a_run_without_a_spec_or_with_an_unknown_run_is_a_usage_error(cli: Cli) -> None:
    assert cli("run").status == 2
    done = cli("run", "--resume", "nothing")
    assert done.status == 2
    assert "no run nothing" in done.err
