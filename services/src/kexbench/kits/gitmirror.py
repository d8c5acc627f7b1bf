"""A bare copy of a git repository with the commits that were asked for, and git itself on a short lead.

No hook runs, nothing asks for a password, and neither the person's settings nor the machine's are read: they could
name filters, other addresses and programs. Only the transport that the address names is allowed.
"""

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kexbench.kits.errors import ProgramFailed, Stage, StepFailed
from kexbench.kits.process import Attempt

_CAREFULLY = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "credential.helper="),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "http.lowSpeedLimit=1000"),
    *("-c", "http.lowSpeedTime=60"),
)
_LIST_MAX_AGE_S = 12 * 3600
_FETCH_MAX_S = 3600
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}")
_NEAR = 5
WHOLE = 0x7FFFFFFF
"""A depth that git takes for no limit."""


@dataclass(frozen=True)
class GitMirror:
    """The repository at `address`, an absolute path or a URL, mirrored in `folder`. Its methods raise StepFailed.

    One process at a time may `fetch`; what is there never changes, so reading it needs no lock.
    """

    address: str
    folder: Path

    def fetch(self, name: str, attempt: Attempt, *, refresh: bool) -> str:
        """The commit that a branch, tag or hash names, in the mirror from now on.

        What branches and tags lead to is asked again after half a day, with `refresh` at once, and always where the
        repository is on this machine.
        """
        if self._is_local and not Path(self.address).is_dir():
            raise StepFailed("resolve", f"there is no repository {self.address}", "name a folder that git cloned")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.git(["init", "--quiet", "--bare", "--template=", "."], attempt, "fetch")  # mends a half-made one too
        commit = self._resolved(name, attempt, refresh=refresh)
        return self._kept(commit, attempt) or self._fetched(commit, attempt)

    def file(self, commit: str, path: str, attempt: Attempt) -> str | None:
        """The text of a file of a commit, or None where there is none."""
        listed = self.git(["ls-tree", "--name-only", commit, "--", path], attempt, "resolve")
        return self.git(["cat-file", "blob", f"{commit}:{path}"], attempt, "resolve") if listed.strip() else None

    def archive(self, commit: str, target: Path, attempt: Attempt) -> None:
        """Everything of a commit as a tar file."""
        self.git(["archive", "--format=tar", f"--output={target}", commit], attempt, "fetch")

    @property
    def _is_local(self) -> bool:
        return self.address.startswith("/")

    def _resolved(self, name: str, attempt: Attempt, *, refresh: bool) -> str:
        """The hash that a name stands for now; for all that is known it may be that of no commit."""
        if _COMMIT.fullmatch(name):
            return name
        advertised, is_news = self._advertised(name, attempt, refresh=refresh)
        found = _look_up(name, advertised)
        if found is None and not is_news:
            advertised = self._asked(name, attempt)
            found = _look_up(name, advertised)
        if found is None and _SHORT_COMMIT.fullmatch(name) and self._is_local:
            words = ["-C", self.address, "rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}"]
            found = self.git(words, attempt, "resolve", accept=(0, 1, 128)).strip() or None
        if found is None:
            raise self._unknown(name, advertised)
        return found

    def _advertised(self, name: str, attempt: Attempt, *, refresh: bool) -> tuple[dict[str, str], bool]:
        """What every branch and tag leads to, and whether that was asked just now."""
        if refresh or self._is_local or not _is_young(self._list):
            try:
                return self._asked(name, attempt), True
            except StepFailed as error:
                if refresh or self._is_local or not self._list.is_file():
                    raise
                attempt.note(f"using an older list of branches: {error.reason}")
        return _parse(self._list.read_text(encoding="utf-8")), False

    def _asked(self, name: str, attempt: Attempt) -> dict[str, str]:
        """The repository's own answer, which the mirror keeps. Any other full name is asked for by its own."""
        patterns = ["HEAD", "refs/heads/*", "refs/tags/*", name]
        text = self.git(["ls-remote", "--quiet", "--", self.address, *patterns], attempt, "resolve", 120)
        partial = self._list.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(self._list)
        return _parse(text)

    @property
    def _list(self) -> Path:
        return self.folder / "kexbench-advertised"

    def _kept(self, commit: str, attempt: Attempt) -> str:
        """The commit where the mirror has it, else nothing."""
        words = ["rev-parse", "--quiet", "--verify", "--end-of-options", f"refs/kexbench/{commit}^{{commit}}"]
        return self.git(words, attempt, "fetch", accept=(0, 1, 128)).strip()

    def _fetched(self, commit: str, attempt: Attempt) -> str:
        self.fetch_commits([commit], 1, attempt)
        if found := self._kept(commit, attempt):
            return found
        raise StepFailed("fetch", f"{self.address} has no commit {commit}", "check its hash")

    def fetch_commits(self, commits: Sequence[str], depth: int, attempt: Attempt) -> None:
        """Commits, with so much of their history."""
        behind = "" if depth == 1 else " with its history" if depth == WHOLE else f" with {depth} before it"
        attempt.note(f"fetching commit {commits[-1][:12]} of {self.address}{behind}")
        kept = {commit: f"refs/kexbench/{commit}" for commit in commits}
        usual = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]
        try:
            wanted = [f"{commit}:{ref}" for commit, ref in kept.items()]
            words = [*usual, f"--depth={depth}", "--", self.address, *wanted]
            self.git(words, attempt, "fetch", _FETCH_MAX_S)
        except StepFailed as error:  # a server may refuse to cut off history, or commits that nothing leads to
            attempt.note(f"fetching every branch and tag: {error.reason}")
            whole = ["--unshallow"] if (self.folder / "shallow").exists() else []
            branches = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
            self.git([*usual, *whole, "--prune", "--", self.address, *branches], attempt, "fetch", _FETCH_MAX_S)
            for commit, ref in kept.items():
                self.git(["update-ref", ref, commit], attempt, "fetch", accept=(0, 128))

    def _unknown(self, name: str, advertised: dict[str, str]) -> StepFailed:
        if _SHORT_COMMIT.fullmatch(name):
            return StepFailed("resolve", f"{self.address} has no branch, tag or commit {name}", "write the whole hash")
        from rapidfuzz import process  # noqa: PLC0415 (few names are unknown)

        names = [full.removeprefix("refs/heads/").removeprefix("refs/tags/") for full in advertised]
        near = [found for found, *_ in process.extract(name, list(dict.fromkeys(names)), limit=_NEAR)]
        remedy = f"there are {', '.join(near)}" if near else "it has none at all"
        return StepFailed("resolve", f"{self.address} has no branch or tag {name}", remedy)

    def git(
        self,
        words: list[str],
        attempt: Attempt,
        stage: Stage,
        timeout_s: float = 300,
        *,
        accept: tuple[int, ...] = (0,),
        stdin: str = "",
    ) -> str:
        """Git's answer. A home of its own keeps it from settings, passwords and attributes of the person."""
        scheme = self.address.partition("://")[0]
        environment = {
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "file" if self._is_local else {"http": "http:https"}.get(scheme, scheme),
        }
        if trusted := os.environ.get("SSL_CERT_FILE"):
            environment["GIT_SSL_CAINFO"] = trusted
        try:
            return attempt.run(
                ["git", *_CAREFULLY, *words],
                stage=stage,
                timeout_s=timeout_s,
                environment=environment,
                folder=self.folder,
                accept=accept,
                stdin=stdin,
            )
        except ProgramFailed as error:
            right = "belongs to you" if self._is_local else "is open without a password"
            remedy = f"check that {self.address} is a git repository that {right}"
            raise StepFailed(stage, f"git: {_complaint(attempt.last_output)}", remedy, lack=error.lack) from error


def _parse(text: str) -> dict[str, str]:
    """The lines of ls-remote: hash by full name. What a tag leads to comes behind the tag itself, and counts."""
    lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return {name.removesuffix("^{}"): commit for commit, name in lines}


def _look_up(name: str, advertised: dict[str, str]) -> str | None:
    """As git reads a name: tags before branches."""
    candidates = (name, f"refs/{name}", f"refs/tags/{name}", f"refs/heads/{name}")
    return next((advertised[full] for full in candidates if full in advertised), None)


def _complaint(output: str) -> str:
    """The first line that names a fault; git says general things behind it."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    fatal = [line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")]
    return next(iter([*fatal, *lines[-1:]]), "failed without a word")


def _is_young(path: Path) -> bool:
    return path.is_file() and time.time() - path.stat().st_mtime < _LIST_MAX_AGE_S
