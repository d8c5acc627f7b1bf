"""OCSP responses of a wished size: real, signed by the certificate's issuer, and padded."""

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp

from kexbench.material import der
from kexbench.material.keys import Signer
from kexbench.material.make import NOT_AFTER, NOT_BEFORE

PADDING = x509.ObjectIdentifier("2.25.217430988117226404229153205389361245813")
"""An extension that nobody knows, from a random UUID (X.667)."""
_ATTEMPTS = 1000
"""Lengths of ECDSA signatures vary by a few bytes, each with a chance of far more than one in a hundred."""


def make_ocsp_response(chain: list[x509.Certificate], issuer: Signer, size: int) -> bytes:
    """DER of the response that the chain's first certificate is good, of exactly `size` bytes. Raises ValueError
    where that is too small."""
    padding = size // 2
    for _ in range(_ATTEMPTS):
        made = _response(chain, issuer, padding)
        if len(made) == size:
            return made
        padding += size - len(made)
        if padding < 0:
            raise ValueError(f"an OCSP response with a {issuer.name} key takes more than {size} bytes")
    raise ValueError(f"no OCSP response with a {issuer.name} key has exactly {size} bytes")


def _response(chain: list[x509.Certificate], issuer: Signer, padding: int) -> bytes:
    signed_by = chain[min(1, len(chain) - 1)]
    made = (
        ocsp.OCSPResponseBuilder()
        .add_response(
            cert=chain[0],
            issuer=signed_by,
            algorithm=hashes.SHA256(),
            cert_status=ocsp.OCSPCertStatus.GOOD,
            this_update=NOT_BEFORE,
            next_update=NOT_AFTER,
            revocation_time=None,
            revocation_reason=None,
        )
        .responder_id(ocsp.OCSPResponderEncoding.HASH, signed_by)
        .add_extension(x509.UnrecognizedExtension(PADDING, bytes(padding)), critical=False)
        .sign(issuer.key, issuer.digest)
    )
    whole = made.public_bytes(Encoding.DER)
    return _signed_with_pss(whole, signed_by, issuer) if issuer.is_pss else whole


def _signed_with_pss(whole: bytes, signed_by: x509.Certificate, issuer: Signer) -> bytes:
    """The response signed anew, since the builder knows but one way to sign with RSA (RFC 6960, section 4.2.1)."""
    status, tagged = der.children(whole)
    kind, octets = der.children(der.content_of(tagged))
    content = der.children(der.content_of(octets))[0]
    algorithm = der.children(signed_by.public_bytes(Encoding.DER))[1]
    basic = der.element(der.OCTET_STRING, issuer.sign_pss(content, algorithm))
    return der.element(der.SEQUENCE, status, der.element(0xA0, der.element(der.SEQUENCE, kind, basic)))
