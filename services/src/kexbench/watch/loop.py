"""The watcher: looks where branches lead to, and has measured what their new commits say."""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Event
from types import MappingProxyType

from pydantic import ValidationError

from kexbench.api.commit_models import CommittedSpec
from kexbench.api.troubles import Troubles
from kexbench.client import ApiClient, ApiError
from kexbench.domain.commits import NO_COMMIT, Check, Commit, HandledCommit, Reason
from kexbench.domain.moments import EARLIEST
from kexbench.forges import Forge, ForgeError
from kexbench.planning.commits import SKIP, Faulty, Wanted, at_most, wanted
from kexbench.watch.following import Follower
from kexbench.watch.proposals import MOST_SPECS, Proposal, Proposals
from kexbench.watch.source import Source, SourceError

LISTEN_S = 2.0
_TICK = timedelta(milliseconds=1)
"""As fine as the store's times are."""
_log = logging.getLogger(__name__)


class Watcher:
    def __init__(
        self,
        api: ApiClient,
        sources: Sequence[Source],
        clock: Callable[[], datetime],
        say: Callable[[str], None] = _log.info,
        forges: Mapping[str, Forge] = MappingProxyType({}),
        follower: Follower | None = None,
        troubles: Troubles | None = None,
    ) -> None:
        """`say` is told what is asked for, and what stands in the way; `forges` by the repository's name; `follower`
        looks at what specs follow."""
        self._follower = follower
        self._guard = (troubles or Troubles()).guard
        self._api = api
        self._sources = sources
        self._clock = clock
        self._say = say
        self._proposals = Proposals(forges, clock)
        self._newest = EARLIEST
        self._rings: Mapping[str, int] = {}
        self._troubles: dict[str, str] = {}
        """What was told of each repository, so that it is told once."""

    def run(self, ending: Event, interval_s: float) -> None:
        """Look and ask until the event is set; between two looks only where a webhook rings."""
        next_look = -math.inf
        while not ending.is_set():
            with self._guard("repositories"):
                if time.monotonic() >= next_look:
                    next_look = time.monotonic() + interval_s
                    self.once()
                else:
                    self.listen()
            ending.wait(min(interval_s, LISTEN_S))

    def listen(self) -> None:
        """Look at the repositories that a webhook rang for since the last time."""
        try:
            rings = self._api.rings()
        except ApiError:  # which is told when it is time for a look
            return
        rung = [
            source for source in self._sources if rings.get(name := source.repository.name) != self._rings.get(name)
        ]
        self._rings = rings
        for source in rung:
            self._look_at(source)

    def once(self) -> bool:
        """Look at every repository once; whether all that were asked answered."""
        answered = [self._look_at(source) for source in self._sources]
        return all(answered)

    def _look_at(self, source: Source) -> bool:
        """One that can't be looked at now holds up no other."""
        name = source.repository.name
        try:
            followed = self._look(source)
        except (ApiError, SourceError, ForgeError) as error:
            if self._troubles.get(name) != str(error):
                self._say(str(error))
            self._troubles[name] = str(error)
            return False
        if self._troubles.pop(name, None):
            self._say(f"repository {name} can be looked at again")
        return followed

    def _look(self, source: Source) -> bool:
        """Whether all that its specs follow answered as well."""
        known = self._api.heads(source.repository.name)
        heads = source.heads()
        for branch in source.repository.branches:
            head, handled = heads.get(branch), known.get(branch)
            if handled is None:
                self._begin(source, branch, head)
            elif head is not None and head != handled:
                for commit in source.new_commits(head, handled):
                    self._handle(source, branch, commit, is_head=commit == head)
        watched = {branch: heads[branch] for branch in source.repository.branches if branch in heads}
        followed = self._follower is None or self._follower.look(source, watched)
        refused = []
        for proposal in self._proposals.of(source, heads, known):
            try:
                self._handle_proposal(source, proposal)
            except ApiError as error:  # one that is refused holds up no other
                refused.append(error)
        if refused:
            raise refused[0]
        return followed

    def _begin(self, source: Source, branch: str, head: str | None) -> None:
        """What is there when a branch is first looked at is history; what comes later is news."""
        name = source.repository.name
        if head is not None:
            commit = source.commit(branch, head)
        else:
            commit = Commit(
                repository=name, branch=branch, commit=NO_COMMIT, title="", author="", committed_at=self._clock()
            )
        self._note(commit)
        since = f"from commit {head[:12]} on" if head else "which is not there yet"
        self._say(f"watching branch {branch} of {name}, {since}")

    def _handle(self, source: Source, branch: str, name: str, *, is_head: bool) -> None:
        """The head is noted last of all, so what was not asked for before an end is asked for again."""
        commit = source.commit(branch, name)
        now, before = source.files(name), source.files(source.parent(name))
        found = wanted(now, before, source.repository.catalogue)
        if found and SKIP in source.message(name):
            self._note(commit, note=f"{SKIP} in its message")
        elif found:
            self._note(commit, tuple(self._check(self._api.run_committed, commit, one, now.catalogue) for one in found))
        elif is_head:
            self._note(commit)

    def _handle_proposal(self, source: Source, found: Proposal) -> None:
        """Once, whatever is in it: of one that can't be understood that is what is noted."""
        commit = source.commit(found.branch, found.commit)
        measured = found.measured and SKIP not in source.message(found.commit)
        ask = self._api.run_committed if measured else self._api.plan_committed
        try:
            now, before = source.files(found.commit), source.files(source.merge_base(found.commit, found.bases))
            changed = at_most(wanted(now, before, source.repository.catalogue), MOST_SPECS)
            checks = tuple(self._check(ask, commit, one, now.catalogue) for one in changed)
        except SourceError as error:
            self._note(commit, note=str(error))
        except ValidationError as error:
            self._note(commit, note=f"it is beyond all bounds: {error.errors()[0]['msg']}")
        else:
            self._note(commit, checks)

    def _check(
        self, ask: Callable[[CommittedSpec], Check], commit: Commit, found: Wanted | Faulty, catalogue: str | None
    ) -> Check:
        match found:
            case Faulty(path, faults):
                return Check(path=path, reason=Reason.SPEC, faults=faults)
            case Wanted(path, text, reason, subjects):
                asked = CommittedSpec(
                    commit=commit,
                    path=path,
                    reason=reason,
                    spec_text=text,
                    catalogue_text=catalogue,
                    subjects=list(subjects),
                )
                check = ask(asked)
                told = check.run_id or "; ".join(map(str, check.faults)) or "planned"
                self._say(f"commit {commit.commit[:12]} of {commit.repository}, {path}: {told}")
                return check

    def _note(self, commit: Commit, checks: tuple[Check, ...] = (), note: str = "") -> None:
        """Each later than the one before, whatever the clock does: the latest is where looking went on last."""
        self._newest = max(self._clock(), self._newest + _TICK)
        self._api.note_commit(HandledCommit(commit=commit, handled_at=self._newest, checks=checks, note=note))
