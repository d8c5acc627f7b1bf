"""Key material: what a case asks for, the same bytes for everybody, and readable by its owner alone."""

import base64
import hashlib
import multiprocessing
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.dimensions import CURVES, DH_BITS, RSA_BITS_MIN
from kexbench.material.make import KeyPair, make_key_pair, shipped_dh_parameters
from kexbench.material.store import MaterialStore

RSA = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.RSA, rsa_bits=1024)
ECDSA = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="P-256")
DHE = Case(protocol=Protocol.TLS_1_2, key_exchange=KeyExchange.DHE_RSA, rsa_bits=1024, group="dh-1776")
NAMES = {"secp192r1": "secp192r1", "P-256": "secp256r1", "P-384": "secp384r1", "P-521": "secp521r1"}
WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19)


def subject_public_key(key: rsa.RSAPublicKey | ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize("bits", [RSA_BITS_MIN, 1776, 2048])
def test_an_rsa_pair_has_the_bits_of_its_name_and_matches_its_certificate(bits: int) -> None:
    pair = make_key_pair(f"rsa-{bits}")
    key = load_pem_private_key(pair.key, None)
    certificate = x509.load_pem_x509_certificate(pair.certificate)
    public = certificate.public_key()
    assert isinstance(key, rsa.RSAPrivateKey)
    assert isinstance(public, rsa.RSAPublicKey)
    assert key.key_size == bits
    assert key.public_key().public_numbers().e == 65537
    assert subject_public_key(public) == subject_public_key(key.public_key())
    public.verify(
        certificate.signature, certificate.tbs_certificate_bytes, padding.PKCS1v15(), hashes.SHA256()
    )  # raises where the signature is not the key's own


@pytest.mark.parametrize("curve", CURVES)
def test_an_ec_pair_is_on_the_curve_of_its_name_and_matches_its_certificate(curve: str) -> None:
    pair = make_key_pair(f"ecdsa-{curve}")
    key = load_pem_private_key(pair.key, None)
    certificate = x509.load_pem_x509_certificate(pair.certificate)
    public = certificate.public_key()
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    assert isinstance(public, ec.EllipticCurvePublicKey)
    assert key.curve.name == NAMES[curve]
    assert subject_public_key(public) == subject_public_key(key.public_key())
    public.verify(certificate.signature, certificate.tbs_certificate_bytes, ec.ECDSA(hashes.SHA256()))


def test_a_certificate_is_valid_whatever_the_clock_says_and_cannot_sign_others() -> None:
    certificate = x509.load_pem_x509_certificate(make_key_pair("ecdsa-P-256").certificate)
    assert certificate.not_valid_before_utc.year <= 2000
    assert certificate.not_valid_after_utc.year >= 2100
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert certificate.subject == certificate.issuer
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["kexbench.invalid"]


def probably_prime(number: int) -> bool:
    """Miller and Rabin's test; the parameters are shipped, so nobody chose them to deceive these witnesses."""
    exponent, twos = number - 1, 0
    while exponent % 2 == 0:
        exponent, twos = exponent // 2, twos + 1
    for witness in WITNESSES:
        power = pow(witness, exponent, number)
        if power not in (1, number - 1) and number - 1 not in (pow(power, 2**step, number) for step in range(1, twos)):
            return False
    return True


def test_the_primality_test_tells_primes_from_others() -> None:
    assert probably_prime(2**521 - 1)
    assert not probably_prime(2**523 - 1)
    assert not probably_prime((2**127 - 1) * (2**89 - 1))


def integers_of(pem: bytes) -> list[int]:
    """The integers of a DER sequence, read by hand: the library that could do it is giving up on finite fields."""
    rest = base64.b64decode(b"".join(pem.split(b"-----")[2].split()))
    content, rest = element(rest, tag=0x30)
    assert rest == b""
    found = []
    while content:
        number, content = element(content, tag=0x02)
        found.append(int.from_bytes(number, "big"))
    return found


def element(der: bytes, *, tag: int) -> tuple[bytes, bytes]:
    """The content of the first element, and what comes behind it."""
    assert der[0] == tag
    length, start = der[1], 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(der[2:start], "big")
    return der[start : start + length], der[start + length :]


@pytest.mark.parametrize("bits", DH_BITS)
def test_shipped_dh_parameters_are_a_safe_prime_of_their_size_with_generator_two(bits: int) -> None:
    pem = shipped_dh_parameters(f"dh-{bits}")
    assert pem.startswith(b"-----BEGIN DH PARAMETERS-----\n")
    prime, generator = integers_of(pem)  # and no length of private values
    assert prime.bit_length() == bits
    assert generator == 2
    assert probably_prime(prime)
    assert probably_prime((prime - 1) // 2)


def test_every_dh_size_has_parameters_of_its_own() -> None:
    assert len({shipped_dh_parameters(f"dh-{bits}") for bits in DH_BITS}) == len(DH_BITS)


def test_a_case_is_provided_with_files_named_by_their_content(tmp_path: Path) -> None:
    files = MaterialStore(tmp_path).provide(DHE)
    for name in (files.key, files.certificate, files.dh_parameters):
        assert name == f"{hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()}.pem"
    assert (tmp_path / files.dh_parameters).read_bytes() == shipped_dh_parameters("dh-1776")
    assert b"PRIVATE KEY" in (tmp_path / files.key).read_bytes()
    assert b"CERTIFICATE" in (tmp_path / files.certificate).read_bytes()


def test_a_case_without_dh_parameters_has_none(tmp_path: Path) -> None:
    assert MaterialStore(tmp_path).provide(ECDSA).dh_parameters == "-"


def test_a_key_is_made_once_and_shared_by_all_cases_that_name_it(tmp_path: Path) -> None:
    first = MaterialStore(tmp_path).provide(RSA)
    again = MaterialStore(tmp_path).provide(DHE)
    assert (first.key, first.certificate) == (again.key, again.certificate)
    assert len(list(tmp_path.glob("*.pem"))) == 3


def test_only_the_owner_may_look(tmp_path: Path) -> None:
    root = tmp_path / "material"
    MaterialStore(root).provide(DHE)
    found = [root, *root.rglob("*")]
    assert {(path.is_dir(), oct(path.stat().st_mode & 0o777)) for path in found} == {(True, "0o700"), (False, "0o600")}


def test_no_unfinished_file_is_left_behind(tmp_path: Path) -> None:
    MaterialStore(tmp_path).provide(DHE)
    assert [path.name for path in tmp_path.rglob(".*")] == []


def _provide(folder: Path) -> str:
    return MaterialStore(folder).provide(RSA).model_dump_json()


def test_processes_that_ask_at_once_get_the_same_key(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert set(pool.map(_provide, [tmp_path] * 8, chunksize=1)) == {_provide(tmp_path)}


def test_a_process_that_lost_the_race_takes_the_winners_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make_while_another_does(name: str) -> KeyPair:
        pair = make_key_pair(name)
        if not made:
            made.append(name)
            made.append(MaterialStore(tmp_path).provide(RSA).key)
        return pair

    monkeypatch.setattr("kexbench.material.store.make_key_pair", make_while_another_does)
    assert MaterialStore(tmp_path).provide(RSA).key == made[1]


def test_the_seed_of_a_punctured_key_is_made_once_and_says_for_how_many_connections(tmp_path: Path) -> None:
    case = Case(protocol=Protocol.BFE_0RTT, key_exchange=KeyExchange.BFE, group="BLS12-381", punctures=1000)
    files = MaterialStore(tmp_path).provide(case)
    seed = (tmp_path / files.key).read_bytes()
    assert (files.key, files.certificate) == (f"{hashlib.sha256(seed).hexdigest()}.seed", "-")
    assert (seed[:8], seed[8:16], len(seed)) == (b"BFEseed\x01", bytes([0, 0, 3, 232, 0, 0, 0, 10]), 48)
    assert MaterialStore(tmp_path).provide(case.model_copy(update={"early_data_bytes": 1})) == files
    assert MaterialStore(tmp_path).provide(case.model_copy(update={"false_positive_bits": 8})).key != files.key


def test_a_server_with_two_certificates_has_the_pairs_of_the_cases_with_one(tmp_path: Path) -> None:
    store = MaterialStore(tmp_path)
    hybrid = Case.model_validate(RSA.model_dump() | {"server": "nginx", "ecdsa_percent": 10})
    files, rsa_alone, ecdsa_alone = (store.provide(case) for case in (hybrid, RSA, ECDSA))
    assert files.words == rsa_alone.words
    assert files.ecdsa is not None
    assert files.ecdsa.words == ecdsa_alone.words
    assert files.names == rsa_alone.names | ecdsa_alone.names
    assert rsa_alone.ecdsa is None
    assert "-" not in files.names
    assert all((tmp_path / name).is_file() for name in files.names)
