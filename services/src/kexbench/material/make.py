"""Makes keys and certificates, and reads the shipped DH parameters. The keys are for tests and protect nothing."""

import secrets
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID

from kexbench.domain.strength import PSK_BITS
from kexbench.material import der
from kexbench.material.keys import PSS, Signer, load_signer, named, new_signer
from kexbench.material.padding import padded, padding_of

NOT_BEFORE, NOT_AFTER = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Far apart, so that no machine's clock makes a handshake fail."""
_SERIAL = 1
_HOST = "kexbench.invalid"
_POLICY_ARC = "2.25.217430988117226404229153205389361245813"
"""From the random UUID of the padding (X.667)."""


@dataclass(frozen=True)
class Contents:
    """What a certificate holds beside its key, and how large the further certificates of its chain are."""

    names: int = 1
    policies: int = 0
    crl_distribution_points: int = 0
    intermediate_bytes: int | None = None
    """In DER; None for as large as they come out."""


USUAL = Contents()


@dataclass(frozen=True)
class KeyPair:
    """PEM of a private key and of its certificate, followed by the certificates of its issuers, if any."""

    key: bytes
    certificate: bytes
    issuer_key: bytes | None = None
    """The key of the second certificate; None if the only certificate is self-signed."""
    root: bytes | None = None
    """The root certificate that the chain leads to, where it isn't part of the chain."""


def make_key_pair(name: str) -> KeyPair:
    """A new key and its self-signed certificate. See `new_signer` for the names."""
    signer = new_signer(name, name)
    return KeyPair(signer.private_pem(), _certificate(signer, signer, _SERIAL))


def make_certificate(name: str, contents: Contents, key: bytes) -> KeyPair:
    """A self-signed certificate with the contents, for the key `key`."""
    signer = load_signer(name, key)
    return KeyPair(key, _certificate(signer, signer, _SERIAL, contents))


def make_chain(name: str, length: int, key: bytes, contents: Contents = USUAL) -> KeyPair:
    """`length` certificates, at least two, with keys of one kind. Each is signed by the next one's key, the last one
    by its own. The first has the key `key`, so that only the chain differs from the pair with that key."""
    issuer, certificates = _chain(name, key, [f"issuer {n}" for n in range(1, length)], contents, verifiable=False)
    return KeyPair(key, b"".join(certificates), issuer.private_pem())


def make_verified_chain(name: str, length: int, key: bytes, contents: Contents = USUAL) -> KeyPair:
    """`length` certificates as a public certificate authority issues them, without the root, and the root."""
    subjects = [*(f"issuer {n}" for n in range(1, length)), "root"]
    issuer, certificates = _chain(name, key, subjects, contents, verifiable=True)
    return KeyPair(key, b"".join(certificates[:-1]), issuer.private_pem(), certificates[-1])


def _chain(
    name: str, key: bytes, issuers: Sequence[str], contents: Contents, *, verifiable: bool
) -> tuple[Signer, list[bytes]]:
    """The issuer of the first certificate, which has the key `key`, and all certificates, each signed by the next one's
    key and the last one by its own."""
    signers = [load_signer(name, key), *(new_signer(name, f"{name} {issuer}") for issuer in issuers)]
    certificates = [
        _certificate(signer, issuer, serial, contents, is_issuer=serial > _SERIAL, verifiable=verifiable)
        for serial, (signer, issuer) in enumerate(zip(signers, [*signers[1:], signers[-1]], strict=True), start=_SERIAL)
    ]
    return signers[1], certificates


_ROOT_KEYS = ("rsa-4096", "rsa-4096", "rsa-4096", "rsa-2048", "rsa-2048", "ecdsa-P-384")
"""Keys of the roots in a distribution's bundle, in about these shares."""


def make_other_roots(amount: int, first: int = 0) -> bytes:
    """PEM of so many self-signed root certificates, for a trust store as large as a distribution's. They have a few
    keys in common, since a key's size matters here and its value doesn't."""
    signers = {kind: new_signer(kind, kind) for kind in set(_ROOT_KEYS)}
    roots = []
    for number in range(first, first + amount):
        root = replace(signers[_ROOT_KEYS[number % len(_ROOT_KEYS)]], subject=named(f"other root {number}"))
        roots.append(_certificate(root, root, number + 1, is_issuer=True, verifiable=True))
    return b"".join(roots)


def shipped_dh_parameters(name: str) -> bytes:
    """PEM of `dh-BITS`: a safe prime and generator 2. It states no private value length, so that each
    library chooses its own exponent length, as in production."""
    return files("kexbench.material").joinpath("dh", f"{name}.pem").read_bytes()


_BFE_SEED = struct.Struct(">8sII32s")


