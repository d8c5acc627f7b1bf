"""A kit store whose worker is a small stand-in, so that tests make whole kits without network and in a moment."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.kits import KitStore, WorkerSource, Workshop, default_providers
from kexbench.kits.provider import Provider

from .repositories import Published, Repository, a_repository, published_at

STANDIN = Path(__file__).parent / "standin"


@dataclass
class Kitchen:
    """A kit store, the worker's sources it uses, and what it said."""

    kit_store: KitStore
    worker: Path
    cache: Path
    said: list[str] = field(default_factory=list)

    def add(self, text: str, *, refresh: bool = False) -> KitManifest:
        self.said.clear()
        return self.kit_store.add(SubjectRef.parse(text), self.said.append, refresh=refresh)

    def leftovers(self) -> list[Path]:
        """Everything in the kit store that is no finished kit, but for the folders that are always there."""
        scratch = list((self.kit_store.root / ".scratch").iterdir())
        known = {
            "refs",
            "logs",
            ".scratch",
            ".scratch.lock",
            ".lock",
            "sentinel.json",
            ".sentinel.lock",
            *(kit.folder_name for kit in self.kit_store.list()),
        }
        return scratch + [path for path in self.kit_store.root.iterdir() if path.name not in known]


def kitchen_in(folder: Path, providers: tuple[Provider, ...] | None = None) -> Kitchen:
    worker, cache = folder / "worker", folder / "cache"
    if not worker.exists():
        shutil.copytree(STANDIN, worker)
    workshop = Workshop(WorkerSource(worker), providers or default_providers(cache))
    return Kitchen(KitStore(folder / "kits", workshop), worker, cache)


@pytest.fixture
def kitchen(tmp_path: Path) -> Kitchen:
    return kitchen_in(tmp_path)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_repository(tmp_path / "repository")


@pytest.fixture
def published(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Iterator[Published]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with published_at(repository) as running:
        yield running
