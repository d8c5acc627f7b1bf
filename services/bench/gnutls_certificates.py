"""The certificates and keys of GnuTLS's own benchmark. Its program contains them as PEM."""

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

from bench.machine import BenchError, Machine
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Key
from kexbench.domain.material import MaterialFiles
from kexbench.runner.participant import Setting

_PEM = re.compile(rb"-----BEGIN ([A-Z ]+)-----[A-Za-z0-9+/=\s]+?-----END \1-----")
_PUBLIC_KEYS: dict[Key, type] = {
    Key.RSA: RSAPublicKey,
    Key.ECDSA: EllipticCurvePublicKey,
    Key.ED25519: Ed25519PublicKey,
}
_NAMED_KEYS = {b"RSA PRIVATE KEY": Key.RSA, b"EC PRIVATE KEY": Key.ECDSA}


def setting_with(machine: Machine, case: Case, subject: str, program: Path, folder: Path) -> Setting:
    """The case with the certificate that `program` uses for it, written to `folder`. Raises BenchError if the program
    lacks the certificate or its key."""
    key = case.key_exchange.key
    certificate, private_key = _pair(program.read_bytes(), key)
    files = MaterialFiles(
        key=f"{key}-key.pem", certificate=f"{key}-certificate.pem", dh_parameters="-", ocsp_response="-"
    )
    (folder / files.certificate).write_bytes(certificate)
    (folder / files.key).write_bytes(private_key)
    setting = machine.setting(case, {subject: machine.kit(subject)}, batches=1)
    changed = {"material_folder": folder, "material": {case.case_id: files}}
    return Setting(setting.job_input.model_copy(update=changed), case, setting.cpus, setting.log)


def _pair(program: bytes, key: Key) -> tuple[bytes, bytes]:
    """Certificate and private key as PEM. The library that loads them checks that they match."""
    blocks = [(match.group(1), match.group() + b"\n") for match in _PEM.finditer(program)]
    certificates = _certificates([pem for label, pem in blocks if label == b"CERTIFICATE"])
    keys = {kind: pem for label, pem in blocks if (kind := _kind_of_key(label, pem))}
    if key not in certificates or key not in keys:
        raise BenchError(f"gnutls-cli: the program contains no certificate with a key of {key}")
    return certificates[key], keys[key]


def _certificates(blocks: list[bytes]) -> Mapping[Key, bytes]:
    """Certificates by kind of key. Those signed with RSA-PSS belong to another section and have the RSA key."""
    certificates: dict[Key, bytes] = {}
    for pem in blocks:
        certificate = x509.load_pem_x509_certificate(pem)
        if certificate.signature_algorithm_oid == SignatureAlgorithmOID.RSASSA_PSS:
            continue
        try:
            public_key = certificate.public_key()
        except UnsupportedAlgorithm:  # GOST
            continue
        certificates |= {kind: pem for kind, of_kind in _PUBLIC_KEYS.items() if isinstance(public_key, of_kind)}
    return certificates


def _kind_of_key(label: bytes, pem: bytes) -> Key | None:
    """An elliptic key is recognised by its label alone, because only GnuTLS accepts the length in its encoding."""
    if label == b"PRIVATE KEY":
        try:
            load_pem_private_key(pem, None)
        except (UnsupportedAlgorithm, ValueError):  # GOST
            return None
        return Key.ED25519
    return _NAMED_KEYS.get(label)
