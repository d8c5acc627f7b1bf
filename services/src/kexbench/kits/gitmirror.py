"""A bare mirror of a git repository with the requested commits, and a restricted git.

No hook runs and nothing prompts for a password. The settings of the user and of the machine are not read, since they
could name filters, other addresses and programs. Only the address's own transport is allowed.
"""

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kexbench.files import write_whole
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
"""The depth that git treats as unlimited."""


@dataclass(frozen=True)
class GitMirror:
    """The repository at `address`, an absolute path or a URL, mirrored in `folder`. Its methods raise StepFailed.

    One process at a time may `fetch`. Fetched commits never change, so reading needs no lock.
    """

    address: str
    folder: Path

    def fetch(self, name: str, attempt: Attempt, *, refresh: bool) -> str:
        """Fetch the commit that a branch, tag or hash names, and return its hash.

        The list of branches and tags is cached for half a day. `refresh` ignores the cache; a repository on this
        machine is never cached.
        """
        if self._is_local and not Path(self.address).is_dir():
            raise StepFailed("resolve", f"there is no repository {self.address}", "name the folder of a git clone")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.git(["init", "--quiet", "--bare", "--template=", "."], attempt, "fetch")  # also repairs an incomplete one
        commit = self._resolved(name, attempt, refresh=refresh)
        return self._kept(commit, attempt) or self._fetched(commit, attempt)

    def file(self, commit: str, path: str, attempt: Attempt) -> str | None:
        """The text of a file in a commit, or None if there is no such file."""
        listed = self.git(["ls-tree", "--name-only", commit, "--", path], attempt, "resolve")
        return self.git(["cat-file", "blob", f"{commit}:{path}"], attempt, "resolve") if listed.strip() else None

    @property
    def _is_local(self) -> bool:
        return self.address.startswith("/")

    def _resolved(self, name: str, attempt: Attempt, *, refresh: bool) -> str:
        """The hash that a name stands for now. A full hash is not checked: no such commit may exist."""
        if _COMMIT.fullmatch(name):
            return name
        kept = self.folder / "kexbench-advertised"
        is_kept = kept.is_file() and not refresh and not self._is_local
        advertised = _parse(kept.read_text(encoding="utf-8")) if is_kept else {}
        commit = _look_up(name, advertised)
        if commit is None or time.time() - kept.stat().st_mtime > _LIST_MAX_AGE_S:
            patterns = ["HEAD", "refs/heads/*", "refs/tags/*", name]  # `name` may be a full ref of another kind
            with attempt.or_older("an older list of branches", serves=commit is not None):
                text = self.git(["ls-remote", "--quiet", "--", self.address, *patterns], attempt, "resolve", 120)
                write_whole(kept, text.encode())
                advertised = _parse(text)
                commit = _look_up(name, advertised)
        if commit is None and _SHORT_COMMIT.fullmatch(name) and self._is_local:
            words = ["-C", self.address, "rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}"]
            commit = self.git(words, attempt, "resolve", accept=(0, 1, 128)).strip() or None
        if commit is None:
            raise self._unknown(name, advertised)
        return commit

    def _kept(self, commit: str, attempt: Attempt) -> str:
        """The commit if the mirror has it, or an empty string."""
        words = ["rev-parse", "--quiet", "--verify", "--end-of-options", f"refs/kexbench/{commit}^{{commit}}"]
        return self.git(words, attempt, "fetch", accept=(0, 1, 128)).strip()

    def _fetched(self, commit: str, attempt: Attempt) -> str:
        self.fetch_commits([commit], 1, attempt)
        if kept := self._kept(commit, attempt):
            return kept
        raise StepFailed("fetch", f"{self.address} has no commit {commit}", "check the hash")

    def fetch_commits(self, commits: Sequence[str], depth: int, attempt: Attempt) -> None:
        """Fetch commits with `depth` commits of their history."""
        extent = "" if depth == 1 else " and its history" if depth == WHOLE else f" and {depth} commits before it"
        attempt.note(f"fetching commit {commits[-1][:12]} of {self.address}{extent}")
        kept = {commit: f"refs/kexbench/{commit}" for commit in commits}
        usual = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]
        try:
            refspecs = [f"{commit}:{ref}" for commit, ref in kept.items()]
            words = [*usual, f"--depth={depth}", "--", self.address, *refspecs]
            self.git(words, attempt, "fetch", _FETCH_MAX_S)
        except StepFailed as error:  # a server may refuse shallow fetches, or commits that no ref points to
            attempt.note(f"fetching every branch and tag: {error.reason}")
            whole = ["--unshallow"] if (self.folder / "shallow").exists() else []
            branches = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
            self.git([*usual, *whole, "--prune", "--", self.address, *branches], attempt, "fetch", _FETCH_MAX_S)
            for commit, ref in kept.items():
                self.git(["update-ref", ref, commit], attempt, "fetch", accept=(0, 128))

    def _unknown(self, name: str, advertised: dict[str, str]) -> StepFailed:
        if _SHORT_COMMIT.fullmatch(name):
            return StepFailed("resolve", f"{self.address} has no branch, tag or commit {name}", "write the full hash")
        from rapidfuzz import process  # noqa: PLC0415 (slow to import, rarely needed)

        names = [full.removeprefix("refs/heads/").removeprefix("refs/tags/") for full in advertised]
        near = [nearest for nearest, *_ in process.extract(name, list(dict.fromkeys(names)), limit=_NEAR)]
        remedy = f"similar names are {', '.join(near)}" if near else "the repository has no branches and no tags"
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
        """Git's output. A separate HOME keeps git from the user's settings, passwords and attributes."""
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
            access = "belongs to you" if self._is_local else "needs no password"
            remedy = f"check that {self.address} is a git repository and {access}"
            raise StepFailed(stage, f"git: {_complaint(attempt.last_output)}", remedy, lack=error.lack) from error


def _parse(text: str) -> dict[str, str]:
    """Hashes by full name, from the output of ls-remote. The commit of a tag follows the tag itself and replaces it."""
    lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return {name.removesuffix("^{}"): commit for commit, name in lines}


def _look_up(name: str, advertised: dict[str, str]) -> str | None:
    """The hash of a name, in git's order: tags before branches."""
    candidates = (name, f"refs/{name}", f"refs/tags/{name}", f"refs/heads/{name}")
    return next((advertised[full] for full in candidates if full in advertised), None)


def _complaint(output: str) -> str:
    """The first fatal line, since git adds general advice after it; otherwise the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    fatal = [line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")]
    return next(iter([*fatal, *lines[-1:]]), "failed without output")
