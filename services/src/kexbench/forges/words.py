"""What people read at a pull request: what its specs would cost, and what became of a run. Markdown, pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from kexbench.forges.markdown import code, table

ROWS_MAX = 20
"""Of each table. A forge takes 65,536 characters at most in a comment."""
_POOLS_MAX = 8


@dataclass(frozen=True)
class SpecFault:
    file: str
    line: int
    text: str


@dataclass(frozen=True)
class DrySpec:
    """What one spec would be. `minutes` of each pool by its name; `jobs_ahead` and `minutes_ahead` are in the queue
    before it; `detects` is the smallest change that it would find, 0.005 for 0.5%, None where that is not known."""

    file: str
    cases: int
    jobs: int
    minutes: tuple[tuple[str, float], ...]
    jobs_ahead: int
    minutes_ahead: float
    detects: float | None


@dataclass(frozen=True)
class DryRun:
    """The specs that a pull request changes, planned and not measured."""

    commit: str
    specs: tuple[DrySpec, ...]
    faults: tuple[SpecFault, ...]


@dataclass(frozen=True)
class MovedCell:
    """A case in a pool whose cost moved relevantly between two subjects. 0.02 is 2% more, also in the interval."""

    case: str
    pool: str
    before: str
    after: str
    change: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class FinishedRun:
    """`compared` are all cells that were; `unresolved` those of them that nothing can be said of. `trouble` is why the
    run has not all it should, empty where it has. `url` is its page."""

    spec: str
    commit: str
    url: str
    compared: int
    unresolved: int
    moved: tuple[MovedCell, ...]
    trouble: str = ""


def is_worth_saying(said: DryRun | FinishedRun, *, said_before: bool) -> bool:
    """Whether it concerns anybody: something moved relevantly, there are specs or faults, or what was said before is
    to be corrected."""
    news = said.specs or said.faults if isinstance(said, DryRun) else said.moved or said.trouble
    return bool(news) or said_before


def dry_run_comment(dry: DryRun) -> str:
    parts = [f"### kexbench: {_dry_headline(dry)}", f"As of commit {code(dry.commit)}; nothing is measured yet."]
    if dry.faults:
        rows = [(code(f"{fault.file}:{fault.line}"), code(fault.text)) for fault in dry.faults[:ROWS_MAX]]
        parts += [table(("where", "what is wrong"), rows), *_more(dry.faults)]
    if dry.specs:
        head = ("spec", "cases:", "jobs:", "time in each pool", "before it in the queue", "detects:")
        parts += [table(head, map(_dry_row, dry.specs[:ROWS_MAX])), *_more(dry.specs)]
    if any(spec.detects is not None for spec in dry.specs):
        parts.append("Detects: the smallest change that it is expected to find.")
    return "\n\n".join(parts)


def finished_comment(run: FinishedRun) -> str:
    parts = [f"### kexbench: {verdict(run)}", f"Spec {code(run.spec)} at commit {code(run.commit)}."]
    if run.trouble:
        parts.append(f"It has not all that it should: {code(run.trouble)}")
    if run.moved:
        largest = sorted(run.moved, key=lambda cell: abs(cell.change), reverse=True)
        head = ("case", "pool", "from", "to", "cost:", "95% interval")
        parts += [table(head, map(_moved_row, largest[:ROWS_MAX])), *_more(run.moved)]
    parts.append(f"[All numbers are on the run's page](<{run.url}>)")
    return "\n\n".join(parts)


def verdict(run: FinishedRun) -> str:
    """One sentence, which a commit status has room for."""
    end = " (incomplete)" if run.trouble else ""
    if not run.compared:
        return f"there is nothing to compare{end}"
    unresolved = f"; {run.unresolved:,} unresolved" if run.unresolved else ""
    of_all = f"of {_count(run.compared, 'cell')}"
    if not run.moved:
        return f"nothing moved relevantly, {of_all}{unresolved}{end}"
    more = [cell.change for cell in run.moved if cell.change > 0]
    less = [cell.change for cell in run.moved if cell.change <= 0]
    told = [f"{_costs(len(more))} more (up to {max(more):+.1%})"] if more else []
    if less:
        told.append(f"{_costs(len(less))} less (up to {min(less):+.1%})")
    return f"{of_all}, {' and '.join(told)}{unresolved}{end}"


def _dry_headline(dry: DryRun) -> str:
    faults = f"{_count(len(dry.faults), 'fault')} to correct" if dry.faults else ""
    if not dry.specs:
        return faults or "no spec is changed"
    minutes = sum(minutes for spec in dry.specs for _, minutes in spec.minutes)
    cases = _count(sum(spec.cases for spec in dry.specs), "case")
    would = f"{_count(len(dry.specs), 'spec')} would measure {cases} in {_time(minutes)} of machine time"
    return f"{faults}; {would}" if faults else would


def _dry_row(spec: DrySpec) -> tuple[str, ...]:
    pools = [f"{code(pool)} {_time(minutes)}" for pool, minutes in spec.minutes[:_POOLS_MAX]]
    ahead = f"{_count(spec.jobs_ahead, 'job')}, {_time(spec.minutes_ahead)}" if spec.jobs_ahead else "nothing"
    detects = "–" if spec.detects is None else f"{spec.detects:.2%}"
    in_pools = ", ".join([*pools, *_more(spec.minutes, _POOLS_MAX)])
    return code(spec.file), f"{spec.cases:,}", f"{spec.jobs:,}", in_pools, ahead, detects


def _moved_row(cell: MovedCell) -> tuple[str, ...]:
    interval = "–" if cell.low is None or cell.high is None else f"{cell.low:+.1%} to {cell.high:+.1%}"
    names = map(code, (cell.case, cell.pool, cell.before, cell.after))
    return *names, f"{cell.change:+.1%}", interval


def _more(every: Sequence[object], most: int = ROWS_MAX) -> list[str]:
    return [f"and {len(every) - most:,} more"] if len(every) > most else []


def _time(minutes: float) -> str:
    """`12 min` or `3 h 10 min`; less than one is one."""
    whole = max(1, round(minutes))
    hours, rest = divmod(whole, 60)
    return f"{whole} min" if not hours else f"{hours:,} h" + (f" {rest} min" if rest else "")


def _costs(number: int) -> str:
    return f"{number:,} {'costs' if number == 1 else 'cost'}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
