"""Kits of the fake backend, made once a test process: real worker, real protocol, known timings; and stores."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from kexbench import traces
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.kits import KitStore, Workshop, default_providers
from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from tests.collector import Collector, collecting
from tests.compiled_once import CompiledOnce
from tests.stores import emptied

# Hundreds of homes have kits of the same sources: ccache compiles those once.
os.environ["PATH"] = f"/usr/lib/ccache:{os.environ['PATH']}"
FakeKit = Callable[[str], tuple[Path, KitManifest]]
settings.register_profile("kexbench", deadline=None, derandomize=True)  # a busy machine is no failure
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("kexbench")
MEMORY, ENOUGH_BYTES = Path("/dev/shm"), 4 << 30


def pytest_configure(config: pytest.Config) -> None:
    """Keep the folders of tests in memory if it has enough space: a test of a store waits for the disk hundreds of
    times. A cluster, which has images, stays on the disk, as everything in one process does."""
    if (
        config.getoption("numprocesses", None)
        and MEMORY.is_dir()
        and shutil.disk_usage(MEMORY).free >= ENOUGH_BYTES
        and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    ):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.fixture(scope="session")
def fake_kit_store(tmp_path_factory: pytest.TempPathFactory) -> KitStore:
    root = tmp_path_factory.mktemp("kit-store")
    workshop = Workshop(CompiledOnce(Settings().workers), default_providers(root / "cache"))
    return KitStore(root / "kits", workshop)


@pytest.fixture(scope="session")
def fake_kit(fake_kit_store: KitStore) -> FakeKit:
    """`fake_kit("fake@1.0+crash_after=9")` is the folder and manifest of such a kit."""

    def provide(reference: str) -> tuple[Path, KitManifest]:
        kit = fake_kit_store.add(SubjectRef.parse(reference))
        return fake_kit_store.folder(kit.kit_id), kit

    return provide


@pytest.fixture(scope="session")
def chdb_dsn(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One folder for all embedded stores of a test process, which may open one only."""
    return f"chdb://{tmp_path_factory.mktemp('chdb')}"


@pytest.fixture(scope="module")
def warm_chdb(chdb_dsn: str) -> Iterator[str]:
    """Keeps the engine up for the tests of a module; starting it takes a second, and it stops with its last client."""
    store = ClickHouseStore(chdb_dsn, "default", EngineClauses())
    store.engine()
    yield chdb_dsn
    store.close()


@pytest.fixture
def empty_store(warm_chdb: str) -> Iterator[ClickHouseStore]:
    yield from emptied(warm_chdb)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """Traces are on, and sent there."""
    with collecting() as (collector, address):
        monkeypatch.setenv(traces.ENDPOINT, address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        traces.begin("kexbench test", sends_at_end=True)
        yield collector
        traces.end()
