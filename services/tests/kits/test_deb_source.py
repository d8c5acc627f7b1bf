"""Source packages of a small archive in a folder: what a reference means, and that the sources are upstream's."""

import hashlib
import shutil
from pathlib import Path

import pytest

from kexbench.domain.kits import Package, SubjectRef
from kexbench.kits.deb_source import DebSourceOrigin
from kexbench.kits.errors import StepFailed
from kexbench.kits.mirrors import Mirror
from kexbench.kits.process import Attempt
from kexbench.kits.source import Sources
from kexbench.kits.source_packages import SourceArchive

from .debian_archive import SOURCES_TIME, SUITE, write_archive, write_index, write_source_archive

pytestmark = pytest.mark.skipif(not (shutil.which("apt-get") and shutil.which("dpkg-deb")), reason="no apt, no dpkg")


class Shop:
    """An archive that can be written again, and attempts to get sources from it, each with its own scratch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mirror = Mirror(archive=f"file:{folder / 'archive'}", security=None, keyring=None)
        self.cache = folder / "cache"
        self.said: list[str] = []

    def attempt(self) -> Attempt:
        scratch = self.folder / f"scratch-{len(list(self.folder.glob('scratch-*')))}"
        scratch.mkdir()
        return Attempt(scratch, scratch / "log", self.said.append)

    def locate(self, suite: str = SUITE, *, refresh: bool = False) -> Sources:
        ref = SubjectRef.parse(f"gnutls@deb-source/{suite}")
        return DebSourceOrigin(self.cache, self.mirror).locate(ref, self.attempt(), refresh=refresh)

    def unpack(self, sources: Sources) -> Path:
        attempt = self.attempt()
        folder = attempt.scratch / "source"
        folder.mkdir()
        return sources.unpack(folder, attempt)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def tarball(shop: Shop) -> Path:
    return write_source_archive(shop.folder / "archive")


def test_a_suites_sources_are_upstreams_archive_by_its_version_and_hash(shop: Shop, tarball: Path) -> None:
    sources = shop.locate()
    assert sources.version == "9.8.7"
    assert sources.identity == hashlib.sha256(tarball.read_bytes()).hexdigest()
    assert sources.packages == (Package(name="gnutls28", version="9.8.7", sha256=sources.identity),)


def test_sources_are_unpacked_with_their_times_so_that_make_generates_nothing_anew(shop: Shop, tarball: Path) -> None:
    root = shop.unpack(shop.locate())
    assert root.name == "gnutls-9.8.7"
    assert (root / "configure").stat().st_mtime == SOURCES_TIME


def test_an_archive_is_downloaded_once(shop: Shop, tarball: Path) -> None:
    sources = shop.locate()
    shop.unpack(sources)
    tarball.unlink()
    shop.said.clear()
    assert (shop.unpack(sources) / "configure").is_file()
    assert shop.said == []


def test_a_new_revision_of_the_package_is_no_new_version_of_upstream(shop: Shop, tarball: Path) -> None:
    first = shop.locate()
    write_source_archive(shop.folder / "archive", version="9.8.7-2")
    again = shop.locate(refresh=True)
    assert (again.version, again.identity, again.packages) == (first.version, first.identity, first.packages)
    write_source_archive(shop.folder / "archive", version="9.8.8-1")
    assert shop.locate(refresh=True).version == "9.8.8"


def test_an_archive_with_other_contents_than_the_lists_promise_is_refused(shop: Shop, tarball: Path) -> None:
    sources = shop.locate()
    tarball.write_bytes(tarball.read_bytes()[:-1] + b"?")
    with pytest.raises(StepFailed):
        shop.unpack(sources)
    assert not (shop.cache / "sources").exists()


def test_a_pinned_archive_that_the_suite_no_longer_has_may_be_put_into_the_cache(shop: Shop, tarball: Path) -> None:
    (pinned,) = shop.locate().packages
    old = tarball.read_bytes()
    write_source_archive(shop.folder / "archive", version="9.8.8-1")
    archive = SourceArchive(SUITE, shop.mirror, shop.cache, 3600)
    archive.refresh(shop.attempt(), forced=True)
    attempt = shop.attempt()
    with pytest.raises(StepFailed, match=f"gnutls28 9.8.7 from {SUITE} does not have the SHA-256") as caught:
        archive.unpack(pinned, attempt.scratch / "source", attempt)
    place = shop.cache / "sources" / str(pinned.sha256)
    assert str(place) in caught.value.remedy
    place.parent.mkdir()
    place.write_bytes(b"something else")
    with pytest.raises(StepFailed, match=f"{pinned.sha256} does not match"):
        archive.unpack(pinned, attempt.scratch / "source", attempt)
    place.write_bytes(old)
    assert archive.unpack(pinned, attempt.scratch / "source", attempt).name == "gnutls-9.8.7"


def test_a_pinned_archive_is_found_beside_a_newer_one_of_the_same_suite(shop: Shop, tarball: Path) -> None:
    folder = shop.folder / "archive"
    index = folder / "dists" / SUITE / "main/source/Sources"
    (pinned,) = shop.locate().packages
    older, kept = index.read_text(), {path.name: path.read_bytes() for path in tarball.parent.iterdir()}
    newer = write_source_archive(folder, version="9.8.8-1")
    for name, content in kept.items():
        (newer.parent / name).write_bytes(content)
    write_index(folder, "main/source/Sources", f"{older}\n{index.read_text()}")
    archive = SourceArchive(SUITE, shop.mirror, shop.cache, 3600)
    archive.refresh(shop.attempt(), forced=True)
    attempt = shop.attempt()
    assert archive.upstream("gnutls28", attempt).version == "9.8.8"
    assert archive.unpack(pinned, attempt.scratch / "source", attempt).name == "gnutls-9.8.7"


def test_a_suite_without_the_source_package_is_named(shop: Shop, tarball: Path) -> None:
    archive = SourceArchive(SUITE, shop.mirror, shop.cache, 3600)
    archive.refresh(shop.attempt(), forced=False)
    with pytest.raises(StepFailed, match="the suite has no source package nettle"):
        archive.upstream("nettle", shop.attempt())


def test_a_mirror_that_keeps_no_sources_is_named(shop: Shop) -> None:
    write_archive(shop.folder / "archive")
    with pytest.raises(StepFailed, match="no sources for this suite") as caught:
        shop.locate()
    assert "mirror" in caught.value.remedy


def test_sources_that_a_mirror_only_promises_are_named(shop: Shop, tarball: Path) -> None:
    (shop.folder / "archive/dists" / SUITE / "main/source/Sources").unlink()
    with pytest.raises(StepFailed, match="no sources for it"):
        shop.locate()


def test_a_suite_that_is_nowhere_is_named(shop: Shop, tarball: Path) -> None:
    with pytest.raises(StepFailed, match="no suite nowhere"):
        shop.locate("nowhere")


def test_only_libraries_with_a_source_package_are_provided(shop: Shop) -> None:
    origin = DebSourceOrigin(shop.cache, shop.mirror)
    assert origin.provides(SubjectRef.parse("gnutls@deb-source/trixie+enable-static"))
    assert not origin.provides(SubjectRef.parse("gnutls@debian/trixie"))
    assert origin.provides(SubjectRef.parse("openssl@deb-source/trixie"))
    assert not origin.provides(SubjectRef.parse("openssl@deb-source/trixie/main"))
