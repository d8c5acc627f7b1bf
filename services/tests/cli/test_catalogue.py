"""`kexbench catalogue`: what is tracked, and what could be. Crates are those of a list that cargo left behind."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.thorough

CATALOGUE = """\
apiVersion: kexbench.dev/v1
kind: Catalogue
libraries:
  openssl:
    # the newest
    - source: crate/3.5.4
      version: "3.5.4"
      released: "2025-09-30"
  fake:
    - source: "1.1"
      version: "1.1"
"""


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    checkout = tmp_path / "checkout"
    subprocess.run(["git", "init", "--quiet", str(checkout)], check=True)
    path = checkout / "specs" / "libraries.yaml"
    path.parent.mkdir()
    path.write_text(CATALOGUE)
    path.chmod(0o640)
    monkeypatch.setenv("KEXBENCH_CATALOGUE", str(path))
    return path


@pytest.fixture
def crates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cargo's list, fresh enough to be read without asking the registry."""
    home = tmp_path / "cargo"
    monkeypatch.setenv("CARGO_HOME", str(home))
    index = home / "registry/index/registry/.cache/op/en/openssl-src"
    index.parent.mkdir(parents=True)
    offer(index, "300.5.4+3.5.4")
    return index


def offer(index: Path, *versions: str) -> None:
    records = [f"{version}\0{json.dumps({'vers': version, 'cksum': 'a' * 64})}\0" for version in versions]
    index.write_text("\3\0\0\0etag\0" + "".join(records))


def test_nothing_new_prints_nothing_and_ends_with_0(catalogue: Path, crates: Path, cli: Cli) -> None:
    done = cli("catalogue", "check")
    assert (done.status, done.out) == (0, ""), done.err


def test_a_newer_version_is_a_patch_that_git_takes(catalogue: Path, crates: Path, cli: Cli) -> None:
    offer(crates, "300.5.4+3.5.4", "300.5.5+3.5.5", "400.0.0+4.0.0")
    done = cli("catalogue", "check")
    assert done.status == 3
    assert done.out.startswith("--- a/specs/libraries.yaml\n+++ b/specs/libraries.yaml\n")
    assert [line.split(": ")[0] for line in done.err.splitlines()] == ["openssl@crate/3.5.5", "openssl@crate/4.0.0"]
    assert catalogue.read_text() == CATALOGUE
    subprocess.run(["git", "apply", "-"], input=done.out, text=True, cwd=catalogue.parents[1], check=True)
    assert "    # the newest\n    - source: crate/3.5.4\n" in catalogue.read_text()
    assert cli("catalogue", "check").status == 0


def test_a_change_is_applied_when_asked(catalogue: Path, crates: Path, cli: Cli) -> None:
    offer(crates, "300.5.5+3.5.5")
    done = cli("catalogue", "check", "--apply")
    assert (done.status, done.out) == (3, "")
    assert f"wrote {catalogue}" in done.err
    assert '    - source: crate/3.5.5\n      version: "3.5.5"\n  fake:' in catalogue.read_text()
    assert catalogue.stat().st_mode & 0o777 == 0o640
    assert list(catalogue.parent.iterdir()) == [catalogue]
    again = cli("catalogue", "check", "--apply")
    assert (again.status, again.err) == (0, "nothing new\n")


def test_machines_get_the_versions_and_the_patch(catalogue: Path, crates: Path, cli: Cli) -> None:
    offer(crates, "300.5.5+3.5.5")
    found = cli("catalogue", "check", "--json").json()
    (one,) = found["newer"]
    assert (one["library"], one["source"], one["version"], one["behind"]) == (
        "openssl",
        "crate/3.5.5",
        "3.5.5",
        "3.5.4",
    )
    assert found["failed"] == []
    assert "+    - source: crate/3.5.5" in found["patch"]


def test_a_source_that_cannot_be_asked_is_reported_beside_what_the_others_have(
    catalogue: Path, crates: Path, cli: Cli
) -> None:
    offer(crates, "300.5.5+3.5.5")
    lost = '    - source: nowhere/now\n      version: "9.9"\n'
    catalogue.write_text(CATALOGUE.replace("  fake:", f"{lost}  fake:"))
    done = cli("catalogue", "check")
    assert done.status == 1
    assert "+    - source: crate/3.5.5" in done.out
    assert "openssl@nowhere/now: resolve failed: nothing provides openssl@nowhere/now" in done.err


@pytest.mark.long
def test_the_list_tells_sources_dates_and_which_kits_there_are(catalogue: Path, cli: Cli) -> None:
    kit = cli("kits", "add", "fake@1.1").out.split()[2]
    rows = [line.split() for line in cli("catalogue", "list").out.splitlines()[1:]]
    assert rows == [
        ["openssl", "3.5.4", "2025-09-30", "not", "built", "yet", "openssl@crate/3.5.4"],
        ["fake", "1.1", "-", kit, "fake@1.1"],
    ]
    openssl, fake = cli("catalogue", "list", "--json").json()
    assert (openssl["released"], openssl["kit"]) == ("2025-09-30", None)
    assert (fake["reference"], fake["kit"]) == ("fake@1.1", kit)


def test_all_that_is_tracked_of_a_library_is_added_along_with_what_is_named(catalogue: Path, cli: Cli) -> None:
    done = cli("kits", "add", "--tracked", "fake", "fake@2.0")
    assert done.status == 0, done.err
    assert [line.split()[0] for line in done.out.splitlines()] == ["fake@1.1", "fake@2.0"]
    assert "[1/2] fake@1.1: compiling" in done.err


def test_one_kit_that_fails_is_reported_at_the_end_and_the_others_are_there(catalogue: Path, cli: Cli) -> None:
    done = cli("kits", "add", "fake@1.0+speed=2", "fake@1.0", "fake@1.0+haste=2", "--jobs", "1")
    assert done.status == 1
    assert done.out.startswith("fake@1.0  1.0  ")
    failures = done.err[done.err.index("fake@1.0+speed=2: resolve failed") :]
    assert failures.count("  remedy: settings are ") == 2
    assert failures.count("  log: ") == 2
    assert "fake@1.0+haste=2: resolve failed: unknown setting 'haste=2'" in failures


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "name a subject"),
        (("--tracked", "gnutls"), "does not track 'gnutls'"),
        (("fake",), "has no source"),
    ],
)
def test_what_names_nothing_to_add_is_a_wrong_command_line(
    words: tuple[str, ...], says: str, catalogue: Path, cli: Cli
) -> None:
    done = cli("kits", "add", *words)
    assert done.status == 2
    assert says in " ".join(done.err.replace("│", " ").split())
