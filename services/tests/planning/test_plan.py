"""Laws of a plan: it is the same for the same spec, covers the matrix exactly once, and stays within its limits."""

from collections import Counter
from itertools import product
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from kexbench.domain.cases import DIMENSIONS, FIRST_FIELDS, Case, CpuFeatures, impossible
from kexbench.domain.dimensions import (
    CURVES,
    DH_BITS,
    DH_GROUPS,
    EC_GROUPS,
    HYBRID_GROUPS,
    MLKEM_GROUPS,
    Cipher,
    ContextUse,
    KeyExchange,
    Protocol,
    Resumption,
    Server,
    Tickets,
    TrustStore,
)
from kexbench.domain.plans import MOST_BLOCK_SUBJECTS, SENTINEL, Plan, plan_id_of
from kexbench.planning import expand, pack
from kexbench.planning.documents import DocumentError
from kexbench.planning.estimate import handshake_seconds
from tests.builders import REFERENCE, SPEC, a_plan


def some(values: Any, at_most: int = 3) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(list(values)), min_size=1, max_size=at_most, unique=True)


VARIED: dict[str, tuple[str, list[Any]]] = {
    "chainLength": ("chain_length", [1, 3]),
    "clientAuthentication": ("client_authentication", [False, True]),
    "resumption": ("resumption", list(Resumption)),
    "earlyDataBytes": ("early_data_bytes", [0, 1024]),
    "antiReplay": ("anti_replay", [False, True]),
    "helloRetry": ("hello_retry", [False, True]),
    "ocspBytes": ("ocsp_bytes", [0, 16000]),
    "fips": ("fips", [False, True]),
    "threads": ("threads", [1, 2]),
    "cpuFeatures": ("cpu_features", list(CpuFeatures)),
    "peer": ("peer", ["-", "server:fake@1.0", "client:fake@1.1"]),
    "verification": ("verification", [False, True]),
    "trustAnchors": ("trust_anchors", [1, 140]),
    "tickets": ("tickets", list(Tickets)),
    "transferBytes": ("transfer_bytes", [0, 4096]),
    "context": ("context", list(ContextUse)),
    "server": ("server", list(Server)),
    "concurrency": ("concurrency", [8, 1]),
    "punctures": ("punctures", [0, 100]),
    "falsePositiveBits": ("false_positive_bits", [10, 8]),
    "requestsPerConnection": ("requests_per_connection", [1, 10]),
    "resumedPercent": ("resumed_percent", [100, 50]),
    "ecdsaPercent": ("ecdsa_percent", [0, 10]),
    "certificateNames": ("certificate_names", [1, 100]),
    "certificatePolicies": ("certificate_policies", [0, 2]),
    "crlDistributionPoints": ("crl_distribution_points", [0, 3]),
    "intermediateBytes": ("intermediate_bytes", [0, 8192]),
    "path": ("path", ["-", "continent", "50ms-loss-1"]),
    "trustStore": ("trust_store", list(TrustStore)),
    "reloadEvery": ("reload_every", [0, 100]),
    "serverNames": ("server_names", [1, 100]),
}
"""The later dimensions: their names in a spec and in a case, and values with the default first."""
EXCHANGES = [exchange for exchange in KeyExchange if exchange.key in ("RSA", "RSA-PSS", "ECDSA", "Ed25519")]
matrices = st.fixed_dictionaries(
    {"protocol": some(Protocol), "keyExchange": some(EXCHANGES, 4)},
    optional={
        "cipher": some(Cipher),
        "rsaBits": some([1024, 2048, 3072, 8192]),
        "curve": some(CURVES, 4),
        "group": some([*EC_GROUPS, *HYBRID_GROUPS, *MLKEM_GROUPS]),
        "dhBits": some(DH_BITS, 2),
        "dhGroup": some(DH_GROUPS, 2),
    },
).flatmap(
    lambda matrix: st.sets(st.sampled_from(sorted(VARIED)), max_size=2).flatmap(
        lambda names: st.fixed_dictionaries(
            {
                **{name: st.just(values) for name, values in matrix.items()},
                **{name: some(VARIED[name][1], 2) for name in names},
            }
        )
    )
)
specs = st.fixed_dictionaries(
    {
        "matrix": st.lists(matrices, min_size=1, max_size=3),
        "subjects": st.lists(st.integers(0, 99), min_size=1, max_size=14, unique=True),
        "invocations": st.integers(2, 30),
    }
)


