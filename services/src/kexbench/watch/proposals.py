"""Proposals to the watched branches of a repository: heads of planned branches and of open pull requests."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from kexbench.domain.commits import BranchHead, branch_of
from kexbench.domain.moments import EARLIEST
from kexbench.forges import Forge, ForgeError, PullRequest
from kexbench.watch.git import GitSource

MOST_SPECS = 100
"""In one proposal. Anybody may open one, and planning takes time."""


@dataclass(frozen=True)
class Proposal:
    """A head that is not handled yet. It is compared with its merge base with `bases`. `measured`: whether its specs
    are measured, not only planned."""

    branch: str
    commit: str
    bases: tuple[str, ...]
    measured: bool


class Proposals:
    """Keeps only when a forge that limits requests may be read again."""

    def __init__(self, forges: Mapping[str, Forge], clock: Callable[[], datetime]) -> None:
        """`forges` by the name of the repository."""
        self._forges = forges
        self._clock = clock
        self._retry_at: dict[str, datetime] = {}

    def of(self, source: GitSource, heads: Mapping[str, str], known: Mapping[str, BranchHead]) -> Iterator[Proposal]:
        """Those of a repository whose heads are not `known`. Branches come first, so that the pull request is reported
        for a commit that is on both. Raises ForgeError and SourceError."""
        branches = source.repository.branches
        bases = tuple(heads[branch] for branch in branches if branch in heads)
        for branch, head in heads.items():
            if branch not in branches and not _is_known(branch, head, known):
                yield Proposal(branch, head, bases, measured=False)
        yield from self._pull_requests(source, heads, known)

    def _pull_requests(
        self, source: GitSource, heads: Mapping[str, str], known: Mapping[str, BranchHead]
    ) -> Iterator[Proposal]:
        """Pull requests for watched branches, whose head is not known."""
        repository = source.repository
        forge = self._forges.get(repository.name)
        if forge is None or repository.pull_requests == "ignore" or self._must_wait(repository.name):
            return
        try:
            opened = forge.pull_requests()
        except ForgeError as error:
            if error.again_at is not None:
                self._retry_at[repository.name] = error.again_at
            raise
        watched = [pull for pull in opened if pull.base_branch in repository.branches and pull.base_branch in heads]
        new = [pull for pull in watched if not _is_known(branch_of(pull.number), pull.commit, known)]
        fetched = source.fetch([ref for pull in new for ref in (pull.ref, _branch(pull))]) if new else {}
        for pull in new:
            if fetched.get(pull.ref) != pull.commit:
                continue  # it was pushed to in the meantime; the next poll reads it
            # Only people with write access push to a branch of the repository itself. Forges differ in how they say so.
            is_own = fetched.get(_branch(pull)) == pull.commit
            measured = is_own and repository.pull_requests == "measure"
            yield Proposal(branch_of(pull.number), pull.commit, (heads[pull.base_branch],), measured)

    def _must_wait(self, name: str) -> bool:
        return self._clock() < self._retry_at.get(name, EARLIEST)


def _is_known(branch: str, head: str, known: Mapping[str, BranchHead]) -> bool:
    return branch in known and known[branch].commit == head


def _branch(pull_request: PullRequest) -> str:
    return f"refs/heads/{pull_request.branch}"
