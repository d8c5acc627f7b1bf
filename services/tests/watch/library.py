"""A library's repository of git itself, for tests: commits without files, each in a second of its own."""

import os
import subprocess
from pathlib import Path

from tests.watch.repositories import AUTHOR, git


class Library:
    """A bare one."""

    def __init__(self, folder: Path) -> None:
        self.bare = folder / "library.git"
        git(folder, "init", "--quiet", "--bare", "--initial-branch=master", str(self.bare))
        self._tree = git(self.bare, "hash-object", "-t", "tree", "-w", "/dev/null")
        self._made = 0

    def line(self, parent: str | None, count: int) -> list[str]:
        """So many commits behind one, to which the branch leads then."""
        commits: list[str] = []
        for _ in range(count):
            parent = self._commit(*([parent] if parent else []))
            commits.append(parent)
        self.lead_to(commits[-1])
        return commits

    def merge(self, *parents: str) -> str:
        merged = self._commit(*parents)
        self.lead_to(merged)
        return merged

    def lead_to(self, commit: str) -> None:
        """Set the branch, whatever it led to."""
        git(self.bare, "update-ref", "refs/heads/master", commit)

    def _commit(self, *parents: str) -> str:
        self._made += 1
        moment = f"{1_700_000_000 + self._made} +0000"
        behind = [word for parent in parents for word in ("-p", parent)]
        return subprocess.run(
            ["git", *AUTHOR, "commit-tree", self._tree, "-m", f"Change {self._made}", *behind],
            cwd=self.bare,
            env={**os.environ, "GIT_COMMITTER_DATE": moment, "GIT_AUTHOR_DATE": moment},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
