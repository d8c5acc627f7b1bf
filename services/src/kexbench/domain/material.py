"""The files of a case in the folder of key material."""

from pydantic import Field

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import NOTHING, Key
from kexbench.domain.frozen import Frozen


class CertificateFiles(Frozen):
    """Content-addressed file names of a case with one certificate; `-` for none."""

    key: str = Field(
        description="PEM of the certificate's private key, or the seed of a key of Bloom filter encryption"
    )
    certificate: str = Field(description="PEM of the certificate, followed by its issuers; - with such a seed")
    dh_parameters: str
    ocsp_response: str = Field("-", description="DER")
    trust_anchors_file: str = Field("-", description="PEM of root certificates, the one of the case's chain first")

    @property
    def words(self) -> dict[str, str]:
        """The files as the worker's `setup` request names them."""
        return {name: getattr(self, name) for name in CertificateFiles.model_fields}


class MaterialFiles(CertificateFiles):
    """Content-addressed file names; `-` for none."""

    ecdsa: CertificateFiles | None = Field(None, description="the files of clients that take a second certificate")

    @property
    def names(self) -> frozenset[str]:
        """The names of all files."""
        second = self.ecdsa.words.values() if self.ecdsa else ()
        return frozenset((*self.words.values(), *second)) - {NOTHING}


_OCSP_REST = 528
"""Bytes of a response except the signature, with padding so that each enclosing length takes two bytes: some smaller
sizes don't exist."""
_OCSP_PSS = 56
"""Bytes of the RSASSA-PSS parameters next to the signature."""
_ECDSA_BYTES = {"secp192r1": 56, "P-256": 72, "P-384": 104, "P-521": 139}
_SIGNATURE_BYTES = {Key.ED25519: 64, Key.ED448: 114, Key.ML_DSA_44: 2420, Key.ML_DSA_65: 3309, Key.ML_DSA_87: 4627}


def least_ocsp_bytes(case: Case) -> int:
    """The size from which OCSP responses of every size can be made for the case's certificate."""
    key = case.key_exchange.key
    if key in (Key.RSA, Key.RSA_PSS):
        return _OCSP_REST + case.rsa_bits // 8 + (_OCSP_PSS if key is Key.RSA_PSS else 0)
    return _OCSP_REST + (_ECDSA_BYTES[case.curve] if key is Key.ECDSA else _SIGNATURE_BYTES[key])
