"""The commit range between two commits of a repository, along first parents: a merge counts as one commit."""

from kexbench.domain.bisections import LineCommit
from kexbench.domain.library_commits import LibraryCommit, printable
from kexbench.kits.errors import StepFailed
from kexbench.kits.gitmirror import WHOLE, GitMirror
from kexbench.kits.process import Attempt

_DEPTHS = (100, 2000, WHOLE)
"""How much history is fetched, step by step, until it contains the commit range."""
_FIELDS = ("%H", "%P", "%an <%ae>", "%aI", "%s")
_SEPARATOR = "\x1f"


def line_of_commits(mirror: GitMirror, good: str, bad: str, attempt: Attempt) -> tuple[LineCommit, ...]:
    """The commits from `good` to `bad`, oldest first, each the first parent of the next. The mirror keeps all of them.
    Raises StepFailed, also if there is no such range.

    Only the necessary history is fetched. The caller holds the mirror's lock.
    """
    first, last = (mirror.fetch(name, attempt, refresh=False) for name in (good, bad))
    line = _line(mirror, [f"{first}..{last}"], attempt)
    for depth in _DEPTHS:
        if _is_whole(line, first, last):
            break
        mirror.fetch_commits((first, last), depth, attempt)
        line = _line(mirror, [f"{first}..{last}"], attempt)
    if not _is_whole(line, first, last):
        raise _no_line(mirror, (good, bad), (first, last), line[0][0] if line else "", attempt)
    commits = tuple(commit for _, commit in (*_line(mirror, ["--no-walk", first], attempt), *line))
    kept = "".join(f"update refs/kexbench/{commit.hash} {commit.hash}\n" for commit in commits)
    mirror.git(["update-ref", "--stdin"], attempt, "fetch", stdin=kept)  # builds don't fetch them again
    return commits


def library_commit_of(mirror: GitMirror, commit: str, attempt: Attempt) -> LibraryCommit:
    """The dates and the subject of a commit in the mirror. Raises StepFailed."""
    words = ["log", "--no-walk", "--format=%ct %at %s", commit, "--"]
    committed, authored, subject = mirror.git(words, attempt, "resolve").split(" ", 2)
    return LibraryCommit.of(commit, int(committed), int(authored), subject)


def _is_whole(line: list[tuple[str, LineCommit]], first: str, last: str) -> bool:
    return first == last or bool(line and line[0][0] == first)


def _line(mirror: GitMirror, which: list[str], attempt: Attempt) -> list[tuple[str, LineCommit]]:
    """The commits of a range that the mirror has, along first parents, oldest first, each after its first parent."""
    words = ["log", "--first-parent", "--reverse", f"--format={_SEPARATOR.join(_FIELDS)}", *which, "--"]
    commits = []
    for line in filter(None, mirror.git(words, attempt, "resolve").split("\n")):
        own, parents, author, date, subject = (printable(part) for part in line.split(_SEPARATOR, len(_FIELDS) - 1))
        commits.append((parents.partition(" ")[0], LineCommit(hash=own, author=author, date=date, subject=subject)))
    return commits


def _no_line(
    mirror: GitMirror, names: tuple[str, str], ends: tuple[str, str], fork: str, attempt: Attempt
) -> StepFailed:
    """Why there is no range from the first to the last. `fork` is the parent of the oldest commit after the first."""
    good, bad = names
    base = mirror.git(["merge-base", *ends], attempt, "resolve", accept=(0, 1)).strip()
    if not base:
        return StepFailed("resolve", f"{good} and {bad} have no common commit", "name two commits of one history")
    if base == ends[1]:
        return StepFailed("resolve", f"{bad} is older than {good}", "name the good commit first")
    if base == ends[0]:
        remedy = f"use {fork or 'a commit of its main line'} as the good commit, or bisect on the merged branch"
        return StepFailed("resolve", f"{good} came into {bad} by a merge", remedy)
    remedy = f"use {base} as the good commit, the last one that both have"
    return StepFailed("resolve", f"{good} is not an ancestor of {bad}", remedy)
