"""What a store tells of branches that specs follow, and of kits that were built from commits."""

from datetime import timedelta

from kexbench.domain.following import AskedCommit, FollowedCommit, Following, LibraryBranch
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.samples import Metric
from kexbench.store.port import Selection, Store
from tests.builders import NOON, a_kit, a_run, an_invocation, an_outcome


def a_followed(minutes: int, *, path: str = "a.yaml", repository: str = "benchmarks") -> FollowedCommit:
    branch = LibraryBranch(library="openssl", address="https://example.org/openssl.git", branch="master")
    return FollowedCommit(
        following=Following(repository=repository, path=path, branch=branch),
        commit=f"{minutes:040x}",
        number=minutes,
        base="a" * 40,
        asked=AskedCommit(commit=f"{minutes:040x}", base=None, run_id="once-1"),
        faults=("it's 'quoted'\\",),
        handled_at=NOON + timedelta(minutes=minutes),
    )


def test_of_each_following_the_newest_note_counts_in_whatever_order_they_arrive(store: Store) -> None:
    assert store.followed("benchmarks") == []
    for minutes in (2, 3, 1, 3):
        store.add_followed(a_followed(minutes))
    store.add_followed(a_followed(1, path="b.yaml"))
    store.add_followed(a_followed(9, repository="others"))
    found = sorted(store.followed("benchmarks"), key=lambda one: one.following.path)
    assert found == [a_followed(3), a_followed(1, path="b.yaml")]


def test_commits_of_one_version_stand_in_the_order_of_their_history_and_tell_what_they_are(store: Store) -> None:
    def kit(digit: str, seconds: int) -> tuple[str, LibraryCommit]:
        moment = NOON + timedelta(seconds=seconds)
        commit = LibraryCommit(hash=digit * 40, committed_at=moment, authored_at=moment, subject="Zwei «Wörter»")
        return f"fake@git:/src#{commit.hash}", commit

    (newer, newer_commit), (older, older_commit) = kit("1", 60), kit("2", 0)
    kits = {
        "fake@1.0": a_kit(newer, version="3.6.0-dev", commit=newer_commit),
        "fake@1.1": a_kit(older, version="3.6.0-dev", commit=older_commit),
    }
    run = a_run(kits=kits)
    store.add_run(run)
    store.add_invocation(run, an_invocation(run, cpu_ns={"fake@1.0": 10, "fake@1.1": 20}))
    store.add_invocation(run, an_invocation(run, 1, outcomes=[an_outcome("fake@1.0")]))
    rows = store.samples(Selection(Metric.CPU_NS))
    assert [row.subject.commit for row in rows] == [older_commit, newer_commit]
    assert [row.commit for row in store.subjects()] == [older_commit, newer_commit]
    assert [row.subject.commit for row in store.outcomes(Selection(Metric.CPU_NS))] == [newer_commit]