def text_of(spec: dict[str, Any], *, sort: bool = False) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "kexbench.dev/v1",
            "kind": "Benchmark",
            "metadata": {"name": "some"},
            "subjects": [{"fake": [f"1.{number}" for number in spec["subjects"]]}],
            "matrix": [{key: list(map(_plain, values)) for key, values in matrix.items()} for matrix in spec["matrix"]],
            "measure": {"invocations": spec["invocations"], "maxDuration": "999999h"},
        },
        sort_keys=sort,
    )


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, bool)) else str(value)


Point = tuple[Any, ...]
"""The values of a case's fields, in their order."""


def points(matrix: dict[str, Any]) -> set[Point]:
    """All the points of a matrix, worked out in another way than the planner does it."""
    found = set()
    variations = [matrix.get(name, values[:1]) for name, (_, values) in VARIED.items()]
    for protocol, exchange in product(matrix["protocol"], matrix["keyExchange"]):
        method, _, key = exchange.partition("-")
        default_group = {"ECDHE": "P-256", "MLKEM": "MLKEM768"}.get(method, "-")
        groups = {
            "RSA": ["-"],
            "default": ["-"],
            "DHE": [f"dh-{bits}" for bits in matrix.get("dhBits", [])] + matrix.get("dhGroup", []) or ["ffdhe2048"],
        }.get(method, matrix.get("group", [default_group]))
        ciphers = [Cipher.DEFAULT] if method == "default" else matrix.get("cipher", [Cipher.AES_128_GCM])
        rsa_bits = matrix.get("rsaBits", [2048]) if key in ("", "RSA", "RSA-PSS") else [0]
        curves = matrix.get("curve", ["P-256"]) if key == "ECDSA" else ["-"]
        found |= set(product([protocol], [exchange], ciphers, groups, rsa_bits, curves, *variations))
    return found


def case_of(point: Point) -> Case:
    return Case.model_construct(**dict(zip(Case.model_fields, point, strict=True)))


def possible(point: Point) -> bool:
    return impossible(case_of(point)) is None


def plan_or_nothing(spec: dict[str, Any]) -> Plan | None:
    try:
        return a_plan(text_of(spec))
    except DocumentError as error:
        assert "no possible case" in str(error)  # noqa: PT017 (any other fault is a failure)
        return None


@given(specs)
def test_a_plan_covers_the_possible_matrix_exactly_once_and_skips_the_rest_with_a_reason(spec: dict[str, Any]) -> None:
    named = set().union(*map(points, spec["matrix"]))
    plan = plan_or_nothing(spec)
    if plan is None:
        assert not any(map(possible, named))
        return
    planned = [tuple(getattr(case, name) for name in Case.model_fields) for case in plan.cases]
    assert Counter(planned) == Counter(point for point in named if possible(point))
    assert len(plan.skipped) == len({point for point in named if not possible(point)})
    assert all(skipped.reason for skipped in plan.skipped)
    assert len({skipped.combination for skipped in plan.skipped}) == len(plan.skipped)
    assert len({case.case_id for case in plan.cases}) == len(plan.cases)


def test_the_later_dimensions_are_all_of_a_cases_fields_beyond_the_first() -> None:
    assert {name for name, _ in VARIED.values()} | set(FIRST_FIELDS) == set(Case.model_fields)
    assert list(VARIED) == [to_camel(name) for name in DIMENSIONS]


