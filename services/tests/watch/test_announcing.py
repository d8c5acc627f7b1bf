"""What forges show of commits: each status once, another when it changes, and again when a forge says so; and one
comment at a pull request, for as long as there is something to say."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from kexbench.api.commit_models import CheckView, CommittedSpec, CommitView
from kexbench.domain.commits import BranchHead, Check, Commit, DryRun, HandledCommit, Reason, SpecFault, branch_of
from kexbench.domain.runs import RunState
from kexbench.domain.verdicts import MovedCell, RunVerdict, judged
from kexbench.forges import CommitStatus, ForgeError, NoForge, PullRequest
from kexbench.forges.words import DryRuns, DrySpec, dry_run_comment, dry_run_words
from kexbench.queue.troubles import Troubles
from kexbench.watch.announcing import Announcer
from kexbench.watch.telling import comment_of, status_of
from tests.builders import NOON

PAGES = "https://kexbench.example"


def headline(comment: str) -> str:
    return comment.splitlines()[0].removeprefix("### kexbench: ")


class FakeForge(NoForge):
    """Notes what it is sent; refuses while it has an error."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, str]] = []
        self.comments: dict[int, list[str]] = {}
        """Of each pull request all that its comment ever said."""
        self.open = {7, 8}
        self.error: ForgeError | None = None
        self.without_status: set[str] = set()

    def set_status(self, commit: str, status: CommitStatus) -> None:
        if self.error:
            raise self.error
        if commit[:1] in self.without_status:
            raise ForgeError("GitLab answered 404", "POST /statuses", "is there such a commit?", status=404)
        self.sent.append((commit[:1], status.context, status.state))

    def put_comment(self, pull_request: int, key: str, body: str) -> None:
        assert key == "benchmarks"
        if self.error:
            raise self.error
        said = self.comments.setdefault(pull_request, [])
        if said[-1:] != [body]:
            said.append(body)

    def has_comment(self, pull_request: int, key: str) -> bool:
        return pull_request in self.comments

    def pull_requests(self) -> tuple[PullRequest, ...]:
        return tuple(PullRequest(number, "fix", "a" * 40, "refs/pull", "main") for number in sorted(self.open))

    def headlines(self, pull_request: int) -> list[str]:
        return [headline(body) for body in self.comments.get(pull_request, [])]


@dataclass
class FakeControl:
    """Implements what an announcer needs of Control."""

    found: list[CommitView] = field(default_factory=list)
    pushed: dict[str, str] = field(default_factory=dict)
    """Heads that say nothing, by their branch."""
    judged: dict[str, RunVerdict] = field(default_factory=lambda: defaultdict(lambda: judged(9, 0, [])))

    def commits(self, repository: str) -> Sequence[CommitView]:
        return [one for one in self.found[::-1] if one.commit.repository == repository]

    def heads(self, repository: str) -> Mapping[str, BranchHead]:
        heads = {one.commit.branch: one.commit.commit for one in self.found} | self.pushed
        return {branch: BranchHead(commit=head) for branch, head in heads.items()}

    def verdicts(self, run_ids: Sequence[str]) -> Mapping[str, RunVerdict]:
        return {run_id: self.judged[run_id] for run_id in run_ids}

    def plan(self, asked: CommittedSpec) -> Check:
        raise AssertionError("an announcer plans nothing")

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
        self.troubles = Troubles()
        self.announcer = self.another()

    def another(self) -> Announcer:
        forges = {"benchmarks": self.forge, "other": self.other}
        return Announcer(self.control, forges, PAGES, lambda: self.now, self.said.append, self.troubles)

    def tell(
        self, commit: str, *checks: CheckView, repository: str = "benchmarks", pull_request: int | None = None
    ) -> None:
        """What the API says of a commit from now on."""
        pushed = Commit(
            repository=repository,
            branch=branch_of(pull_request) if pull_request else "main",
            commit=commit * 40,
            title="",
            author="",
            committed_at=NOON,
        )
        others = [one for one in self.control.found if one.commit != pushed]
        self.control.found = [*others, CommitView(commit=pushed, handled_at=self.now, checks=list(checks), note="")]


PLANNED = DryRun(cases=18, jobs=4, minutes={"local": 12.4}, runs_ahead=0, minutes_ahead=0, detects=None)
WOULD = headline(dry_run_comment(DryRuns("a" * 40, (DrySpec("a.yaml", PLANNED),), ())))
ERROR, NO_SPEC = (
    headline(dry_run_comment(DryRuns("a" * 40, (), faults)))
    for faults in ((SpecFault(file="a.yaml", line=1, column=1, text="no"),), ())
)


