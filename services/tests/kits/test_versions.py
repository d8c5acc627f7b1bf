"""What each place says it has, and what is said where nobody keeps a list."""

import json
import shutil
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits import KitError, WorkerSource, Workshop
from kexbench.kits.build_openssl import OpensslRecipe
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.debian import DebianProvider
from kexbench.kits.errors import StepFailed
from kexbench.kits.fake import FakeProvider
from kexbench.kits.mirrors import Mirror
from kexbench.kits.prefix import PrefixProvider
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Provider
from kexbench.kits.source import SourceProvider
from kexbench.kits.system import SystemProvider

from .conftest import STANDIN
from .debian_archive import SUITE, write_archive


def versions(reference: str, *providers: Provider, refresh: bool = False) -> tuple[str, ...]:
    return Workshop(WorkerSource(STANDIN), providers).versions(SubjectRef.parse(reference), refresh=refresh)


@pytest.mark.parametrize("reference", ["openssl@system", "gnutls@system", "openssl@prefix:/opt/openssl", "fake@1.0"])
def test_places_without_a_list_have_no_versions_to_tell(reference: str) -> None:
    assert versions(reference, SystemProvider(), PrefixProvider(), FakeProvider()) == ()


def test_a_registry_has_every_version_that_was_not_withdrawn_the_oldest_first(tmp_path: Path) -> None:
    index = tmp_path / "registry/index/registry/.cache/op/en/openssl-src"
    index.parent.mkdir(parents=True)
    records: list[dict[str, object]] = [
        {"vers": "300.5.10+3.5.10", "cksum": "a" * 64},
        {"vers": "300.5.9+3.5.9", "cksum": "b" * 64},
        {"vers": "111.28.2+1.1.1w", "cksum": "c" * 64},
        {"vers": "300.5.11+3.5.11", "cksum": "d" * 64, "yanked": True},
    ]
    index.write_text("header\0" + "".join(f"{record['vers']}\0{json.dumps(record)}\0" for record in records))
    crates = SourceProvider(CrateOrigin(tmp_path), {"openssl": OpensslRecipe(1)}, tmp_path / "cache")
    assert versions("openssl@crate/3.5.9", crates) == ("1.1.1w", "3.5.9", "3.5.10")
    attempt = Attempt(tmp_path, tmp_path / "log", print)
    for wanted, nearest in (("9.9", "1.1.1w, 3.5.9, 3.5.10"), ("3.5.1", "3.5.9, 3.5.10"), ("1.1.1", "1.1.1w")):
        with pytest.raises(StepFailed) as failed:
            CrateOrigin(tmp_path).locate(SubjectRef.parse(f"openssl@crate/{wanted}"), attempt, refresh=False)
        assert failed.value.remedy == f"the nearest versions are {nearest}"


@pytest.mark.skipif(not (shutil.which("apt-get") and shutil.which("dpkg-deb")), reason="no apt, no dpkg")
def test_a_suite_has_the_one_version_of_now_and_fetches_no_package_to_tell(tmp_path: Path) -> None:
    archive = write_archive(tmp_path / "archive")
    provider = DebianProvider(tmp_path / "cache", Mirror(archive=f"file:{archive}", security=None, keyring=None))
    assert versions(f"openssl@debian/{SUITE}", provider) == ("9.8.7",)
    assert not (tmp_path / "cache" / "debs").exists()
    shutil.rmtree(archive)
    write_archive(archive, openssl="9.8.8-1")
    assert versions(f"openssl@debian/{SUITE}", provider, refresh=True) == ("9.8.8",)


def test_a_place_that_nobody_knows_is_reported_with_what_there_is() -> None:
    with pytest.raises(KitError, match=r"nothing provides openssl@crate/3\.5\.5\n  remedy: fake@VERSION"):
        versions("openssl@crate/3.5.5", FakeProvider())
