"""A copy of a git repository, read with dulwich: it runs no git and no hooks, and ignores the user's git settings."""

import os
import shutil
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import urllib3.exceptions
from dulwich.client import GitClient, HTTPUnauthorized, TCPGitClient, get_transport_and_path
from dulwich.config import ConfigDict, StackedConfig
from dulwich.errors import FileFormatException, GitProtocolError, HangupException, NotGitRepository, NotTreeError
from dulwich.objects import Commit, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo
from dulwich.walk import Walker

from kexbench.domain.commits import NO_COMMIT
from kexbench.watch.errors import SourceError

SILENCE_S = 60
"""A server that sends nothing for so long is given up. Otherwise it would hold up all repositories without end."""
_SSH = f"ssh -o ConnectTimeout={SILENCE_S} -o ServerAliveInterval={SILENCE_S // 4} -o ServerAliveCountMax=3"
WHOLE = 0x7FFFFFFF
"""The depth that git treats as unlimited."""


class GitCopy:
    """A bare copy of the repository at `address`, in `folder`. For one thread at a time. Its methods raise SourceError,
    whose text calls the repository `named`."""

    remedy_if_locked = "use a repository that anybody may read"

    def __init__(self, address: str, folder: Path, named: str) -> None:
        self._address = address
        self._named = named
        with self._source_errors():
            self._repo = self._opened(folder)

    def close(self) -> None:
        self._repo.close()

    def message(self, commit: str) -> str:
        text: bytes = self._commit(commit).message
        return text.decode(errors="replace")

    def parent(self, commit: str) -> str | None:
        """The first parent, which the copy may lack."""
        return next((parent.decode() for parent in self._commit(commit).parents), None)

    def commits_since(self, handled: str, head: str) -> list[str] | None:
        """The commits after the handled one by first parents, oldest first. None if the copy has no such range."""
        new = list(takewhile(lambda commit: commit != handled, self._first_parents(head)))
        return new[::-1] if not new or handled in (NO_COMMIT, self.parent(new[-1])) else None

    def commits_since_rewriting(self, handled: str, head: str) -> tuple[list[str], int]:
        """The commits that are no ancestors of the handled one, and how many commits the branch was reset before them.
        If both histories have nothing in common, only the head is new."""
        new, fork = self._outside(head, [handled])
        if fork is None:
            return [head], 0
        handled_history = list(self._first_parents(handled))
        return new, handled_history.index(fork) if fork in handled_history else 0

    def _outside(self, head: str, handled: Collection[str]) -> tuple[list[str], str | None]:
        """The commits of a branch that are neither handled nor ancestors of handled ones, by first parents, oldest
        first. Also the commit before them; None if the whole history is outside."""
        tips = {commit for commit in handled if self._has(commit)}
        new, fork = self._up_to(head, tips)
        if others := tips - {fork}:
            new, fork = self._up_to(head, {*self._ancestors(others, fork), fork})
        return new[::-1], fork

    def _up_to(self, head: str, ends: Container[str | None]) -> tuple[list[str], str | None]:
        """The commits of a branch before the first end, by first parents, newest first, and that end."""
        new: list[str] = []
        for commit in self._first_parents(head):
            if commit in ends:
                return new, commit
            new.append(commit)
        return new, None

    def _ancestors(self, commits: Collection[str], known: str | None) -> Iterator[str]:
        """Commits and their ancestors, but for those of the known one: walking a whole history takes long."""
        names = [ObjectID(commit.encode()) for commit in commits]
        without = [ObjectID(known.encode())] if known else []
        with self._source_errors():
            for entry in Walker(self._repo.object_store, names, exclude=without, get_parents=self._parents):
                yield entry.commit.id.decode()

    def _first_parents(self, commit: str) -> Iterator[str]:
        """A commit and its first-parent ancestors, as far as they were fetched."""
        newest: str | None = commit
        while newest is not None and self._has(newest):
            yield newest
            newest = self.parent(newest)

    def _parents(self, commit: Commit) -> list[ObjectID]:
        """The fetched parents. git's own list of missing ones is incomplete if a fetch was killed."""
        return [parent for parent in commit.parents if parent in self._repo.object_store]

    def _has(self, commit: str) -> bool:
        return ObjectID(commit.encode()) in self._repo.object_store

    def _fetch(
        self, prefix: str, counts: Callable[[str], bool], depth: int | None = None, leave_out: bytes | None = None
    ) -> dict[str, str]:
        """Fetch the references that count, all with one prefix, and return their heads. `depth` limits the history.
        `leave_out`: a git filter of objects to leave out, if the server supports it."""

        def counted(refs: Mapping[Ref, ObjectID | None]) -> dict[str, ObjectID]:
            decoded = {name.decode(errors="replace"): head for name, head in refs.items() if head is not None}
            # Not every server leaves out what has another prefix.
            return {name: head for name, head in decoded.items() if name.startswith(prefix) and counts(name)}

        def missing(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
            heads = set(counted(refs).values())
            return [head for head in heads if depth == WHOLE or head not in self._repo.object_store]

        with self._source_errors():
            client, path = _client_of(self._address, *self._credentials())
            try:
                fetched = client.fetch(
                    path,
                    self._repo,
                    determine_wants=missing,
                    depth=depth,
                    ref_prefix=[prefix.encode()],
                    filter_spec=leave_out,
                )
            finally:
                if isinstance(client, _Tcp):
                    client.close()
        return {name: head.decode() for name, head in counted(fetched.refs).items()}

    def _keep(self, name: str, head: str) -> None:
        """Record the head, so that the next fetch skips what the copy has."""
        with self._source_errors():
            self._repo.refs[Ref(name.encode())] = ObjectID(head.encode())

    def _credentials(self) -> tuple[str | None, str | None]:
        """User name and password. Raises OSError."""
        return None, None

    def _commit(self, commit: str) -> Commit:
        with self._source_errors():
            stored = self._repo.object_store[ObjectID(commit.encode())]
            assert isinstance(stored, Commit), "branches lead to commits"
            return stored

    def _opened(self, folder: Path) -> Repo:
        """An incomplete copy is replaced, since everything in it can be fetched again."""
        try:
            return Repo(str(folder))
        except NotGitRepository:
            shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        return Repo.init_bare(str(folder), mkdir=True, config=StackedConfig([]))

    @contextmanager
    def _source_errors(self) -> Iterator[None]:
        """Raises every error of git as a SourceError."""
        try:
            yield
        except HTTPUnauthorized as error:
            raise self._error("requires a password", self.remedy_if_locked) from error
        except NotGitRepository as error:
            raise self._error("is not a git repository", "correct its address") from error
        except (FileFormatException, NotTreeError) as error:
            raise self._error(f"has an invalid object: {error}", "find the object with git fsck") from error
        except (GitProtocolError, HangupException, urllib3.exceptions.HTTPError, OSError) as error:
            reason = str(error) or type(error).__name__
            raise self._error(f"can't be read: {reason}", "check that it is up and reachable from here") from error
        except KeyError as error:
            remedy = "delete the watcher's copy of the repository; it will be fetched again"
            raise self._error(f"lacks object {error}", remedy) from error

    def _error(self, fault: str, remedy: str) -> SourceError:
        return SourceError(f"{self._named} {fault}\n  remedy: {remedy}")


class _Tcp(TCPGitClient):
    """`git://`, for which dulwich knows no time limit, and whose connection it leaves open after some errors."""

    close: Callable[[], None] = staticmethod(lambda: None)

    def _connect(self, *args: Any, **options: Any) -> Any:
        connected: Any = super()._connect(*args, **options)
        self.close = connected[0].close
        connected[0].read.__self__.raw._sock.settimeout(SILENCE_S)
        return connected


def _client_of(address: str, username: str | None, password: str | None) -> tuple[GitClient, str]:
    """A client with limited patience, and the path of the repository there."""
    config = ConfigDict()
    config.set((b"http",), b"timeout", str(SILENCE_S).encode())
    ssh = None if {"GIT_SSH_COMMAND", "GIT_SSH"} & os.environ.keys() else _SSH
    client, path = get_transport_and_path(
        address, config=config, quiet=True, username=username, password=password, ssh_command=ssh
    )
    return (_Tcp.from_parsedurl(urlparse(address), quiet=True) if isinstance(client, TCPGitClient) else client), path
