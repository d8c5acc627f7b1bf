"""What people read at a pull request: what its specs would cost, and what became of a run. Markdown, pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from kexbench.domain.commits import DryRun, SpecFault
from kexbench.domain.verdicts import MovedCell, RunVerdict
from kexbench.forges.markdown import code, counted, table

ROWS_MAX = 20
"""Of each table."""
COMMENT_MAX = 60_000
"""Of a comment's parts together. A forge takes 65,536 characters at most."""
_POOLS_MAX = 8


@dataclass(frozen=True)
class DrySpec:
    """A spec and its dry run."""

    file: str
    dry: DryRun


@dataclass(frozen=True)
class DryRuns:
    """The specs that a pull request changes, planned and not measured."""

    commit: str
    specs: tuple[DrySpec, ...]
    faults: tuple[SpecFault, ...]


@dataclass(frozen=True)
class FinishedRun:
    """`url` is the run's page."""

    spec: str
    commit: str
    url: str
    verdict: RunVerdict


def is_worth_saying(said: DryRuns | FinishedRun, *, said_before: bool) -> bool:
    """Whether it concerns anybody: something moved relevantly, there are specs or faults, or what was said before is
    to be corrected."""
    if isinstance(said, DryRuns):
        return bool(said.specs or said.faults) or said_before
    return bool(said.verdict.moved or said.verdict.trouble) or said_before


def pull_request_comment(dry: DryRuns, finished: Sequence[FinishedRun]) -> str:
    """All that is worth saying; where nothing is, that: for who was told otherwise before."""
    every: list[DryRuns | FinishedRun] = [dry, *finished]
    news = [one for one in every if is_worth_saying(one, said_before=False)]
    parts = [_part(one) for one in news or every[1:2] or [dry]]
    lengths = accumulate(len(part) for part in parts)
    told = [part for part, length in zip(parts, lengths, strict=True) if length <= COMMENT_MAX]
    return "\n\n".join([*told, *_more(parts, len(told))])


def _part(said: DryRuns | FinishedRun) -> str:
    return dry_run_comment(said) if isinstance(said, DryRuns) else finished_comment(said)


def dry_run_words(dry: DryRun) -> str:
    """One line, which a commit status has room for."""
    would = f"would measure {counted(dry.cases, 'case')} in {time_words(sum(dry.minutes.values()))} of machine time"
    ahead = f"; before it {_ahead(dry)}" if dry.runs_ahead else ""
    detects = "" if dry.detects is None else f"; detects {dry.detects:.2%}"
    unlike = f"; unlike nodes in {', '.join(_pools(dry.mixed_pools))}" if dry.mixed_pools else ""
    return f"{would}{ahead}{detects}{unlike}"


def dry_run_comment(dry: DryRuns) -> str:
    parts = [f"### kexbench: {_dry_headline(dry)}", f"As of commit {code(dry.commit)}; nothing is measured yet."]
    if dry.faults:
        rows = [(code(f"{fault.file}:{fault.line}"), code(fault.text)) for fault in dry.faults[:ROWS_MAX]]
        parts += [table(("where", "what is wrong"), rows), *_more(dry.faults)]
    if dry.specs:
        head = ("spec", "cases:", "jobs:", "time in each pool", "before it in the queue", "detects:")
        parts += [table(head, map(_dry_row, dry.specs[:ROWS_MAX])), *_more(dry.specs)]
    if any(spec.dry.detects is not None for spec in dry.specs):
        parts.append("Detects: the smallest change that it is expected to find.")
    if mixed := sorted({pool for spec in dry.specs for pool in spec.dry.mixed_pools}):
        told = ", ".join(_pools([code(pool) for pool in mixed]))
        parts.append(f"Nodes of {told} are not comparable: the numbers of each kind are kept apart.")
    return "\n\n".join(parts)


def finished_comment(run: FinishedRun) -> str:
    found = run.verdict
    parts = [f"### kexbench: {found.sentence}", f"Spec {code(run.spec)} at commit {code(run.commit)}."]
    if found.trouble:
        parts.append(f"It has not all that it should: {code(found.trouble)}")
    if found.largest:
        head = ("case", "pool", "from", "to", "cost:", "95% interval")
        parts += [table(head, map(_moved_row, found.largest)), *_more(range(found.moved), len(found.largest))]
    parts.append(f"[All numbers are on the run's page](<{run.url}>)")
    return "\n\n".join(parts)


def _dry_headline(dry: DryRuns) -> str:
    faults = f"{counted(len(dry.faults), 'fault')} to correct" if dry.faults else ""
    if not dry.specs:
        return faults or "no spec is changed"
    minutes = sum(minutes for spec in dry.specs for minutes in spec.dry.minutes.values())
    cases = counted(sum(spec.dry.cases for spec in dry.specs), "case")
    would = f"{counted(len(dry.specs), 'spec')} would measure {cases} in {time_words(minutes)} of machine time"
    return f"{faults}; {would}" if faults else would


def _dry_row(spec: DrySpec) -> tuple[str, ...]:
    dry = spec.dry
    pools = [f"{code(pool)} {time_words(minutes)}" for pool, minutes in dry.minutes.items()]
    ahead = _ahead(dry) if dry.runs_ahead else "nothing"
    detects = "–" if dry.detects is None else f"{dry.detects:.2%}"
    return code(spec.file), f"{dry.cases:,}", f"{dry.jobs:,}", ", ".join(_pools(pools)), ahead, detects


def _pools(every: Sequence[str]) -> list[str]:
    return [*every[:_POOLS_MAX], *_more(every, _POOLS_MAX)]


def _ahead(dry: DryRun) -> str:
    return f"{counted(dry.runs_ahead, 'run')}, {time_words(dry.minutes_ahead)}"


def _moved_row(cell: MovedCell) -> tuple[str, ...]:
    names = map(code, (cell.case, cell.pool, cell.before, cell.after))
    return *names, f"{cell.change:+.1%}", f"{cell.low:+.1%} to {cell.high:+.1%}"


def _more(every: Sequence[object], most: int = ROWS_MAX) -> list[str]:
    return [f"and {len(every) - most:,} more"] if len(every) > most else []


def time_words(minutes: float) -> str:
    """`12 min` or `3 h 10 min`; less than one is one."""
    whole = max(1, round(minutes))
    hours, rest = divmod(whole, 60)
    return f"{whole} min" if not hours else f"{hours:,} h" + (f" {rest} min" if rest else "")
