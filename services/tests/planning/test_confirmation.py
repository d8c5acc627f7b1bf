"""What has to confirm a suspicion: exactly the suspected cells of two versions, from wherever they come."""

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import Isolation, Measure, Plan
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.compose import spec_text
from kexbench.planning.confirmation import ConfirmingRun, confirming_run_id
from kexbench.planning.plan import make_plan
from tests.builders import a_plan

MEASURE = Measure(invocations=5, batches=9, batch_ns=5_000_000, max_duration_s=60)
GIT = "openssl@git:https://example.org/openssl.git#0123abc"
CASES = a_plan().cases


def a_confirming_run(
    before: str = "fake@1.0+noise=0.01",
    after: str = "fake@1.1+seed=2",
    cases: tuple[Case, ...] = CASES,
    measure: Measure = MEASURE,
    name: str = "watched",
) -> ConfirmingRun:
    ends = SubjectRef.parse(before), SubjectRef.parse(after)
    return ConfirmingRun(name, ends, cases, ("arm", "local"), invocations=30, measure=measure)


def planned(run: ConfirmingRun) -> Plan:
    catalogue = read_catalogue(run.catalogue_text, "catalogue.yaml")
    return make_plan(spec_text(run.wish), run.wish.name, catalogue, pools=("local", "arm", "other"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fake@1.0+noise=0.01", "fake@1.1+seed=2"),
        ("openssl@system", "openssl@debian/trixie"),
        ("openssl@crate/300.1.1", "openssl@tarball:/src/a.tar.gz#sha256=" + "a" * 64),
        (GIT, GIT.replace("0123abc", "master")),
        ("openssl@prefix:/opt/old", "openssl@prefix:/opt/new"),
    ],
)
def test_both_versions_stand_in_one_block_in_the_cases_and_pools_wherever_they_come_from(
    before: str, after: str
) -> None:
    plan = planned(a_confirming_run(before, after))
    assert [one.reference for one in plan.subjects] == [before, after]
    assert (plan.cases, plan.pools) == (CASES, ("arm", "local"))
    assert {job.blocks for job in plan.jobs} == {((before, after),)}
    assert (plan.measure.invocations, plan.measure.batches, plan.sentinel) == (30, 9, None)
    assert [(job.pool, job.invocations) for job in plan.jobs] == [("arm", 5)] * 6 + [("local", 5)] * 6


def test_it_has_no_fewer_jobs_than_the_run_that_it_confirms() -> None:
    assert len(planned(a_confirming_run(measure=MEASURE.model_copy(update={"jobs": 10}))).jobs) == 2 * 10


def test_a_case_with_a_peer_of_any_source_is_planned() -> None:
    case = CASES[0].model_copy(update={"peer": f"server:{GIT}"})
    plan = planned(a_confirming_run(cases=(case,)))
    assert (plan.cases, [one.reference for one in plan.peers]) == ((case,), [GIT])


def test_it_wants_the_cpus_that_the_run_wanted_and_may_take_as_long_as_it_does() -> None:
    plan = planned(a_confirming_run(measure=MEASURE.model_copy(update={"isolation": Isolation.BEST_EFFORT})))
    assert plan.measure.isolation is Isolation.BEST_EFFORT
    many = planned(a_confirming_run(measure=MEASURE.model_copy(update={"batches": 1000})))
    assert many.estimated_s > 60
    assert many.measure.max_duration_s >= 2 * many.estimated_s


def test_it_has_as_many_connections_over_a_path_since_percentiles_depend_on_their_number() -> None:
    case = CASES[0].model_copy(update={"path": "continent"})
    plan = planned(a_confirming_run(cases=(case,), measure=MEASURE.model_copy(update={"connections": 2000})))
    assert (plan.cases, plan.measure.connections) == ((case,), 2000)
    assert planned(a_confirming_run()).measure.connections == MEASURE.connections


def test_it_ages_contexts_as_the_run_did() -> None:
    plan = planned(a_confirming_run(measure=MEASURE.model_copy(update={"age": 1000})))
    assert (plan.measure.age, planned(a_confirming_run()).measure.age) == (1000, 0)


def test_a_long_name_is_cut_to_what_a_spec_may_be_called() -> None:
    assert planned(a_confirming_run(name="a" * 55 + "-b-c")).spec_name == f"confirm-{'a' * 55}"


def test_the_run_is_the_same_for_the_same_question_alone() -> None:
    asked = [("run", "2026-01-01", "fake", "a", "b"), ("run", "2026-01-02", "fake", "a", "b")]
    asked += [("other", "2026-01-01", "fake", "a", "b"), ("run", "2026-01-01", "fake", "b", "a")]
    assert len({confirming_run_id(*one) for one in asked + asked}) == 4
