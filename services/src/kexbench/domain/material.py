"""The files of a case in the folder of key material."""

from pydantic import Field

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import NOTHING, Key
from kexbench.domain.frozen import Frozen


class CertificateFiles(Frozen):
    """Content-addressed file names of a case with one certificate; `-` for none."""

    key: str = Field(
        description="PEM of the certificate's private key, the seed of a key of Bloom filter encryption, or an "
        "external pre-shared key"
    )
    certificate: str = Field(description="PEM of the certificate, followed by its issuers; - with the other two")
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


_OCSP_REST, _INTERMEDIATE_REST = 528, 560
"""Bytes of a response except the signature, and of a certificate except key and signature, with at least 256
bytes of padding. Then its length and each enclosing one take two bytes. Some smaller sizes don't exist."""
_VERIFIABLE_BYTES = 80
"""Bytes of the extensions of a certificate that clients verify."""
_PSS_BYTES = 56
"""Bytes of the RSASSA-PSS parameters next to the signature. A certificate has them twice."""
_ECDSA_BYTES = {"secp192r1": (49, 56), "P-256": (65, 72), "P-384": (97, 104), "P-521": (133, 139)}
_BYTES = {
    Key.ED25519: (32, 64),
    Key.ED448: (57, 114),
    Key.ML_DSA_44: (1312, 2420),
    Key.ML_DSA_65: (1952, 3309),
    Key.ML_DSA_87: (2592, 4627),
}
"""Of public keys and their signatures."""


def least_ocsp_bytes(case: Case) -> int:
    """The size from which OCSP responses of every size can be made for the case's certificate."""
    return _OCSP_REST + _key_and_signature(case)[1]


def least_intermediate_bytes(case: Case) -> int:
    """The size from which intermediate certificates of every size can be made for the case's kind of key."""
    parameters = _PSS_BYTES if case.key_exchange.key is Key.RSA_PSS else 0
    extensions = _VERIFIABLE_BYTES if case.verification else 0
    return _INTERMEDIATE_REST + extensions + parameters + sum(_key_and_signature(case))


def _key_and_signature(case: Case) -> tuple[int, int]:
    """Bytes of the public key and of a signature by it, at most."""
    key = case.key_exchange.key
    if key in (Key.RSA, Key.RSA_PSS):
        size = case.rsa_bits // 8
        return size, size + (_PSS_BYTES if key is Key.RSA_PSS else 0)
    return _ECDSA_BYTES[case.curve] if key is Key.ECDSA else _BYTES[key]
