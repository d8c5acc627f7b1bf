"""Certificates of every kind of key, alone and in chains."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import CERTIFICATE_KEYS
from kexbench.material import der
from kexbench.material.make import make_key_pair
from kexbench.material.store import MaterialStore
from tests.material.keys import KEYS, a_case, says_pss, verify


def certificates_of(kit_store: MaterialStore, key: str, length: int) -> list[x509.Certificate]:
    files = kit_store.provide(a_case(key, chain_length=length))
    return x509.load_pem_x509_certificates((kit_store.folder / files.certificate).read_bytes())


def public_bytes(key: object) -> bytes:
    found: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined]
    return found


def test_there_is_a_key_of_every_kind() -> None:
    assert {a_case(key).key_exchange.key for key in KEYS} == set(CERTIFICATE_KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_each_certificate_is_signed_by_the_next_ones_key_and_the_last_by_its_own(key: str, tmp_path: Path) -> None:
    chain = certificates_of(MaterialStore(tmp_path), key, 3)
    assert len(chain) == 3
    for certificate, issuer in zip(chain, [*chain[1:], chain[-1]], strict=True):
        assert certificate.issuer == issuer.subject
        verify(
            issuer.public_key(),
            certificate.signature,
            certificate.tbs_certificate_bytes,
            pss=key.startswith("RSA-PSS"),
        )
    assert len({public_bytes(certificate.public_key()) for certificate in chain}) == 3
    assert [
        certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca for certificate in chain
    ] == [False, True, True]


@pytest.mark.parametrize("key", KEYS)
def test_the_first_certificate_is_over_the_key_of_the_case(key: str, tmp_path: Path) -> None:
    files = MaterialStore(tmp_path).provide(a_case(key))
    private = load_pem_private_key((tmp_path / files.key).read_bytes(), None)
    certificate = x509.load_pem_x509_certificate((tmp_path / files.certificate).read_bytes())
    assert public_bytes(private.public_key()) == public_bytes(certificate.public_key())
    verify(
        certificate.public_key(),
        certificate.signature,
        certificate.tbs_certificate_bytes,
        pss=key.startswith("RSA-PSS"),
    )


def test_chains_of_any_length_share_the_key_of_the_plain_pair(tmp_path: Path) -> None:
    kit_store = MaterialStore(tmp_path)
    files = [kit_store.provide(a_case("ECDSA-P-256", chain_length=length)) for length in (3, 1, 10)]
    assert len({file.key for file in files}) == 1
    assert len({file.certificate for file in files}) == 3
    assert [len(certificates_of(kit_store, "ECDSA-P-256", length)) for length in (3, 1, 10)] == [3, 1, 10]
    assert {path.stem for path in (tmp_path / "index").iterdir()} == {
        "ecdsa-P-256",
        "ecdsa-P-256-chain-3",
        "ecdsa-P-256-chain-10",
    }


def test_a_key_for_pss_says_so_in_the_key_and_in_every_certificate(tmp_path: Path) -> None:
    kit_store = MaterialStore(tmp_path)
    chain = certificates_of(kit_store, "RSA-PSS-2048", 3)
    assert all(says_pss(certificate) for certificate in chain)
    assert all(isinstance(certificate.public_key(), rsa.RSAPublicKey) for certificate in chain)
    text = (tmp_path / kit_store.provide(a_case("RSA-PSS-2048")).key).read_text()
    private = der.pem("PRIVATE KEY", b"").splitlines()[0].decode()
    assert text.startswith(private)
    whole = load_pem_private_key(text.encode(), None)
    assert isinstance(whole, rsa.RSAPrivateKey)
    assert whole.key_size == 2048


def test_a_plain_rsa_key_may_sign_in_every_way() -> None:
    assert not says_pss(x509.load_pem_x509_certificate(make_key_pair("rsa-1024").certificate))


@pytest.mark.parametrize("length", [0, 1, 127, 128, 255, 256, 65535, 65536])
def test_what_is_written_as_der_reads_back(length: int) -> None:
    content = der.element(der.OCTET_STRING, bytes(length))
    assert der.content_of(content) == bytes(length)
    assert der.children(der.element(der.SEQUENCE, content, content)) == [content, content]


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize(
    "key", [{"key_exchange": "ECDHE-ECDSA", "curve": "P-256"}, {"key_exchange": "ECDHE-RSA", "rsa_bits": 2048}]
)
def test_a_verified_chain_is_one_to_an_independent_verifier_and_leads_to_the_first_root(
    key: dict[str, Any], length: int, tmp_path: Path
) -> None:
    case = Case.model_validate(
        {"protocol": "TLSv1.3", "group": "X25519", "verification": True, "chain_length": length, "trust_anchors": 3}
        | key
    )
    files = MaterialStore(tmp_path).provide(case)
    chain = x509.load_pem_x509_certificates((tmp_path / files.certificate).read_bytes())
    roots = x509.load_pem_x509_certificates((tmp_path / files.trust_anchors_file).read_bytes())
    assert (len(chain), len(roots)) == (length, 3)

    def verified(trusted: list[x509.Certificate], host: str) -> list[x509.Certificate]:
        policy = PolicyBuilder().store(Store(trusted)).time(datetime(2026, 1, 1, tzinfo=UTC))
        return policy.build_server_verifier(x509.DNSName(host)).verify(chain[0], chain[1:])

    assert verified(roots, "kexbench.invalid") == [*chain, roots[0]]
    with pytest.raises(VerificationError):
        verified(roots[1:], "kexbench.invalid")
    with pytest.raises(VerificationError):
        verified(roots, "elsewhere.invalid")
