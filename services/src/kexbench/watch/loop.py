"""The watcher: polls the branches of repositories and requests the runs of their new commits."""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Event
from types import MappingProxyType

from pydantic import ValidationError

from kexbench import traces
from kexbench.api.commit_models import CommittedSpec
from kexbench.client import ApiClient, ApiError
from kexbench.domain.commits import GONE_REMEDY, NO_COMMIT, BranchHead, Check, Commit, HandledCommit, Presence, Reason
from kexbench.domain.moments import EARLIEST
from kexbench.forges import Forge, ForgeError
from kexbench.planning.commits import SKIP, Faulty, Wanted, at_most, wanted
from kexbench.queue.troubles import Troubles, always, reason_of
from kexbench.watch.errors import SourceError
from kexbench.watch.following import Follower
from kexbench.watch.git import GitSource
from kexbench.watch.proposals import MOST_SPECS, Proposal, Proposals

LISTEN_S = 2.0
MOST_COMMITS = 20
"""That one poll of a branch measures, so that a mistake with branches does not fill the queue for days."""
_PART = "repositories"
_TICK = timedelta(milliseconds=1)
"""The resolution of the store's times."""
_log = logging.getLogger(__name__)


class Watcher:
    def __init__(
        self,
        api: ApiClient,
        sources: Sequence[GitSource],
        clock: Callable[[], datetime],
        say: Callable[[str], None] = _log.info,
        forges: Mapping[str, Forge] = MappingProxyType({}),
        follower: Follower | None = None,
        troubles: Troubles | None = None,
    ) -> None:
        """`say` gets requested runs and errors. `forges` by the name of the repository. `follower` polls the branches
        that specs follow."""
        self._follower = follower
        self._troubles = troubles or Troubles()
        self._api = api
        self._sources = sources
        self._clock = clock
        self._say = say
        self._proposals = Proposals(forges, clock)
        self._newest = EARLIEST
        self._polled_at = EARLIEST
        """When the poll of the current repository began."""
        self._rings: Mapping[str, int] = {}

    def run(self, ending: Event, interval_s: float, acts: Callable[[], bool] = always) -> None:
        """Poll while this process `acts`, until the event is set. Between two polls, read only repositories whose
        webhook arrived."""
        next_poll = -math.inf
        self._troubles.begin_rounds("watcher")
        while not ending.is_set():
            if not acts():
                pass
            elif time.monotonic() >= next_poll:
                next_poll = time.monotonic() + interval_s
                self._troubles.guard_round("watcher", _PART, self.once)
            else:
                with self._troubles.guard(_PART):
                    self.listen()
            ending.wait(min(interval_s, LISTEN_S))

    def listen(self) -> None:
        """Read the repositories for which a webhook arrived since the last time."""
        try:
            rings = self._api.rings()
        except ApiError:  # reported by the next poll
            return
        rung = [
            source for source in self._sources if rings.get(name := source.repository.name) != self._rings.get(name)
        ]
        self._rings = rings
        for source in rung:
            self._poll(source)

    def once(self) -> bool:
        """Poll every repository once. True if all answered."""
        answered = [self._poll(source) for source in self._sources]
        return all(answered)

    def _poll(self, source: GitSource) -> bool:
        """False if the repository can't be read, which holds up no other."""
        with self._troubles.guard(f"repository {source.repository.name}", (ApiError, SourceError, ForgeError)):
            return self._read(source)
        return False

    def _read(self, source: GitSource) -> bool:
        """True if all repositories that its specs follow answered as well."""
        self._polled_at = self._clock()
        handled_heads = dict(self._api.heads(source.repository.name))
        heads = source.heads()
        for branch in source.repository.branches:
            head, handled = heads.get(branch), handled_heads.get(branch)
            if handled is None:
                handled_heads[branch] = self._begin(source, branch, head)
            elif head is None:
                self._miss(source, branch, handled)
            elif head != handled.commit or handled.presence is not Presence.PRESENT:
                self._advance(source, branch, head, handled_heads)
                handled_heads[branch] = BranchHead(commit=head)
        watched = {branch: heads[branch] for branch in source.repository.branches if branch in heads}
        followed = self._follower is None or self._follower.look(source, watched)
        errors = []
        for proposal in self._proposals.of(source, heads, handled_heads):
            try:
                self._handle_proposal(source, proposal)
            except Exception as error:  # a refused proposal holds up no other
                errors.append(error)
        if errors:
            raise errors[0]
        return followed

    def _begin(self, source: GitSource, branch: str, head: str | None) -> BranchHead:
        """Commits from before the first poll of a branch are not measured, also if the branch is created later from
        another one."""
        start = head or source.start()
        if head is None:
            self._await(source, branch, start)
        else:
            self._note(source.commit(branch, head))
        after = f"starting after commit {start[:12]}" if start else "from its first commit on"
        existence = "" if head else ", which does not exist yet"
        self._say(f"watching branch {branch} of {source.repository.name}{existence}, {after}")
        return BranchHead(commit=start or NO_COMMIT, presence=Presence.PRESENT if head else Presence.AWAITED)

    def _await(self, source: GitSource, branch: str, start: str | None) -> None:
        """Note that a branch does not exist, and since which commit it would be new. The later note is sent first: the
        other one alone would say that the branch exists."""
        started_at = self._tick()
        self._note(self._no_commit(source, branch))
        if start is not None:
            self._api.note_commit(HandledCommit(commit=source.commit(branch, start), handled_at=started_at))

    def _miss(self, source: GitSource, branch: str, handled: BranchHead) -> None:
        """Note once that a branch that existed is gone. The health of the service follows from this note. Of one that
        never existed, note what other branches got meanwhile, which will not be new on it."""
        if handled.presence is Presence.AWAITED and (start := source.start()) not in (None, handled.commit):
            self._await(source, branch, start)
        if handled.presence is Presence.PRESENT:
            note = f"branch {branch} of {source.repository.name} does not exist any more; {GONE_REMEDY}"
            self._note(self._no_commit(source, branch), note=note)
            self._say(note)

    def _advance(self, source: GitSource, branch: str, head: str, handled: Mapping[str, BranchHead]) -> None:
        """Handle the new commits of a branch. What was seen on any watched branch is not new on another. For a branch
        that just appeared, neither is what any other branch has, unless the repository was empty."""
        name = source.repository.name
        own, others = handled[branch], [handled[each] for each in source.repository.branches if each in handled]
        seen = {own.commit, *(other.commit for other in others if other.presence is not Presence.AWAITED)} - {NO_COMMIT}
        if own.presence is Presence.AWAITED and own.commit != NO_COMMIT:
            seen.update(source.unwatched_heads())
        new = source.new_commits(head, seen)
        if new is None:
            note = f"nothing of branch {branch} was seen before: watching it from this commit on"
            self._note(source.commit(branch, head), note=note)
            self._say(f"repository {name}, commit {head[:12]}: {note}")
            return
        first = self._first_measured(source, new)
        if first > 0:
            note = (
                f"{first} new commits of branch {branch} up to this one, because one poll measures only the newest "
                f"{MOST_COMMITS} that change specs; to measure another, check it out and run kexbench submit SPEC"
            )
            self._note(source.commit(branch, new[first - 1]), note=note)
            self._say(f"repository {name}, commit {new[first - 1][:12]}: not measured: {note}")
        for commit in new[first:]:
            self._handle(source, branch, commit, is_head=commit == head)
        if head not in new:
            self._note(source.commit(branch, head))

    def _first_measured(self, source: GitSource, commits: Sequence[str]) -> int:
        """The place of the first commit to handle, so that at most MOST_COMMITS request runs."""
        count = 0
        for place in reversed(range(len(commits))) if len(commits) > MOST_COMMITS else ():
            count += bool(self._wanted(source, commits[place]))
            if count > MOST_COMMITS:
                return place + 1
        return 0

    def _no_commit(self, source: GitSource, branch: str) -> Commit:
        return Commit(
            repository=source.repository.name,
            branch=branch,
            commit=NO_COMMIT,
            title=f"branch {branch} does not exist",
            author="",
            committed_at=self._clock(),
        )

    def _wanted(self, source: GitSource, commit: str) -> tuple[Wanted | Faulty, ...]:
        now, before = source.files(commit), source.files(source.parent(commit))
        return wanted(now, before, source.repository.catalogue)

    def _handle(self, source: GitSource, branch: str, name: str, *, is_head: bool) -> None:
        """The head is recorded last. Requests that were lost when the process ended are repeated after a restart."""
        commit, run = source.commit(branch, name), self._api.run_committed
        now, before = source.files(name), source.files(source.parent(name))
        specs = wanted(now, before, source.repository.catalogue)
        if specs and SKIP in source.message(name):
            self._note(commit, note=f"{SKIP} in its message")
        elif specs:
            self._note(commit, tuple(self._check(run, commit, spec, now.catalogue_text) for spec in specs))
        elif is_head:
            self._note(commit)

    def _handle_proposal(self, source: GitSource, proposal: Proposal) -> None:
        """Once, whatever it contains. If it can't be read, the error is recorded as its note. Raises ApiError."""
        commit, head = source.commit(proposal.branch, proposal.commit), proposal.commit
        measured = proposal.measured and SKIP not in source.message(head)
        send = self._api.run_committed if measured else self._api.plan_committed
        try:
            now, before = source.files(head), source.files(source.merge_base(head, proposal.bases))
            specs = at_most(wanted(now, before, source.repository.catalogue), MOST_SPECS)
            checks = tuple(self._check(send, commit, spec, now.catalogue_text) for spec in specs)
        except SourceError as error:
            self._note(commit, note=str(error))
        except ValidationError as error:
            self._note(commit, note=f"a limit is exceeded: {error.errors()[0]['msg']}")
        except ApiError:
            raise
        except Exception as error:
            _log.exception("commit %s of %s", head[:12], commit.repository)
            self._note(commit, note=f"kexbench failed: {reason_of(error)}")
        else:
            self._note(commit, checks)

    def _check(
        self, send: Callable[[CommittedSpec], Check], commit: Commit, spec: Wanted | Faulty, catalogue: str | None
    ) -> Check:
        match spec:
            case Faulty(path, faults):
                return Check(path=path, reason=Reason.SPEC, faults=faults)
            case Wanted(path, text, reason, subjects):
                request = CommittedSpec(
                    commit=commit,
                    path=path,
                    reason=reason,
                    spec_text=text,
                    catalogue_text=catalogue,
                    subjects=list(subjects),
                )
                seen_at = self._clock()
                check = send(request)
                if check.run_id:
                    facts = {"repository": commit.repository, "commit": commit.commit, "branch": commit.branch}
                    traces.add("poll repository", check.run_id, (self._polled_at, seen_at), facts)
                    facts = {"spec_path": path, "reason": str(reason)}
                    traces.add("request run", check.run_id, (seen_at, self._clock()), facts)
                result = check.run_id or "; ".join(map(str, check.faults)) or "planned"
                self._say(f"commit {commit.commit[:12]} of {commit.repository}, {path}: {result}")
                return check

    def _note(self, commit: Commit, checks: tuple[Check, ...] = (), note: str = "") -> None:
        """Times always increase, whatever the clock does: the latest commit is where the next poll continues."""
        self._api.note_commit(HandledCommit(commit=commit, handled_at=self._tick(), checks=checks, note=note))

    def _tick(self) -> datetime:
        self._newest = max(self._clock(), self._newest + _TICK)
        return self._newest
