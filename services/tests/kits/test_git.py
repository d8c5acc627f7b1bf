"""Sources in git repositories: what a branch, a tag and a hash mean, when that is asked, and what git may not do."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.versions import version_key
from kexbench.kits import KitError
from kexbench.kits.git import GitOrigin
from kexbench.kits.process import Attempt
from kexbench.kits.source import SourceProvider

from .conftest import Kitchen, kitchen_in
from .repositories import Published, Repository, published_at
from .sources import TinyRecipe, serving, version_file

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")


@pytest.fixture
def kitchen(tmp_path: Path) -> Kitchen:
    provider = SourceProvider(GitOrigin(tmp_path / "cache"), {"openssl": TinyRecipe()}, tmp_path / "cache")
    return kitchen_in(tmp_path, (provider,))


def test_a_branch_is_the_commit_that_it_leads_to_now(kitchen: Kitchen, repository: Repository) -> None:
    reference = f"openssl@git:{repository.folder}#master"
    first = repository.commit(8, "dev")
    one = kitchen.add(reference)
    assert f"fetching commit {first[:12]} of {repository.folder}" in kitchen.said
    assert not [said for said in kitchen.said if said.startswith("fetching every branch")]
    assert (one.version, one.build_profile.provider) == ("9.8.8-dev", "git")
    assert Package(name="git commit", version=first, sha256=None) in one.packages
    second = repository.commit(8, "dev")
    two = kitchen.add(reference)
    assert (two.version, two.build_profile) == (one.version, one.build_profile)
    assert Package(name="git commit", version=second, sha256=None) in two.packages
    assert one.kit_id != two.kit_id
    assert len(kitchen.kit_store.list()) == 2


def test_kits_of_one_version_tell_their_commits_and_sort_by_their_history(
    kitchen: Kitchen, repository: Repository
) -> None:
    """By when they came to the branch, and what came together by when it was written."""
    moments = ((30, 50), (40, 10), (40, 20))
    stream = "".join(
        f"commit refs/heads/master\nauthor A <a@example.org> {1_700_000_000 + authored} +0200\n"
        f"committer A <a@example.org> {1_700_000_000 + committed} +0000\ndata <<END\nChange {number}\n\nWords.\nEND\n"
        f"M 100644 inline VERSION.dat\ndata <<END\n{version_file(8, 'dev')}\nEND\n\n"
        for number, (committed, authored) in enumerate(moments)
    )
    repository.git("fast-import", "--quiet", stdin=stream)
    hashes = repository.git("rev-list", "--reverse", "master").split()
    kits = [kitchen.add(f"openssl@git:{repository.folder}#{name}") for name in reversed(hashes)]
    ordered = [kit.commit for kit in sorted(kits, key=lambda kit: kit.version_key) if kit.commit]
    assert [(commit.hash, commit.subject) for commit in ordered] == [
        (name, f"Change {number}") for number, name in enumerate(hashes)
    ]
    assert {kit.version for kit in kits} == {"9.8.8-dev"}
    assert all(version_key("9.8.8-dev") < kit.version_key < version_key("9.8.8") for kit in kits)
    assert ordered[0].committed_at == datetime.fromtimestamp(1_700_000_030, UTC)


def test_tags_hashes_and_full_names_are_commits_too(repository: Repository, tmp_path: Path) -> None:
    first = repository.commit(1)
    repository.git("tag", "-a", "-m", "release", "openssl-9.8.1")
    repository.git("tag", "plain")
    second = repository.commit(2)
    repository.git("update-ref", "refs/pull/7/head", first)

    def meant(name: str) -> tuple[str, str]:
        ref = SubjectRef.parse(f"openssl@git:{repository.folder}#{name}")
        found = GitOrigin(tmp_path / "cache").locate(ref, Attempt(tmp_path, tmp_path / "log", print), refresh=False)
        return found.version, found.identity

    for name in ("openssl-9.8.1", "plain", "tags/plain", "refs/pull/7/head", first, first[:10]):
        assert meant(name) == ("9.8.1", first), name
    assert meant("HEAD") == ("9.8.2", second)


def test_a_commit_that_no_branch_leads_to_any_more_is_found_by_its_hash(
    kitchen: Kitchen, repository: Repository
) -> None:
    repository.commit(1)
    lost = repository.commit(2)
    repository.git("reset", "--hard", "HEAD~1")
    assert kitchen.add(f"openssl@git:{repository.folder}#{lost}").version == "9.8.2"


def test_a_branch_that_is_not_there_is_reported_with_those_that_are_like_it(
    kitchen: Kitchen, repository: Repository
) -> None:
    repository.commit(1)
    repository.git("branch", "openssl-3.5")
    repository.git("tag", "openssl-3.5.4")
    with pytest.raises(KitError, match=r"has no branch or tag openssl-35") as caught:
        kitchen.add(f"openssl@git:{repository.folder}#openssl-35")
    assert caught.value.remedy.startswith("similar names are openssl-3.5, openssl-3.5.4")


@pytest.mark.parametrize("name", ["0" * 40, "abcdef012"])
def test_a_commit_that_is_not_there_is_reported(name: str, kitchen: Kitchen, repository: Repository) -> None:
    repository.commit(1)
    with pytest.raises(KitError, match=f"has no .*commit {name}"):
        kitchen.add(f"openssl@git:{repository.folder}#{name}")
    assert kitchen.leftovers() == []


def test_a_hash_of_something_else_than_a_commit_is_reported(kitchen: Kitchen, repository: Repository) -> None:
    repository.commit(1)
    blob = repository.git("rev-parse", "HEAD:news")
    for _ in range(2):  # also once the mirror has it
        with pytest.raises(KitError, match=f"has no commit {blob}"):
            kitchen.add(f"openssl@git:{repository.folder}#{blob}")


def test_a_folder_that_is_no_repository_is_reported(kitchen: Kitchen, tmp_path: Path) -> None:
    with pytest.raises(KitError, match="there is no repository /nowhere"):
        kitchen.add("openssl@git:/nowhere#master")
    (tmp_path / "plain").mkdir()
    with pytest.raises(KitError, match="does not appear to be a git repository") as caught:
        kitchen.add(f"openssl@git:{tmp_path}/plain#master")
    assert f"check that {tmp_path}/plain is a git repository" in caught.value.remedy


def test_sources_of_something_else_are_reported(kitchen: Kitchen, repository: Repository) -> None:
    repository.git("add", "news")
    repository.git("commit", "-m", "no version")
    with pytest.raises(KitError, match="contains no sources of openssl"):
        kitchen.add(f"openssl@git:{repository.folder}#master")


@pytest.mark.parametrize("source", ["git:/a#-x", "git:/a#--upload-pack=x", "git:-a#x", "git:ext::sh#x", "git:/a"])
def test_what_git_could_take_for_an_option_or_a_program_is_no_reference(source: str) -> None:
    with pytest.raises(ValueError, match="is not a source"):
        SubjectRef.parse(f"openssl@{source}")


def test_neither_hooks_nor_the_persons_settings_take_part(
    kitchen: Kitchen, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/caught\ncat\n")
    trap.chmod(0o755)
    home = tmp_path / "home"
    (home / "hooks").mkdir(parents=True)
    for hook in ("reference-transaction", "post-checkout", "pre-auto-gc"):
        (home / "hooks" / hook).symlink_to(trap)
    (home / ".gitconfig").write_text(
        f"[core]\nhooksPath = {home}/hooks\nattributesFile = {home}/attributes\n"
        f'[filter "trap"]\nsmudge = {trap}\nrequired = true\n[init]\ntemplateDir = {home}\n'
        f'[uploadpack]\npackObjectsHook = {trap}\n[url "/nowhere/"]\ninsteadOf = {repository.folder}\n'
    )
    (home / "attributes").write_text("* filter=trap\n")
    monkeypatch.setenv("HOME", str(home))
    repository.commit(1)
    (repository.folder / ".gitattributes").write_text("* filter=trap\n")
    repository.commit(2)
    assert kitchen.add(f"openssl@git:{repository.folder}#master").version == "9.8.2"
    assert not (tmp_path / "caught").exists()


def test_a_branch_behind_an_address_moves_when_it_is_refreshed(kitchen: Kitchen, published: Published) -> None:
    reference = f"openssl@git:{published.address}#master"
    published.commit(1)
    first = kitchen.add(reference)
    assert first.version == "9.8.1"
    published.commit(2)
    assert kitchen.add(reference) == first
    assert kitchen.add(reference, refresh=True).version == "9.8.2"
    assert kitchen.add(reference).version == "9.8.2"


def test_a_branch_that_is_newer_than_the_list_of_branches_is_found(kitchen: Kitchen, published: Published) -> None:
    published.commit(1)
    kitchen.add(f"openssl@git:{published.address}#master")
    published.repository.git("checkout", "-b", "next")
    published.commit(2)
    assert kitchen.add(f"openssl@git:{published.address}#next").version == "9.8.2"


def test_an_old_list_of_branches_serves_where_the_repository_does_not_answer(
    kitchen: Kitchen, repository: Repository, tmp_path: Path
) -> None:
    with published_at(repository) as published:
        published.commit(1)
        reference = f"openssl@git:{published.address}#master"
        kit = kitchen.add(reference)
    (advertised,) = tmp_path.glob("cache/git/*/kexbench-advertised")
    os.utime(advertised, (0, 0))
    assert kitchen.add(reference) == kit
    assert any(said.startswith("using an older list of branches: git: ") for said in kitchen.said)
    with pytest.raises(KitError, match="unable to access"):
        kitchen.add(reference, refresh=True)
    with pytest.raises(KitError, match="unable to access"):
        kitchen.add(f"openssl@git:{published.address}#next")


def test_a_commit_that_was_fetched_needs_no_network_any_more(kitchen: Kitchen, published: Published) -> None:
    commit = published.commit(1)
    reference = f"openssl@git:{published.address}#{commit}"
    kitchen.add(reference)
    published.asked.clear()
    assert kitchen.add(reference, refresh=True).version == "9.8.1"
    assert published.asked == []


def test_an_address_that_wants_a_password_is_not_asked_for_one(kitchen: Kitchen) -> None:
    with serving(status=401) as closed, pytest.raises(KitError, match="terminal prompts disabled") as caught:
        kitchen.add(f"openssl@git:{closed.address}/private.git#master")
    assert "needs no password" in caught.value.remedy
