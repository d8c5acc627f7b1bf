"""OpenSSL built for aarch64 on another machine: proven beneath an emulator, and never measured there."""

import platform
import shutil
from pathlib import Path

import pytest

from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.samples import OutcomeKind
from kexbench.kits import KitStore, WorkerSource, Workshop, default_providers
from kexbench.kits.errors import StepFailed
from kexbench.kits.target import target_for
from kexbench.runner.cpus import Cpus
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.participant import Dropped, Setting
from kexbench.settings import Settings
from tests.builders import a_job_input, a_run

ONE = "fake@1.0"


def missing() -> str:
    if platform.machine() == "aarch64":
        return "aarch64 is this machine's own architecture"
    try:
        target_for("aarch64")
    except StepFailed as error:
        return f"{error.reason}: {error.remedy}"
    return "" if shutil.which("cargo") else "no cargo"


pytestmark = [
    pytest.mark.builds,
    pytest.mark.long,
    pytest.mark.skipif(bool(missing()), reason=missing()),
]


@pytest.fixture(scope="module")
def kit_store(tmp_path_factory: pytest.TempPathFactory) -> KitStore:
    settings = Settings()
    workshop = Workshop(WorkerSource(settings.workers), default_providers(settings.cache))
    return KitStore(tmp_path_factory.mktemp("cross") / "kits", workshop)


@pytest.fixture(scope="module")
def kit(kit_store: KitStore) -> KitManifest:
    return kit_store.add(SubjectRef.parse("openssl@crate/1.1.1w"), architecture="aarch64")


def refusal(manifest: KitManifest, folder: Path, log: Path) -> Dropped:
    """Why the runner doesn't measure with a kit."""
    job_input = a_job_input(a_run()).model_copy(update={"kits": {ONE: JobInputKit(folder=folder, manifest=manifest)}})
    with pytest.raises(Dropped) as caught:
        Setting(job_input, job_input.cases[0], Cpus(None), log).launch(ONE)
    return caught.value


def test_the_kit_is_complete_and_says_what_it_is_for(kit_store: KitStore, kit: KitManifest) -> None:
    assert (kit.version, kit.build_profile.architecture) == ("1.1.1w", "aarch64")
    assert kit.configure[0] == "linux-aarch64"
    assert {"bin/worker", "lib/ld-linux-aarch64.so.1", "lib/libc.so.6", "lib/heap.so"} <= kit.files.keys()
    assert kit_store.verify(kit.kit_id) == ()


def test_the_runner_does_not_start_it_here(kit_store: KitStore, kit: KitManifest, tmp_path: Path) -> None:
    dropped = refusal(kit, kit_store.folder(kit.kit_id), tmp_path / "log")
    assert dropped.kind is OutcomeKind.UNSUPPORTED
    assert "measured under emulation: the kit is for aarch64" in dropped.reason


def test_where_an_emulator_starts_it_unasked_its_own_word_is_enough(
    kit_store: KitStore, kit: KitManifest, tmp_path: Path
) -> None:
    """As on a machine that has qemu registered for foreign programs, with a manifest that hides what it is."""
    fields = {name: getattr(kit, name) for name in KitManifest.model_fields if name not in ("kit_id", "version_key")}
    fields["worker"] = (str(shutil.which("qemu-aarch64-static")), *kit.worker)
    fields["build_profile"] = kit.build_profile.model_copy(update={"architecture": platform.machine()})
    disguised = KitManifest.sealed(**fields)
    dropped = refusal(disguised, kit_store.folder(kit.kit_id), tmp_path / "log")
    assert dropped.kind is OutcomeKind.UNSUPPORTED
    assert "measured under emulation: the worker detected" in dropped.reason
