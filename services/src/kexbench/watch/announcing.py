"""Tells forges what became of commits: a status for each spec, sent when it is another one than before, and one comment
at each open pull request."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Event
from typing import Protocol

from kexbench.api.commit_models import CheckView, CommitView
from kexbench.api.troubles import Troubles
from kexbench.client import ApiError
from kexbench.domain.commits import branch_of
from kexbench.domain.verdicts import RunVerdict
from kexbench.forges import CommitStatus, Forge, ForgeError
from kexbench.watch.telling import Verdicts, comment_of, status_of

_FOR_GOOD = (400, 404, 422)
"""What forges answer where they have no such commit, or take no status of it."""
LASTING = timedelta(days=3)
"""What happened to older commits, nobody waits for any more."""


class Known(Protocol):
    """What the API knows of commits. All of it raises ApiError."""

    def commits(self, repository: str) -> Sequence[CommitView]:
        """The newest that say something of a spec, with the states of their runs."""
        ...

    def verdict(self, run_id: str) -> RunVerdict:
        """Of a run that has ended."""
        ...

    def heads(self, repository: str) -> Mapping[str, str]:
        """The commit of each branch that was handled last."""
        ...


class Announcer:
    """Keeps nothing but what it sent; begun anew, the forge is asked what it shows already."""

    def __init__(
        self,
        api: Known,
        forges: Mapping[str, Forge],
        pages_url: str,
        clock: Callable[[], datetime],
        say: Callable[[str], None],
        troubles: Troubles | None = None,
    ) -> None:
        """`forges` by the repository's name; `pages_url` is where people reach the dashboard."""
        self._api = api
        self._guard = (troubles or Troubles()).guard
        self._forges = forges
        self._pages_url = pages_url.rstrip("/")
        self._clock = clock
        self._say = say
        self._verdicts: dict[str, Verdicts] = {}
        self._sent: dict[tuple[str, str], CommitStatus] = {}
        self._commented: dict[tuple[str, int], str] = {}
        """What the comment at each pull request says, or would say if anybody had to be told."""
        self._again_at: dict[str, datetime] = {}
        self._troubles: dict[str, list[str]] = {}
        """What was told of each repository, so that it is told once."""

    def run(self, ending: Event, interval_s: float) -> None:
        while not ending.is_set():
            with self._guard("forges"):
                self.once()
            ending.wait(interval_s)

    def once(self) -> bool:
        """Tell every forge what it doesn't show yet; whether all took it."""
        told = [self._announce(name, forge) for name, forge in self._forges.items()]
        return all(told)

    def _announce(self, name: str, forge: Forge) -> bool:
        """A forge that refuses now holds up no other, and is asked again when it says."""
        if self._again_at.get(name, self._clock()) > self._clock():
            return False
        troubles: list[str] = []
        try:
            found = self._api.commits(name)
            verdicts = self._verdicts_of(name, found)
            for commit in found:
                if self._is_recent(commit):
                    troubles += self._set_statuses(forge, commit, verdicts)
            troubles += self._put_comments(name, forge, found, verdicts)
        except (ForgeError, ApiError) as error:
            if isinstance(error, ForgeError) and error.again_at is not None:
                self._again_at[name] = error.again_at
            troubles.append(str(error))
        known = self._troubles.get(name, [])
        for trouble in dict.fromkeys(troubles):
            if trouble not in known:
                self._say(f"repository {name}: {trouble}")
        self._troubles[name] = troubles
        return not troubles

    def _is_recent(self, found: CommitView) -> bool:
        return found.handled_at > self._clock() - LASTING

    def _verdicts_of(self, name: str, found: Sequence[CommitView]) -> Verdicts:
        """Of the runs that have ended; each is asked for once, unless it went on meanwhile."""
        checks = [check for commit in found if self._is_recent(commit) for check in commit.checks]
        ended = [check.run_id for check in checks if check.run_id and check.state and not check.state.is_open]
        known = self._verdicts.get(name, {})
        self._verdicts[name] = {one: known.get(one) or self._api.verdict(one) for one in ended}
        return self._verdicts[name]

    def _set_statuses(self, forge: Forge, found: CommitView, verdicts: Verdicts) -> list[str]:
        """What a forge refuses of this commit for good is told, and holds up nothing: at GitLab a fork's commit has no
        status. Raises ForgeError where it refuses more than that."""
        refused = []
        for check in found.checks:
            status = status_of(check, verdicts, self._pages_url)
            key = (found.commit.commit, status.context)
            if self._sent.get(key) == status:
                continue
            try:
                forge.set_status(found.commit.commit, status)
            except ForgeError as error:
                if found.commit.pull_request is None or error.again_at is not None or error.status not in _FOR_GOOD:
                    raise
                refused.append(str(error))
            self._sent[key] = status
        return refused

    def _put_comments(self, name: str, forge: Forge, found: Sequence[CommitView], verdicts: Verdicts) -> list[str]:
        """One at each open pull request where there is something to say. What a forge refuses of one holds up no other.
        Raises ForgeError where it asks to be left alone."""
        refused: list[str] = []
        opened: set[int] | None = None
        for number, commit, checks in self._pull_requests(name, found):
            said = comment_of(commit, checks, verdicts, self._pages_url)
            if said is None or self._commented.get((name, number)) == said.body:
                continue
            if opened is None:
                opened = {one.number for one in forge.pull_requests()}
            try:
                if number in opened and (said.is_news or forge.has_comment(number, name)):
                    forge.put_comment(number, name, said.body)
                self._commented[name, number] = said.body
            except ForgeError as error:
                if error.again_at is not None:
                    raise
                refused.append(str(error))
        return refused

    def _pull_requests(self, name: str, found: Sequence[CommitView]) -> Iterator[tuple[int, str, Sequence[CheckView]]]:
        """Number, head and checks of those that are told of, once each; a head that changes no spec is not among the
        commits."""
        newest: dict[int, CommitView] = {}
        for one in found:
            if one.commit.pull_request is not None:
                newest.setdefault(one.commit.pull_request, one)
        heads = self._api.heads(name) if newest else {}
        told = {one.commit.commit for one in found}
        for number, one in newest.items():
            head = heads.get(branch_of(number), one.commit.commit)
            if head not in told:
                yield number, head, ()
            elif head == one.commit.commit and one.checks and self._is_recent(one):
                yield number, head, one.checks
