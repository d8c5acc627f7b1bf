"""Stapled OCSP responses: real ones, of the size that was asked for."""

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp

from kexbench.domain.cases import OCSP_MAX
from kexbench.domain.material import least_ocsp_bytes
from kexbench.material import der
from kexbench.material.keys import load_signer
from kexbench.material.make import make_chain, make_key_pair
from kexbench.material.ocsp import make_ocsp_response
from kexbench.material.store import MaterialStore
from tests.material.keys import KEYS, a_case, verify


def signature_and_content(response: bytes) -> tuple[bytes, bytes]:
    """Of an OCSPResponse's BasicOCSPResponse (RFC 6960, section 4.2.1)."""
    _, tagged = der.children(response)
    _, octets = der.children(der.content_of(tagged))
    content, _, bits = der.children(der.content_of(octets))
    return der.content_of(bits)[1:], content


@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize("key", KEYS)
def test_a_response_is_signed_by_the_issuer_for_the_first_certificate(key: str, length: int, tmp_path: Path) -> None:
    kit_store = MaterialStore(tmp_path)
    files = kit_store.provide(a_case(key, chain_length=length, ocsp_bytes=6000))
    issued = kit_store.provide(a_case(key, chain_length=2))
    whole = x509.load_pem_x509_certificates((tmp_path / issued.certificate).read_bytes())
    chain = x509.load_pem_x509_certificates((tmp_path / files.certificate).read_bytes())
    response = (tmp_path / files.ocsp_response).read_bytes()
    read = ocsp.load_der_ocsp_response(response)
    assert files.ocsp_response.endswith(".der")
    assert (len(response), read.response_status) == (6000, ocsp.OCSPResponseStatus.SUCCESSFUL)
    assert (read.certificate_status, read.serial_number) == (ocsp.OCSPCertStatus.GOOD, chain[0].serial_number)
    assert (len(chain), chain[0]) == (length, whole[0])
    verify(whole[1].public_key(), *signature_and_content(response), pss=key.startswith("RSA-PSS"))


@pytest.mark.parametrize("key", KEYS)
def test_from_the_least_size_on_every_size_can_be_made(key: str) -> None:
    case = a_case(key)
    pair = make_key_pair(case.key_name)
    chain = [x509.load_pem_x509_certificate(pair.certificate)]
    signer = load_signer(case.key_name, pair.key)
    least = least_ocsp_bytes(case)
    for size in (*range(least, least + 40), OCSP_MAX - 1, OCSP_MAX):
        assert len(make_ocsp_response(chain, signer, size)) == size


@pytest.mark.parametrize("size", [1, 200, 300])
def test_what_is_too_small_for_a_signature_is_refused(size: int) -> None:
    pair = make_chain("ed25519", 2, make_key_pair("ed25519").key)
    chain = x509.load_pem_x509_certificates(pair.certificate)
    with pytest.raises(ValueError, match=f"needs more than {size} bytes"):
        make_ocsp_response(chain, load_signer("ed25519", pair.issuer_key or b""), size)


def test_a_stapled_certificate_never_signs_itself(tmp_path: Path) -> None:
    """OpenSSL 4.0 staples nothing to one that does."""
    files = MaterialStore(tmp_path).provide(a_case("Ed25519", ocsp_bytes=900))
    certificate = x509.load_pem_x509_certificate((tmp_path / files.certificate).read_bytes())
    assert certificate.issuer != certificate.subject


def test_a_response_is_made_once_for_each_size_and_chain(tmp_path: Path) -> None:
    kit_store = MaterialStore(tmp_path)
    cases = [a_case("Ed25519", chain_length=length, ocsp_bytes=size) for length in (1, 3) for size in (900, 1000)]
    first = [kit_store.provide(case).ocsp_response for case in cases]
    assert [MaterialStore(tmp_path).provide(case).ocsp_response for case in cases] == first
    assert len(set(first)) == 4


def test_without_stapling_there_is_no_response(tmp_path: Path) -> None:
    assert MaterialStore(tmp_path).provide(a_case("Ed25519")).ocsp_response == "-"
    assert list(tmp_path.glob("*.der")) == []


def test_the_certificate_that_a_response_is_for_is_not_in_it(tmp_path: Path) -> None:
    kit_store = MaterialStore(tmp_path)
    files = kit_store.provide(a_case("ML-DSA-44", ocsp_bytes=4000))
    certificate = x509.load_pem_x509_certificate((tmp_path / files.certificate).read_bytes())
    assert certificate.public_bytes(Encoding.DER) not in (tmp_path / files.ocsp_response).read_bytes()
