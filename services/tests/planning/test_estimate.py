"""How long a plan is thought to take: more where there is more to do."""

from typing import Any

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.plans import SERVED_BATCH_NS, examined_handshakes, least_handshakes
from kexbench.planning.estimate import handshake_seconds
from tests.builders import SPEC, a_plan


def test_the_estimate_grows_with_everything_that_costs_time() -> None:
    base = a_plan().estimated_s
    for old, new in (("invocations: 6", "invocations: 12"), ("[1.0, 1.1]", "[1.0, 1.1, 1.2, 1.3]")):
        assert a_plan(SPEC.replace(old, new)).estimated_s == pytest.approx(2 * base, rel=0.1)
    assert a_plan(SPEC.replace("batches: 4", "batches: 8")).estimated_s > base


def test_a_slow_handshake_is_thought_slower_than_a_fast_one() -> None:
    cases = a_plan(SPEC.replace("[RSA, ECDHE-ECDSA]", "[ECDHE-ECDSA, RSA, DHE-RSA]\n  rsaBits: [1024, 4096]")).cases
    costs = {case.key_exchange + str(case.rsa_bits): handshake_seconds(case) for case in cases}
    assert costs["ECDHE-ECDSA0"] < costs["RSA1024"] < costs["RSA4096"] < costs["DHE-RSA1024"] < costs["DHE-RSA4096"]


def test_what_a_case_makes_dearer_or_cheaper_is_thought_so() -> None:
    def cost(**fields: Any) -> float:
        first = {"protocol": "TLSv1.3", "key_exchange": "ECDHE-RSA", "rsa_bits": 2048, "group": "X25519"}
        return handshake_seconds(Case.model_validate({**first, **fields}))

    assert cost(resumption="psk") < cost(resumption="psk-dhe") < cost()
    assert cost() < cost(chain_length=3) < cost(client_authentication=True) < cost(cpu_features="x86-64-v2")


def test_the_untimed_pass_of_a_slow_handshake_takes_time_once_a_job() -> None:
    def estimate(invocations: int) -> float:
        slow = SPEC.replace("[RSA, ECDHE-ECDSA]", "[DHE-RSA]\n  dhGroup: [ffdhe8192]").replace("20m", "9h")
        return a_plan(slow.replace("invocations: 6", f"invocations: {invocations}")).estimated_s

    untimed_s = 2 * estimate(6) - estimate(12)
    assert 0 < untimed_s < estimate(6)


@pytest.mark.parametrize(
    ("handshake_ms", "in_a_batch", "examined"),
    [(0.3, 3, 10), (10, 3, 10), (16, 3, 7), (26, 2, 4), (49, 2, 3), (50, 1, 2), (9000, 1, 2)],
)
def test_a_slow_handshake_is_made_less_often(handshake_ms: float, in_a_batch: int, examined: int) -> None:
    assert least_handshakes(handshake_ms * 1e6) == in_a_batch
    assert examined_handshakes(handshake_ms * 1e6) == examined


def test_a_web_servers_batches_are_longer() -> None:
    def estimate(server: str, more: str = "") -> float:
        return a_plan(SPEC.replace("[RSA, ECDHE-ECDSA]", f"[RSA]\n  server: ['{server}']{more}")).estimated_s

    plan = a_plan(SPEC.replace("[RSA, ECDHE-ECDSA]", "[RSA]\n  server: [nginx]"))
    batches = plan.measure.invocations * len(plan.subjects) * plan.measure.batches
    assert plan.estimated_s > batches * SERVED_BATCH_NS / 1e9 > estimate("-")
    assert estimate("nginx", "\n  concurrency: [32]") > estimate("nginx")
    # A batch has as many connections of the rarer kind as are under way at once.
    assert estimate("nginx", "\n  ecdsaPercent: [1]") > estimate("nginx", "\n  ecdsaPercent: [50]") > estimate("nginx")


def test_of_a_web_servers_connections_each_costs_what_it_does() -> None:
    def cost(**fields: Any) -> float:
        first = {"protocol": "TLSv1.3", "key_exchange": "ECDHE-RSA", "rsa_bits": 2048, "group": "X25519"}
        return handshake_seconds(Case.model_validate({**first, "server": "nginx", **fields}))

    assert cost(resumption="psk-dhe") < cost(resumption="psk-dhe", resumed_percent=50) < cost()
    assert cost() < cost(requests_per_connection=10) < 10 * cost()


def test_threads_and_peers_take_time() -> None:
    slow = SPEC.replace("[RSA, ECDHE-ECDSA]", "[RSA]\n  rsaBits: [4096]").replace("20m", "9h")
    base = a_plan(slow).estimated_s
    assert a_plan(slow.replace("4096]", "4096]\n  threads: [2]")).estimated_s > 1.5 * base
    assert a_plan(slow.replace("4096]", "4096]\n  peer: ['server:fake@1.0']")).estimated_s > base


def test_each_job_of_slow_handshakes_repeats_the_untimed_pass() -> None:
    slow = SPEC.replace("[RSA, ECDHE-ECDSA]", "[DHE-RSA]\n  dhGroup: [ffdhe8192]").replace("20m", "9h")
    two, four, six = (a_plan(slow.replace("batches: 4", f"batches: 4, jobs: {jobs}")).estimated_s for jobs in (2, 4, 6))
    assert six - four == pytest.approx(four - two)
    assert four > two