@given(specs)
def test_counting_a_matrix_needs_no_expansion_and_agrees_with_it(spec: dict[str, Any]) -> None:
    for matrix in spec["matrix"]:
        assert expand.count_cases(matrix) == len(points(matrix))


@given(specs)
def test_the_jobs_of_a_plan_make_every_invocation_of_every_case_with_every_subject_once(spec: dict[str, Any]) -> None:
    plan = plan_or_nothing(spec)
    if plan is None:
        return
    references = {subject.reference for subject in plan.subjects}
    assert len({job.job_id for job in plan.jobs}) == len(plan.jobs)
    for case in plan.cases:
        jobs = [job for job in plan.jobs if case.case_id in job.case_ids]
        numbers = [number for job in jobs for number in job.numbers]
        assert numbers == list(range(spec["invocations"] * len(plan.jobs[0].blocks)))
        assert len(jobs) >= 2
    for job in plan.jobs:
        assert job.invocations >= 1
        assert {reference for block in job.blocks for reference in block} == references
    assert plan.invocations == spec["invocations"] * len(plan.cases) * len(plan.jobs[0].blocks)


@given(st.integers(1, 40), st.booleans(), st.integers(3, MOST_BLOCK_SUBJECTS))
def test_blocks_hold_so_many_subjects_once_each_and_share_the_sentinel_and_the_first(
    count: int, sentinel: bool, most: int
) -> None:
    references = tuple(f"fake@1.{number}" for number in range(count))
    shared = (*((SENTINEL,) if sentinel else ()), "fake@1.0")
    blocks = pack.blocks(references, sentinel=sentinel, most=most)
    assert all(len(block) <= most and block[: len(shared)] == shared for block in blocks)
    assert [reference for block in blocks for reference in block[len(shared) :]] == list(references[1:])
    fits = len(shared) - 1 + count <= most
    assert len(blocks) == (1 if fits else -(-(count - 1) // (most - len(shared))))


@given(specs)
@settings(max_examples=30)
def test_the_same_spec_gives_the_same_plan_however_it_is_laid_out(spec: dict[str, Any]) -> None:
    plan = plan_or_nothing(spec)
    if plan is None:
        return
    commented = "# a comment\n" + text_of(spec).replace("\n", "   # another\n").replace("metadata:", "\n\nmetadata:")
    assert a_plan(text_of(spec)) == a_plan(text_of(spec, sort=True)) == a_plan(commented) == plan


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: example", "name: other"),
        ("Two versions", "Three versions"),
        ("[1.0, 1.1]", "[1.0, 1.2]"),
        ("[1.0, 1.1]", "[1.1, 1.0]"),
        ("TLSv1.2", "TLSv1.2, TLSv1.3"),
        ("[RSA, ECDHE-ECDSA]", "[RSA]"),
        ("[RSA, ECDHE-ECDSA]", "[RSA, ECDHE-ECDSA]\n  rsaBits: [3072]"),
        ("[RSA, ECDHE-ECDSA]", "[RSA, ECDHE-ECDSA]\n  curve: [P-384]"),
        ("[RSA, ECDHE-ECDSA]", "[RSA, ECDHE-ECDSA]\n  cipher: [AES-256-GCM]"),
        ("invocations: 6", "invocations: 7"),
        ("batches: 4", "batches: 5"),
        ("20m", "21m"),
        ("invocations: 6", "resolve: 0.5%"),
        ("batches: 4", "batches: 4, sentinel: false"),
        ("batches: 4", "batches: 4, isolation: best-effort"),
        ("batches: 4", "batches: 4, jobs: 3"),
        ("[RSA, ECDHE-ECDSA]", "[RSA, ECDHE-ECDSA]\n  threads: [2]"),
        ("[RSA, ECDHE-ECDSA]", '[RSA, ECDHE-ECDSA]\n  peer: ["server:fake@1.0"]'),
        ("measure:", REFERENCE.replace("aes-128-gcm, rate: 600", "aes-128-gcm, rate: 601") + "measure:"),
    ],
)
def test_the_plan_id_changes_with_everything_a_spec_says(old: str, new: str) -> None:
    assert SPEC.replace(old, new) != SPEC
    assert a_plan(SPEC.replace(old, new)).plan_id != a_plan().plan_id


