"""A folder of key material, content-addressed: `<sha256>.pem` and `.der` files, and an index from names to them."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import NOTHING
from kexbench.domain.material import MaterialFiles
from kexbench.material.keys import load_signer
from kexbench.material.make import KeyPair, make_chain, make_key_pair, shipped_dh_parameters
from kexbench.material.ocsp import make_ocsp_response

Entry = dict[str, str]
"""File names by what they hold."""


class MaterialShelf:
    """Makes what is missing, once. Several processes may ask at the same time: the first one's key stays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def provide(self, case: Case) -> MaterialFiles:
        """The files of a case, made if need be (seconds for a large RSA key)."""
        parameters = ocsp_response = NOTHING
        if case.dh_parameters_name:
            parameters = self._put(shipped_dh_parameters(case.dh_parameters_name), "pem")
        pair = self._pair(case.key_name, case.chain_length)
        if case.ocsp_bytes:
            issued = self._pair(case.key_name, max(2, case.chain_length))
            ocsp_response = self._ocsp_response(case, issued)
            pair = self._issued_alone(case.key_name, issued) if case.chain_length == 1 else issued
        return MaterialFiles(
            key=pair["key"],
            certificate=pair["certificate"],
            dh_parameters=parameters,
            ocsp_response=ocsp_response,
        )

    def _pair(self, name: str, chain_length: int) -> Entry:
        pair = self._entry(name, lambda: self._put_pair(make_key_pair(name)))
        if chain_length == 1:
            return pair

        def chain() -> Entry:
            return self._put_pair(make_chain(name, chain_length, self._read(pair["key"])))

        return self._entry(_chain_name(name, chain_length), chain)

    def _issued_alone(self, name: str, issued: Entry) -> Entry:
        """The first certificate of a chain without the others: libraries staple nothing to one that signs itself."""

        def alone() -> Entry:
            first = x509.load_pem_x509_certificates(self._read(issued["certificate"]))[0]
            return {"key": issued["key"], "certificate": self._put(first.public_bytes(Encoding.PEM), "pem")}

        return self._entry(f"{name}-issued", alone)

    def _ocsp_response(self, case: Case, issued: Entry) -> str:
        def response() -> Entry:
            chain = x509.load_pem_x509_certificates(self._read(issued["certificate"]))
            issuer = load_signer(case.key_name, self._read(issued["issuer_key"]))
            return {"ocsp_response": self._put(make_ocsp_response(chain, issuer, case.ocsp_bytes), "der")}

        name = f"{_chain_name(case.key_name, max(2, case.chain_length))}-ocsp-{case.ocsp_bytes}"
        return self._entry(name, response)["ocsp_response"]

    def _put_pair(self, made: KeyPair) -> Entry:
        entry = {"key": self._put(made.key, "pem"), "certificate": self._put(made.certificate, "pem")}
        return {**entry, "issuer_key": self._put(made.issuer_key, "pem")} if made.issuer_key else entry

    def _entry(self, name: str, make: Callable[[], Entry]) -> Entry:
        """What the index holds under a name. The entry is written last, so what it names is there."""
        path = self.folder / "index" / f"{name}.json"
        if not path.exists():
            _write_once(path, json.dumps(make()).encode())
        found: Entry = json.loads(path.read_bytes())
        return found

    def _read(self, file: str) -> bytes:
        return (self.folder / file).read_bytes()

    def _put(self, content: bytes, suffix: str) -> str:
        name = f"{hashlib.sha256(content).hexdigest()}.{suffix}"
        _write_once(self.folder / name, content)
        return name


def _chain_name(name: str, length: int) -> str:
    return name if length == 1 else f"{name}-chain-{length}"


def _write_once(path: Path, content: bytes) -> None:
    """Whole or absent, and never replaced: a link to a finished file fails where another was first."""
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
