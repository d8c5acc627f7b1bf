"""Real OCSP responses of a given size, signed by the certificate's issuer and padded."""

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp

from kexbench.material import der
from kexbench.material.keys import Signer
from kexbench.material.make import NOT_AFTER, NOT_BEFORE

PADDING = x509.ObjectIdentifier("2.25.217430988117226404229153205389361245813")
"""A private extension, from a random UUID (X.667)."""
_ATTEMPTS = 1000
"""Lengths of ECDSA signatures vary by a few bytes. The probability of each is far above 1%."""


def make_ocsp_response(chain: list[x509.Certificate], issuer: Signer, size: int) -> bytes:
    """DER of a response with the status good for the chain's first certificate, of exactly `size` bytes. Raises
    ValueError if that is too small."""
    padding = size // 2
    for _ in range(_ATTEMPTS):
        response = _response(chain, issuer, padding)
        if len(response) == size:
            return response
        padding += size - len(response)
        if padding < 0:
            raise ValueError(f"an OCSP response with a {issuer.name} key needs more than {size} bytes")
    raise ValueError(f"could not make an OCSP response of exactly {size} bytes with a {issuer.name} key")


def _response(chain: list[x509.Certificate], issuer: Signer, padding: int) -> bytes:
    signed_by = chain[min(1, len(chain) - 1)]
    response = (
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
    encoded = response.public_bytes(Encoding.DER)
    return _signed_with_pss(encoded, signed_by, issuer) if issuer.is_pss else encoded


def _signed_with_pss(encoded: bytes, signed_by: x509.Certificate, issuer: Signer) -> bytes:
    """The response with a new signature, since the builder doesn't support RSASSA-PSS (RFC 6960, section 4.2.1)."""
    status, tagged = der.children(encoded)
    kind, octets = der.children(der.content_of(tagged))
    content = der.children(der.content_of(octets))[0]
    algorithm = der.children(signed_by.public_bytes(Encoding.DER))[1]
    basic = der.element(der.OCTET_STRING, issuer.sign_pss(content, algorithm))
    return der.element(der.SEQUENCE, status, der.element(0xA0, der.element(der.SEQUENCE, kind, basic)))
