"""Requests runs for new commits of the branches that specs follow. One commit after the other, since each is compared
with the last one that built."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from kexbench import traces
from kexbench.api.commit_models import FollowedSpec, FollowedView
from kexbench.client import ApiClient
from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import Commit
from kexbench.domain.following import AskedCommit, FollowedCommit, Following
from kexbench.domain.moments import EARLIEST
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.commits import Files, Unusable
from kexbench.planning.documents import DocumentError
from kexbench.planning.follow import follow_of
from kexbench.planning.neighbours import is_held_up, is_waiting, newest_built
from kexbench.planning.spec import Catalogue
from kexbench.watch.errors import SourceError
from kexbench.watch.git import GitSource
from kexbench.watch.history import History

PACE_S = 60.0
"""Between two polls of a followed repository, which belongs to somebody else."""
_TICK = timedelta(milliseconds=1)


@dataclass(frozen=True)
class _FollowingSpec:
    """A spec that follows a branch, as of the newest handled commit of its repository."""

    following: Following
    every: int
    commit: Commit
    text: str
    catalogue_text: str | None


@dataclass
class _SpecsAt:
    """The specs of a repository at certain heads of its branches."""

    heads: Mapping[str, str] = field(default_factory=dict)
    specs: tuple[_FollowingSpec, ...] = ()


class Follower:
    """Keeps only copies of histories. The API knows the last handled commit of each branch."""

    def __init__(
        self,
        api: ApiClient,
        copies: Path,
        catalogue: Callable[[], Catalogue],
        clock: Callable[[], datetime],
        say: Callable[[str], None],
        pace_s: float = PACE_S,
    ) -> None:
        """`copies`: the folder for histories. `catalogue`: the installation's catalogue."""
        self._api = api
        self._copies = copies
        self._catalogue = catalogue
        self._clock = clock
        self._say = say
        self._pace_s = pace_s
        self._newest = EARLIEST
        self._specs_by_repository: dict[str, _SpecsAt] = {}
        self._histories: dict[str, History] = {}
        self._heads: dict[tuple[str, str], tuple[float, str | None]] = {}
        self._reported: dict[Following, str] = {}
        """The last reported error of each, so that each is reported once."""

    def close(self) -> None:
        for history in self._histories.values():
            history.close()

    def look(self, source: GitSource, heads: Mapping[str, str]) -> bool:
        """Request the next runs for the specs of a repository, whose branches were handled up to `heads`. True if all
        followed repositories answered. Raises ApiError, and SourceError for the specs' own repository."""
        specs = self._specs(source, heads)
        if not specs:
            return True
        views = {view.followed.following: view for view in self._api.followed(source.repository.name)}
        self._newest = max([self._newest, *(view.followed.handled_at for view in views.values())])
        answered = [self._poll(spec, views.get(spec.following)) for spec in specs]
        return all(answered)

    def _poll(self, spec: _FollowingSpec, view: FollowedView | None) -> bool:
        """False if the repository can't be read, which holds up no other."""
        following = spec.following
        try:
            self._request_next(spec, view)
        except SourceError as error:
            if self._reported.get(following) != str(error):
                self._say(f"{following.path} of {following.repository}: {error}")
            self._reported[following] = str(error)
            return False
        self._reported.pop(following, None)
        return True

    def _request_next(self, spec: _FollowingSpec, view: FollowedView | None) -> None:
        following = spec.following
        branch = following.branch
        head = self._head(following)
        if view is None:
            self._note(FollowedCommit(following=following, commit=head, number=0, base=head, handled_at=self._clock()))
            self._say(f"{following.path} follows {branch.library} {branch.branch}, starting after commit {head[:12]}")
            return
        before = view.followed
        if before.asked and view.state:
            if is_waiting(view.state, started=view.started):
                return
            if is_held_up(view.state, started=view.started, unbuilt=view.unbuilt):
                raise SourceError(
                    f"commit {before.commit[:12]} of {branch.library} could not be measured: {view.detail}\n"
                    f"  remedy: fix the cause and run kexbench runs resume {before.asked.run_id}; "
                    "to leave the commit out, cancel the resumed run"
                )
        base = _base(view)
        if head == before.commit:
            return
        commits, back = self._history(branch.address).new_commits(branch.branch, head, before.commit)
        number = before.number - back
        for commit in commits:
            number += 1
            if number % spec.every == 0 and self._request(spec, commit, number, base):
                return
        self._note(FollowedCommit(following=following, commit=head, number=number, base=base, handled_at=self._clock()))

    def _request(self, spec: _FollowingSpec, commit: str, number: int, base: str | None) -> bool:
        """Request and record a commit's run. True if there is one; the next commit waits for it."""
        following = spec.following
        request = FollowedSpec(
            following=following,
            spec_commit=spec.commit,
            commit=self._history(following.branch.address).library_commit(commit),
            base=base,
            spec_text=spec.text,
            catalogue_text=spec.catalogue_text,
        )
        began_at = self._clock()
        check = self._api.run_followed(request)
        if check.run_id:
            facts = {"repository": following.repository, "spec_path": following.path, "commit": commit}
            traces.add("request run", check.run_id, (began_at, self._clock()), facts)
        requested = AskedCommit(commit=commit, base=base, run_id=check.run_id) if check.run_id else None
        self._note(
            FollowedCommit(
                following=following,
                commit=commit,
                number=number,
                base=base,
                asked=requested,
                faults=check.faults,
                handled_at=self._clock(),
            )
        )
        result = check.run_id or "; ".join(map(str, check.faults))
        self._say(f"commit {commit[:12]} of {following.branch.library}, {following.path}: {result}")
        return requested is not None

    def _note(self, handled: FollowedCommit) -> None:
        """Times always increase, whatever the clock does: the latest commit is where the next poll continues."""
        self._newest = max(handled.handled_at, self._newest + _TICK)
        self._api.note_followed(handled.model_copy(update={"handled_at": self._newest}))

    def _specs(self, source: GitSource, heads: Mapping[str, str]) -> tuple[_FollowingSpec, ...]:
        """Read again when a head changes. If several branches have a spec, the first branch counts."""
        cached = self._specs_by_repository.setdefault(source.repository.name, _SpecsAt())
        if cached.heads != heads:
            specs: dict[str, _FollowingSpec] = {}
            for branch, head in heads.items():
                for spec in self._read(source, branch, head):
                    specs.setdefault(spec.following.path, spec)
            cached.heads, cached.specs = dict(heads), tuple(specs.values())
        return cached.specs

    def _read(self, source: GitSource, branch: str, head: str) -> Iterator[_FollowingSpec]:
        files = source.files(head)
        texts = {path: text for path, text in files.specs.items() if isinstance(text, str) and "follow:" in text}
        if not texts:
            return
        try:
            catalogue = self._catalogue_of(files, source.repository.catalogue)
        except (DocumentError, SourceError) as error:
            self._say(f"the specs of {source.repository.name} follow no branches: {error}")
            return
        for path, text in texts.items():
            try:
                follow = follow_of(text, path, catalogue)
            except DocumentError as error:
                self._say(f"commit {head[:12]} of {source.repository.name}: {error}")
                continue
            if follow:
                following = Following(repository=source.repository.name, path=path, branch=follow.branch)
                yield _FollowingSpec(following, follow.every, source.commit(branch, head), text, files.catalogue_text)

    def _catalogue_of(self, files: Files, path: str) -> Catalogue:
        """The commit's own, or else the installation's. Raises DocumentError and SourceError."""
        if isinstance(files.catalogue, Unusable):
            raise SourceError(f"the catalogue {path}: {files.catalogue.value}")
        return read_catalogue(files.catalogue, path) if files.catalogue else self._catalogue()

    def _head(self, following: Following) -> str:
        branch = following.branch
        key, now = (branch.address, branch.branch), time.monotonic()
        polled_at, head = self._heads.get(key, (-self._pace_s, None))
        if head is None or now - polled_at >= self._pace_s:
            head = self._history(branch.address).head(branch.branch)
            self._heads[key] = now, head
        if head is None:
            raise SourceError(f"{branch.address} has no branch {branch.branch}\n  remedy: correct the spec")
        return head

    def _history(self, address: str) -> History:
        if address not in self._histories:
            self._histories[address] = History(address, self._copies / content_hash(address, length=32))
        return self._histories[address]


def _base(view: FollowedView) -> str | None:
    """The commit that the next one is compared with: the last one that built."""
    before = view.followed
    if before.asked is None:
        return before.base
    branch, request = before.following.branch, before.asked
    commits = {branch.reference(commit): commit for commit in (request.base, request.commit) if commit}
    older = branch.reference(request.base) if request.base else None
    built = newest_built(older, branch.reference(request.commit), started=view.started, unbuilt=view.unbuilt)
    return commits[built] if built else None
