"""Cargo as a compiler, without what else this machine tells it.

A `config.toml` may change what is compiled, and with which flags: [patch], [profile], [build], [target], [env] and
more. Cargo has no switch against that. It reads the files of all folders above a project, and the one in CARGO_HOME.
So here projects are in the folder for temporary files, and cargo has a home of its own, whose file has only the tables
by which crates are reached. Everything else in it is the user's: downloads, locks and credentials. Variables such as
RUSTFLAGS are not passed on anyway (process.py).
"""

import json
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kexbench.files import write_whole
from kexbench.kits.errors import Stage, StepFailed
from kexbench.kits.process import Attempt

_REACHING = ("source", "registries", "registry", "http", "net", "credential-alias")
_PATHS = ("directory", "local-registry", "cainfo")
"""Keys in those tables whose values are paths. They may be relative to the parent of the file's folder."""
_USERS = ("registry", "credentials.toml", ".package-cache", ".package-cache-mutate", ".global-cache")
_NAMES = ("config.toml", "config")
_TOOLCHAIN = ("RUSTUP_HOME", "RUSTUP_TOOLCHAIN")


def users_cargo_home() -> Path:
    """The folder of the user's cargo."""
    return Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")


class Cargo:
    """`users` is the user's CARGO_HOME, `home` the one that projects are built with. It has one place, since its path
    is among the flags of what is kept."""

    def __init__(self, users: Path, home: Path) -> None:
        self.users = users
        self.home = home

    @contextmanager
    def project(self) -> Iterator[Path]:
        """An empty folder for a project. Raises StepFailed if cargo would find settings above it."""
        with tempfile.TemporaryDirectory(prefix="kexbench-cargo-") as folder:
            for above in Path(folder).resolve().parents:
                if other := sorted(set(_tables(above / ".cargo")) - set(_REACHING)):
                    raise StepFailed(
                        "resolve",
                        f"the configuration of cargo in {above / '.cargo'} would change the build: {', '.join(other)}",
                        "set TMPDIR to a folder that is not below it",
                    )
            yield Path(folder)

    def run(
        self,
        attempt: Attempt,
        stage: Stage,
        folder: Path,
        *command: str,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """What cargo, or another program of Rust's, prints in a project. Raises StepFailed."""
        self._furnish()
        kept = {name: os.environ[name] for name in _TOOLCHAIN if name in os.environ}
        own = {**kept, "CARGO_HOME": str(self.home), **(environment or {})}
        return attempt.run(command, stage=stage, timeout_s=3600, folder=folder, environment=own)

    def _furnish(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        (self.users / "registry").mkdir(parents=True, exist_ok=True)
        for name in _USERS:
            place, target = self.home / name, (self.users / name).absolute()
            if not place.is_symlink() or place.readlink() != target:
                place.unlink(missing_ok=True)
                place.symlink_to(target)
        kept = {name: table for name, table in _tables(self.users).items() if name in _REACHING}
        lines = (f"{name} = {_toml(_absolute(table, self.users.absolute().parent))}\n" for name, table in kept.items())
        write_whole(self.home / "config.toml", "".join(lines).encode())


def _tables(folder: Path) -> dict[str, Any]:
    """The tables of the configuration in a folder. Cargo prefers the older name where there are both."""
    for name in reversed(_NAMES):
        if (folder / name).is_file():
            try:
                return tomllib.loads((folder / name).read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise StepFailed(
                    "resolve", f"{folder / name} can't be read: {error}", "mend it, or remove it"
                ) from error
    return {}


def _absolute(value: Any, above: Path) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        key: str(above / inner) if key in _PATHS and isinstance(inner, str) else _absolute(inner, above)
        for key, inner in value.items()
    }


def _toml(value: Any) -> str:
    """A value in TOML, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
