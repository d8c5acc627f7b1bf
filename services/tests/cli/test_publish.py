"""`kexbench publish`: what it writes and says, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, stock
from tests.conftest import FakeKit


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.html").write_text("<html><head></head></html>")
    monkeypatch.setenv("KEXBENCH_PAGES", str(tmp_path / "pages"))


@pytest.mark.long
def test_a_measured_upgrade_is_published(cli: Cli, fake_kit: FakeKit, pages: None, tmp_path: Path) -> None:
    stock(cli, fake_kit, "1.0", "1.1")
    assert cli("run", cli.spec("small", "1.0", "1.1")).status == 0
    done = cli("publish", str(tmp_path / "site"), "--json")
    assert done.status == 0, done.err
    site = done.json()
    assert (site["libraries"], site["versions"], site["upgrades"]) == (["fake"], 2, 1)
    assert json.loads((tmp_path / "site" / "kexbench-published.json").read_text()) == site
    assert "matrices, trends, comparisons, stacks, upgrades and badges" in done.err
    again = cli("publish", str(tmp_path / "site"))
    assert (again.status, again.out) == (0, "")
    assert "2 versions of fake, 1 upgrades" in again.err


def test_what_cannot_be_published_is_said_with_a_remedy(cli: Cli, pages: None, tmp_path: Path) -> None:
    nothing = cli("publish", str(tmp_path / "site"))
    assert nothing.status == 1
    assert "no results to publish" in nothing.err
    assert "remedy: measure something with kexbench run SPEC" in nothing.err
    foreign = cli("publish", str(tmp_path / "pages"))
    assert foreign.status == 1
    assert "is not a published site, so it is not replaced" in foreign.err
    assert cli("publish", str(tmp_path / "site"), "--since", "yesterday").status == 2
