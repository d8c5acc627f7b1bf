"""What forges are told of a commit's specs: the status of each, and the comment at a pull request. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kexbench.api.commit_models import CheckView
from kexbench.domain.runs import RunState
from kexbench.domain.verdicts import RunVerdict
from kexbench.forges import CommitStatus
from kexbench.forges.port import State
from kexbench.forges.words import DryRuns, DrySpec, FinishedRun, dry_run_words, is_worth_saying, pull_request_comment

Verdicts = Mapping[str, RunVerdict]
"""Of runs that have ended, by their ids."""
SHORT_HASH = 12
_STATES: Mapping[RunState, State] = {
    RunState.FINISHED: "success",
    RunState.FAILED: "error",
    RunState.CANCELLED: "error",
}


@dataclass(frozen=True)
class Comment:
    """`is_news`: whether it is for everybody, and not only for who was told something before."""

    body: str
    is_news: bool


def status_of(check: CheckView, verdicts: Verdicts, pages_url: str) -> CommitStatus:
    """What a forge shows of a spec: of a dry run what it would be, with faults `error`, `pending` until its run has
    ended, then the verdict, with anything that costs more `failure`."""
    context = f"kexbench/{check.path}"
    if check.run_id is None:
        url = f"{pages_url}/commits"
        if check.dry_run:
            return CommitStatus(context, "success", dry_run_words(check.dry_run), url)
        return CommitStatus(context, "error", "; ".join(map(str, check.faults)), url)
    state, found = check.state or RunState.QUEUED, verdicts.get(check.run_id)
    shown = _STATES.get(state, "pending")
    words = f"{state}: {check.detail}" if check.detail else str(state)
    if found and state is RunState.FINISHED:
        shown, words = "failure" if found.more else shown, found.sentence
    elif found and found.compared:
        words = f"{words}; {found.sentence}"
    return CommitStatus(context, shown, words, _page(check.run_id, pages_url))


def comment_of(commit: str, checks: Sequence[CheckView], verdicts: Verdicts, pages_url: str) -> Comment | None:
    """What is to be read at the pull request whose head this commit is. None while there is no news and runs that have
    not ended may bring some."""
    short = commit[:SHORT_HASH]
    dry = DryRuns(
        commit=short,
        specs=tuple(DrySpec(check.path, check.dry_run) for check in checks if check.dry_run),
        faults=tuple(fault for check in checks for fault in check.faults),
    )
    finished = [
        FinishedRun(check.path, short, _page(check.run_id, pages_url), verdicts[check.run_id])
        for check in checks
        if check.run_id is not None and check.run_id in verdicts
    ]
    said: list[DryRuns | FinishedRun] = [dry, *finished]
    is_news = any(is_worth_saying(one, said_before=False) for one in said)
    if not is_news and any(check.run_id is not None and check.run_id not in verdicts for check in checks):
        return None
    return Comment(pull_request_comment(dry, finished), is_news)


def _page(run_id: str, pages_url: str) -> str:
    return f"{pages_url}/runs/{run_id}"
