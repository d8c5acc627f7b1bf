"""`kexbench specs`, and specs by their names."""

from pathlib import Path

import pytest

from kexbench.shipped import ROOT, shipped_mixes, shipped_specs
from tests.cli.conftest import Cli


def test_each_spec_has_a_name_and_says_what_it_asks(cli: Cli) -> None:
    rows = cli("specs", "list", "--json").json()
    files = {path for folder in (".", "articles") for path in (ROOT / "bench-specs" / folder).glob("*.yaml")}
    assert {Path(row["path"]) for row in rows} == {path for path in files if path.name != "libraries.yaml"}
    assert all(row["description"] for row in rows)
    assert {"quickstart", "connections", "articles/zero-rtt"} <= {row["name"] for row in rows}
    text = cli("specs", "list").out
    assert all(name in text for name in (*shipped_specs(), *shipped_mixes()))


def test_a_name_stands_for_its_file(cli: Cli) -> None:
    by_name, by_path = (
        cli("plan", spec, "--json").json() for spec in ("quickstart", str(ROOT / "bench-specs/quickstart.yaml"))
    )
    assert by_name == by_path


def test_a_file_of_that_name_is_taken_before_the_spec(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cli.folder)
    Path("quickstart").write_text(Path(cli.spec("own", "1.0")).read_text())
    assert cli("plan", "quickstart", "--json").json()["spec_name"] == "own"


def test_an_unknown_name_leads_to_the_list(cli: Cli) -> None:
    done = cli("plan", "quickstrat")
    assert done.status == 1
    assert "kexbench specs list" in done.err


def test_a_copy_is_the_spec_with_a_schema_that_editors_find(cli: Cli, tmp_path: Path) -> None:
    copy = tmp_path / "mine.yaml"
    assert cli("specs", "copy", "articles/zero-rtt", str(copy)).status == 0
    first, rest = copy.read_text().split("\n", 1)
    assert Path(first.partition("$schema=")[2]).is_file()
    assert rest == shipped_specs()["articles/zero-rtt"].read_text().split("\n", 1)[1]


def test_a_copy_replaces_nothing(cli: Cli, tmp_path: Path) -> None:
    kept = tmp_path / "mine.yaml"
    kept.write_text("mine")
    done = cli("specs", "copy", "quickstart", str(kept))
    assert done.status == 2
    assert kept.read_text() == "mine"
    assert cli("specs", "copy", "no-such").status == 2