def test_what_is_written_out_as_the_default_changes_nothing() -> None:
    every = {"rsaBits": 2048, "group": "P-256", **{name: values[0] for name, (_, values) in VARIED.items()}}
    lines = "".join(f"\n  {name}: ['{_plain(value)}']" for name, value in every.items())
    written_out = SPEC.replace("[RSA, ECDHE-ECDSA]", f"[RSA, ECDHE-ECDSA]{lines}")
    assert (
        a_plan(
            written_out.replace("batches: 4", "batches: 4, sentinel: true, isolation: exclusive, jobs: 2")
            + "pools: [local]\n"
        )
        == a_plan()
    )


def test_the_plan_id_is_what_it_always_was() -> None:
    """A stored plan must be found again by its spec: a change here makes every old plan another one."""
    assert a_plan().plan_id == "a0670257218e67d2"


def matrix_of(**dimensions: str) -> str:
    """A matrix in a line; each value is the text of a list without its brackets."""
    return "{" + ", ".join(f"{name}: [{values}]" for name, values in dimensions.items()) + "}"


def spec_with(matrix: str) -> str:
    head, _, tail = SPEC.partition("matrix:")
    return f"{head}matrix: {matrix}\nmeasure:{tail.partition('measure:')[2]}"


ALL_RSA_BITS = ", ".join(map(str, range(1024, 8200, 8)))
LONG = 5000
TOO_LARGE = {
    "twelve matrices of 897": (
        "".join(f"\n  - {matrix_of(protocol='TLSv1.2', keyExchange='RSA', rsaBits=ALL_RSA_BITS)}" for _ in range(12)),
        12 * 897,
    ),
    "all key sizes in all ciphers and chains": (
        matrix_of(
            protocol="TLSv1.2",
            keyExchange="RSA",
            rsaBits=ALL_RSA_BITS,
            cipher="AES-128-GCM, AES-256-GCM, CHACHA20-POLY1305",
            chainLength="1, 2, 3, 4",
        ),
        12 * 897,
    ),
    "astronomic": (
        matrix_of(
            protocol=", ".join(["TLSv1.2"] * LONG),
            keyExchange=", ".join(["ECDHE-RSA"] * LONG),
            cipher=", ".join(["x"] * LONG),
            rsaBits=", ".join(["1024"] * LONG),
            group=", ".join(["P-256"] * LONG),
        ),
        LONG**5,
    ),
}


