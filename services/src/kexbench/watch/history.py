"""The history of a library's repository, as far as following its branches takes it: commits and nothing in them."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import urllib3.exceptions
from dulwich.client import get_transport_and_path
from dulwich.config import ConfigDict, StackedConfig
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository
from dulwich.objects import Commit, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from kexbench.domain.library_commits import SUBJECT_MAX, LibraryCommit
from kexbench.domain.moments import moment_of
from kexbench.watch.source import SourceError

_COMMITS_ALONE = b"tree:0"
"""Neither folders nor files, where the server can leave them out; kits have a copy of their own of what they build."""
_NEWEST = 1
_WHOLE = 0x7FFFFFFF


class History:
    """Of the repository at `address`, an absolute path or an http(s) address. One on this machine is read where it is;
    of others `folder` keeps a copy, which begins with the newest commit and goes farther back only where history was
    rewritten. For one thread at a time. Its methods raise SourceError."""

    def __init__(self, address: str, folder: Path) -> None:
        self._address = address
        self._is_here = address.startswith("/")
        with self._telling():
            self._repo = Repo(address) if self._is_here else _opened(folder)

    def close(self) -> None:
        self._repo.close()

    def head(self, branch: str) -> str | None:
        """What a branch leads to now; None where there is no such branch."""
        name = Ref(b"refs/heads/" + branch.encode())
        with self._telling():
            if self._is_here:
                self._repo.close()
                self._repo = Repo(self._address)  # it keeps what it read of branches
                return self._repo.refs[name].decode() if name in self._repo.refs else None
            return self._fetched(name, None if name in self._repo.refs else _NEWEST)

    def new_commits(self, branch: str, head: str, handled: str) -> tuple[tuple[str, ...], int]:
        """What came to a branch since a commit was handled, by first parents and the oldest first, and how many commits
        history was set back before. Of a handled commit that nobody has any more only the head is new."""
        line = self._line(head, handled)
        if not self._reaches(line, handled) and not self._is_here:
            with self._telling():
                self._fetched(Ref(b"refs/heads/" + branch.encode()), _WHOLE)
            line = self._line(head, handled)
        if self._reaches(line, handled):
            return tuple(line[::-1]), 0
        if not self._has(handled):
            return (head,), 0
        known = set(self._ancestors(handled))
        new = list(takewhile(lambda commit: commit not in known, line))
        fork = line[len(new)] if len(new) < len(line) else None
        before = list(takewhile(lambda commit: commit != fork, self._first_parents(handled)))
        back = len(before) if fork in set(self._first_parents(handled)) else 0
        return tuple(new[::-1]), back

    def told(self, commit: str) -> LibraryCommit:
        """What a commit says of itself."""
        found = self._commit(commit)
        text = found.message.decode(errors="replace").strip().partition("\n")[0]
        return LibraryCommit(
            hash=commit,
            committed_at=moment_of(found.commit_time),
            authored_at=moment_of(found.author_time),
            subject="".join(each for each in text if each.isprintable())[:SUBJECT_MAX],
        )

    def _fetched(self, name: Ref, depth: int | None) -> str | None:
        """Where a branch leads to, with as much of its history as the depth says and the copy lacks."""
        client, path = get_transport_and_path(self._address, config=ConfigDict(), quiet=True)

        def missing(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
            head = refs.get(name)
            return [head] if head and (depth == _WHOLE or head not in self._repo.object_store) else []

        found = client.fetch(
            path,
            self._repo,
            determine_wants=missing,
            depth=depth,
            ref_prefix=[name],
            filter_spec=_COMMITS_ALONE,
        )
        head = found.refs.get(name)
        if head is None:
            return None
        self._repo.refs[name] = head
        return head.decode()

    def _line(self, head: str, handled: str) -> list[str]:
        return list(takewhile(lambda commit: commit != handled, self._first_parents(head)))

    def _reaches(self, line: Sequence[str], handled: str) -> bool:
        """Whether the line ends where the handled commit is next, or is empty since it is the head."""
        return not line or handled in self._commit_parents(line[-1])[:1]

    def _first_parents(self, commit: str) -> Iterator[str]:
        """A commit and its ancestors as far as there are any here, of merges the first."""
        newest: str | None = commit
        while newest is not None and self._has(newest):
            yield newest
            newest = next(iter(self._commit_parents(newest)), None)

    def _ancestors(self, commit: str) -> Iterator[str]:
        """A commit and all before it, as far as there are any here."""
        seen, open_ones = {commit}, [commit]
        while open_ones:
            newest = open_ones.pop()
            yield newest
            parents = [one for one in self._commit_parents(newest) if one not in seen and self._has(one)]
            seen.update(parents)
            open_ones += parents

    def _has(self, commit: str) -> bool:
        return ObjectID(commit.encode()) in self._repo.object_store

    def _commit_parents(self, commit: str) -> list[str]:
        return [parent.decode() for parent in self._commit(commit).parents]

    def _commit(self, commit: str) -> Commit:
        with self._telling():
            found = self._repo.object_store[ObjectID(commit.encode())]
            assert isinstance(found, Commit), "branches lead to commits"
            return found

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Every error of git as a SourceError."""
        try:
            yield
        except NotGitRepository as error:
            raise SourceError(
                f"{self._address} is no git repository\n  remedy: correct it in the spec and the catalogue"
            ) from error
        except (GitProtocolError, HangupException, urllib3.exceptions.HTTPError, OSError, KeyError) as error:
            reason = str(error) or type(error).__name__
            remedy = "is it up, and may this process read it without a password?"
            raise SourceError(f"{self._address} can't be read: {reason}\n  remedy: {remedy}") from error


def _opened(folder: Path) -> Repo:
    """One that was made by half is made anew: everything in it can be fetched again."""
    try:
        return Repo(str(folder))
    except NotGitRepository:
        shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return Repo.init_bare(str(folder), mkdir=True, config=StackedConfig([]))
