"""What a store tells of the commits of watched repositories, and how far their branches were looked through."""

from datetime import timedelta

from kexbench.domain.commits import NO_COMMIT, BranchHead, HandledCommit, Presence
from kexbench.store.port import Store
from tests.builders import NOON, a_commit, a_handled_commit


def titles(store: Store, repository: str = "") -> list[str]:
    return [handled.commit.title for handled in store.commits(repository, 100)]


def test_an_empty_store_knows_no_commit(store: Store) -> None:
    assert (store.commits("", 5), store.heads("benchmarks"), store.repositories()) == ([], {}, [])


def test_a_commit_comes_back_as_it_was_and_repeating_the_write_changes_nothing(store: Store) -> None:
    handled = a_handled_commit("Zwei «Wörter» und 'keine'; DROP TABLE commits; --\\", note="{limit:UInt32}")
    for _ in range(3):
        store.add_commit(handled)
        assert store.commits("", 5) == [handled]
        assert store.heads("benchmarks") == {"main": BranchHead(commit=handled.commit.commit)}
        assert store.repositories() == ["benchmarks"]


def test_commits_are_listed_newest_first_in_whatever_order_they_arrive(store: Store) -> None:
    for minutes in (2, 0, 3, 1):
        store.add_commit(a_handled_commit(f"commit {minutes}", minutes=minutes))
    assert titles(store) == ["commit 3", "commit 2", "commit 1", "commit 0"]
    assert [handled.commit.title for handled in store.commits("", 2)] == ["commit 3", "commit 2"]


def test_a_commit_on_two_branches_is_listed_once_with_the_branch_it_came_to_last(store: Store) -> None:
    for minutes, branch in enumerate(("main", "next")):
        store.add_commit(a_handled_commit("both", branch=branch, minutes=minutes))
    store.add_commit(a_handled_commit("another", minutes=5))
    found = store.commits("", 5)
    assert [(handled.commit.title, handled.commit.branch) for handled in found] == [
        ("another", "main"),
        ("both", "next"),
    ]
    both = a_commit("both").commit
    assert store.commits("", 5, NOON + timedelta(seconds=30)) == []
    assert store.heads("benchmarks") == {
        "main": BranchHead(commit=a_commit("another").commit),
        "next": BranchHead(commit=both),
    }


def test_the_same_commit_in_two_repositories_is_listed_for_each(store: Store) -> None:
    for repository in ("copies", "benchmarks"):
        store.add_commit(a_handled_commit("both", repository=repository))
    assert store.repositories() == ["benchmarks", "copies"]
    assert titles(store) == ["both", "both"]
    assert titles(store, "copies") == ["both"]
    assert titles(store, "nobody") == []


def test_a_commit_that_tells_nothing_is_a_head_and_not_listed(store: Store) -> None:
    store.add_commit(a_handled_commit("checked"))
    store.add_commit(a_handled_commit("quiet", minutes=1, checks=()))
    store.add_commit(a_handled_commit("quiet", repository="silent", checks=()))
    assert (titles(store), store.repositories()) == (["checked"], ["benchmarks"])
    assert store.heads("benchmarks") == {"main": BranchHead(commit=a_commit("quiet").commit)}
    store.add_commit(a_handled_commit("skipped", minutes=2, checks=(), note="[skip bench] in its message"))
    assert titles(store) == ["skipped", "checked"]


def test_a_head_is_what_was_handled_last_in_whatever_order_it_is_stored(store: Store) -> None:
    first, last = a_handled_commit("first"), a_handled_commit("last", minutes=9)
    other = a_handled_commit("other", branch="next", minutes=3)
    for handled in (last, other, first):
        store.add_commit(handled)
    assert store.heads("benchmarks") == {
        "main": BranchHead(commit=last.commit.commit),
        "next": BranchHead(commit=other.commit.commit),
    }
    assert store.heads("nobody") == {}


def test_commits_are_read_page_by_page_without_gaps_even_where_some_were_handled_at_once(store: Store) -> None:
    """The store's times are as fine as a millisecond, those of commits finer."""
    handled = [
        a_handled_commit(f"commit {number}").model_copy(
            update={"handled_at": NOON + timedelta(milliseconds=number // 3, microseconds=number % 3 * 300 + 99)}
        )
        for number in range(12)
    ]
    for one in handled:
        store.add_commit(one)
    seen: list[str] = []
    page = store.commits("", 2)
    while page:
        assert len(page) >= 2
        seen += [one.commit.title for one in page]
        page = store.commits("", 2, page[-1].handled_at)
    assert seen == [one.commit.title for one in reversed(handled)]


def test_commits_before_the_beginning_of_time_are_none(store: Store) -> None:
    store.add_commit(a_handled_commit())
    assert store.commits("", 5, NOON.replace(year=1)) == []
    assert len(store.commits("", 5, NOON.replace(year=9999))) == 1


def test_a_branch_that_is_gone_keeps_how_far_it_was_processed_and_each_is_listed_by_itself(store: Store) -> None:
    last = a_handled_commit("last")
    store.add_commit(last)

    def absent(branch: str, minutes: int, note: str) -> HandledCommit:
        commit = a_commit(branch=branch).model_copy(update={"commit": NO_COMMIT})
        return HandledCommit(commit=commit, handled_at=NOON + timedelta(minutes=minutes), note=note)

    store.add_commit(absent("main", 1, "gone"))
    store.add_commit(absent("next", 2, "gone"))
    assert store.heads("benchmarks") == {
        "main": BranchHead(commit=last.commit.commit, presence=Presence.GONE),
        "next": BranchHead(commit=NO_COMMIT, presence=Presence.GONE),
    }
    assert [handled.commit.branch for handled in store.commits("", 5) if handled.note] == ["next", "main"]
    store.add_commit(absent("later", 3, ""))
    assert store.heads("benchmarks")["later"] == BranchHead(commit=NO_COMMIT, presence=Presence.AWAITED)
    store.add_commit(a_handled_commit("last", minutes=3))
    assert store.heads("benchmarks")["main"] == BranchHead(commit=last.commit.commit)
