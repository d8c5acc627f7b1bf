"""`kexbench kits`: what people see of the shelf."""

from pathlib import Path

import pytest

from tests.builders import CATALOGUE, HOST, a_kit
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


def put(cli: Cli, reference: str, flags: str = "none", architecture: str = HOST.architecture) -> str:
    """A kit that can be listed, of which there is nothing but the manifest. Returns its id."""
    kit = a_kit(reference, version="3.0.19", flags=flags, architecture=architecture)
    folder = cli.folder / "home/kits" / kit.folder_name
    folder.mkdir(parents=True)
    (folder / "kit.json").write_text(kit.model_dump_json())
    return kit.kit_id


def test_variants_are_listed_behind_their_source_in_the_order_of_their_numbers(cli: Cli) -> None:
    sources = ("system", "system+burn=3000", "system+relink=2", "system+relink=10")
    kits = [put(cli, f"openssl@{source}") for source in reversed(sources)]
    rows = [line.split() for line in cli("kits", "list").out.splitlines()[1:]]
    assert [row[2] for row in rows] == list(sources)
    assert [row[-1] for row in rows] == kits[::-1]


def test_kits_for_other_architectures_are_told_apart(cli: Cli) -> None:
    here, there = put(cli, "openssl@system"), put(cli, "openssl@crate/3.0.19", architecture="aarch64")
    rows = {line.split()[-1]: line.split()[3] for line in cli("kits", "list").out.splitlines()[1:]}
    assert rows == {here: "x86_64", there: "aarch64"}


def test_a_kit_for_an_architecture_that_nobody_knows_is_refused(cli: Cli) -> None:
    done = cli("kits", "add", "--architecture", "sparc", "fake@1.0")
    assert done.status == 1
    assert "kits can't be made for sparc yet" in done.err


def test_long_build_flags_are_cut_and_ids_never(cli: Cli) -> None:
    kit = put(cli, "openssl@system", flags=" ".join(f"-flag-{number}" for number in range(20)))
    done = cli("kits", "list")
    assert "-flag-2 …" in done.out
    assert "-flag-3" not in done.out
    assert done.out.rstrip().endswith(kit)
