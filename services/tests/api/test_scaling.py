"""Scaling curves: from workers that wait for each other by a known law to the law's coefficients."""

from pathlib import Path

import httpx
import pytest

from kexbench.domain.runs import Run
from kexbench.domain.samples import Invocation
from kexbench.runner.cpus import Cpus
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import turns
from kexbench.runner.ticket import Ticket, TicketKit
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import QUIET, SPEC, a_run, a_ticket
from tests.conftest import FakeKit
from tests.stores import add_together

CONTENDED, FREE = "fake@1.0+contention=0.1+overhead_ns=0", "fake@1.1+overhead_ns=0"
THREADS = (1, 2, 4, 8)
SCALING = (
    SPEC.replace("[1.0, 1.1]", f"[{', '.join(text.removeprefix('fake@') for text in (CONTENDED, FREE))}]")
    .replace("[RSA, ECDHE-ECDSA]", f"[RSA]\n  threads: {list(THREADS)}")
    .replace("batches: 4", "batches: 2")
)


def with_noise_of_its_own(kit: TicketKit, seed: int) -> TicketKit:
    """The same kit, whose made-up library draws another noise: a real one does so in every process."""
    flag, settings = kit.manifest.arguments
    manifest = kit.manifest.model_copy(update={"arguments": (flag, f"{settings},seed={seed}")})
    return kit.model_copy(update={"manifest": manifest})


def measured(run: Run, fake_kit: FakeKit, folder: Path) -> list[Invocation]:
    """All invocations of a run by the real runner and workers."""
    found = []
    for number, job in enumerate(run.plan.jobs):
        blank: Ticket = a_ticket(run, number).model_copy(update={"material_folder": folder})
        for turn in turns(job, blank.seed):
            kits = {
                reference: with_noise_of_its_own(TicketKit(folder=fake_kit(reference)[0], manifest=kit), 1 + seed)
                for seed, (reference, kit) in enumerate(run.kits.items(), start=100 * turn.invocation)
            }
            ticket = blank.model_copy(update={"kits": kits})
            found.append(measure_invocation(ticket, turn, Cpus(None), folder / "log", lambda: QUIET))
    return found


@pytest.fixture
def run(fake_kit: FakeKit) -> Run:
    return a_run(spec=SCALING, kits={reference: fake_kit(reference)[1] for reference in (CONTENDED, FREE)})


def test_a_planted_contention_is_found_again(
    run: Run, fake_kit: FakeKit, tmp_path: Path, client: httpx.Client, empty_store: ClickHouseStore
) -> None:
    empty_store.add_run(run)
    found = list(measured(run, fake_kit, tmp_path))
    assert not any(invocation.outcomes for invocation in found)
    add_together(empty_store, run, found)
    answer = client.get("/scaling").json()
    (case,) = answer["cases"]
    assert (case["case"]["threads"], case["case"]["id"]) == (1, "tlsv1.2_rsa_rsa-2048_aes-128-gcm")
    contended, free = case["lines"]
    assert [line["subject"] for line in case["lines"]] == [each["subject"] for each in answer["subjects"]]

    assert contended["contention"]["low"] < 0.1 < contended["contention"]["high"]
    assert contended["contention"]["high"] - contended["contention"]["low"] < 0.02
    assert contended["coherency"]["low"] == pytest.approx(0, abs=0.001)
    assert free["contention"]["value"] == pytest.approx(0, abs=0.005)

    assert [point["threads"] for point in contended["points"]] == list(THREADS)
    assert contended["points"][0]["efficiency"] is None
    assert contended["points"][0]["rate"]["value"] == pytest.approx(2500, rel=0.01)
    for point in contended["points"][1:]:
        assert point["efficiency"]["value"] == pytest.approx(1 / (1 + 0.1 * (point["threads"] - 1)), rel=0.01)


def test_a_single_thread_count_is_no_curve(
    run: Run, fake_kit: FakeKit, tmp_path: Path, client: httpx.Client, empty_store: ClickHouseStore
) -> None:
    empty_store.add_run(run)
    for invocation in measured(run, fake_kit, tmp_path):
        if invocation.case_id.endswith("threads-4"):
            empty_store.add_invocation(run, invocation)
    found = client.get("/scaling").json()
    assert found["host_kind"]["pool"] == "local"
    assert (found["cases"], found["subjects"]) == ([], [])


def test_nothing_stored_is_no_curve(client: httpx.Client) -> None:
    assert client.get("/scaling").json() == {"host_kind": None, "subjects": [], "cases": []}