@pytest.mark.parametrize(("matrix", "count"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_matrix_that_is_too_large_is_refused_without_expanding(
    matrix: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kexbench.planning.plan.expand", lambda *_: pytest.fail("the matrix was expanded"))
    with pytest.raises(DocumentError, match=f"matrix: {count:,} cases, more than the 10,000 a spec may have"):
        a_plan(spec_with(matrix))


def test_a_large_matrix_within_the_limit_is_planned() -> None:
    matrix = matrix_of(protocol="TLSv1.2", keyExchange="RSA, DHE-RSA", rsaBits=ALL_RSA_BITS)
    plan = a_plan(spec_with(matrix).replace("20m", "99h"))
    assert len(plan.cases) == 2 * 897


def test_a_spec_with_thousands_of_subjects_is_refused_at_once() -> None:
    listed = ", ".join(f"1.{number}" for number in range(1001))
    with pytest.raises(DocumentError, match="subjects: 1,001 subjects, more than the 1,000 a spec may have"):
        a_plan(SPEC.replace("[1.0, 1.1]", f"[{listed}]"))


PATHS = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: paths }
subjects: [{ fake: ["1.0"] }]
matrix: { protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], path: [PATHS] }
measure: { invocations: 2, connections: CONNECTIONS }
"""


def with_paths(paths: str, connections: int = 500) -> str:
    return PATHS.replace("PATHS", paths).replace("CONNECTIONS", str(connections))


def test_a_path_is_a_name_or_numbers_or_a_mapping() -> None:
    plan = a_plan(
        with_paths('"-", continent, 50ms-loss-1, { roundTripMs: 20, initialWindow: 30 }, { roundTripMs: 558 }')
    )
    assert [case.path for case in plan.cases] == ["-", "continent", "50ms-loss-1", "20ms-window-30", "satellite"]


@pytest.mark.parametrize(
    ("paths", "fault"),
    [
        ("mars", "5:67: matrix.0.path.0: 'mars' is not a path: use rack"),
        ("{ roundTripMs: 20, jitterMs: 1 }", "a path has no jitterMs; it has roundTripMs"),
        ("{ lossPercent: 1 }", "a path needs roundTripMs"),
        ("20ms-loss-99", "lossPercent: Input should be less than or equal to 50"),
        ("satellite, { roundTripMs: 558 }", "given twice: satellite"),
    ],
)
def test_a_wrong_path_is_a_fault_at_its_place(paths: str, fault: str) -> None:
    with pytest.raises(DocumentError) as caught:
        a_plan(with_paths(paths))
    assert fault in str(caught.value)


def test_connections_over_a_path_take_their_time() -> None:
    few, many = (a_plan(with_paths("satellite", count)) for count in (20, 520))
    assert (few.measure.connections, many.measure.connections) == (20, 520)
    assert many.estimated_s - few.estimated_s == pytest.approx(2 * 500 * 2.7e-3, rel=0.05)
    assert few.estimated_s > 2 * 5 * 0.558
    with pytest.raises(DocumentError, match="connections"):
        a_plan(with_paths("satellite", 5001))


def test_a_plan_without_paths_has_the_id_that_it_always_had() -> None:
    assert plan_id_of(a_plan()) == a_plan().plan_id
    assert a_plan(with_paths('"-"', 500)).plan_id != a_plan(with_paths('"-"', 501)).plan_id


def aged(age: int, more: str = "", matrix: str = "") -> Plan:
    text = PATHS.replace("path: [PATHS]", f"resumption: [psk-dhe]{matrix}").replace(
        "connections: CONNECTIONS", f"age: {age}{more}"
    )
    return a_plan(text)


def test_connections_that_age_a_context_take_their_time() -> None:
    few, many = aged(20_000), aged(1_020_000)
    assert (few.measure.age, many.measure.age) == (20_000, 1_020_000)
    assert many.estimated_s - few.estimated_s == pytest.approx(
        2 * 1_000_000 * handshake_seconds(few.cases[0]), rel=0.01
    )
    threads = aged(1_000_000, matrix=", threads: [2]")
    assert threads.estimated_s == aged(100, matrix=", threads: [2]").estimated_s


@pytest.mark.parametrize(
    ("age", "more", "fault"),
    [
        (99, "", "greater than or equal to 100"),
        (10_000_001, "", "less than or equal to 10000000"),
        (1000, ", instrument: instructions", "measure.age: only instrument: time ages a context"),
    ],
)
def test_an_age_that_nobody_can_measure_is_a_fault(age: int, more: str, fault: str) -> None:
    with pytest.raises(DocumentError, match=fault):
        aged(age, more)


def test_a_plan_without_an_age_has_the_id_that_it_always_had() -> None:
    plan = a_plan()
    assert plan_id_of(plan) != plan_id_of(
        plan.model_copy(update={"measure": plan.measure.model_copy(update={"age": 100})})
    )
