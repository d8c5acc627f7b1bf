"""Has the new commits measured of the branches that specs follow: one after the other, since the next one is measured
beside the last that built."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from kexbench.api.commit_models import FollowedSpec, FollowedView
from kexbench.client import ApiClient
from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import Commit
from kexbench.domain.following import AskedCommit, FollowedCommit, Following
from kexbench.domain.moments import EARLIEST
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError
from kexbench.planning.follow import follow_of
from kexbench.planning.neighbours import is_held_up, is_waiting, newest_built
from kexbench.planning.spec import Catalogue
from kexbench.watch.history import History
from kexbench.watch.source import Source, SourceError

PACE_S = 60.0
"""Between two looks at a followed repository, which is somebody else's."""
_TICK = timedelta(milliseconds=1)


@dataclass(frozen=True)
class _FollowingSpec:
    """A spec that follows a branch, as the newest handled commit of its repository has it."""

    following: Following
    every: int
    commit: Commit
    text: str
    catalogue_text: str | None


@dataclass
class _Looked:
    """The specs of a repository, as of certain heads of its branches."""

    heads: Mapping[str, str] = field(default_factory=dict)
    specs: tuple[_FollowingSpec, ...] = ()


class Follower:
    """Keeps nothing but copies of histories: how far branches were looked through the API says."""

    def __init__(
        self,
        api: ApiClient,
        copies: Path,
        catalogue: Callable[[], Catalogue],
        clock: Callable[[], datetime],
        say: Callable[[str], None],
        pace_s: float = PACE_S,
    ) -> None:
        """`copies` is the folder for histories, `catalogue` the one of the installation."""
        self._api = api
        self._copies = copies
        self._catalogue = catalogue
        self._clock = clock
        self._say = say
        self._pace_s = pace_s
        self._newest = EARLIEST
        self._looked: dict[str, _Looked] = {}
        self._histories: dict[str, History] = {}
        self._heads: dict[tuple[str, str], tuple[float, str | None]] = {}
        self._troubles: dict[Following, str] = {}
        """What was told of each, so that it is told once."""

    def close(self) -> None:
        for history in self._histories.values():
            history.close()

    def look(self, source: Source, heads: Mapping[str, str]) -> bool:
        """Have measured what is new for the specs of a repository, whose branches were handled up to `heads`. Whether
        all followed repositories answered. Raises SourceError for its own, and ApiError."""
        specs = self._specs(source, heads)
        if not specs:
            return True
        known = {one.followed.following: one for one in self._api.followed(source.repository.name)}
        self._newest = max([self._newest, *(one.followed.handled_at for one in known.values())])
        answered = [self._look_for(spec, known.get(spec.following)) for spec in specs]
        return all(answered)

    def _look_for(self, spec: _FollowingSpec, known: FollowedView | None) -> bool:
        """One whose repository can't be read holds up no other."""
        following = spec.following
        try:
            self._go_on(spec, known)
        except SourceError as error:
            if self._troubles.get(following) != str(error):
                self._say(f"{following.path} of {following.repository}: {error}")
            self._troubles[following] = str(error)
            return False
        self._troubles.pop(following, None)
        return True

    def _go_on(self, spec: _FollowingSpec, known: FollowedView | None) -> None:
        following = spec.following
        branch = following.branch
        head = self._head(following)
        if known is None:
            self._note(FollowedCommit(following=following, commit=head, number=0, base=head, handled_at=self._clock()))
            self._say(f"{following.path} follows {branch.library} {branch.branch} from commit {head[:12]} on")
            return
        before = known.followed
        if before.asked and known.state:
            if is_waiting(known.state, started=known.started):
                return
            if is_held_up(known.state, started=known.started, unbuilt=known.unbuilt):
                raise SourceError(
                    f"commit {before.commit[:12]} of {branch.library} could not be measured: {known.detail}\n"
                    f"  remedy: see to that, then kexbench runs resume {before.asked.run_id}; "
                    "cancel the resumed run to leave the commit out"
                )
        base = _base(known)
        if head == before.commit:
            return
        commits, back = self._history(branch.address).new_commits(branch.branch, head, before.commit)
        number = before.number - back
        for commit in commits:
            number += 1
            if number % spec.every == 0 and self._ask(spec, commit, number, base):
                return
        self._note(FollowedCommit(following=following, commit=head, number=number, base=base, handled_at=self._clock()))

    def _ask(self, spec: _FollowingSpec, commit: str, number: int, base: str | None) -> bool:
        """Ask for a commit's run and note that; whether there is one, for which the next commit waits."""
        following = spec.following
        told = self._history(following.branch.address).told(commit)
        asked = FollowedSpec(
            following=following,
            spec_commit=spec.commit,
            commit=told,
            base=base,
            spec_text=spec.text,
            catalogue_text=spec.catalogue_text,
        )
        check = self._api.run_followed(asked)
        wanted = AskedCommit(commit=commit, base=base, run_id=check.run_id) if check.run_id else None
        self._note(
            FollowedCommit(
                following=following,
                commit=commit,
                number=number,
                base=base,
                asked=wanted,
                faults=check.faults,
                handled_at=self._clock(),
            )
        )
        said = check.run_id or "; ".join(map(str, check.faults))
        self._say(f"commit {commit[:12]} of {following.branch.library}, {following.path}: {said}")
        return wanted is not None

    def _note(self, noted: FollowedCommit) -> None:
        """Each later than the one before, whatever the clock does: the latest is where looking goes on."""
        self._newest = max(noted.handled_at, self._newest + _TICK)
        self._api.note_followed(noted.model_copy(update={"handled_at": self._newest}))

    def _specs(self, source: Source, heads: Mapping[str, str]) -> tuple[_FollowingSpec, ...]:
        """Read anew when a branch has another head; where several branches have a spec the first one counts."""
        known = self._looked.setdefault(source.repository.name, _Looked())
        if known.heads != heads:
            found: dict[str, _FollowingSpec] = {}
            for branch, head in heads.items():
                for spec in self._read(source, branch, head):
                    found.setdefault(spec.following.path, spec)
            known.heads, known.specs = dict(heads), tuple(found.values())
        return known.specs

    def _read(self, source: Source, branch: str, head: str) -> Iterator[_FollowingSpec]:
        files = source.files(head)
        texts = {path: text for path, text in files.specs.items() if text and "follow:" in text}
        if not texts:
            return
        try:
            catalogue = read_catalogue(files.catalogue, source.repository.catalogue) if files.catalogue else None
            catalogue = catalogue or self._catalogue()
        except DocumentError as error:
            self._say(f"nothing is followed for {source.repository.name}: {error}")
            return
        for path, text in texts.items():
            try:
                found = follow_of(text, path, catalogue)
            except DocumentError as error:
                self._say(f"commit {head[:12]} of {source.repository.name}: {error}")
                continue
            if found:
                following = Following(repository=source.repository.name, path=path, branch=found.branch)
                yield _FollowingSpec(following, found.every, source.commit(branch, head), text, files.catalogue)

    def _head(self, following: Following) -> str:
        branch = following.branch
        key, now = (branch.address, branch.branch), time.monotonic()
        asked_at, head = self._heads.get(key, (-self._pace_s, None))
        if head is None or now - asked_at >= self._pace_s:
            head = self._history(branch.address).head(branch.branch)
            self._heads[key] = now, head
        if head is None:
            raise SourceError(f"{branch.address} has no branch {branch.branch}\n  remedy: correct it in the spec")
        return head

    def _history(self, address: str) -> History:
        if address not in self._histories:
            self._histories[address] = History(address, self._copies / content_hash(address, length=32))
        return self._histories[address]


def _base(known: FollowedView) -> str | None:
    """The commit that the next one is measured beside, now that it is known what became of the run asked for last."""
    before = known.followed
    if before.asked is None:
        return before.base
    branch, asked = before.following.branch, before.asked
    references = {branch.reference(one): one for one in (asked.base, asked.commit) if one}
    older = branch.reference(asked.base) if asked.base else None
    built = newest_built(older, branch.reference(asked.commit), started=known.started, unbuilt=known.unbuilt)
    return references[built] if built else None
