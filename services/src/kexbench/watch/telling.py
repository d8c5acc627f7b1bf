"""What forges show for a commit's specs: the status of each, and the comment on a pull request. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kexbench.api.commit_models import CheckView
from kexbench.domain.runs import RunState
from kexbench.domain.verdicts import RunVerdict
from kexbench.forges import CommitStatus
from kexbench.forges.port import State
from kexbench.forges.words import DryRuns, DrySpec, FinishedRun, dry_run_words, is_worth_saying, pull_request_comment

Verdicts = Mapping[str, RunVerdict]
"""The verdicts of runs that have ended, by run id."""
SHORT_HASH = 12
_STATES: Mapping[RunState, State] = {
    RunState.FINISHED: "success",
    RunState.INCOMPLETE: "error",
    RunState.FAILED: "error",
    RunState.CANCELLED: "error",
}


@dataclass(frozen=True)
class Comment:
    """`is_news`: whether to post it even if the pull request has no earlier comment to correct."""

    body: str
    is_news: bool


def status_of(check: CheckView, verdicts: Verdicts, pages_url: str) -> CommitStatus:
    """The status of a spec: `success` for a dry run, `error` with faults or after a failed run, and `pending` until the
    run has ended. A run with results is a `failure` if the newer version is slower in any case, or fails
    there alone; otherwise it is an `error` if it compared nothing or is incomplete."""
    context = f"kexbench/{check.path}"
    if check.run_id is None:
        url = f"{pages_url}/commits"
        if check.dry_run:
            return CommitStatus(context, "success", dry_run_words(check.dry_run), url)
        return CommitStatus(context, "error", "; ".join(map(str, check.faults)), url)
    state, verdict = check.state or RunState.QUEUED, verdicts.get(check.run_id)
    shown = _STATES.get(state, "pending")
    words = f"{state}: {check.detail}" if check.detail else str(state)
    if verdict and state.has_results:
        is_whole = state is RunState.FINISHED and not verdict.trouble
        shown = "failure" if verdict.is_worse else "success" if verdict.compared and is_whole else "error"
    if verdict and state is RunState.FINISHED:
        words = _verdict_words(verdict)
    elif verdict and verdict.compared:
        words = f"{words}; {_verdict_words(verdict)}"
    return CommitStatus(context, shown, words, _page(check.run_id, pages_url))


def comment_of(commit: str, checks: Sequence[CheckView], verdicts: Verdicts, pages_url: str) -> Comment | None:
    """The comment for the pull request with this head. None while there is no news and runs that have not ended may
    bring some."""
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
    parts: list[DryRuns | FinishedRun] = [dry, *finished]
    is_news = any(is_worth_saying(part, said_before=False) for part in parts)
    if not is_news and any(check.run_id is not None and check.run_id not in verdicts for check in checks):
        return None
    return Comment(pull_request_comment(dry, finished), is_news)


def _verdict_words(verdict: RunVerdict) -> str:
    """The sentence, with the two ends of the largest change."""
    ends = [f"; largest: {cell.before} → {cell.after}" for cell in verdict.largest[:1]]
    return "".join([verdict.sentence, *ends])


def _page(run_id: str, pages_url: str) -> str:
    return f"{pages_url}/runs/{run_id}"
