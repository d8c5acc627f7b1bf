"""A real OpenSSL from an archive and from a repository, both made here of the sources that cargo has.

Both are the same bytes every time, so that what is built stays in the cache for the next run.
"""

import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits import KitStore, WorkerSource, Workshop
from kexbench.kits.build_openssl import OpensslRecipe
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.errors import StepFailed
from kexbench.kits.git import GitOrigin
from kexbench.kits.process import Attempt
from kexbench.kits.source import Origin, SourceProvider
from kexbench.kits.tarball import TarballOrigin
from kexbench.settings import Settings

VERSION = "1.1.1w"
LONG_AGO = 1_000_000_000
TOOLS = ("cc", "make", "perl", "cargo", "git")
pytestmark = [
    pytest.mark.builds,
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"one of {', '.join(TOOLS)} is absent"),
]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    attempt = Attempt(folder, folder / "log", print)
    (folder / "unpacked").mkdir()
    try:
        located = CrateOrigin().locate(SubjectRef.parse(f"openssl@crate/{VERSION}"), attempt, refresh=False)
        return located.unpack(folder / "unpacked", attempt)
    except StepFailed as error:
        pytest.skip(f"the crate can't be had: {error.reason}")


@pytest.fixture(scope="module")
def kit_store(tmp_path_factory: pytest.TempPathFactory) -> KitStore:
    """Only what is built outlives the test; the mirror of a repository that won't be there again does not."""
    folder, settings = tmp_path_factory.mktemp("real"), Settings()
    recipes = {"openssl": OpensslRecipe(len(os.sched_getaffinity(0)))}
    origins: tuple[Origin, ...] = (TarballOrigin(folder), GitOrigin(folder))
    providers = [SourceProvider(origin, recipes, settings.cache) for origin in origins]
    return KitStore(folder / "kits", Workshop(WorkerSource(settings.workers), providers))


def undated(member: tarfile.TarInfo) -> tarfile.TarInfo:
    return member.replace(mtime=LONG_AGO, uid=0, gid=0, uname="", gname="", deep=False)


def test_an_archive_becomes_a_kit_that_reports_its_version(sources: Path, kit_store: KitStore, tmp_path: Path) -> None:
    archive = tmp_path / f"openssl-{VERSION}.tar.xz"
    with tarfile.open(archive, "w:xz", preset=0) as packed:
        packed.add(sources, f"openssl-{VERSION}", filter=undated)
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
    kit = kit_store.add(SubjectRef.parse(f"openssl@tarball:{archive}#sha256={sha256}"), print)
    assert (kit.version, kit.build_profile.provider, kit.build_profile.linkage) == (VERSION, "tarball", "static")


@pytest.mark.long
def test_a_tag_becomes_a_kit_that_reports_its_version(sources: Path, kit_store: KitStore, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    shutil.copytree(sources, repository, symlinks=True)
    someone = {"NAME": "Somebody", "EMAIL": "somebody@example.org", "DATE": f"{LONG_AGO} +0000"}
    signed = {f"GIT_{role}_{name}": value for role in ("AUTHOR", "COMMITTER") for name, value in someone.items()}
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", **signed}
    for words in (["init", "--quiet"], ["add", "--force", "."], ["commit", "--quiet", "-m", VERSION], ["tag", "v1"]):
        subprocess.run(["git", *words], cwd=repository, env=environment, check=True)
    kit = kit_store.add(SubjectRef.parse(f"openssl@git:{repository}#v1"), print)
    assert (kit.version, kit.build_profile.provider, kit.build_profile.linkage) == (VERSION, "git", "static")
