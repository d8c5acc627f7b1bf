"""What is read of real repositories: branches, new commits, and the files that count."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from dulwich.objects import Commit as GitCommit
from dulwich.objects import ObjectID

from kexbench.domain.moments import EARLIEST
from kexbench.domain.repositories import Repository
from kexbench.planning.commits import Files, Unusable
from kexbench.planning.documents import MAX_DOCUMENT_BYTES
from kexbench.watch import gitcopy
from kexbench.watch.errors import SourceError
from kexbench.watch.git import GitSource
from tests.watch.library import Library
from tests.watch.repositories import Shared, git


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    return Shared(tmp_path)


@pytest.fixture
def source(shared: Shared, tmp_path: Path) -> Iterator[GitSource]:
    with closing(GitSource(shared.watched("main", "next"), tmp_path / "copy")) as found:
        yield found


def test_a_repository_without_commits_has_no_branches(source: GitSource) -> None:
    assert source.heads() == {}


def test_watched_branches_are_listed_and_no_others(shared: Shared, source: GitSource) -> None:
    head = shared.pushed({"a": "1"})
    shared.push("other")
    assert source.heads() == {"main": head}
    shared.push("next")
    assert source.heads() == {"main": head, "next": head}


def test_planned_branches_are_listed_as_well_by_their_patterns(shared: Shared, tmp_path: Path) -> None:
    head = shared.pushed({"a": "1"})
    for branch in ("feature/one", "feature/two/three", "fix", "features"):
        shared.push(branch)
    watched = shared.watched().model_copy(update={"planned_branches": ("feature/*", "m*")})
    with closing(GitSource(watched, tmp_path / "copy")) as source:
        assert source.heads() == dict.fromkeys(["main", "feature/one", "feature/two/three"], head)
        git(shared.clone, "push", "--quiet", "origin", ":feature/one", ":feature/two/three", "HEAD:feature/two")
        assert source.heads() == dict.fromkeys(["main", "feature/two"], head)


def test_a_pattern_of_planned_branches_matches_neither_tags_nor_head(shared: Shared, tmp_path: Path) -> None:
    head = shared.pushed({"a": "1"})
    git(shared.clone, "push", "--quiet", "origin", "HEAD:refs/tags/one", "HEAD:refs/pull/7/head")
    watched = shared.watched().model_copy(update={"planned_branches": ("*",)})
    with closing(GitSource(watched, tmp_path / "copy")) as source:
        assert source.heads() == {"main": head}


def test_other_references_are_fetched_by_name(shared: Shared, source: GitSource) -> None:
    shared.pushed({"a": "1"})
    proposed = shared.commit({"a": "2"})
    git(shared.clone, "push", "--quiet", "origin", f"{proposed}:refs/pull/7/head")
    assert source.fetch(["refs/pull/7/head", "refs/pull/8/head"]) == {"refs/pull/7/head": proposed}
    assert source.commit("pull request 7", proposed).pull_request == 7


def test_what_a_line_left_the_others_at_is_their_newest_common_commit(shared: Shared, source: GitSource) -> None:
    base = shared.pushed({"a": "1"})
    side = shared.pushed({"a": "2"})
    shared.push("next")
    git(shared.clone, "checkout", "--quiet", "-b", "feature", base)
    feature = shared.commit({"b": "1"})
    git(shared.clone, "merge", "--quiet", "--no-edit", side)
    merged = shared.commit({"b": "2"})
    git(shared.clone, "push", "--quiet", "origin", "HEAD:refs/pull/7/head")
    git(shared.clone, "checkout", "--quiet", "--orphan", "alone")
    alone = shared.commit({"c": "1"})
    git(shared.clone, "push", "--quiet", "origin", "HEAD:refs/pull/8/head")
    source.heads()
    source.fetch(["refs/pull/7/head", "refs/pull/8/head"])
    assert source.merge_base(feature, [side]) == base
    assert source.merge_base(feature, [base, side]) == base
    assert source.merge_base(merged, [base, side]) == side
    assert source.merge_base(side, [side]) == side
    assert source.merge_base(alone, [side]) is None
    assert source.merge_base(alone, []) is None


def test_more_specs_than_fit_are_refused(shared: Shared, source: GitSource, monkeypatch: pytest.MonkeyPatch) -> None:
    head = shared.pushed({"bench-specs/a.yaml": "a" * 60, "bench-specs/b.yaml": "b" * 60})
    source.heads()
    monkeypatch.setattr("kexbench.watch.git.SPECS_MAX_CHARACTERS", 100)
    with pytest.raises(SourceError, match=r"more than 100 characters of specs\n.*remedy"):
        source.files(head)


def test_new_commits_are_those_after_the_handled_one_the_oldest_first(shared: Shared, source: GitSource) -> None:
    commits = [shared.pushed({"a": str(number)}) for number in range(4)]
    head = source.heads()["main"]
    assert source.new_commits(head, [commits[1]]) == commits[2:]
    assert source.new_commits(head, [commits[0], commits[2]]) == commits[3:]
    assert source.new_commits(head, []) == commits


def test_a_merge_is_one_commit_against_its_first_parent(shared: Shared, source: GitSource) -> None:
    base = shared.pushed({"a": "1"})
    git(shared.clone, "checkout", "--quiet", "-b", "side")
    for number in range(3):
        shared.commit({"b": str(number)})
    git(shared.clone, "checkout", "--quiet", "-B", "main", base)
    git(shared.clone, "merge", "--quiet", "--no-ff", "--message", "merged", "side")
    shared.push()
    merge = source.heads()["main"]
    assert source.new_commits(merge, [base]) == [merge]
    assert source.parent(merge) == base


def test_a_few_new_commits_do_not_have_a_long_history_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(tmp_path)
    old = library.line(None, 60)
    release = library.line(old[-1], 1)[0]
    git(library.bare, "update-ref", "refs/heads/next", release)
    handled = library.line(old[-1], 3)
    new = library.line(handled[-1], 2)
    watched = Repository(name="a", url=str(library.bare), branches=("master", "next"), specs=".", catalogue="a.yaml")
    walked: list[ObjectID] = []
    with closing(GitSource(watched, tmp_path / "copy")) as source:
        source.heads()
        parents = source._parents

        def noting(commit: GitCommit) -> list[ObjectID]:
            walked.append(commit.id)
            return parents(commit)

        monkeypatch.setattr(source, "_parents", noting)
        assert source.new_commits(new[-1], [handled[-1]]) == new
        assert walked == []
        assert source.new_commits(new[-1], [handled[-1], release]) == new
        assert source.new_commits(new[-1], [old[-1], handled[-1]]) == new
        assert source.new_commits(new[-1], [release, new[0], handled[-1]]) == new[1:]
        assert len(set(walked)) < 20


def test_what_another_handled_branch_has_is_not_new_although_the_own_handled_commit_is_older(
    shared: Shared, source: GitSource
) -> None:
    own = shared.pushed({"a": "1"})
    others = [shared.commit({"a": "2"}), shared.commit({"a": "3"}), shared.pushed({"a": "4"})]
    git(shared.clone, "checkout", "--quiet", "-b", "next", others[1])
    new = shared.commit({"b": "1"})
    shared.push("next")
    source.heads()
    assert source.new_commits(new, [own, others[2]]) == [new]
    assert source.new_commits(others[1], [own, others[2]]) == []
    assert source.new_commits(others[2], [own, new]) == [others[2]]


def test_after_history_was_rewritten_what_was_not_there_before_is_new(shared: Shared, source: GitSource) -> None:
    base, old = shared.pushed({"a": "1"}), shared.pushed({"a": "2"})
    source.heads()
    git(shared.clone, "reset", "--quiet", "--hard", base)
    new = [shared.commit({"a": "3"}), shared.commit({"a": "4"})]
    shared.push(force=True)
    assert source.new_commits(source.heads()["main"], [old]) == new


def test_a_branch_that_was_set_back_has_its_head_looked_at_and_nothing_else(shared: Shared, source: GitSource) -> None:
    commits = [shared.pushed({"a": str(number)}) for number in range(3)]
    source.heads()
    git(shared.clone, "reset", "--quiet", "--hard", commits[0])
    shared.push(force=True)
    assert source.new_commits(source.heads()["main"], [commits[2]]) == []


def test_nothing_is_new_if_nobody_has_the_handled_commit_any_more(shared: Shared, source: GitSource) -> None:
    for number in range(3):
        shared.pushed({"a": str(number)})
    head = source.heads()["main"]
    assert source.new_commits(head, ["f" * 40]) is None


def test_the_copy_is_kept_and_what_is_there_is_not_fetched_again(shared: Shared, tmp_path: Path) -> None:
    first = shared.pushed({"a": "1"})
    for expected in (first, shared.pushed({"a": "2"})):
        git(shared.clone, "push", "--quiet", "--force", "origin", f"{expected}:main")
        with closing(GitSource(shared.watched(), tmp_path / "copy")) as source:
            assert source.heads() == {"main": expected}
    with closing(GitSource(shared.watched(), tmp_path / "copy")) as source:
        assert source.parent(expected) == first


def test_a_copy_that_was_made_by_half_is_made_anew(shared: Shared, tmp_path: Path) -> None:
    head = shared.pushed({"a": "1"})
    (tmp_path / "copy" / "objects").mkdir(parents=True)
    with closing(GitSource(shared.watched(), tmp_path / "copy")) as source:
        assert source.heads() == {"main": head}


def test_a_commit_tells_its_title_its_author_and_its_time(shared: Shared, source: GitSource) -> None:
    head = shared.pushed({"a": "1"}, "Benchmark X448\n\nSince Ed asked. [skip bench]")
    source.heads()
    found = source.commit("main", head)
    assert (found.repository, found.branch, found.commit) == ("benchmarks", "main", head)
    assert (found.title, found.author) == ("Benchmark X448", "Ada Example")
    assert found.committed_at > EARLIEST
    assert "[skip bench]" in source.message(head)


def test_documents_in_the_folder_of_specs_are_specs_but_for_the_catalogue(shared: Shared, source: GitSource) -> None:
    written: dict[str, str | bytes | None] = {
        "bench-specs/a.yaml": "é",
        "bench-specs/deep/er/b.yml": "b",
        "bench-specs/libraries.yaml": "catalogue",
        "bench-specs/README.md": "no spec",
        "bench-specs/latin.yaml": b"\xe9",
        "other/c.yaml": "no spec",
    }
    head = shared.pushed(written)
    source.heads()
    specs: dict[str, str | Unusable] = {
        "bench-specs/a.yaml": "é",
        "bench-specs/deep/er/b.yml": "b",
        "bench-specs/latin.yaml": Unusable.NOT_UTF8,
    }
    assert source.files(head) == Files(specs, "catalogue")
    assert source.files(None) == Files({}, None)


def test_a_link_is_not_read_and_a_spec_behind_one_is_a_fault(shared: Shared, source: GitSource) -> None:
    folder = shared.clone / "bench-specs"
    folder.mkdir()
    for name, target in {
        "passwd.yaml": "/etc/passwd",
        "other": "../other",
        "deep-again": "deep",
        "README": "../other/a.yaml",
    }.items():
        (folder / name).symlink_to(target)
    head = shared.pushed({"other/a.yaml": "a", "bench-specs/deep/b.yaml": "b"})
    source.heads()
    linked = dict.fromkeys(["bench-specs/passwd.yaml", "bench-specs/other"], Unusable.NO_FILE)
    assert source.files(head) == Files({"bench-specs/deep/b.yaml": "b", **linked}, None)


def test_a_folder_of_specs_or_a_catalogue_that_is_a_link_is_a_fault(shared: Shared, tmp_path: Path) -> None:
    (shared.clone / "bench-specs").symlink_to("other")
    (shared.clone / "catalogue.yaml").symlink_to("/etc/passwd")
    head = shared.pushed({"other/a.yaml": "a"})
    watched = shared.watched().model_copy(update={"catalogue": "catalogue.yaml"})
    with closing(GitSource(watched, tmp_path / "copy")) as source:
        source.heads()
        assert source.files(head) == Files({"bench-specs": Unusable.NO_FILE}, Unusable.NO_FILE)


def test_links_out_of_the_repository_or_through_other_links_and_submodules_are_faults(
    shared: Shared, source: GitSource
) -> None:
    """Each may have specs behind it."""
    folder = shared.clone / "bench-specs"
    folder.mkdir()
    (shared.clone / "again").symlink_to("other")
    outside = {"root": "/", "above": "../../..", "twice": "../again", "through": "../again/deep", "more": "../vendor/x"}
    for name, target in {**outside, "nothing": "../missing", "itself": "itself", "top": ".."}.items():
        (folder / name).symlink_to(target)
    shared.commit({"other/deep/a.yaml": "a"})
    shared.submodule("vendor")
    shared.submodule("bench-specs/theirs")
    shared.push()
    reported = [f"bench-specs/{name}" for name in (*outside, "top", "theirs")]
    assert source.files(source.heads()["main"]) == Files(dict.fromkeys(reported, Unusable.NO_FILE), None)


@pytest.mark.parametrize("kind", ["link", "submodule"])
def test_the_first_link_or_submodule_on_the_way_to_specs_and_catalogue_is_a_fault(
    shared: Shared, tmp_path: Path, kind: str
) -> None:
    for name in ("bench", "vendor"):
        if kind == "submodule":
            shared.submodule(name)
        else:
            (shared.clone / name).symlink_to("real")
    head = shared.pushed({"real/specs/a.yaml": "a", "real/catalogue.yaml": "catalogue"})
    watched = shared.watched(specs="bench/specs")
    for catalogue, expected in (("bench/specs/libraries.yaml", None), ("vendor/catalogue.yaml", Unusable.NO_FILE)):
        repository = watched.model_copy(update={"catalogue": catalogue})
        with closing(GitSource(repository, tmp_path / "copy")) as source:
            source.heads()
            assert source.files(head) == Files({"bench": Unusable.NO_FILE}, expected)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("two\nlines.yaml", r"bench-specs/two\nlines.yaml"),
        ("\x1b[2J.yaml", r"bench-specs/\x1b[2J.yaml"),
        ("\udce9.yaml", r"bench-specs/\\xe9.yaml"),
    ],
)
def test_a_name_that_would_break_a_line_is_a_fault_with_a_name_that_does_not(
    shared: Shared, source: GitSource, name: str, path: str
) -> None:
    head = shared.pushed({f"bench-specs/{name}": "a"})
    source.heads()
    assert source.files(head).specs == {path: Unusable.NAME}


def test_without_a_folder_of_specs_there_are_none(shared: Shared, source: GitSource) -> None:
    head = shared.pushed({"bench-specs": "a file"})
    source.heads()
    assert source.files(head) == Files({}, None)


def test_specs_may_lie_at_the_top(shared: Shared, tmp_path: Path) -> None:
    head = shared.pushed({"a.yaml": "a", "libraries.yaml": "catalogue", "deep/b.yaml": "b"})
    watched = shared.watched(specs=".").model_copy(update={"catalogue": "libraries.yaml"})
    with closing(GitSource(watched, tmp_path / "copy")) as source:
        source.heads()
        assert source.files(head) == Files({"a.yaml": "a", "deep/b.yaml": "b"}, "catalogue")


def test_of_a_document_that_is_too_large_no_more_is_read_than_shows_it(shared: Shared, source: GitSource) -> None:
    head = shared.pushed({"bench-specs/a.yaml": "é" * MAX_DOCUMENT_BYTES})
    source.heads()
    text = source.files(head).specs["bench-specs/a.yaml"]
    assert isinstance(text, str)
    assert MAX_DOCUMENT_BYTES < len(text.encode()) <= MAX_DOCUMENT_BYTES + 4


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("/nowhere/at/all.git", "is not a git repository"),
        ("http://127.0.0.1:9/a.git", "can't be read"),
        ("git://127.0.0.1:9/a.git", "can't be read"),
    ],
)
def test_a_repository_that_can_not_be_read_is_named_with_the_reason_and_a_remedy(
    shared: Shared, tmp_path: Path, url: str, reason: str
) -> None:
    watched = shared.watched().model_copy(update={"url": url})
    with (
        closing(GitSource(watched, tmp_path / "copy")) as source,
        pytest.raises(SourceError, match=f"repository benchmarks .*{reason}.*\n.*remedy"),
    ):
        source.heads()


@pytest.mark.parametrize("scheme", ["git", "http"])
def test_a_server_that_accepts_and_never_answers_is_given_up(
    shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setattr(gitcopy, "SILENCE_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/a.git"
        watched = shared.watched().model_copy(update={"url": url})
        with closing(GitSource(watched, tmp_path / "copy")) as source, pytest.raises(SourceError, match="timed out"):
            source.heads()


def test_a_password_is_read_from_its_file_and_never_shown(shared: Shared, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("hunter2\n")
    watched = shared.watched().model_copy(update={"url": "http://127.0.0.1:9/a.git", "password_file": str(secret)})
    with closing(GitSource(watched, tmp_path / "copy")) as source, pytest.raises(SourceError) as found:
        source.heads()
    assert "hunter2" not in str(found.value)
    secret.unlink()
    with closing(GitSource(watched, tmp_path / "copy")) as source, pytest.raises(SourceError, match="No such file"):
        source.heads()
