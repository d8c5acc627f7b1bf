"""What processes log: lines for people, or with KEXBENCH_LOG=json an object a line, without anything secret."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from kexbench.api.calling import API_PREFIX, sign_role_token, sign_run_token
from kexbench.service.reach import wait_until_healthy
from kexbench.store.lock import ServiceAddress, StoreLock
from tests.builders import a_run
from tests.cli.conftest import TIMEOUT_S, Cli
from tests.faults.scene import until

BODY = "a secret of the body"


@contextmanager
def served(cli: Cli, log: str) -> Iterator[tuple[ServiceAddress, "subprocess.Popen[str]"]]:
    environment = {**cli.environment, "KEXBENCH_LOG": log}
    command = cli.command("serve", "--port", "0")
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert "serving http" in (line := process.stderr.readline()), line
        lock = StoreLock(cli.folder / "home" / "store.lock")
        until(lambda: lock.read() is not None, TIMEOUT_S, "the lock of the store")
        address = lock.read()
        assert address is not None
        wait_until_healthy(address)
        yield address, process
    except BaseException:
        process.kill()
        process.communicate()
        raise
    process.terminate()


def refuse_some(address: ServiceAddress) -> list[str]:
    """What must not be logged."""
    token = sign_role_token("alice", "submitter", address.secret, now=datetime.now(UTC))
    run = a_run("20260101-120000-0000abcd")
    with httpx2.Client(base_url=f"{address.url}{API_PREFIX}", trust_env=False) as http:
        path, headers = f"/runs/{run.run_id}/invocations", {"Authorization": f"Bearer {token}"}
        of_run = sign_run_token(run.run_id, address.secret, now=datetime.now(UTC))
        measures = {"Authorization": f"Bearer {of_run}"}
        assert http.post(path, json={"run_id": BODY}, headers=measures).status_code == 422
        assert http.put(f"/runs/{run.run_id}", json=run.model_dump(mode="json"), headers=headers).status_code == 403
        assert http.post(f"{path}?token={token}", json={}, headers={"Authorization": "Bearer x.y.z"}).status_code == 401
        assert http.get("/runs/nothing").status_code == 404
    return [token, of_run, address.secret, BODY, "x.y.z"]


def test_json_has_one_line_for_each_refused_write_with_who_what_and_why(cli: Cli) -> None:
    with served(cli, "json") as (address, process):
        secrets = refuse_some(address)
    text = process.communicate(timeout=TIMEOUT_S)[1]
    records: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    assert {record["program"] for record in records} == {"serve"}
    assert all(datetime.fromisoformat(record["time"]).tzinfo for record in records)
    refusals = [record for record in records if record.get("event") == "refusal"]
    run_id = "20260101-120000-0000abcd"
    assert [(each["caller"], each["reason"], each["status"], each["run_id"]) for each in refusals] == [
        (f"run {run_id}", "invalid", 422, run_id),
        ("alice", "forbidden", 403, run_id),
        ("", "unknown_caller", 401, run_id),
    ]
    assert refusals[1]["detail"] == "alice is a submitter, which may not do this"
    assert refusals[1]["path"] == f"{API_PREFIX}/runs/{run_id}"
    assert [secret for secret in secrets if secret in text] == []


def test_a_person_sees_no_more_than_where_the_service_is(cli: Cli) -> None:
    with served(cli, "text") as (address, process):
        refuse_some(address)
    assert process.communicate(timeout=TIMEOUT_S)[1] == ""


@pytest.mark.parametrize("command", ["dispatch", "queue"])
def test_what_a_command_says_about_its_end_is_json_too(cli: Cli, command: str) -> None:
    environment = {**cli.environment, "KEXBENCH_LOG": "json", "KEXBENCH_API_URL": "no address"}
    done = subprocess.run(
        cli.command(command), env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 2
    records = [json.loads(line) for line in done.stderr.splitlines()]
    assert records
    assert {(record["program"], record["level"]) for record in records} == {(command, "INFO")}


def test_a_pod_ends_with_the_line_that_argo_shows_to_people(cli: Cli) -> None:
    environment = {
        **os.environ,
        "KEXBENCH_LOG": "json",
        "KEXBENCH_API_URL": "http://127.0.0.1:9",
        "KEXBENCH_TOKEN_FILE": str(cli.folder / "none"),
        "KEXBENCH_WORK": str(cli.folder),
    }
    command = [sys.executable, "-m", "kexbench.agent", "send"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("the build left no regular file")


def test_what_a_pod_says_meanwhile_is_json(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "from kexbench.agent.__main__ import _say; from kexbench.logs import log_json; log_json('agent'); _say('sent')"
    )
    environment = {**os.environ, "KEXBENCH_LOG": "json"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    record = json.loads(done.stderr)
    assert (record["message"], record["logger"], record["program"]) == ("sent", "kexbench.agent", "agent")
