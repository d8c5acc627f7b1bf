"""Makes a key with its certificate, and reads the shipped DH parameters. Test keys: they protect nothing."""

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_CURVES: dict[str, ec.EllipticCurve] = {
    "secp192r1": ec.SECP192R1(),
    "P-256": ec.SECP256R1(),
    "P-384": ec.SECP384R1(),
    "P-521": ec.SECP521R1(),
}
_NOT_BEFORE, _NOT_AFTER = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Far apart, so that no clock of any machine makes a handshake fail."""
_SERIAL = 1


@dataclass(frozen=True)
class KeyPair:
    """PEM of a private key and of its self-signed certificate."""

    key: bytes
    certificate: bytes


def make_key_pair(name: str) -> KeyPair:
    """`rsa-2048` or `ecdsa-P-256`: a fresh key and a certificate over it, signed with SHA-256."""
    kind, _, parameter = name.partition("-")
    key = (
        rsa.generate_private_key(65537, int(parameter))
        if kind == "rsa"
        else ec.generate_private_key(_CURVES[parameter])
    )
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"kexbench {name}")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(_SERIAL)
        .not_valid_before(_NOT_BEFORE)
        .not_valid_after(_NOT_AFTER)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("kexbench.invalid")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return KeyPair(pem, certificate.public_bytes(Encoding.PEM))


def shipped_dh_parameters(name: str) -> bytes:
    """PEM of `dh-BITS`: a safe prime and generator 2, without a private value length, so that each
    library picks its own exponent length, as it would for a server's operator."""
    return files("kexbench.material").joinpath("dh", f"{name}.pem").read_bytes()
