"""What forges show of commits: each status once, another when it changes, and again when a forge says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from kexbench.api.commit_models import CheckView, CommittedSpec, CommitView
from kexbench.domain.commits import Check, Commit, HandledCommit, Reason
from kexbench.domain.runs import RunState
from kexbench.forges import CommitStatus, ForgeError, NoForge
from kexbench.watch.announcing import Announcer, status_of
from tests.builders import NOON

PAGES = "https://kexbench.example"


class FakeForge(NoForge):
    """Notes what it is sent; refuses while it has an error."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, str]] = []
        self.error: ForgeError | None = None

    def set_status(self, commit: str, status: CommitStatus) -> None:
        if self.error:
            raise self.error
        self.sent.append((commit[:1], status.context, status.state))


@dataclass
class FakeControl:
    """Implements what an announcer needs of Control."""

    found: list[CommitView] = field(default_factory=list)

    def commits(self, repository: str) -> Sequence[CommitView]:
        return [one for one in self.found if one.commit.repository == repository]

    def heads(self, repository: str) -> Mapping[str, str]:
        return {}

    def run(self, asked: CommittedSpec) -> Check:
        raise AssertionError("an announcer begins nothing")

    def handled(self, handled: HandledCommit) -> None:
        raise AssertionError("an announcer handles nothing")

    def rings(self) -> Mapping[str, int]:
        return {}


class Stage:
    def __init__(self) -> None:
        self.now: datetime = NOON
        self.control, self.forge, self.other = FakeControl(), FakeForge(), FakeForge()
        self.said: list[str] = []
        self.announcer = self.another()

    def another(self) -> Announcer:
        forges = {"benchmarks": self.forge, "other": self.other}
        return Announcer(self.control, forges, PAGES, lambda: self.now, self.said.append)

    def tell(self, commit: str, *checks: CheckView, repository: str = "benchmarks") -> None:
        """What the API says of a commit from now on."""
        told = Commit(repository=repository, branch="main", commit=commit * 40, title="", author="", committed_at=NOON)
        others = [one for one in self.control.found if one.commit != told]
        self.control.found = [*others, CommitView(commit=told, handled_at=self.now, checks=list(checks), note="")]


@pytest.fixture
def stage() -> Stage:
    return Stage()


def a_check(
    state: RunState | None = RunState.QUEUED, detail: str = "", *faults: str, path: str = "a.yaml"
) -> CheckView:
    return CheckView(
        path=path,
        reason=Reason.SPEC,
        run_id="run-1" if state else None,
        faults=list(faults),
        state=state,
        detail=detail,
        invocations_stored=0,
    )


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (RunState.QUEUED, "pending"),
        (RunState.BUILDING, "pending"),
        (RunState.RUNNING, "pending"),
        (RunState.CANCELLING, "pending"),
        (RunState.FINISHED, "success"),
        (RunState.FAILED, "error"),
        (RunState.CANCELLED, "error"),
    ],
)
def test_a_run_is_shown_by_its_state_with_a_link_to_its_page(state: RunState, shown: str) -> None:
    status = status_of(a_check(state, "a node was lost"), PAGES)
    assert (status.context, status.state) == ("kexbench/a.yaml", shown)
    assert (status.description, status.url) == (f"{state}: a node was lost", f"{PAGES}/runs/run-1")


def test_a_spec_with_faults_is_an_error_that_tells_them() -> None:
    status = status_of(a_check(None, "", "a.yaml:6:3: no pool", "a.yaml:9:1: no group"), PAGES)
    assert (status.state, status.description) == ("error", "a.yaml:6:3: no pool; a.yaml:9:1: no group")
    assert status.url == f"{PAGES}/commits"


def test_a_status_is_sent_once_and_again_when_it_changes(stage: Stage) -> None:
    stage.tell("a", a_check(path="a.yaml"), a_check(None, "", "b.yaml:1:1: no", path="b.yaml"))
    for _ in range(2):
        assert stage.announcer.once()
    assert stage.forge.sent == [("a", "kexbench/a.yaml", "pending"), ("a", "kexbench/b.yaml", "error")]
    stage.tell("a", a_check(RunState.FINISHED, path="a.yaml"), a_check(None, "", "b.yaml:1:1: no", path="b.yaml"))
    assert stage.announcer.once()
    assert stage.forge.sent[2:] == [("a", "kexbench/a.yaml", "success")]
    assert stage.other.sent == []


def test_begun_anew_it_sends_what_is_recent_again_and_leaves_what_is_old(stage: Stage) -> None:
    stage.tell("a", a_check())
    stage.announcer.once()
    stage.now += timedelta(days=4)
    stage.tell("b", a_check())
    stage.another().once()
    assert [commit for commit, *_ in stage.forge.sent] == ["a", "b"]


def test_a_forge_that_refuses_holds_up_no_other_and_is_told_once(stage: Stage) -> None:
    stage.tell("a", a_check())
    stage.tell("b", a_check(), repository="other")
    stage.forge.error = ForgeError("GitHub answered 403", "POST /statuses", "give the token the right")
    for _ in range(2):
        assert not stage.announcer.once()
    assert stage.other.sent == [("b", "kexbench/a.yaml", "pending")]
    assert stage.said == ["repository benchmarks: GitHub answered 403 at POST /statuses; give the token the right"]
    stage.forge.error = None
    assert stage.announcer.once()
    assert stage.forge.sent == [("a", "kexbench/a.yaml", "pending")]


def test_a_forge_that_has_enough_is_left_alone_until_it_says(stage: Stage) -> None:
    stage.tell("a", a_check())
    stage.forge.error = ForgeError("limit", "GitHub", "wait", again_at=NOON + timedelta(minutes=5))
    assert not stage.announcer.once()
    stage.forge.error = None
    stage.now += timedelta(minutes=4)
    assert not stage.announcer.once()
    assert stage.forge.sent == []
    stage.now += timedelta(minutes=2)
    assert stage.announcer.once()
    assert len(stage.forge.sent) == 1
