"""Kits of the fake backend, made once a test process: real worker, real protocol, known timings."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.kits import Shelf, WorkerSource, Workshop, default_providers
from kexbench.settings import Settings

FakeKit = Callable[[str], tuple[Path, KitManifest]]


@pytest.fixture(scope="session")
def fake_shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    root = tmp_path_factory.mktemp("shelf")
    workshop = Workshop(WorkerSource(Settings().workers), default_providers(root / "cache"))
    return Shelf(root / "kits", workshop)


@pytest.fixture(scope="session")
def fake_kit(fake_shelf: Shelf) -> FakeKit:
    """`fake_kit("fake@1.0+crash_after=9")` is the folder and manifest of such a kit."""

    def provide(reference: str) -> tuple[Path, KitManifest]:
        kit = fake_shelf.add(SubjectRef.parse(reference))
        return fake_shelf.folder(kit.kit_id), kit

    return provide
