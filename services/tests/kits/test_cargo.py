"""Cargo's own home for builds: which settings of a machine reach it, and which do not. The real cargo reads them where
there is one."""

import json
import os
import shutil
import tomllib
from pathlib import Path

import pytest

from kexbench.kits.cargo import Cargo
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt

LEAKING = """
paths = ["/other/rustls"]
[build]
rustflags = ["--cfg", "leaked"]
rustc-wrapper = "/absent/wrapper"
[env]
CFLAGS = "-DLEAKED"
[profile.release]
opt-level = 0
[patch.crates-io]
rustls = { path = "/other/rustls" }
[target.x86_64-unknown-linux-gnu]
linker = "/absent/linker"
"""
REACHING = """
[source.crates-io]
replace-with = "mirror"
[source.mirror]
registry = "sparse+https://mirror.invalid/index/"
[source.vendored]
directory = "vendor"
[http]
cainfo = "/etc/ca.pem"
multiplexing = false
[net]
retry = 3
"""


@pytest.fixture
def cargo(tmp_path: Path) -> Cargo:
    (tmp_path / "users").mkdir()
    (tmp_path / "users" / "config.toml").write_text(LEAKING + REACHING)
    return Cargo(tmp_path / "users", tmp_path / "own")


def an_attempt(folder: Path) -> Attempt:
    return Attempt(folder, folder / "log", print)


def test_only_the_tables_by_which_crates_are_reached_are_kept(cargo: Cargo, tmp_path: Path) -> None:
    with cargo.project() as folder:
        cargo.run(an_attempt(tmp_path), "fetch", folder, "true")
    kept = tomllib.loads((cargo.home / "config.toml").read_text())
    assert kept == tomllib.loads(REACHING.replace('"vendor"', f'"{tmp_path}/vendor"'))


def test_downloads_locks_and_credentials_are_the_users(cargo: Cargo, tmp_path: Path) -> None:
    (cargo.users / "credentials.toml").write_text("[registry]\n")
    for _ in range(2):
        with cargo.project() as folder:
            cargo.run(an_attempt(tmp_path), "fetch", folder, "touch", f"{cargo.home}/registry/crate")
    assert (cargo.users / "registry" / "crate").is_file()
    for name in ("credentials.toml", ".package-cache", ".package-cache-mutate"):
        assert (cargo.home / name).resolve() == cargo.users / name


def test_another_users_home_is_followed(cargo: Cargo, tmp_path: Path) -> None:
    other = Cargo(tmp_path / "other", cargo.home)
    for each in (cargo, other):
        with each.project() as folder:
            each.run(an_attempt(tmp_path), "fetch", folder, "true")
        assert (cargo.home / "registry").resolve() == each.users / "registry"
    assert (cargo.home / "config.toml").read_text() == ""


def test_settings_above_a_project_are_refused_unless_they_name_registries(
    cargo: Cargo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = tmp_path / "above"
    (above / ".cargo").mkdir(parents=True)
    (above / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(above / "tmp"))
    (above / ".cargo" / "config.toml").write_text(REACHING)
    with cargo.project() as folder:
        assert folder.parent == above / "tmp"
    (above / ".cargo" / "config").write_text(LEAKING + REACHING)
    changed = "would change the build: build, env, patch, paths, profile, target"
    with pytest.raises(StepFailed, match=changed) as failed, cargo.project():
        pass
    assert failed.value.remedy == "set TMPDIR to a folder that is not below it"


def test_settings_that_are_no_toml_are_named(cargo: Cargo, tmp_path: Path) -> None:
    (cargo.users / "config.toml").write_text("[build\n")
    with cargo.project() as folder, pytest.raises(StepFailed, match=r"users/config\.toml can't be read"):
        cargo.run(an_attempt(tmp_path), "fetch", folder, "true")


@pytest.mark.parametrize(
    "name",
    ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_PROFILE_RELEASE_OPT_LEVEL", "CARGO_BUILD_RUSTFLAGS", "CFLAGS"],
)
def test_variables_that_change_a_build_do_not_reach_cargo(
    cargo: Cargo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "leaked")
    with cargo.project() as folder:
        assert "leaked" not in cargo.run(an_attempt(tmp_path), "fetch", folder, "env")


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is absent")
def test_the_real_cargo_compiles_with_none_of_them(
    cargo: Cargo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would not compile at all with that wrapper and that linker."""
    monkeypatch.setenv("RUSTFLAGS", "--cfg leaked")
    monkeypatch.setenv("CARGO_HOME", os.environ.get("CARGO_HOME") or str(Path.home() / ".cargo"))
    source = '#[cfg(leaked)]\ncompile_error!("leaked");\nfn main() { print!("{}", cfg!(debug_assertions)) }\n'
    with cargo.project() as folder:
        (folder / "Cargo.toml").write_text('[package]\nname = "own"\nversion = "0.0.0"\n')
        (folder / "src").mkdir()
        (folder / "src" / "main.rs").write_text(source)
        printed = cargo.run(
            an_attempt(tmp_path), "compile", folder, "cargo", "build", "--release", "--offline", "--message-format=json"
        )
        (program,) = [line["executable"] for line in map(json.loads, printed.splitlines()) if line.get("executable")]
        assert cargo.run(an_attempt(tmp_path), "compile", folder, program) == "false"
        assert '"opt_level":"3"' in printed