def moved(change: float) -> MovedCell:
    return MovedCell(
        case="RSA", pool="local", before="1.0", after="1.1", ratio=1 + change, low=0.99 + change, high=1.01 + change
    )


@pytest.fixture
def stage() -> Stage:
    return Stage()


def a_fault(line: int, column: int, text: str) -> SpecFault:
    return SpecFault(file="a.yaml", line=line, column=column, text=text)


def a_check(
    state: RunState | None = RunState.QUEUED,
    detail: str = "",
    *faults: SpecFault,
    path: str = "a.yaml",
    run_id: str = "run-1",
    dry_run: DryRun | None = None,
) -> CheckView:
    return CheckView(
        path=path,
        reason=Reason.SPEC,
        run_id=run_id if state else None,
        faults=list(faults),
        dry_run=dry_run,
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
        (RunState.INCOMPLETE, "error"),
        (RunState.FAILED, "error"),
        (RunState.CANCELLED, "error"),
    ],
)
def test_a_run_is_shown_by_its_state_with_a_link_to_its_page(state: RunState, shown: str) -> None:
    status = status_of(a_check(state, "a node was lost"), {}, PAGES)
    assert (status.context, status.state) == ("kexbench/a.yaml", shown)
    assert (status.description, status.url) == (f"{state}: a node was lost", f"{PAGES}/runs/run-1")


def test_a_spec_with_faults_is_an_error_that_tells_them() -> None:
    status = status_of(a_check(None, "", a_fault(6, 3, "no pool"), a_fault(9, 1, "no group")), {}, PAGES)
    assert (status.state, status.description) == ("error", "a.yaml:6:3: no pool; a.yaml:9:1: no group")
    assert status.url == f"{PAGES}/commits"


def test_a_dry_run_is_a_success_that_says_what_it_would_be() -> None:
    status = status_of(a_check(None, dry_run=PLANNED), {}, PAGES)
    assert (status.state, status.url) == ("success", f"{PAGES}/commits")
    assert status.description == dry_run_words(PLANNED)


@pytest.mark.parametrize(
    ("state", "changes", "shown"),
    [
        (RunState.FINISHED, (), "success"),
        (RunState.FINISHED, (-0.02,), "success"),
        (RunState.FINISHED, (-0.02, 0.03), "failure"),
        (RunState.INCOMPLETE, (), "error"),
        (RunState.INCOMPLETE, (0.03,), "failure"),
        (RunState.FAILED, (0.03,), "error"),
    ],
)
def test_of_a_run_that_has_ended_the_verdict_is_announced_and_what_costs_more_is_a_failure(
    state: RunState, changes: tuple[float, ...], shown: str
) -> None:
    detail = "" if state is RunState.FINISHED else "a node was lost"
    verdict = judged(9, 0, list(map(moved, changes)))
    status = status_of(a_check(state, detail), {"run-1": verdict}, PAGES)
    assert (status.state, detail in status.description, verdict.sentence in status.description) == (shown, True, True)
    ends = [f"; largest: {cell.before} → {cell.after}" for cell in verdict.largest[:1]]
    assert status.description.endswith(ends[0] if ends else verdict.sentence)


def test_a_run_that_compared_nothing_is_no_success_and_its_pull_request_says_why() -> None:
    verdict = judged(0, 0, [], missing={"unsupported": 18, "too few invocations": 2})
    status = status_of(a_check(RunState.FINISHED), {"run-1": verdict}, PAGES)
    sentence = "nothing could be compared: 18 unsupported, 2 too few invocations"
    assert (status.state, status.description) == ("error", sentence)
    comment = comment_of("a" * 40, [a_check(RunState.FINISHED)], {"run-1": verdict}, PAGES)
    assert comment is not None
    assert comment.is_news
    assert sentence in comment.body
    assert "| unsupported | 18 |" in comment.body
    assert status_of(a_check(RunState.FINISHED), {"run-1": judged(0, 0, [])}, PAGES).state == "error"


