"""A folder of key material, content-addressed: `<sha256>.pem` files and an index from names to them."""

import hashlib
import json
import os
import tempfile
from pathlib import Path

from kexbench.domain.cases import NOTHING, Case
from kexbench.domain.material import MaterialFiles
from kexbench.material.make import make_key_pair, shipped_dh_parameters


class MaterialShelf:
    """Makes what is missing, once. Several processes may ask at the same time: the first one's key stays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def provide(self, case: Case) -> MaterialFiles:
        """The files of a case, made if need be (seconds for a large RSA key)."""
        parameters = NOTHING
        if case.dh_parameters_name:
            parameters = self._put(shipped_dh_parameters(case.dh_parameters_name))
        pair = self._pair(case.key_name)
        return MaterialFiles(key=pair["key"], certificate=pair["certificate"], dh_parameters=parameters)

    def _pair(self, name: str) -> dict[str, str]:
        entry = self.folder / "index" / f"{name}.json"
        if not entry.exists():
            made = make_key_pair(name)
            content = {"key": self._put(made.key), "certificate": self._put(made.certificate)}
            _write_once(entry, json.dumps(content).encode())
        found: dict[str, str] = json.loads(entry.read_bytes())
        return found

    def _put(self, content: bytes) -> str:
        name = f"{hashlib.sha256(content).hexdigest()}.pem"
        _write_once(self.folder / name, content)
        return name


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
