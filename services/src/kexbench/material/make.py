"""Makes a key with its certificates, and reads the shipped DH parameters. Test keys: they protect nothing."""

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from kexbench.material import der
from kexbench.material.keys import PSS, Signer, load_signer, new_signer

NOT_BEFORE, NOT_AFTER = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Far apart, so that no clock of any machine makes a handshake fail."""
_SERIAL = 1


@dataclass(frozen=True)
class KeyPair:
    """PEM of a private key and of its certificate, with its issuers' certificates behind it where it has any."""

    key: bytes
    certificate: bytes
    issuer_key: bytes | None = None
    """Of the second certificate; None where there is but one, signed by its own key."""


def make_key_pair(name: str) -> KeyPair:
    """A fresh key and a certificate over it, signed by itself. See `new_signer` for the names."""
    signer = new_signer(name, name)
    return KeyPair(signer.private_pem(), _certificate(signer, signer, _SERIAL))


def make_chain(name: str, length: int, key: bytes) -> KeyPair:
    """`length` certificates, at least two, over keys of one kind, each signed by the next one's key and the last by
    its own. The first is over `key`, so that the chain is all that differs from the pair with that key."""
    chain = [load_signer(name, key), *(new_signer(name, f"{name} issuer {n}") for n in range(1, length))]
    certificates = [
        _certificate(signer, issuer, serial, is_issuer=serial > _SERIAL)
        for serial, (signer, issuer) in enumerate(zip(chain, [*chain[1:], chain[-1]], strict=True), start=_SERIAL)
    ]
    return KeyPair(key, b"".join(certificates), chain[1].private_pem())


def shipped_dh_parameters(name: str) -> bytes:
    """PEM of `dh-BITS`: a safe prime and generator 2, without a private value length, so that each
    library picks its own exponent length, as it would for a server's operator."""
    return files("kexbench.material").joinpath("dh", f"{name}.pem").read_bytes()


def _certificate(signer: Signer, issuer: Signer, serial: int, *, is_issuer: bool = False) -> bytes:
    """PEM of one certificate, with SHA-256 where the signature scheme leaves a choice."""
    certificate = (
        x509.CertificateBuilder()
        .subject_name(signer.subject)
        .issuer_name(issuer.subject)
        .public_key(signer.key.public_key())
        .serial_number(serial)
        .not_valid_before(NOT_BEFORE)
        .not_valid_after(NOT_AFTER)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("kexbench.invalid")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=is_issuer, path_length=None), critical=True)
        .sign(issuer.key, issuer.digest, rsa_padding=PSS if issuer.is_pss else None)
    )
    if signer.is_pss:
        return der.pem("CERTIFICATE", _with_pss_key(certificate, signer, issuer))
    return certificate.public_bytes(Encoding.PEM)


def _with_pss_key(certificate: x509.Certificate, signer: Signer, issuer: Signer) -> bytes:
    """DER of the certificate with its key marked as one for RSASSA-PSS (RFC 4055, section 1.2), and signed anew. The
    builder writes every RSA key as rsaEncryption, for which TLS has other signature schemes (RFC 8446, 4.2.3)."""
    content, algorithm, _ = der.children(certificate.public_bytes(Encoding.DER))
    written = signer.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    _, bits = der.children(written)
    marked = der.element(der.SEQUENCE, der.element(der.SEQUENCE, der.ID_RSASSA_PSS), bits)
    fields = [marked if field == written else field for field in der.children(content)]
    return issuer.sign_pss(der.element(der.SEQUENCE, *fields), algorithm)