def make_bfe_seed(punctures: int, false_positive_bits: int) -> bytes:
    """What workers/handshake/bfe_key.c makes a key of Bloom filter encryption from. The key itself has megabytes."""
    return _BFE_SEED.pack(b"BFEseed\x01", punctures, false_positive_bits, secrets.token_bytes(32))


def make_psk() -> bytes:
    """An external pre-shared key, as the worker takes it."""
    return secrets.token_bytes(PSK_BITS // 8)


def _certificate(
    signer: Signer,
    issuer: Signer,
    serial: int,
    contents: Contents = USUAL,
    *,
    is_issuer: bool = False,
    verifiable: bool = False,
) -> bytes:
    """PEM of a certificate, with SHA-256 if the signature scheme allows a choice. A verifiable one has the extensions
    that public certificate authorities put into theirs."""
    extensions = [*_verifiable(signer, issuer, is_issuer=is_issuer)] if verifiable else []
    if not is_issuer:
        return der.pem("CERTIFICATE", _signed(signer, issuer, serial, [*_contents(contents), *extensions]))
    usual = [_names(1), *extensions]
    size = contents.intermediate_bytes
    if size is None:
        return der.pem("CERTIFICATE", _signed(signer, issuer, serial, usual, is_issuer=True))

    def make(padding: int) -> bytes:
        return _signed(signer, issuer, serial, [*usual, padding_of(padding)], is_issuer=True)

    return der.pem("CERTIFICATE", padded(make, size, f"an intermediate certificate with a {signer.name} key"))


def _names(amount: int) -> x509.SubjectAlternativeName:
    """The host that clients verify is the last one, so that all are read."""
    further = [x509.DNSName(f"{number}.{_HOST}") for number in range(1, amount)]
    return x509.SubjectAlternativeName([*further, x509.DNSName(_HOST)])


def _contents(contents: Contents) -> Iterator[x509.ExtensionType]:
    yield _names(contents.names)
    if contents.policies:
        yield x509.CertificatePolicies(
            [
                x509.PolicyInformation(
                    x509.ObjectIdentifier(f"{_POLICY_ARC}.{number}"), [f"http://cps.{_HOST}/{number}"]
                )
                for number in range(1, contents.policies + 1)
            ]
        )
    if contents.crl_distribution_points:
        yield x509.CRLDistributionPoints(
            [
                x509.DistributionPoint(
                    [x509.UniformResourceIdentifier(f"http://crl.{_HOST}/{number}.crl")], None, None, None
                )
                for number in range(1, contents.crl_distribution_points + 1)
            ]
        )


def _signed(
    signer: Signer,
    issuer: Signer,
    serial: int,
    extensions: Sequence[x509.ExtensionType],
    *,
    is_issuer: bool = False,
) -> bytes:
    """DER of a certificate."""
    builder = (
        x509.CertificateBuilder()
        .subject_name(signer.subject)
        .issuer_name(issuer.subject)
        .public_key(signer.key.public_key())
        .serial_number(serial)
        .not_valid_before(NOT_BEFORE)
        .not_valid_after(NOT_AFTER)
        .add_extension(x509.BasicConstraints(ca=is_issuer, path_length=None), critical=True)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=isinstance(extension, x509.KeyUsage))
    certificate = builder.sign(issuer.key, issuer.digest, rsa_padding=PSS if issuer.is_pss else None)
    if signer.is_pss:
        return _with_pss_key(certificate, signer, issuer)
    return certificate.public_bytes(Encoding.DER)


def _verifiable(signer: Signer, issuer: Signer, *, is_issuer: bool) -> Iterator[x509.ExtensionType]:
    """RFC 5280, section 4.2.1."""
    yield x509.SubjectKeyIdentifier.from_public_key(signer.key.public_key())
    yield x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key())
    yield x509.KeyUsage(
        digital_signature=not is_issuer,
        key_encipherment=not is_issuer and isinstance(signer.key, rsa.RSAPrivateKey),
        key_cert_sign=is_issuer,
        crl_sign=is_issuer,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    if not is_issuer:
        yield x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])


def _with_pss_key(certificate: x509.Certificate, signer: Signer, issuer: Signer) -> bytes:
    """DER of the certificate with its key marked for RSASSA-PSS (RFC 4055, section 1.2) and a new signature. The
    builder marks every RSA key as rsaEncryption, for which TLS has other signature schemes (RFC 8446, 4.2.3)."""
    content, algorithm, _ = der.children(certificate.public_bytes(Encoding.DER))
    written = signer.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    _, bits = der.children(written)
    marked = der.element(der.SEQUENCE, der.element(der.SEQUENCE, der.ID_RSASSA_PSS), bits)
    fields = [marked if field == written else field for field in der.children(content)]
    return issuer.sign_pss(der.element(der.SEQUENCE, *fields), algorithm)
