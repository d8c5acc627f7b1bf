"""Real OCSP responses of a given size, signed by the certificate's issuer and padded."""

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp

from kexbench.material import der
from kexbench.material.keys import Signer
from kexbench.material.make import NOT_AFTER, NOT_BEFORE
from kexbench.material.padding import padded, padding_of


def make_ocsp_response(chain: list[x509.Certificate], issuer: Signer, size: int) -> bytes:
    """DER of a response with the status good for the chain's first certificate, of exactly `size` bytes. Raises
    MaterialError if that is too small."""
    what = f"an OCSP response with a {issuer.name} key"
    return padded(lambda padding: _response(chain, issuer, padding), size, what)


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
        .add_extension(padding_of(padding), critical=False)
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
