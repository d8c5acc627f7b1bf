"""What certificates hold beside their keys, and the sizes of a chain's further certificates."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kexbench.domain.cases import INTERMEDIATE_MAX, NAMES_MAX
from kexbench.domain.material import least_intermediate_bytes
from kexbench.material.keys import new_signer
from kexbench.material.make import Contents, make_chain, make_key_pair, make_verified_chain
from kexbench.material.store import MaterialStore
from tests.material.keys import KEYS, a_case, verify

LARGE: dict[str, Any] = {"certificate_names": 100, "certificate_policies": 2, "crl_distribution_points": 3}


def chain_of(folder: Path, key: str, **fields: Any) -> list[x509.Certificate]:
    files = MaterialStore(folder).provide(a_case(key, **fields))
    return x509.load_pem_x509_certificates((folder / files.certificate).read_bytes())


def counts(certificate: x509.Certificate) -> tuple[int, int, int]:
    """Names, policies and CRL distribution points."""
    kinds = (x509.SubjectAlternativeName, x509.CertificatePolicies, x509.CRLDistributionPoints)
    names, policies, points = (
        sum(len([*each.value]) for each in certificate.extensions if isinstance(each.value, kind)) for kind in kinds
    )
    return names, policies, points


@pytest.mark.parametrize("further", [{}, {"chain_length": 3}, {"chain_length": 3, "verification": True}])
@pytest.mark.parametrize("key", ["RSA-2048", "RSA-PSS-2048", "ECDSA-P-256", "ML-DSA-65"])
def test_the_first_certificate_alone_has_what_the_case_says(key: str, further: dict[str, Any], tmp_path: Path) -> None:
    first, *others = chain_of(tmp_path, key, **LARGE, **further)
    assert counts(first) == (100, 2, 3)
    assert {counts(other) for other in others} <= {(1, 0, 0)}
    names = first.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [*names.get_values_for_type(x509.DNSName)][-1] == "kexbench.invalid", "a client that verifies reads all"


def test_certificates_of_any_contents_share_the_key_of_the_plain_one(tmp_path: Path) -> None:
    material = MaterialStore(tmp_path)
    cases = [a_case("ECDSA-P-256", certificate_names=names) for names in (1, 100, NAMES_MAX)]
    cases += [a_case("ECDSA-P-256", ocsp_bytes=1000, **fields) for fields in ({}, LARGE)]
    files = [material.provide(case) for case in cases]
    assert len({file.key for file in files}) == 1
    assert len({file.certificate for file in files}) == len(cases)
    assert [material.provide(case) for case in cases] == files
    plain = (tmp_path / "index" / "ecdsa-P-256.json").read_text()
    assert files[0].certificate in plain, "the usual certificate keeps its name in the material"


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize("key", KEYS)
def test_from_the_least_size_on_every_intermediate_can_be_made(key: str, verified: bool, tmp_path: Path) -> None:
    least = least_intermediate_bytes(a_case(key, chain_length=3, verification=verified))
    for size in (least, least + 1, INTERMEDIATE_MAX):
        _, *others = chain_of(tmp_path, key, chain_length=3, verification=verified, intermediate_bytes=size)
        assert [len(other.public_bytes(Encoding.DER)) for other in others] == [size] * 2
        verify(
            others[1].public_key(),
            others[0].signature,
            others[0].tbs_certificate_bytes,
            pss=key.startswith("RSA-PSS"),
        )


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize("key", KEYS)
def test_every_size_near_the_least_one_can_be_made(key: str, verified: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A length in DER that grows from two to three bytes leaves out a size, where signatures have one length."""
    monkeypatch.setattr("kexbench.material.make.new_signer", cache(new_signer))  # new keys each time would take minutes
    case = a_case(key, chain_length=2, verification=verified)
    pair = make_key_pair(case.key_name)
    make_any_chain = make_verified_chain if verified else make_chain
    least = least_intermediate_bytes(case)
    for size in range(least, least + 60):
        chain = make_any_chain(case.key_name, 2, pair.key, Contents(intermediate_bytes=size))
        assert len(x509.load_pem_x509_certificates(chain.certificate)[1].public_bytes(Encoding.DER)) == size


def test_what_is_too_small_for_a_key_and_a_signature_is_refused() -> None:
    with pytest.raises(ValueError, match="an intermediate certificate with a rsa-2048 key needs more than 500 bytes"):
        make_chain("rsa-2048", 2, make_key_pair("rsa-2048").key, Contents(intermediate_bytes=500))
