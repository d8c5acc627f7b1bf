"""Neither summaries nor kept values change an answer: with random stores, every page's answer is that of the queries
from before summaries, whatever was asked while results arrived."""

import os
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from fastapi import FastAPI

from kexbench.answers.pruning import prune_step
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Purpose, Run, RunState, Trigger
from kexbench.domain.samples import Invocation
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.analysing import planned
from tests.api.conftest import SECRET, ClientOf
from tests.builders import ECDSA, HOST, NOON, RSA, SPEC, a_kit, a_run, an_event, an_invocation, an_outcome
from tests.store.test_contract import DyingStore, Killed
from tests.store.without_summaries import StoreWithoutSummaries
from tests.stores import raw

SEEDS = int(os.environ.get("KEXBENCH_TEST_SEEDS", "1"))
"""Each takes a minute: `make test-faults` has more."""
FROZEN = [a_kit("openssl@system", version=version) for version in ("3.0.1", "3.0.2")]
SUBJECTS = ("fake@1.0", "fake@1.1", "fake@1.2")
VARIANTS = {
    name: a_kit(name, version="3.0.2")
    for name in ("openssl@system+relink=1", "openssl@system+relink=1+copy=2", "openssl@system+relink=2")
}
HOSTS = (HOST, HOST.model_copy(update={"cpu_model": "Other CPU"}), HOST.model_copy(update={"kernel": "6.2.0"}))
"""The last one is of the first one's kind."""
PAGES = (
    *("/filters", "/matrix", "/upgrades", "/security", "/runs/run-0", "/runs/run-1", "/runs/run-1/verdict"),
    *(f"/trends?levels=true&case_id={case_id}" for case_id in (RSA, ECDSA)),
    *(f"/compare?base=fake@{before}&other=fake@{after}" for before, after in pairwise(("1.0", "1.1", "1.2"))),
    *(f"/matrix?pool=arm&cpu_model={host.cpu}" for host in HOSTS[:2]),
)
TWO_POOLS = (
    SPEC.replace("invocations: 6", "invocations: 4")
    .replace("[1.0, 1.1]", "[1.0, 1.1, 1.2]")
    .replace("matrix:", "pools: [local, arm]\nmatrix:")
)


def a_random_run(chance: random.Random, number: int) -> Run:
    run = a_run(f"run-{number}", created_at=NOON + timedelta(hours=chance.randrange(400)), host=None)
    kits = {name: a_kit(name) for name in SUBJECTS} | VARIANTS
    if chance.random() < 0.8:
        kits[SENTINEL] = chance.choice(FROZEN)
    trigger = chance.choice([Trigger.API, Trigger.API, Trigger.BACKFILL])
    plan = planned(TWO_POOLS, "spec.yaml")
    purpose = chance.choice([Purpose.HISTORY, Purpose.HISTORY, Purpose.FIRST_LOOK])
    changed = {"plan": plan, "spec_text": TWO_POOLS, "kits": kits, "trigger": trigger, "purpose": purpose}
    return run.model_copy(update=changed)


def random_invocations(chance: random.Random, run: Run) -> list[Invocation]:
    """Of a run's invocations most are there, some in two attempts, in any order."""
    invocations = []
    for job in run.plan.jobs:
        for case_id in (RSA, ECDSA):
            for number in job.numbers:
                for attempt in chance.choice([(), (1,), (1,), (1,), (2,), (1, 2)]):
                    host = chance.choice(HOSTS)
                    measured = [name for name in run.kits if chance.random() < 0.8]
                    costs = {name: [chance.randrange(900, 1100) for _ in range(4)] for name in measured}
                    invocation = an_invocation(
                        run,
                        number,
                        case_id=case_id,
                        cpu_ns=costs,
                        outcomes=[an_outcome(name) for name in run.kits if name not in measured],
                        attempt=attempt,
                        preempted_batches=chance.choice([0, 0, 3]),
                        without_sides=measured[: chance.choice([0, 0, 1])],
                        host=host,
                    )
                    invocations.append(invocation.model_copy(update={"job_id": job.job_id}))
    chance.shuffle(invocations)
    return invocations


def fill(store: ClickHouseStore, chance: random.Random, ask: Callable[[], None]) -> None:
    """Some deliveries are repeated, and some end after any of their inserts. `ask` is called between some of them."""
    dying = raw(store).opened_as(DyingStore)
    by_id = {host.host_id: host for host in HOSTS}
    for number in range(2):
        run = a_random_run(chance, number)
        store.add_run(run)
        store.add_event(an_event(run, RunState.FINISHED))
        invocations = random_invocations(chance, run)
        while invocations:
            host = by_id[invocations[0].host_id]
            ready = [each for each in invocations if each.host_id == host.host_id][: chance.randrange(1, 20)]
            invocations = [each for each in invocations if each not in ready]
            if chance.random() < 0.3:
                dying.survives = chance.randrange(8)
                with suppress(Killed):
                    dying.add_invocations(run, ready, host)
                ask()
            if chance.random() < 0.8:
                store.add_invocations(run, ready, host)
            if chance.random() < 0.2:
                ask()
    dying.close()
    store.migrate()  # as after each kill


