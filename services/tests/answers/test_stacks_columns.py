"""The columns of the table of stacks, from the fields of cases."""

from typing import Any

import pytest

from kexbench.answers.stacks_columns import (
    KINDS,
    PROTOCOLS,
    Work,
    certificate_of,
    columns_of,
    same_certificate,
    work_of,
)
from kexbench.domain.cases import Case
from kexbench.planning.plan import make_plan
from tests.builders import BENCH_SPECS, a_catalogue

FULL = {
    "protocol": "TLSv1.3",
    "key_exchange": "ECDHE-ECDSA",
    "group": "X25519",
    "curve": "P-256",
    "cipher": "AES-128-GCM",
}


def case(**fields: Any) -> Case:
    return Case.model_validate(FULL | fields)


RSA = {"key_exchange": "ECDHE-RSA", "curve": "-", "rsa_bits": 2048}
ED25519 = {"key_exchange": "ECDHE-Ed25519", "curve": "-"}
ML_DSA = {"key_exchange": "ECDHE-ML-DSA-44", "curve": "-", "group": "X25519MLKEM768"}


@pytest.mark.parametrize(
    ("fields", "work"),
    [
        ({}, Work("full", "ECDSA P-256")),
        (RSA, Work("full", "RSA 2048")),
        (ED25519, Work("full", "Ed25519")),
        ({"resumption": "psk-dhe"}, Work("resumed", "psk-dhe")),
        ({"protocol": "TLSv1.2", "resumption": "ticket"}, Work("resumed", "ticket")),
        ({"group": "X25519MLKEM768"}, Work("post-quantum", "X25519MLKEM768")),
        (ML_DSA, Work("post-quantum", "X25519MLKEM768, ML-DSA-44")),
        ({"transfer_bytes": 16384}, Work("data", "16 KiB")),
        ({"client_authentication": True}, Work("client", "not verified")),
        ({"client_authentication": True, "verification": True, "chain_length": 2}, Work("client", "verified")),
        ({"threads": 4}, Work("threads", "4")),
        ({"verification": True}, Work("verified", "1")),
        ({"verification": True, "chain_length": 2}, Work("verified", "2")),
        ({"verification": True, "transfer_bytes": 1024}, None),
        ({"chain_length": 2}, None),
        ({"transfer_bytes": 1024, "threads": 2}, None),
        ({"cipher": "AES-256-GCM"}, None),
        ({"protocol": "TLSv1.2", "key_exchange": "RSA", "curve": "-", "rsa_bits": 2048, "group": "-"}, None),
        ({"server": "nginx"}, None),
        ({"group": "X25519MLKEM768", "threads": 2}, None),
    ],
)
def test_what_a_server_does_follows_from_the_fields(fields: dict[str, Any], work: Work | None) -> None:
    assert work_of(case(**fields)) == work


def test_a_column_has_the_case_of_most_stacks_then_the_usual_one() -> None:
    usual, other = case(), case(group="P-256")
    assert columns_of({}, [other, usual])[0].case == usual
    assert columns_of({usual.case_id: 2, other.case_id: 3}, [usual, other])[0].case == other


def test_columns_are_by_kind_then_certificate_and_size() -> None:
    cases = [case(threads=4), case(threads=2), case(**ED25519), case(**RSA), case(), case(resumption="psk-dhe")]
    assert [column.work for column in columns_of({}, cases)] == [
        ("full", "ECDSA P-256"),
        ("full", "RSA 2048"),
        ("full", "Ed25519"),
        ("resumed", "psk-dhe"),
        ("threads", "2"),
        ("threads", "4"),
    ]


@pytest.mark.parametrize("text", ["ECDSA P-256", "ecdsa-p256", "ECDSA-P256"])
def test_a_certificate_is_meant_however_it_is_written(text: str) -> None:
    assert same_certificate(text, case())
    assert not same_certificate(text, case(**RSA))
    assert certificate_of(case(**RSA)) == "RSA 2048"


def test_a_group_that_no_certificate_stands_for_has_a_column() -> None:
    cases = [
        case(),
        case(group="P-256"),
        case(group="P-521"),
        case(**RSA, group="P-256"),
        case(curve="P-384", group="P-384"),
    ]
    measured = {case(**RSA, group="P-256").case_id: 1, case(**RSA).case_id: 2}
    assert [(column.work, column.case.label) for column in columns_of(measured, [*cases, case(**RSA)])] == [
        (Work("full", "ECDSA P-256"), case().label),
        (Work("full", "RSA 2048"), case(**RSA).label),
        (Work("full", "ECDSA P-384"), case(curve="P-384", group="P-384").label),
        (Work("group", "P-256"), case(**RSA, group="P-256").label),
        (Work("group", "P-521"), case(group="P-521").label),
    ]


def test_every_case_of_the_spec_is_a_column() -> None:
    plan = make_plan((BENCH_SPECS / "stacks.yaml").read_text(), "stacks.yaml", a_catalogue())
    columns = [
        column
        for protocol in PROTOCOLS
        for column in columns_of({}, [case for case in plan.cases if case.protocol is protocol])
    ]
    assert sorted(column.case.case_id for column in columns) == sorted(case.case_id for case in plan.cases)
    assert {column.work.kind for column in columns} == set(KINDS)