def test_a_case_that_the_newer_version_lost_is_a_failure_and_news_at_a_pull_request() -> None:
    checks = [a_check(RunState.FINISHED)]
    for lost in (0, 1):
        verdict = judged(9, 0, [], missing={"crashed": 1}, lost=lost)
        comment = comment_of("a" * 40, checks, {"run-1": verdict}, PAGES)
        assert comment is not None
        assert comment.is_news == bool(lost)
        assert status_of(checks[0], {"run-1": verdict}, PAGES).state == ("failure" if lost else "success")
        assert "1 without a result (crashed)" in status_of(checks[0], {"run-1": verdict}, PAGES).description


def test_a_status_is_sent_once_and_again_when_it_changes(stage: Stage) -> None:
    stage.tell("a", a_check(path="a.yaml"), a_check(None, "", a_fault(1, 1, "no"), path="b.yaml"))
    for _ in range(2):
        assert stage.announcer.once()
    assert stage.forge.sent == [("a", "kexbench/a.yaml", "pending"), ("a", "kexbench/b.yaml", "error")]
    stage.tell("a", a_check(RunState.FINISHED, path="a.yaml"), a_check(None, "", a_fault(1, 1, "no"), path="b.yaml"))
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


def test_a_forge_that_refuses_holds_up_no_other_and_is_reported_once(stage: Stage) -> None:
    stage.tell("a", a_check())
    stage.tell("b", a_check(), repository="other")
    stage.forge.error = ForgeError("GitHub answered 403", "POST /statuses", "give the token the right")
    for _ in range(2):
        assert not stage.announcer.once()
    assert stage.other.sent == [("b", "kexbench/a.yaml", "pending")]
    (trouble,) = stage.troubles.now()
    assert trouble.part == "forge of repository benchmarks"
    assert trouble.reason == "GitHub answered 403 at POST /statuses; give the token the right"
    stage.forge.error = None
    assert stage.announcer.once()
    assert stage.troubles.now() == []
    assert stage.forge.sent == [("a", "kexbench/a.yaml", "pending")]


def a_bug(*_: object) -> None:
    raise KeyError("a bug")


