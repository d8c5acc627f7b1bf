"""A content-addressed folder of key material: files `<sha256>.pem`, `.der`, `.seed` and `.psk`, and an index by
name."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kexbench.domain.cases import TRUST_ANCHORS_MAX, Case
from kexbench.domain.dimensions import NOTHING, Key, TrustStore
from kexbench.domain.material import CertificateFiles, MaterialFiles
from kexbench.material.hashed import lay_out
from kexbench.material.keys import load_signer
from kexbench.material.make import (
    USUAL,
    Contents,
    KeyPair,
    make_bfe_seed,
    make_certificate,
    make_chain,
    make_key_pair,
    make_other_roots,
    make_psk,
    make_verified_chain,
    shipped_dh_parameters,
)
from kexbench.material.ocsp import make_ocsp_response

_OTHER_ROOTS = 500
Entry = dict[str, str]
"""File names by content, such as `key`."""


class MaterialStore:
    """Makes missing material once. If several processes make the same entry at the same time, the first one stays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def provide(self, case: Case) -> MaterialFiles:
        """The files of a case. Missing ones are made, which takes seconds for a large RSA key."""
        second = self._files(case.ecdsa_case) if case.ecdsa_case else None
        return MaterialFiles(**self._files(case).words, ecdsa=second)

    def _files(self, case: Case) -> CertificateFiles:
        if case.punctures:
            return CertificateFiles(key=self._bfe_seed(case), certificate=NOTHING, dh_parameters=NOTHING)
        parameters = ocsp_response = trust_anchors = NOTHING
        if case.dh_parameters_name:
            parameters = self._put(shipped_dh_parameters(case.dh_parameters_name), "pem")
        if case.key_exchange.key is Key.PSK:
            return CertificateFiles(key=self._psk(), certificate=NOTHING, dh_parameters=parameters)
        if case.verification:
            pair = issued = self._verified_pair(case)
            trust_anchors = self._trust_anchors(case, pair)
            if case.trust_store is TrustStore.FOLDER:
                lay_out(self.folder / trust_anchors)
        elif case.ocsp_bytes:
            issued = self._pair(case, max(2, case.chain_length))
            pair = self._issued_alone(case, issued) if case.chain_length == 1 else issued
        else:
            pair = issued = self._pair(case, case.chain_length)
        if case.ocsp_bytes:
            ocsp_response = self._ocsp_response(case, issued)
        return CertificateFiles(
            key=pair["key"],
            certificate=pair["certificate"],
            dh_parameters=parameters,
            ocsp_response=ocsp_response,
            trust_anchors_file=trust_anchors,
        )

    def _bfe_seed(self, case: Case) -> str:
        """The seed of a key of Bloom filter encryption. The worker that needs it first makes the key."""

        def seed() -> Entry:
            return {"key": self._put(make_bfe_seed(case.punctures, case.false_positive_bits), "seed")}

        return self._entry(case.key_name, seed)["key"]

    def _psk(self) -> str:
        """The external pre-shared key of all cases that have one."""
        return self._entry("psk", lambda: {"key": self._put(make_psk(), "psk")})["key"]

    def _key(self, name: str) -> Entry:
        """A key with its plain certificate."""
        return self._entry(name, lambda: self._put_pair(make_key_pair(name)))

    def _pair(self, case: Case, chain_length: int) -> Entry:
        name, contents, pair = case.key_name, _contents(case), self._key(case.key_name)
        if chain_length == 1 and contents == USUAL:
            return pair

        def pair_or_chain() -> Entry:
            key = self._read(pair["key"])
            if chain_length == 1:
                return self._put_pair(make_certificate(name, contents, key))
            return self._put_pair(make_chain(name, chain_length, key, contents))

        return self._entry(_chain_name(case, chain_length), pair_or_chain)

    def _verified_pair(self, case: Case) -> Entry:
        """A chain whose root is not part of it, with the key of the unverified cases."""

        def chain() -> Entry:
            key = self._read(self._key(case.key_name)["key"])
            return self._put_pair(make_verified_chain(case.key_name, case.chain_length, key, _contents(case)))

        return self._entry(_verified_name(case), chain)

    def _trust_anchors(self, case: Case, pair: Entry) -> str:
        if case.trust_anchors == 1:
            return pair["root"]

        def anchors() -> Entry:
            roots = x509.load_pem_x509_certificates(self._other_roots(case.trust_anchors - 1))[: case.trust_anchors - 1]
            bundle = self._read(pair["root"]) + b"".join(root.public_bytes(Encoding.PEM) for root in roots)
            return {"trust_anchors": self._put(bundle, "pem")}

        return self._entry(f"{_verified_name(case)}-anchors-{case.trust_anchors}", anchors)["trust_anchors"]

    def _other_roots(self, amount: int) -> bytes:
        """At least so many. More than earlier releases had are in an entry of their own, so that stores keep theirs."""
        first, further = _OTHER_ROOTS, TRUST_ANCHORS_MAX - _OTHER_ROOTS
        entry = self._entry("other-roots", lambda: {"roots": self._put(make_other_roots(first), "pem")})
        roots = self._read(entry["roots"])
        if amount <= first:
            return roots
        more = self._entry("further-roots", lambda: {"roots": self._put(make_other_roots(further, first), "pem")})
        return roots + self._read(more["roots"])

    def _issued_alone(self, case: Case, issued: Entry) -> Entry:
        """Only the first certificate of a chain: libraries staple nothing to a self-signed certificate."""

        def alone() -> Entry:
            first = x509.load_pem_x509_certificates(self._read(issued["certificate"]))[0]
            return {"key": issued["key"], "certificate": self._put(first.public_bytes(Encoding.PEM), "pem")}

        return self._entry(f"{case.key_name}-issued{_suffix(case)}", alone)

    def _ocsp_response(self, case: Case, issued: Entry) -> str:
        def response() -> Entry:
            chain = x509.load_pem_x509_certificates(self._read(issued["certificate"]))
            issuer = load_signer(case.key_name, self._read(issued["issuer_key"]))
            return {"ocsp_response": self._put(make_ocsp_response(chain, issuer, case.ocsp_bytes), "der")}

        chain_name = _verified_name(case) if case.verification else _chain_name(case, max(2, case.chain_length))
        name = f"{chain_name}-ocsp-{case.ocsp_bytes}"
        return self._entry(name, response)["ocsp_response"]

    def _put_pair(self, pair: KeyPair) -> Entry:
        entry = {"key": self._put(pair.key, "pem"), "certificate": self._put(pair.certificate, "pem")}
        further = {"issuer_key": pair.issuer_key, "root": pair.root}
        return entry | {name: self._put(content, "pem") for name, content in further.items() if content}

    def _entry(self, name: str, make: Callable[[], Entry]) -> Entry:
        """The index entry of a name. It is written last, so its files exist."""
        path = self.folder / "index" / f"{name}.json"
        if not path.exists():
            _write_once(path, json.dumps(make()).encode())
        entry: Entry = json.loads(path.read_bytes())
        return entry

    def _read(self, file: str) -> bytes:
        return (self.folder / file).read_bytes()

    def _put(self, content: bytes, suffix: str) -> str:
        name = f"{hashlib.sha256(content).hexdigest()}.{suffix}"
        _write_once(self.folder / name, content)
        return name


def _contents(case: Case) -> Contents:
    return Contents(
        names=case.certificate_names,
        policies=case.certificate_policies,
        crl_distribution_points=case.crl_distribution_points,
        intermediate_bytes=case.intermediate_bytes or None,
    )


def _suffix(case: Case) -> str:
    """What tells a certificate from the usual one of its key."""
    parts = {field.name: getattr(_contents(case), field.name) for field in fields(Contents)}
    return "".join(f"-{name}-{value}" for name, value in parts.items() if value != getattr(USUAL, name))


def _chain_name(case: Case, length: int) -> str:
    return case.key_name + ("" if length == 1 else f"-chain-{length}") + _suffix(case)


def _verified_name(case: Case) -> str:
    return f"{case.key_name}-verified-{case.chain_length}{_suffix(case)}"


def _write_once(path: Path, content: bytes) -> None:
    """Write a complete file and never replace one: the hard link fails if the path exists."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        Path(temporary).unlink()
