"""The history of a library's repository, to follow its branches: commits without their files."""

from contextlib import suppress
from pathlib import Path

from dulwich.refs import Ref
from dulwich.repo import Repo

from kexbench.domain.library_commits import LibraryCommit
from kexbench.watch.gitcopy import WHOLE, GitCopy

_COMMITS_ALONE = b"tree:0"
"""The filter for neither folders nor files, if the server supports it. Builds of kits use another copy."""


class History(GitCopy):
    """Of the repository at `address`, an absolute path or an http(s) address. A local repository is read in place. The
    copy of a remote one begins with the newest commit and goes back further only if history was rewritten."""

    def __init__(self, address: str, folder: Path) -> None:
        self._is_local = address.startswith("/")
        super().__init__(address, folder, address)

    def head(self, branch: str) -> str | None:
        """The current head of a branch, or None if there is no such branch."""
        name = Ref(f"refs/heads/{branch}".encode())
        if not self._is_local:
            return self._fetched(branch, None if name in self._repo.refs else 1)
        with self._source_errors(), suppress(KeyError):
            self.close()
            self._repo = Repo(self._address)  # an open one caches its branches
            return self._repo.refs[name].decode()
        return None

    def new_commits(self, branch: str, head: str, handled: str) -> tuple[list[str], int]:
        """The commits of a branch after the handled one, by first parents, oldest first, and how many commits the
        branch was reset before them. If the handled commit no longer exists, only the head is new."""
        commits = self.commits_since(handled, head)
        if commits is None and not self._is_local:
            self._fetched(branch, WHOLE)
            commits = self.commits_since(handled, head)
        return self.commits_since_rewriting(handled, head) if commits is None else (commits, 0)

    def library_commit(self, commit: str) -> LibraryCommit:
        """A commit with its times and message."""
        stored = self._commit(commit)
        return LibraryCommit.of(commit, stored.commit_time, stored.author_time, self.message(commit))

    def _fetched(self, branch: str, depth: int | None) -> str | None:
        """The head of a branch, after fetching its missing history down to `depth` commits."""
        name = f"refs/heads/{branch}"
        head = self._fetch(name, lambda ref: ref == name, depth, _COMMITS_ALONE).get(name)
        if head is not None:
            self._keep(name, head)
        return head

    def _opened(self, folder: Path) -> Repo:
        return Repo(self._address) if self._is_local else super()._opened(folder)
