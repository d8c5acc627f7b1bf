"""What the API answers of a seeded store, route by route: whoever reshapes what lies below sees each value that
changes."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bench.furnishing import furnish
from bench.large_store import Extent, fill, run_of
from bench.questions import Asked, Question, questions
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, sign_role_token
from kexbench.domain.plans import Plan
from kexbench.domain.runs import RunEvent, RunState
from kexbench.queue.supplies import LocalSupplies
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, ClientOf
from tests.golden import assert_golden

GOLDEN = Path(__file__).parent / "golden"
EXTENT = Extent(runs=2, groups=1, versions=3, hosts=2, batches=4)
LEFT_OUT = {"health": "names the engine's version", "store": "sizes on disk differ from time to time"}
UNORDERED = {"stored_invocations"}
CLOCKED = {"expected_end_at", "left_s", "wait_s"}
"""Fields that are about the time of the question."""
MIX = """\
apiVersion: kexbench.dev/v1
kind: TrafficMix
connectionsPerSecond: 8000
utilisation: 0.6
coresPerMachine: 32
parts:
  - { share: 0.7, case: { protocol: TLSv1.3, keyExchange: ECDHE-ECDSA, group: X25519, cipher: AES-128-GCM } }
  - { share: 0.3, case: { protocol: TLSv1.3, keyExchange: ECDHE-ECDSA, group: X25519, cipher: AES-256-GCM } }
"""


def _plain(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: _plain(each) for name, each in answer.items() if name not in CLOCKED}
    if isinstance(answer, list):
        return [_plain(each) for each in answer]
    return float(f"{answer:.9g}") if isinstance(answer, float) else answer


def _text(name: str, response: httpx2.Response) -> str:
    """Numbers have nine digits: machines may add in other orders."""
    assert response.is_success, response.text
    if response.headers["content-type"] == "application/json":
        answer = _plain(response.json())
        answer = sorted(answer, key=json.dumps) if name in UNORDERED else answer
        return json.dumps(answer, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    return re.sub(r"\s+$", "\n", response.text)


def _further(asked: Asked) -> list[Question]:
    """What `make bench` need not ask, since it costs what another question costs."""
    first, second, *_ = (case.case_id for case in asked.run.plan.cases)
    before, after = asked.step
    run, sides = f"/api/v1/runs/{asked.run.run_id}", {"metric": "server_cpu_ns", **asked.where}
    return [
        Question("matrix, of a side", "/api/v1/matrix", sides),
        Question("run, of a side", run, sides),
        Question("cpus, of a side", "/api/v1/cpus", {"case_id": first, "metric": "server_cpu_ns"}),
        Question("trends, of sides", "/api/v1/trends", {"case_id": [first, second], "metric": ["cpu_ns", "wall_ns"]}),
        Question(
            "compare, two cases",
            "/api/v1/compare",
            {"base": after, "base_case_id": first, "other": after, "other_case_id": second},
        ),
        Question(
            "compare, in a run", "/api/v1/compare", {"base": before, "other": after, "base_run_id": asked.run.run_id}
        ),
        Question("security, of the server", "/api/v1/security", {"side": "server", "model": "ecrypt", **asked.where}),
    ]


def _no_plan(*_: object, **__: object) -> Plan:
    raise AssertionError("nothing is planned here")


@pytest.fixture
def asked(empty_store: ClickHouseStore) -> Asked:
    fill(empty_store, EXTENT)
    furnish(empty_store, EXTENT)
    asked = Asked(EXTENT, run_of(EXTENT, 1, 1))
    waiting = asked.run.model_copy(update={"run_id": "waiting", "kits": {}, "host": None, "material": {}})
    empty_store.add_run(waiting)
    empty_store.add_event(RunEvent(run_id=waiting.run_id, at=waiting.created_at, state=RunState.QUEUED))
    return asked


def answers_of(store: ClickHouseStore, asked: Asked, client_of: ClientOf) -> dict[str, str]:
    """The text of every answer, by its name."""
    app = create_app(store, LocalGatekeeper(SECRET), None, LocalSupplies(_no_plan))
    token = sign_role_token("tests", "dispatcher", SECRET, now=datetime.now(UTC))
    with client_of(app) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        texts = {
            question.name: _text(question.name, client.get(question.path, params=question.parameters))
            for question in [*questions(asked), *_further(asked)]
            if question.name not in LEFT_OUT
        }
        mix = {"mix": MIX, "version": asked.step[0], "to": asked.step[1]}
        return texts | {"capacity": _text("capacity", client.post(f"{API_PREFIX}/capacity", json=mix))}


def test_answers_are_the_same(asked: Asked, empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    changed = []
    for name, text in answers_of(empty_store, asked, client_of).items():
        try:
            assert_golden(GOLDEN / f"{name.replace(', ', '-').replace(' ', '-')}.txt", text)
        except AssertionError as error:
            changed.append(str(error))
    assert not changed, "\n".join(changed)
