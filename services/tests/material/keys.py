"""The keys of the material: cases with each kind of certificate, and what verifies with a key."""

from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, mldsa, padding, rsa

from kexbench.domain.cases import Case
from kexbench.material import der

PSS = padding.PSS(padding.MGF1(hashes.SHA256()), 32)


def a_case(key: str, **fields: Any) -> Case:
    """A TLS 1.3 case with a key of the name, such as `RSA-PSS-2048` or `Ed25519`."""
    kind, _, parameter = key.rpartition("-")
    parameters: dict[str, Any] = {}
    if kind.startswith("RSA"):
        parameters = {"rsa_bits": int(parameter)}
    elif key.startswith("ECDSA"):
        kind, parameters = "ECDSA", {"curve": key.removeprefix("ECDSA-")}
    else:
        kind = key
    exchange = {"protocol": "TLSv1.3", "key_exchange": f"ECDHE-{kind}", "group": "X25519"}
    return Case.model_validate({**exchange, **parameters, **fields})


KEYS = (
    *("RSA-1024", "RSA-2048", "RSA-PSS-2048", "ECDSA-P-256", "ECDSA-P-384", "ECDSA-P-521"),
    *("Ed25519", "Ed448", "ML-DSA-44", "ML-DSA-65", "ML-DSA-87"),
)


def verify(public: Any, signature: bytes, content: bytes, *, pss: bool) -> None:
    """Raises InvalidSignature where the signature is not the key's own."""
    if isinstance(public, rsa.RSAPublicKey):
        public.verify(signature, content, PSS if pss else padding.PKCS1v15(), hashes.SHA256())
    elif isinstance(public, ec.EllipticCurvePublicKey):
        public.verify(signature, content, ec.ECDSA(hashes.SHA256()))
    else:
        sizeless = (
            *(ed25519.Ed25519PublicKey, ed448.Ed448PublicKey),
            *(mldsa.MLDSA44PublicKey, mldsa.MLDSA65PublicKey, mldsa.MLDSA87PublicKey),
        )
        assert isinstance(public, sizeless)
        public.verify(signature, content)


def says_pss(certificate: x509.Certificate) -> bool:
    """Whether the certificate's key is marked as one for RSASSA-PSS."""
    return der.element(der.SEQUENCE, der.ID_RSASSA_PSS) in certificate.tbs_certificate_bytes
