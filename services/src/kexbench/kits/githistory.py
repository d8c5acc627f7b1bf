"""The line of commits between two of a repository, by first parents: a merge counts as one."""

from kexbench.domain.bisections import LineCommit
from kexbench.domain.library_commits import SUBJECT_MAX, LibraryCommit
from kexbench.domain.moments import moment_of
from kexbench.kits.errors import StepFailed
from kexbench.kits.gitmirror import WHOLE, GitMirror
from kexbench.kits.process import Attempt

_DEPTHS = (100, 2000, WHOLE)
"""How much of a history is fetched until it holds what is asked of it."""
_FIELDS = ("%H", "%P", "%an <%ae>", "%aI", "%s")
_BETWEEN = "\x1f"


def line_of_commits(mirror: GitMirror, good: str, bad: str, attempt: Attempt) -> tuple[LineCommit, ...]:
    """From the commit that `good` names to that of `bad`, oldest first, each the first parent of the next. The mirror
    has all of them from now on. Raises StepFailed, also where there is no such line.

    Only as much of the history is fetched as it takes. The caller holds the mirror's lock.
    """
    first, last = (mirror.fetch(name, attempt, refresh=False) for name in (good, bad))
    line = _told(mirror, [f"{first}..{last}"], attempt)
    for depth in _DEPTHS:
        if _is_whole(line, first, last):
            break
        mirror.fetch_commits((first, last), depth, attempt)
        line = _told(mirror, [f"{first}..{last}"], attempt)
    if not _is_whole(line, first, last):
        raise _no_line(mirror, (good, bad), (first, last), line[0][0] if line else "", attempt)
    commits = tuple(commit for _, commit in (*_told(mirror, ["--no-walk", first], attempt), *line))
    kept = "".join(f"update refs/kexbench/{commit.hash} {commit.hash}\n" for commit in commits)
    mirror.git(["update-ref", "--stdin"], attempt, "fetch", stdin=kept)  # so that no build fetches it again
    return commits


def told_of(mirror: GitMirror, commit: str, attempt: Attempt) -> LibraryCommit:
    """What a commit that the mirror has says of itself. Raises StepFailed."""
    words = ["log", "--no-walk", f"--format=%ct{_BETWEEN}%at{_BETWEEN}%s", commit, "--"]
    committed, authored, subject = mirror.git(words, attempt, "resolve").rstrip("\n").split(_BETWEEN, 2)
    return LibraryCommit(
        hash=commit,
        committed_at=moment_of(int(committed)),
        authored_at=moment_of(int(authored)),
        subject=_printable(subject)[:SUBJECT_MAX],
    )


def _is_whole(line: list[tuple[str, LineCommit]], first: str, last: str) -> bool:
    return first == last or bool(line and line[0][0] == first)


def _told(mirror: GitMirror, which: list[str], attempt: Attempt) -> list[tuple[str, LineCommit]]:
    """Commits by first parents, oldest first, as far as the mirror has them, each with its own first parent."""
    words = ["log", "--first-parent", "--reverse", f"--format={_BETWEEN.join(_FIELDS)}", *which, "--"]
    found = []
    for line in filter(None, mirror.git(words, attempt, "resolve").split("\n")):
        own, parents, author, date, subject = (_printable(part) for part in line.split(_BETWEEN, len(_FIELDS) - 1))
        found.append((parents.partition(" ")[0], LineCommit(hash=own, author=author, date=date, subject=subject)))
    return found


def _printable(text: str) -> str:
    """Without what could steer the terminal that it is shown on."""
    return "".join(each for each in text if each.isprintable())


def _no_line(
    mirror: GitMirror, names: tuple[str, str], ends: tuple[str, str], left: str, attempt: Attempt
) -> StepFailed:
    """Why no line leads from the first to the last. `left` is where that of the last leaves what both have."""
    good, bad = names
    base = mirror.git(["merge-base", *ends], attempt, "resolve", accept=(0, 1)).strip()
    if not base:
        return StepFailed("resolve", f"{good} and {bad} have no commit in common", "name two of one history")
    if base == ends[1]:
        return StepFailed("resolve", f"{bad} is older than {good}", "name the good commit first")
    if base == ends[0]:
        remedy = f"take {left or 'a commit of its own line'} as the good one, or name its other line"
        return StepFailed("resolve", f"{good} came into {bad} by a merge", remedy)
    remedy = f"take {base} as the good one, the last commit that both have"
    return StepFailed("resolve", f"{good} is not an ancestor of {bad}", remedy)