def addresses(app: FastAPI, client_of: ClientOf) -> list[str]:
    """The address of every page's answers."""
    found = ["/filters", "/subjects", "/overview", "/runs", "/upgrades", "/matrix", "/scaling", "/export?metric=cpu_ns"]
    with client_of(app) as client:
        filters = client.get(f"{API_PREFIX}/filters").json()
        names = [subject["name"] for subject in client.get(f"{API_PREFIX}/subjects").json()]
    for kind in filters["host_kinds"]:
        where = f"pool={kind['pool']}&cpu_model={kind['cpu_model']}"
        found += [f"/matrix?metric={metric}&{where}" for metric in ("cpu_ns", "client_cpu_ns")]
        found += [f"/trends?levels=true&case_id={case_id}&{where}" for case_id in (RSA, ECDSA)]
        found += [f"/cpus?case_id={case_id}&{where}" for case_id in (RSA, ECDSA)]
        found += [f"/{path}?{where}" for path in ("security", "qualifications")]
        found += [
            f"/compare?base={names[-1]}&base_{where.replace('&', '&base_')}"
            f"&other={names[-1]}&other_pool={other['pool']}&other_cpu_model={other['cpu_model']}"
            for other in filters["host_kinds"]
        ]
        found += [
            f"/distribution?subject={names[-1]}&case_id={case_id}&metric={metric}&{where}"
            for case_id in (RSA, ECDSA)
            for metric in ("cpu_ns", "client_cpu_ns")
        ]
        found.append(f"/runs/run-1?{where}")
    found.append(f"/trends?case_id={RSA}&case_id={ECDSA}&metric=cpu_ns&metric=client_cpu_ns")
    found += [f"/runs/run-{number}/verdict" for number in range(2)]
    for before, after in pairwise(name for name in names if name.startswith("fake@")):
        found.append(f"/compare?base={before}&other={after}")
        found.append(f"/compare?base={before}&base_run_id=run-0&other={after}&other_run_id=run-1")
        found.append(f"/compare?base={before}&base_run_id=run-0&other={before}&other_run_id=run-1")
    assert {kind["pool"] for kind in filters["host_kinds"]} == {"local", "arm"}
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_answer_is_the_same_as_without_summaries(
    seed: int, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    plain = raw(empty_store).opened_as(StoreWithoutSummaries)
    app, plain_app = (create_app(store, LocalGatekeeper(SECRET), None) for store in (empty_store, plain))
    chance = random.Random(seed)
    with client_of(app) as client, client_of(plain_app) as plain_client:

        def ask() -> None:
            """What is kept of these answers must not be part of later ones."""
            for page in chance.sample(PAGES, 2):
                client.get(f"{API_PREFIX}{page}")

        fill(empty_store, chance, ask)
        found = 0
        for address in (asked := addresses(app, client_of)):
            answer, plain_answer = (each.get(f"{API_PREFIX}{address}") for each in (client, plain_client))
            assert (answer.status_code, answer.content) == (plain_answer.status_code, plain_answer.content), address
            assert answer.status_code in (200, 404), address  # a host kind may have runs aside alone
            found += answer.status_code == 200
        assert found > len(asked) / 2
    plain.close()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_answer_changes_when_batches_are_removed(
    seed: int, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    """Of some runs, then of all: to readers that keep answers, and to those that ask for the first time."""
    app = create_app(empty_store, LocalGatekeeper(SECRET), None)
    fill(empty_store, random.Random(seed), lambda: None)
    exported = f"{API_PREFIX}/export?metric=cpu_ns&format=json"
    with client_of(app) as client:
        batches = [address for address in addresses(app, client_of) if address.startswith("/distribution")]
        shown = {address: client.get(f"{API_PREFIX}{address}") for address in batches}
        asked = [
            address for address in addresses(app, client_of) if not address.startswith(("/export", "/distribution"))
        ]
        before = {address: client.get(f"{API_PREFIX}{address}").content for address in asked}
        rows = client.get(exported).json()
        at, last = NOON + timedelta(days=900), NOON + timedelta(days=800)
        measured = sorted(row["measured_at"] for row in rows)
        middle = datetime.fromisoformat(measured[len(measured) // 2])
        removed = [prune_step(empty_store, cutoff, at, 60).removed_values for cutoff in (middle, last)]
        assert min(removed) > 0
        fresh = raw(empty_store).opened_as(ClickHouseStore)
        with client_of(create_app(fresh, LocalGatekeeper(SECRET), None)) as fresh_client:
            for address in asked:
                assert client.get(f"{API_PREFIX}{address}").content == before[address], address
                assert fresh_client.get(f"{API_PREFIX}{address}").content == before[address], address
        fresh.close()
        later = client.get(exported).json()
        for address, then in shown.items():
            now = client.get(f"{API_PREFIX}{address}")
            assert now.status_code == then.status_code, address
            if then.is_success:
                removed_batches = {"invocations": [], "removed": len(then.json()["invocations"])}
                assert now.json() == then.json() | removed_batches, address
    assert any(then.is_success for then in shown.values())
    assert {row["batches_removed_at"] for row in rows} == {None}
    assert {(len(row["values"]), row["batches_removed_at"]) for row in later} == {(0, at.isoformat())}
    assert [row | {"values": [], "batches_removed_at": None} for row in rows] == [
        row | {"batches_removed_at": None} for row in later
    ]
