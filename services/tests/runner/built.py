"""Kits of libraries that are built from published sources, and the worker's contract with such a build. Builds outlive
the tests in the machine's cache."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits import KitError, KitStore, WorkerSource, Workshop, default_providers
from kexbench.material.store import MaterialStore
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.probe import WorkerProber
from kexbench.settings import Settings
from tests.runner.real import OPENSSL, RealKits, missing


def built_with(*tools: str) -> list[pytest.MarkDecorator]:
    """The marks of tests that build a library with programs of this machine."""
    absent = [tool for tool in tools if shutil.which(tool) is None]
    return [
        pytest.mark.builds,
        pytest.mark.skipif(missing() is not None, reason=missing() or ""),
        pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} is absent"),
    ]


def built_kits(root: Path, reference: str) -> RealKits:
    """A kit of the library that is built, and one of this machine's OpenSSL. Skips if the sources can't be had."""
    settings = Settings()
    prober = WorkerProber(MaterialStore(root / "material"))
    providers = default_providers(settings.cache, settings.workers.parent)
    kit_store = KitStore(root / "kits", Workshop(WorkerSource(settings.workers), providers, prober))
    try:
        manifests = {each: kit_store.add(SubjectRef.parse(each)) for each in (reference, OPENSSL)}
    except KitError as error:
        if error.stage == "fetch":
            pytest.skip(f"the sources can't be had: {error.reason}")
        raise
    return {name: JobInputKit(folder=kit_store.folder(kit.kit_id), manifest=kit) for name, kit in manifests.items()}


def contract_with(library: str, version: str, test_root: Path) -> str:
    """What the C suite prints that runs with every library, with the newest build of a version. It has to pass."""
    settings = Settings()
    builds = (settings.cache / "builds").glob(f"{library}-{version}-*")
    newest = max(builds, key=lambda path: path.stat().st_mtime)
    installed = newest / "kexbench" if (newest / "kexbench").is_dir() else newest
    done = subprocess.run(
        ["make", "-s", "-C", settings.workers, "built", f"BUILT={library}={installed}", f"TEST_ROOT={test_root}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
