"""What a case needs as files inside the folder of key material."""

from pydantic import Field

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Key
from kexbench.domain.frozen import Frozen


class MaterialFiles(Frozen):
    """Content-addressed file names; `-` for none."""

    key: str = Field(description="PEM of the certificate's private key")
    certificate: str = Field(description="PEM of the certificate, and of its issuers' behind it")
    dh_parameters: str
    ocsp_response: str = Field("-", description="DER")


_OCSP_REST = 528
"""All of a response but the signature, with padding that makes each length around it fill two bytes: below
that some sizes don't exist."""
_OCSP_PSS = 56
"""The parameters of RSASSA-PSS, which stand beside the signature."""
_ECDSA_BYTES = {"secp192r1": 56, "P-256": 72, "P-384": 104, "P-521": 139}
_SIGNATURE_BYTES = {Key.ED25519: 64, Key.ED448: 114, Key.ML_DSA_44: 2420, Key.ML_DSA_65: 3309, Key.ML_DSA_87: 4627}


def least_ocsp_bytes(case: Case) -> int:
    """From this size on an OCSP response of every size can be made for the case's certificate."""
    key = case.key_exchange.key
    if key in (Key.RSA, Key.RSA_PSS):
        return _OCSP_REST + case.rsa_bits // 8 + (_OCSP_PSS if key is Key.RSA_PSS else 0)
    return _OCSP_REST + (_ECDSA_BYTES[case.curve] if key is Key.ECDSA else _SIGNATURE_BYTES[key])
