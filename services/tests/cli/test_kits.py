"""`kexbench kits`: what people see of the shelf."""

from pathlib import Path

import pytest

from tests.builders import CATALOGUE
from tests.cli.conftest import Cli


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "libraries.yaml"
    path.write_text(CATALOGUE.replace("libraries:", "sentinel: fake@1.0\nlibraries:"))
    monkeypatch.setenv("KEXBENCH_CATALOGUE", str(path))
    return path


def test_the_sentinel_is_frozen_once_and_shown_after_that(catalogue: Path, cli: Cli) -> None:
    first, second = cli("kits", "sentinel"), cli("kits", "sentinel")
    assert first.status == 0, first.err
    assert "freezing a sentinel" in first.err
    assert first.out.startswith("fake@1.0  1.0  ")
    assert (second.out, second.err) == (first.out, "")
    assert cli("kits", "sentinel", "--json").json()["reference"] == "fake@1.0"


def test_a_sentinel_is_frozen_again_when_asked(catalogue: Path, cli: Cli) -> None:
    cli("kits", "sentinel")
    assert "freezing a sentinel: as asked" in cli("kits", "sentinel", "--freeze-again").err


def test_a_catalogue_without_a_sentinel_is_named(catalogue: Path, cli: Cli) -> None:
    catalogue.write_text(CATALOGUE)
    done = cli("kits", "sentinel")
    assert done.status == 1
    assert done.err == f"{catalogue}:1:1: sentinel: is not given: name one, such as sentinel: openssl@system\n"
