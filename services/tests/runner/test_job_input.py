"""A job's order is what does not depend on the place; its job input adds the place."""

from pathlib import Path

from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Run
from kexbench.runner.job_input import JobOrder
from tests.builders import SPEC, a_kit, a_run

PEERS = SPEC.replace("ECDHE-ECDSA]", 'ECDHE-ECDSA]\n  peer: ["-", "server:fake@3.0"]')


def a_run_with_peers() -> Run:
    return a_run(spec=PEERS, kits={"fake@3.0": a_kit("fake@3.0"), "fake@4.0": a_kit("fake@4.0")})


def test_an_order_has_the_kits_and_material_of_its_own_job_only() -> None:
    run = a_run_with_peers()
    alone = next(case for case in run.plan.cases if case.peer_reference is None)
    job = run.plan.jobs[0].model_copy(update={"case_ids": (alone.case_id,)})
    order = JobOrder.of(run, job)
    assert order.cases == (alone,)
    assert order.kits.keys() == {"fake@1.0", "fake@1.1"}
    assert order.material.keys() == {alone.case_id}


def test_an_order_has_the_kits_of_the_peers_of_its_cases_and_of_the_sentinel() -> None:
    run = a_run_with_peers()
    run = run.model_copy(update={"kits": {**run.kits, SENTINEL: a_kit("fake@9.0")}})
    job = run.plan.jobs[0]
    job = job.model_copy(update={"blocks": tuple((SENTINEL, *block) for block in job.blocks)})
    order = JobOrder.of(run, job)
    assert order.cases == run.plan.cases
    assert order.kits.keys() == {"fake@1.0", "fake@1.1", "fake@3.0", SENTINEL}


def test_an_order_is_the_same_each_time_and_outlives_a_file() -> None:
    run = a_run()
    order = JobOrder.of(run, run.plan.jobs[0])
    assert JobOrder.model_validate_json(order.model_dump_json()) == order
    assert order == JobOrder.of(run, run.plan.jobs[0])
    assert order.seed != JobOrder.of(run, run.plan.jobs[1]).seed


def test_a_ticket_says_where_each_kit_lies_and_which_attempt_it_is() -> None:
    run = a_run()
    order = JobOrder.of(run, run.plan.jobs[0])
    folders = {reference: Path("/var/lib/kexbench/kits") / kit.folder_name for reference, kit in order.kits.items()}
    job_input = order.job_input(
        folders, Path("/var/lib/kexbench/material"), Path("/var/lib/kexbench/results.ndjson"), attempt=3, host_id="host"
    )
    assert {reference: (kit.folder, kit.manifest) for reference, kit in job_input.kits.items()} == {
        reference: (folders[reference], kit) for reference, kit in order.kits.items()
    }
    assert (job_input.attempt, job_input.host_id, job_input.seed) == (3, "host", order.seed)
    assert (job_input.job, job_input.cases, job_input.material) == (order.job, order.cases, order.material)
