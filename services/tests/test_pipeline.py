"""Kits on the way from a spec to a run."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.kits import KitError, Shelf
from kexbench.pipeline import VersionMismatch, execute_run, provide_kits, read_plan, start_run
from kexbench.settings import Settings
from kexbench.wiring import Installation

SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: kits }
subjects: [{ fake: tracked }]
matrix: { protocol: [TLSv1.2], keyExchange: [RSA] }
"""
CATALOGUE = """\
apiVersion: kexbench.dev/v1
kind: Catalogue
libraries:
  fake: [{{ source: "{source}", version: "{version}" }}]
"""


def installation(tmp_path: Path, *, source: str = "1.1.4", version: str = "1.1") -> Installation:
    catalogue = tmp_path / "libraries.yaml"
    catalogue.write_text(CATALOGUE.format(source=source, version=version))
    (tmp_path / "kits.yaml").write_text(SPEC)
    settings: dict[str, Any] = {"home": tmp_path / "home", "cache": tmp_path / "cache", "catalogue": catalogue}
    return Installation(Settings(**settings))


def test_a_kit_of_the_promised_version_is_provided(tmp_path: Path) -> None:
    one = installation(tmp_path)
    plan, _ = read_plan(one, tmp_path / "kits.yaml")
    (kit,) = provide_kits(one, plan, lambda _: None).values()
    assert kit.version == "1.1.4"


@pytest.mark.parametrize("promised", ["1.1.3", "1.1.40", "2"])
def test_a_source_that_gives_another_version_than_the_catalogue_says_is_refused(promised: str, tmp_path: Path) -> None:
    one = installation(tmp_path, version=promised)
    plan, _ = read_plan(one, tmp_path / "kits.yaml")
    with pytest.raises(VersionMismatch, match=rf"version 1\.1\.4, but the catalogue says {promised}"):
        provide_kits(one, plan, lambda _: None)


def test_a_source_that_cannot_be_reached_leaves_the_kit_made_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = installation(tmp_path)
    plan, _ = read_plan(one, tmp_path / "kits.yaml")
    made = provide_kits(one, plan, lambda _: None)

    def unreachable(self: Shelf, ref: SubjectRef, *_: object, **__: object) -> KitManifest:
        raise KitError(ref, "fetch", "the package archive can't be reached")

    monkeypatch.setattr(Shelf, "add", unreachable)
    said: list[str] = []
    assert provide_kits(one, plan, said.append) == made
    assert "the package archive can't be reached: going on with fake-1.1.4" in said[0]


def test_a_source_that_was_never_reached_ends_the_run_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = installation(tmp_path, source="1.1.4+speed=9")
    plan, _ = read_plan(one, tmp_path / "kits.yaml")
    with pytest.raises(KitError, match="unknown setting"):
        provide_kits(one, plan, lambda _: None)
    assert one.run_folders() == []


class Silent:
    """Nobody listens."""

    def step(self, text: str) -> None: ...
    def measuring(self, case_id: str, done: int, total: int) -> None: ...
    def storing(self, done: int, total: int) -> None: ...


def test_a_run_whose_kit_is_gone_is_not_resumed_and_says_why(tmp_path: Path) -> None:
    one = installation(tmp_path)
    plan, text = read_plan(one, tmp_path / "kits.yaml")
    folder = start_run(one, plan, text, Silent())
    (kit,) = folder.run().kits.values()
    shutil.move(one.kits().folder(kit.kit_id), tmp_path / "elsewhere")
    with pytest.raises(KitError, match="is not on the shelf any more"):
        execute_run(one, folder, Silent())
    assert folder.events() == []
