"""docs/results/merkle-tree-certificates.md: what is computed has the draft's format, and chains are today's."""

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from bench.merkle import (
    CHECKPOINT,
    COSIGNERS,
    HEAD,
    LANDMARK_LEAVES,
    ML_DSA,
    PAGE,
    PROOF_OID,
    Measured,
    Row,
    hashes,
    message_bytes,
    proof_bytes,
    rows,
    table,
    with_proof,
)
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.material.store import MaterialStore


def certificates(folder: Path, exchange: KeyExchange, length: int) -> tuple[bytes, ...]:
    case = Case(protocol=Protocol.TLS_1_3, key_exchange=exchange, group="X25519MLKEM768", chain_length=length)
    store = MaterialStore(folder)
    pem = (store.folder / store.provide(case).certificate).read_bytes()
    return tuple(each.public_bytes(Encoding.DER) for each in x509.load_pem_x509_certificates(pem))


def test_a_proof_has_as_many_hashes_as_the_draft_says() -> None:
    assert hashes(CHECKPOINT) * 32 == 384
    assert hashes(LANDMARK_LEAVES) * 32 == 736
    assert proof_bytes(LANDMARK_LEAVES, 0) == 18 + 736
    assert proof_bytes(CHECKPOINT, COSIGNERS) == 18 + 384 + 2 * (8 + 2420)


def test_a_certificate_with_a_proof_is_one_with_the_same_names_and_key(tmp_path: Path) -> None:
    (leaf,) = certificates(tmp_path, KeyExchange.ECDHE_ML_DSA_44, 1)
    changed, before = (x509.load_der_x509_certificate(each) for each in (with_proof(leaf, 754), leaf))
    assert changed.signature == bytes(754)
    assert changed.signature_algorithm_oid.dotted_string == "1.3.6.1.4.1.44363.47.0"
    assert (changed.subject, changed.issuer, changed.serial_number) == (
        before.subject,
        before.issuer,
        before.serial_number,
    )
    longer_oids = 2 * (len(PROOF_OID) - len(bytes.fromhex("0609608648016503040311")))
    assert len(with_proof(leaf, 754)) == len(leaf) - 2420 + 754 + longer_oids


@pytest.mark.parametrize("key", ML_DSA)
def test_the_page_has_the_sizes_of_the_chains_that_are_made_today(tmp_path: Path, key: str) -> None:
    measured = [Measured(key, certificates(tmp_path, ML_DSA[key], length), 0, 0) for length in (1, 2, 3)]
    page = PAGE.read_text(encoding="utf-8")
    assert page.startswith(HEAD)
    for row in rows(measured):
        assert f"| {row.title} | {row.message_bytes:,} |" in page


def test_round_trips_follow_from_the_servers_flight() -> None:
    assert message_bytes([100, 200]) == 8 + 105 + 205
    small, large = Row("small", 1, 14_480, 1_500), Row("large", 1, 14_481, 1_500)
    assert [[row.further(window) for window in (10, 30)] for row in (small, large)] == [[0, 0], [1, 0]]
    assert table([large]).splitlines()[-1] == "| large | 1 | 14,481 | 1 | 0 |"
