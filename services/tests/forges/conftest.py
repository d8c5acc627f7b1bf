"""Each forge as a server of this process, and an adapter that speaks to it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kexbench.forges import Forge, forge_of
from tests.forges.fake import FakeForge
from tests.forges.fake_gitea import FakeGitea
from tests.forges.fake_github import FakeGitHub
from tests.forges.fake_gitlab import FakeGitLab
from tests.serving import serving


@dataclass
class Spoken:
    """The two ends: the adapter, and what it speaks to."""

    forge: Forge
    fake: FakeForge
    token_file: Path


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture(params=[FakeGitHub, FakeGitLab, FakeGitea], ids=lambda fake: fake.kind)
def spoken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Spoken]:
    yield from _spoken(request.param(), tmp_path)


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Spoken]:
    yield from _spoken(FakeGitHub(), tmp_path)


@pytest.fixture
def gitlab(tmp_path: Path) -> Iterator[Spoken]:
    yield from _spoken(FakeGitLab(), tmp_path)


def _spoken(fake: FakeForge, folder: Path) -> Iterator[Spoken]:
    token_file = folder / "token"
    token_file.write_text(f"{fake.token}\n")
    with serving(fake.app()) as address:
        yield Spoken(forge_of(fake.config(address, token_file)), fake, token_file)
