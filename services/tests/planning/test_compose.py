"""Specs that commands write: what is wished for is exactly what is planned."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.cli import interop, qualify
from kexbench.domain.cases import Case, impossible
from kexbench.domain.dimensions import KeyExchange, Method, Protocol, Resumption, Server
from kexbench.domain.kits import SubjectRef
from kexbench.domain.material import least_intermediate_bytes, least_ocsp_bytes
from kexbench.domain.plans import BATCH_NS, Measure, Plan
from kexbench.planning import compose
from kexbench.planning.compose import (
    LEAST_INVOCATIONS,
    MOST_INVOCATIONS,
    Wish,
    affordable_invocations,
    chosen,
    matrix_entry,
    spec_text,
    usual_cases,
)
from kexbench.planning.estimate import estimated_seconds
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Matrix
from kexbench.planning.subjects import with_sources
from tests.builders import a_catalogue
from tests.domain.spaces import FIRST_POINTS, sample

SAMPLE = 4000
SUBJECTS = (SubjectRef.parse("fake@1.0"), SubjectRef.parse("openssl@prefix:/opt/own-build"))
LONG_S = 900_000
OF_SERVERS = (
    {"ecdsa_percent": 10},
    {"requests_per_connection": 10},
    {"resumption": Resumption.TICKET, "resumed_percent": 50},
)
"""Three changes that a sample of independent ones hardly ever meets."""


def possible_cases() -> tuple[Case, ...]:
    """Of the whole matrix, each once; those with an OCSP response that can be made so small."""
    rare = [
        point
        for point in FIRST_POINTS
        if point.protocol is Protocol.BFE_0RTT
        or point.key_exchange.method is Method.PSK
        or (point.key_exchange is KeyExchange.RSA and point.rsa_bits == 2048)
    ]
    served = [
        point.model_copy(update={"server": Server.NGINX, **changed})
        for point in FIRST_POINTS
        if point.key_exchange is KeyExchange.ECDHE_RSA and point.group == "X25519"
        for changed in OF_SERVERS
    ]
    resumed = [
        point.model_copy(update={"resumption": resumption})
        for point in FIRST_POINTS
        if point.key_exchange is KeyExchange.ECDHE_RSA and point.group == "X25519"
        for resumption in Resumption
    ]
    found = [
        point for point in (*sample(SAMPLE), *rare, *served, *resumed) if not impossible(point) and _makeable(point)
    ]
    return tuple({case.case_id: Case.model_validate(case.model_dump()) for case in found}.values())


def _makeable(case: Case) -> bool:
    is_ocsp = case.ocsp_bytes == 0 or case.ocsp_bytes >= least_ocsp_bytes(case)
    return is_ocsp and (case.intermediate_bytes == 0 or case.intermediate_bytes >= least_intermediate_bytes(case))


def planned(*cases: Case) -> Plan:
    wish = Wish("wish", "What is «wished» for: 'all'", SUBJECTS, cases, invocations=7, max_duration_s=LONG_S)
    return make_plan(spec_text(wish), "wish.yaml", with_sources(a_catalogue(), SUBJECTS))


CASES = possible_cases()


def test_the_sample_meets_every_dimension_of_the_matrix() -> None:
    assert len(CASES) > 250
    assert {case.protocol for case in CASES} == set(Protocol)
    assert {case.key_exchange.method for case in CASES} == set(Method)
    assert {case.resumption for case in CASES} == set(Resumption)
    met = Counter(name for case in CASES for name in case.variation)
    assert min(met[name] for name in ("ocsp_bytes", "anti_replay", "fips", "peer", "threads", "cpu_features")) >= 3


def test_a_wish_for_one_case_is_a_plan_of_exactly_this_case() -> None:
    for case in CASES:
        plan = planned(case)
        assert plan.cases == (case,), case.case_id
        assert plan.skipped == ()


def test_a_wish_for_many_cases_keeps_their_order_subjects_and_measure() -> None:
    plan = planned(*CASES)
    assert plan.cases == CASES
    assert [subject.reference for subject in plan.subjects] == [str(subject) for subject in SUBJECTS]
    assert (plan.measure.invocations, plan.measure.batches, plan.measure.max_duration_s) == (7, 20, LONG_S)
    assert plan.description == "What is «wished» for: 'all'"


@pytest.mark.parametrize("sentinel", [False, True])
def test_a_sentinel_is_measured_along_only_where_it_is_wished_for(sentinel: bool) -> None:
    catalogue = a_catalogue().model_copy(update={"sentinel": "openssl@system"})
    wish = Wish("wish", "", SUBJECTS, CASES[:1], invocations=6, sentinel=sentinel)
    plan = make_plan(spec_text(wish), "wish.yaml", with_sources(catalogue, SUBJECTS))
    assert plan.sentinel == ("openssl@system" if sentinel else None)


def test_an_entry_leaves_out_what_its_case_does_not_have() -> None:
    case = Case.model_validate({"protocol": "TLSv1.2", "key_exchange": "DHE-RSA", "rsa_bits": 3072, "group": "dh-2432"})
    assert matrix_entry(case) == {
        "protocol": ["TLSv1.2"],
        "keyExchange": ["DHE-RSA"],
        "cipher": ["AES-128-GCM"],
        "rsaBits": [3072],
        "dhBits": [2432],
    }


MATRICES = (
    Matrix.model_validate({"protocol": ["TLSv1.2", "TLSv1.3"], "keyExchange": ["RSA", "ECDHE-RSA"]}),
    Matrix.model_validate({"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-RSA"], "group": ["P-256", "X25519"]}),
)
TLS_1_2_RSA, TLS_1_2_ECDHE, TLS_1_3_P256, TLS_1_3_X25519 = (
    "tlsv1.2_rsa_rsa-2048_aes-128-gcm",
    "tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm",
    "tlsv1.3_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm",
    "tlsv1.3_ecdhe-rsa_rsa-2048_x25519_aes-128-gcm",
)


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ((), [TLS_1_2_RSA, TLS_1_2_ECDHE, TLS_1_3_P256, TLS_1_3_X25519]),
        (("*x25519*",), [TLS_1_3_X25519]),
        (("*_p-256_*",), [TLS_1_2_ECDHE, TLS_1_3_P256]),
        (("*x25519*", "tlsv1.2_rsa*"), [TLS_1_2_RSA, TLS_1_3_X25519]),
        ((TLS_1_3_P256,), [TLS_1_3_P256]),
        (("x25519",), []),
        (("*X25519*",), []),
    ],
)
def test_cases_are_chosen_by_the_glob_that_their_whole_id_fits(patterns: tuple[str, ...], expected: list[str]) -> None:
    assert [case.case_id for case in chosen(MATRICES, patterns)] == expected


@given(
    cases=st.lists(st.sampled_from(CASES), min_size=1, max_size=40),
    subjects=st.integers(1, 6),
    seconds=st.floats(0, 100_000),
)
def test_as_many_invocations_as_fit_into_the_time_and_never_beyond_the_bounds(
    cases: list[Case], subjects: int, seconds: float
) -> None:
    def takes(invocations: int) -> float:
        measure = Measure(invocations=invocations, batches=20, batch_ns=BATCH_NS, max_duration_s=1)
        return estimated_seconds(tuple(cases), subjects, 1, measure)

    found = affordable_invocations(tuple(cases), subjects, seconds)
    assert LEAST_INVOCATIONS <= found <= MOST_INVOCATIONS
    assert found == LEAST_INVOCATIONS or takes(found) <= seconds * 1.0001
    assert found == MOST_INVOCATIONS or takes(found + 1) > seconds * 0.9999


USUAL_LISTS = {"compare": compose.USUAL, "interop": interop.USUAL, "qualify": qualify.KINDS}


@pytest.mark.parametrize("usual", USUAL_LISTS.values(), ids=USUAL_LISTS.keys())
@pytest.mark.parametrize("key_exchange", KeyExchange)
def test_no_list_of_usual_cases_hides_a_key_exchange(key_exchange: KeyExchange, usual: Sequence[Matrix]) -> None:
    found = usual_cases(usual, [f"*_{key_exchange.lower()}_*", f"*_{key_exchange.lower()}"])
    if key_exchange is not KeyExchange.BFE:  # its groups are those of punctured keys, which a spec names
        assert {case.key_exchange for case in found} == {key_exchange}


def test_patterns_choose_among_the_usual_cases_first() -> None:
    usual = {case.case_id for case in chosen(compose.USUAL, ())}
    assert {case.case_id for case in usual_cases(compose.USUAL, ())} == usual
    assert {case.case_id for case in usual_cases(compose.USUAL, ["*ecdsa*"])} < usual
    both = usual_cases(compose.USUAL, ["*ecdsa*", "tlsv1.2_rsa*"])
    assert {case.case_id for case in both} - usual == {
        f"tlsv1.2_rsa_rsa-{bits}_aes-128-gcm" for bits in (2048, 3072, 4096)
    }
    assert usual_cases(compose.USUAL, ["*nothing*"]) == ()
