"""What is proposed to the watched branches of a repository: heads of planned branches, and of open pull requests."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from kexbench.domain.commits import branch_of
from kexbench.domain.moments import EARLIEST
from kexbench.forges import Forge, ForgeError, PullRequest
from kexbench.watch.source import Source

MOST_SPECS = 100
"""Of one proposal: anybody may propose, and planning takes time."""


@dataclass(frozen=True)
class Proposal:
    """A head that was not looked at yet. It is compared with where it left `bases`; `measured`: its specs are not only
    planned."""

    branch: str
    commit: str
    bases: tuple[str, ...]
    measured: bool


class Proposals:
    """Keeps nothing but when a forge that has enough may be asked again."""

    def __init__(self, forges: Mapping[str, Forge], clock: Callable[[], datetime]) -> None:
        """`forges` by the repository's name."""
        self._forges = forges
        self._clock = clock
        self._again_at: dict[str, datetime] = {}

    def of(self, source: Source, heads: Mapping[str, str], known: Mapping[str, str]) -> Iterator[Proposal]:
        """Those of a repository that are not `known`, the branches first: so of a commit that is both, the pull request
        is what is told. Raises ForgeError and SourceError."""
        branches = source.repository.branches
        bases = tuple(heads[branch] for branch in branches if branch in heads)
        for branch, head in heads.items():
            if branch not in branches and known.get(branch) != head:
                yield Proposal(branch, head, bases, measured=False)
        yield from self._pull_requests(source, heads, known)

    def _pull_requests(self, source: Source, heads: Mapping[str, str], known: Mapping[str, str]) -> Iterator[Proposal]:
        """Those against watched branches whose head is not known."""
        repository = source.repository
        forge = self._forges.get(repository.name)
        if forge is None or repository.pull_requests == "ignore" or self._is_to_wait(repository.name):
            return
        try:
            found = forge.pull_requests()
        except ForgeError as error:
            if error.again_at is not None:
                self._again_at[repository.name] = error.again_at
            raise
        ours = [one for one in found if one.base_branch in repository.branches and one.base_branch in heads]
        new = [one for one in ours if known.get(branch_of(one.number)) != one.commit]
        leads = source.fetch([ref for one in new for ref in (one.ref, _branch(one))]) if new else {}
        for one in new:
            if leads.get(one.ref) != one.commit:
                continue  # it was pushed to this moment, and is seen next time
            # What the repository itself has on a branch, somebody pushed who may. Forges tell it in too many ways.
            is_own = leads.get(_branch(one)) == one.commit
            measured = is_own and repository.pull_requests == "measure"
            yield Proposal(branch_of(one.number), one.commit, (heads[one.base_branch],), measured)

    def _is_to_wait(self, name: str) -> bool:
        return self._clock() < self._again_at.get(name, EARLIEST)


def _branch(pull_request: PullRequest) -> str:
    return f"refs/heads/{pull_request.branch}"