def test_an_error_that_nobody_expected_is_a_trouble_of_its_forge_and_holds_up_no_other(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.tell("a", a_check())
    stage.tell("b", a_check(), repository="other")
    with monkeypatch.context() as patched:
        patched.setattr(stage.forge, "set_status", a_bug)
        assert not stage.announcer.once()
    assert stage.other.sent == [("b", "kexbench/a.yaml", "pending")]
    (trouble,) = stage.troubles.now()
    assert (trouble.part, trouble.reason) == ("forge of repository benchmarks", "KeyError: 'a bug'")
    assert stage.announcer.once()
    assert stage.troubles.now() == []


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


def test_a_verdict_that_changes_later_is_shown_as_it_is_now(stage: Stage) -> None:
    """A qualification may find that builds of one source differ by more."""
    stage.control.judged["run-1"] = judged(9, 0, [moved(0.03)])
    stage.tell("a", a_check(RunState.FINISHED), pull_request=7)
    stage.announcer.once()
    stage.control.judged["run-1"] = judged(9, 1, [])
    stage.announcer.once()
    assert stage.forge.sent == [("a", "kexbench/a.yaml", state) for state in ("failure", "success")]
    assert stage.forge.headlines(7) == [judged(9, 0, [moved(0.03)]).sentence, judged(9, 1, []).sentence]


def test_a_dry_run_is_announced_at_its_pull_request_once_and_a_newer_one_in_the_same_comment(stage: Stage) -> None:
    stage.tell("a", a_check(None, dry_run=PLANNED), pull_request=7)
    for announcer in (stage.announcer, stage.announcer, stage.another()):
        assert announcer.once()
    assert stage.forge.headlines(7) == [WOULD]
    stage.tell("b", a_check(None, "", a_fault(6, 3, "no pool")), pull_request=7)
    for announcer in (stage.announcer, stage.another()):
        assert announcer.once()
    assert stage.forge.headlines(7) == [WOULD, ERROR]
    assert "| `a.yaml:6` | `no pool` |" in stage.forge.comments[7][-1]
    assert stage.other.comments == {}


def test_a_pull_request_that_changes_no_spec_any_more_has_its_comment_corrected(stage: Stage) -> None:
    stage.tell("a", a_check(None, "", a_fault(6, 3, "no pool")), pull_request=7)
    stage.tell("b", a_check(None, dry_run=PLANNED), pull_request=8)
    stage.forge.open = {7}
    stage.announcer.once()
    stage.forge.open = {7, 8}
    stage.control.pushed = {branch_of(7): "c" * 40, branch_of(8): "d" * 40}
    for announcer in (stage.announcer, stage.another()):
        assert announcer.once()
    assert stage.forge.headlines(7) == [ERROR, NO_SPEC]
    assert stage.forge.headlines(8) == [], "nothing was said there"


def test_without_a_spec_that_is_changed_there_is_silence(stage: Stage) -> None:
    stage.control.pushed = {branch_of(7): "c" * 40}
    assert stage.announcer.once()
    assert (stage.forge.comments, stage.forge.sent) == ({}, [])


def test_a_hundred_specs_are_a_hundred_statuses_and_one_comment_that_is_cut(stage: Stage) -> None:
    stage.tell("a", *(a_check(None, path=f"{n:03}.yaml", dry_run=PLANNED) for n in range(100)), pull_request=7)
    assert stage.announcer.once()
    assert len(stage.forge.sent) == 100
    (body,) = stage.forge.comments[7]
    assert (body.count("\n| `"), "and 80 more" in body) == (20, True)


def test_a_measured_pull_request_shows_what_moved_once_its_run_has_ended(stage: Stage) -> None:
    stage.control.judged["run-1"] = judged(9, 0, [moved(0.03)])
    for state in (RunState.QUEUED, RunState.RUNNING):
        stage.tell("a", a_check(state), pull_request=7)
        assert stage.announcer.once()
    assert stage.forge.comments == {}
    stage.tell("a", a_check(RunState.FINISHED), pull_request=7)
    for announcer in (stage.announcer, stage.another()):
        assert announcer.once()
    assert stage.forge.headlines(7) == [judged(9, 0, [moved(0.03)]).sentence]
    assert stage.forge.sent[-1] == ("a", "kexbench/a.yaml", "failure")


def test_where_nothing_moved_a_pull_request_has_a_comment_only_if_an_earlier_one_said_otherwise(stage: Stage) -> None:
    stage.control.judged["run-1"] = judged(9, 0, [])
    stage.tell("a", a_check(RunState.FINISHED), pull_request=7)
    stage.tell("b", a_check(None, dry_run=PLANNED), pull_request=8)
    stage.announcer.once()
    stage.control.judged["run-2"] = judged(9, 0, [])
    stage.tell("c", a_check(RunState.RUNNING, run_id="run-2"), pull_request=8)
    stage.announcer.once()
    assert (stage.forge.headlines(7), stage.forge.headlines(8)) == ([], [WOULD])
    stage.tell("c", a_check(RunState.FINISHED, run_id="run-2"), pull_request=8)
    stage.announcer.once()
    assert (stage.forge.headlines(7), stage.forge.headlines(8)) == ([], [WOULD, judged(9, 0, []).sentence])


def test_a_pull_request_that_is_merged_or_closed_has_nothing_more_but_its_status(stage: Stage) -> None:
    stage.control.judged["run-1"] = judged(9, 0, [moved(0.03)])
    stage.forge.open = set()
    stage.tell("a", a_check(RunState.FINISHED), pull_request=7)
    stage.tell("b", a_check(RunState.FINISHED))
    assert stage.announcer.once()
    assert stage.forge.comments == {}
    assert sorted(stage.forge.sent) == [(commit, "kexbench/a.yaml", "failure") for commit in "ab"]


def test_a_head_that_the_forge_shows_no_status_of_holds_up_nothing_and_is_reported_once(stage: Stage) -> None:
    stage.forge.without_status = {"a"}
    stage.tell("b", a_check(None, dry_run=PLANNED), pull_request=8)
    stage.tell("a", a_check(None, dry_run=PLANNED), pull_request=7)
    answered = [stage.announcer.once() for _ in range(2)]
    assert answered == [False, True]
    assert len(stage.said) == 1
    assert stage.forge.sent == [("b", "kexbench/a.yaml", "success")]
    assert (stage.forge.headlines(7), stage.forge.headlines(8)) == ([WOULD], [WOULD])


def test_a_forge_that_is_away_has_everything_when_it_is_back(stage: Stage) -> None:
    stage.tell("a", a_check(None, dry_run=PLANNED), pull_request=7)
    stage.forge.error = ForgeError("GitHub can't be reached", "GET", "look", again_at=NOON + timedelta(minutes=1))
    assert not stage.announcer.once()
    stage.forge.error = None
    stage.now += timedelta(minutes=2)
    assert stage.announcer.once()
    assert (len(stage.forge.sent), stage.forge.headlines(7)) == (1, [WOULD])
