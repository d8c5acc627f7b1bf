"""Folders of trust anchors: names as OpenSSL makes them, whole or absent."""

import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography import x509

from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.dimensions import TrustStore
from kexbench.material.hashed import lay_out, subject_hash
from kexbench.material.make import make_other_roots
from kexbench.material.store import MaterialStore

VERIFIED = Case(
    protocol=Protocol.TLS_1_3,
    key_exchange=KeyExchange.ECDHE_ECDSA,
    curve="P-256",
    group="X25519",
    verification=True,
    trust_anchors=3,
    trust_store=TrustStore.FOLDER,
)


def test_a_subject_has_the_hash_that_openssl_prints(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the openssl command is not installed")
    file = tmp_path / "root.pem"
    file.write_bytes(make_other_roots(1))
    printed = subprocess.run([openssl, "x509", "-in", file, "-noout", "-subject_hash"], capture_output=True, check=True)
    assert subject_hash(x509.load_pem_x509_certificate(file.read_bytes())) == printed.stdout.decode().strip()


def test_a_store_lays_out_the_folder_of_a_case_beside_its_file(tmp_path: Path) -> None:
    store = MaterialStore(tmp_path)
    bundle = tmp_path / store.provide(VERIFIED).trust_anchors_file
    anchors = x509.load_pem_x509_certificates(bundle.read_bytes())
    files = sorted((tmp_path / f"{bundle.name}.d").iterdir())
    assert [file.name for file in files] == sorted(f"{subject_hash(anchor)}.0" for anchor in anchors)
    assert {file.read_bytes().strip() for file in files} <= {
        part.strip() + b"\n-----END CERTIFICATE-----"
        for part in bundle.read_bytes().split(b"\n-----END CERTIFICATE-----")
    }


def test_certificates_of_one_subject_are_numbered_and_a_folder_stays(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(make_other_roots(1) + make_other_roots(1))
    lay_out(bundle)
    first = sorted(file.name for file in (tmp_path / "bundle.pem.d").iterdir())
    assert [name.partition(".")[2] for name in first] == ["0", "1"]
    bundle.write_bytes(make_other_roots(1))
    lay_out(bundle)
    assert sorted(file.name for file in (tmp_path / "bundle.pem.d").iterdir()) == first
