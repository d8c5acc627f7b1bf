"""The certificates and keys that GnuTLS's own benchmark shows: they stand as PEM in its program."""

import re
from collections.abc import Mapping
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import SignatureAlgorithmOID

from bench.lab import BenchError, Lab
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Key
from kexbench.domain.material import MaterialFiles
from kexbench.runner.party import Setting

_PEM = re.compile(rb"-----BEGIN ([A-Z ]+)-----[A-Za-z0-9+/=\s]+?-----END \1-----")
_PUBLIC_KEYS: dict[Key, type] = {
    Key.RSA: RSAPublicKey,
    Key.ECDSA: EllipticCurvePublicKey,
    Key.ED25519: Ed25519PublicKey,
}
_NAMED_KEYS = {b"RSA PRIVATE KEY": Key.RSA, b"EC PRIVATE KEY": Key.ECDSA}


def setting_with(lab: Lab, case: Case, subject: str, program: Path, folder: Path) -> Setting:
    """The case with the certificate that `program` shows for it, written to `folder`. Raises BenchError where the
    program holds none, or not the key to it."""
    key = case.key_exchange.key
    certificate, private_key = _pair(program.read_bytes(), key)
    files = MaterialFiles(
        key=f"{key}-key.pem", certificate=f"{key}-certificate.pem", dh_parameters="-", ocsp_response="-"
    )
    (folder / files.certificate).write_bytes(certificate)
    (folder / files.key).write_bytes(private_key)
    setting = lab.setting(case, {subject: lab.kit(subject)}, batches=1)
    changed = {"material_folder": folder, "material": {case.case_id: files}}
    return Setting(setting.ticket.model_copy(update=changed), case, setting.cpus, setting.log)


def _pair(program: bytes, key: Key) -> tuple[bytes, bytes]:
    """Certificate and private key as PEM. That they belong together is checked by the library that loads them."""
    blocks = [(found.group(1), found.group() + b"\n") for found in _PEM.finditer(program)]
    certificates = _certificates([pem for label, pem in blocks if label == b"CERTIFICATE"])
    keys = {kind: pem for label, pem in blocks if (kind := _kind_of_key(label, pem))}
    if key not in certificates or key not in keys:
        raise BenchError(f"gnutls-cli: no certificate with a key of {key} stands in the program")
    return certificates[key], keys[key]


def _certificates(blocks: list[bytes]) -> Mapping[Key, bytes]:
    """By kind of key. Those signed with RSA-PSS are for another section, with the same key as RSA's."""
    found: dict[Key, bytes] = {}
    for pem in blocks:
        certificate = x509.load_pem_x509_certificate(pem)
        if certificate.signature_algorithm_oid == SignatureAlgorithmOID.RSASSA_PSS:
            continue
        try:
            public_key = certificate.public_key()
        except UnsupportedAlgorithm:  # GOST
            continue
        found |= {kind: pem for kind, of_kind in _PUBLIC_KEYS.items() if isinstance(public_key, of_kind)}
    return found


def _kind_of_key(label: bytes, pem: bytes) -> Key | None:
    """The elliptic key is known by its label alone: it is written with a length that only GnuTLS reads."""
    if label == b"PRIVATE KEY":
        try:
            load_pem_private_key(pem, None)
        except (UnsupportedAlgorithm, ValueError):  # GOST
            return None
        return Key.ED25519
    return _NAMED_KEYS.get(label)
