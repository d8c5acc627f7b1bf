"""Private keys by their names in the material: making, writing and loading them, and signing."""

from collections.abc import Callable
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, mldsa, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import NameOID

from kexbench.material import der

PrivateKey = (
    rsa.RSAPrivateKey
    | ec.EllipticCurvePrivateKey
    | ed25519.Ed25519PrivateKey
    | ed448.Ed448PrivateKey
    | mldsa.MLDSA44PrivateKey
    | mldsa.MLDSA65PrivateKey
    | mldsa.MLDSA87PrivateKey
)
_SIZELESS: dict[str, Callable[[], PrivateKey]] = {
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "ed448": ed448.Ed448PrivateKey.generate,
    "ml-dsa-44": mldsa.MLDSA44PrivateKey.generate,
    "ml-dsa-65": mldsa.MLDSA65PrivateKey.generate,
    "ml-dsa-87": mldsa.MLDSA87PrivateKey.generate,
}
_CURVES: dict[str, ec.EllipticCurve] = {
    "ecdsa-secp192r1": ec.SECP192R1(),
    "ecdsa-P-256": ec.SECP256R1(),
    "ecdsa-P-384": ec.SECP384R1(),
    "ecdsa-P-521": ec.SECP521R1(),
}
_RSA_PSS = "rsa-pss-"
PSS = padding.PSS(padding.MGF1(hashes.SHA256()), hashes.SHA256.digest_size)
"""The padding in TLS: a salt as long as the digest (RFC 8446, section 4.2.3)."""


@dataclass(frozen=True)
class Signer:
    """A key with its name in the material and the name in its certificate."""

    name: str
    key: PrivateKey
    subject: x509.Name

    @property
    def is_pss(self) -> bool:
        """Whether the key is restricted to RSASSA-PSS."""
        return self.name.startswith(_RSA_PSS)

    @property
    def digest(self) -> hashes.SHA256 | None:
        """The digest, or None if the signature scheme hashes itself."""
        return hashes.SHA256() if isinstance(self.key, (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey)) else None

    def private_pem(self) -> bytes:
        """PKCS #8. An RSA-PSS key has its own algorithm identifier, which the library can't write."""
        if not self.is_pss:
            return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return der.pem(
            "PRIVATE KEY",
            der.element(
                der.SEQUENCE,
                der.element(der.INTEGER, b"\0"),
                der.element(der.SEQUENCE, der.ID_RSASSA_PSS),
                der.element(
                    der.OCTET_STRING,
                    self.key.private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption()),
                ),
            ),
        )

    def sign_pss(self, content: bytes, algorithm: bytes) -> bytes:
        """DER of a certificate or an OCSP response: its content, its algorithm and an RSASSA-PSS signature."""
        assert isinstance(self.key, rsa.RSAPrivateKey)
        signature = self.key.sign(content, PSS, hashes.SHA256())
        return der.element(der.SEQUENCE, content, algorithm, der.element(der.BIT_STRING, b"\0", signature))


def new_signer(name: str, subject: str) -> Signer:
    """A new key. Names are `rsa-2048`, `rsa-pss-2048`, `ecdsa-P-256`, `ed25519`, `ml-dsa-65` and so on."""
    if name in _SIZELESS:
        return Signer(name, _SIZELESS[name](), named(subject))
    if name in _CURVES:
        return Signer(name, ec.generate_private_key(_CURVES[name]), named(subject))
    bits = int(name.removeprefix(_RSA_PSS).removeprefix("rsa-"))
    return Signer(name, rsa.generate_private_key(65537, bits), named(subject))


def load_signer(name: str, pem: bytes) -> Signer:
    """The signer with the name of its key as its subject."""
    key = load_pem_private_key(pem, None)
    assert isinstance(key, PrivateKey)
    return Signer(name, key, named(name))


def named(subject: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"kexbench {subject}")])
