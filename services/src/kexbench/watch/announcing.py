"""Reports the results of commits to forges: a status for each spec, sent when it changes, and one comment on each open
pull request."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Event
from typing import Protocol

from kexbench.api.commit_models import CheckView, CommitView
from kexbench.client import ApiError
from kexbench.domain.commits import BranchHead, branch_of
from kexbench.domain.verdicts import RunVerdict
from kexbench.forges import CommitStatus, Forge, ForgeError
from kexbench.queue.troubles import Troubles, always
from kexbench.watch.telling import Verdicts, comment_of, status_of

_FOR_GOOD = (400, 404, 422)
"""Statuses of a forge's answer if it lacks the commit or accepts no status for it."""
LASTING = timedelta(days=3)
"""Older commits get no status and no comment."""


class Known(Protocol):
    """What the API knows about commits. All methods raise ApiError."""

    def commits(self, repository: str) -> Sequence[CommitView]:
        """The newest commits that have checks or a note, with the states of their runs."""
        ...

    def verdicts(self, run_ids: Sequence[str]) -> Mapping[str, RunVerdict]:
        """The verdicts of those runs that have ended."""
        ...

    def heads(self, repository: str) -> Mapping[str, BranchHead]:
        """The last handled commit of each branch."""
        ...


class Announcer:
    """Keeps only what it sent. After a restart, it reads what the forge shows already."""

    def __init__(
        self,
        api: Known,
        forges: Mapping[str, Forge],
        pages_url: str,
        clock: Callable[[], datetime],
        say: Callable[[str], None],
        troubles: Troubles | None = None,
    ) -> None:
        """`forges` by the name of the repository; `pages_url` is where people reach the dashboard."""
        self._api = api
        self._troubles = troubles or Troubles()
        self._forges = forges
        self._pages_url = pages_url.rstrip("/")
        self._clock = clock
        self._say = say
        self._sent: dict[tuple[str, str], CommitStatus] = {}
        self._commented: dict[tuple[str, int], str] = {}
        """The latest comment on each pull request, sent or not."""
        self._retry_at: dict[str, datetime] = {}
        self._errors: dict[str, list[str]] = {}
        """The last reported errors of each repository, so that each is reported once."""

    def run(self, ending: Event, interval_s: float, acts: Callable[[], bool] = always) -> None:
        self._troubles.begin_rounds("announcer")
        while not ending.is_set():
            if acts():
                self._troubles.guard_round("announcer", "forges", self.once)
            ending.wait(interval_s)

    def once(self) -> bool:
        """Send every forge what it doesn't show yet. True if all forges accepted everything."""
        accepted = [self._announce(name, forge) for name, forge in self._forges.items()]
        return all(accepted)

    def _announce(self, name: str, forge: Forge) -> bool:
        """A forge that refuses does not hold up the others. It is tried again at the time that it states."""
        if self._retry_at.get(name, self._clock()) > self._clock():
            return False
        with self._troubles.guard(f"forge of repository {name}", (ForgeError, ApiError)):
            return self._send(name, forge)
        return False

    def _send(self, name: str, forge: Forge) -> bool:
        """Returns whether everything was accepted; what is refused for good is reported once. Raises ForgeError and
        ApiError."""
        errors: list[str] = []
        try:
            commits = self._api.commits(name)
            verdicts = self._verdicts_of(commits)
            for commit in commits:
                if self._is_recent(commit):
                    errors += self._set_statuses(forge, commit, verdicts)
            errors += self._put_comments(name, forge, commits, verdicts)
        except ForgeError as error:
            if error.again_at is not None:
                self._retry_at[name] = error.again_at
            raise
        reported = self._errors.get(name, [])
        for text in dict.fromkeys(errors):
            if text not in reported:
                self._say(f"repository {name}: {text}")
        self._errors[name] = errors
        return not errors

    def _is_recent(self, commit: CommitView) -> bool:
        return commit.handled_at > self._clock() - LASTING

    def _verdicts_of(self, commits: Sequence[CommitView]) -> Verdicts:
        """The verdicts of the runs that have ended. None is kept: a later qualification may change it."""
        checks = [check for commit in commits if self._is_recent(commit) for check in commit.checks]
        ended = [check.run_id for check in checks if check.run_id and check.state and not check.state.is_open]
        return self._api.verdicts(list(dict.fromkeys(ended)))

    def _set_statuses(self, forge: Forge, view: CommitView, verdicts: Verdicts) -> list[str]:
        """The errors of statuses that the forge refuses for good, which hold up nothing: GitLab accepts none for a
        fork's commit. Raises ForgeError for other refusals."""
        refused = []
        for check in view.checks:
            status = status_of(check, verdicts, self._pages_url)
            key = (view.commit.commit, status.context)
            if self._sent.get(key) == status:
                continue
            try:
                forge.set_status(view.commit.commit, status)
            except ForgeError as error:
                if view.commit.pull_request is None or error.again_at is not None or error.status not in _FOR_GOOD:
                    raise
                refused.append(str(error))
            self._sent[key] = status
        return refused

    def _put_comments(self, name: str, forge: Forge, commits: Sequence[CommitView], verdicts: Verdicts) -> list[str]:
        """Comment on each open pull request that has news. Returns the errors of refused comments, which hold up no
        other. Raises ForgeError if the forge asks to wait."""
        refused: list[str] = []
        opened: set[int] | None = None
        for number, head, checks in self._pull_requests(name, commits):
            comment = comment_of(head, checks, verdicts, self._pages_url)
            if comment is None or self._commented.get((name, number)) == comment.body:
                continue
            if opened is None:
                opened = {pull_request.number for pull_request in forge.pull_requests()}
            try:
                if number in opened and (comment.is_news or forge.has_comment(number, name)):
                    forge.put_comment(number, name, comment.body)
                self._commented[name, number] = comment.body
            except ForgeError as error:
                if error.again_at is not None:
                    raise
                refused.append(str(error))
        return refused

    def _pull_requests(self, name: str, views: Sequence[CommitView]) -> Iterator[tuple[int, str, Sequence[CheckView]]]:
        """Number, head and checks of each pull request. A head that changes no spec is not among the commits."""
        newest: dict[int, CommitView] = {}
        for view in views:
            if view.commit.pull_request is not None:
                newest.setdefault(view.commit.pull_request, view)
        heads = self._api.heads(name) if newest else {}
        hashes = {view.commit.commit for view in views}
        for number, view in newest.items():
            branch = branch_of(number)
            head = heads[branch].commit if branch in heads else view.commit.commit
            if head not in hashes:
                yield number, head, ()
            elif head == view.commit.commit and view.checks and self._is_recent(view):
                yield number, head, view.checks
