"""Comments on pull requests, in Markdown: what their specs would measure, and the verdict of finished runs. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from kexbench.domain.commits import DryRun, SpecFault
from kexbench.domain.instruments import INSTRUMENTS, side_words
from kexbench.domain.numbers import counted, signed_words
from kexbench.domain.profiles import Culprit
from kexbench.domain.verdicts import ExactChange, MovedCell, RunVerdict
from kexbench.forges.markdown import code, table

ROWS_MAX = 20
"""Rows of each table."""
COMMENT_MAX = 60_000
"""Characters of a comment. A forge accepts at most 65,536."""
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


def is_worth_saying(result: DryRuns | FinishedRun, *, said_before: bool) -> bool:
    """Whether a comment is due: something changed, was lost or could not be compared, there are specs or errors, or an
    earlier comment must be corrected."""
    if isinstance(result, DryRuns):
        return bool(result.specs or result.faults) or said_before
    verdict = result.verdict
    return bool(verdict.moved or verdict.lost or verdict.trouble or not verdict.compared) or said_before


def pull_request_comment(dry: DryRuns, finished: Sequence[FinishedRun]) -> str:
    """All news. Without news, the comment says that nothing changed, which corrects an earlier one."""
    results: list[DryRuns | FinishedRun] = [dry, *finished]
    news = [result for result in results if is_worth_saying(result, said_before=False)]
    parts = [_part(result) for result in news or results[1:2] or [dry]]
    lengths = accumulate(len(part) for part in parts)
    shown = [part for part, length in zip(parts, lengths, strict=True) if length <= COMMENT_MAX]
    return "\n\n".join([*shown, *_more(parts, len(shown))])


def _part(result: DryRuns | FinishedRun) -> str:
    return dry_run_comment(result) if isinstance(result, DryRuns) else finished_comment(result)


def dry_run_words(dry: DryRun) -> str:
    """One line for a commit status."""
    would = f"would measure {counted(dry.cases, 'case')} in {time_words(sum(dry.minutes.values()))} of machine time"
    ahead = f"; {_ahead(dry)} ahead in the queue" if dry.runs_ahead else ""
    detects = "" if dry.detects is None else f"; resolution {dry.detects:.2%}"
    mixed = f"; nodes differ in {', '.join(_pools(dry.mixed_pools))}" if dry.mixed_pools else ""
    return f"{would}{ahead}{detects}{mixed}"


def dry_run_comment(dry: DryRuns) -> str:
    parts = [
        f"### kexbench: {_dry_headline(dry)}",
        f"Plan for commit {code(dry.commit)}. Nothing has been measured yet.",
    ]
    if dry.faults:
        rows = [(code(f"{fault.file}:{fault.line}"), code(fault.text)) for fault in dry.faults[:ROWS_MAX]]
        parts += [table(("place", "error"), rows), *_more(dry.faults)]
    if dry.specs:
        head = ("spec", "cases:", "jobs:", "time per pool", "ahead in the queue", "resolution:")
        parts += [table(head, map(_dry_row, dry.specs[:ROWS_MAX])), *_more(dry.specs)]
    if mixed := sorted({pool for spec in dry.specs for pool in spec.dry.mixed_pools}):
        pools = ", ".join(_pools([code(pool) for pool in mixed]))
        parts.append(f"The nodes of {pools} differ in hardware. Results of each host kind are kept separate.")
    return "\n\n".join(parts)


def finished_comment(run: FinishedRun) -> str:
    verdict = run.verdict
    parts = [f"### kexbench: {verdict.sentence}", f"Spec {code(run.spec)} at commit {code(run.commit)}."]
    if verdict.trouble:
        parts.append(f"Incomplete: {code(verdict.trouble)}")
    if verdict.missing:
        rows = [(reason, f"{count:,}") for reason, count in verdict.missing.items()]
        parts += [table(("comparisons without a result", "number:"), rows)]
    if verdict.lost:
        parts.append(f"In {counted(verdict.lost, 'comparison')}, only the newer version failed.")
    if verdict.largest:
        head = ("case", "pool", "before", "after", "change:", "95% confidence interval")
        parts += [table(head, map(_moved_row, verdict.largest)), *_more(range(verdict.moved), len(verdict.largest))]
    parts += exact_list(verdict.exact)
    if verdict.culprits:
        parts.append(culprit_table(verdict.culprits))
    parts.append(f"[See all results](<{run.url}>)")
    return "\n\n".join(parts)


def exact_list(changes: Sequence[ExactChange]) -> list[str]:
    """The changes of exact metrics, with their values and units."""
    if not changes:
        return []
    rows = [f"- {code(f'{change.before} → {change.after}')}: {code(change.text)}" for change in changes[:ROWS_MAX]]
    return ["\n".join(["Exact metrics:", "", *rows]), *_more(changes)]


def culprit_table(culprits: Sequence[Culprit]) -> str:
    """The functions that increases are in."""
    row = INSTRUMENTS[culprits[0].instrument]
    columns = ("function", f"{row.amounts}:", "case", f"{row.calls.partition(',')[0]}:")
    return "\n\n".join([table(columns, map(_culprit_row, culprits[:ROWS_MAX])), *_more(culprits)])


def _dry_headline(dry: DryRuns) -> str:
    faults = counted(len(dry.faults), "error") if dry.faults else ""
    if not dry.specs:
        return faults or "no spec changed"
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


def _pools(names: Sequence[str]) -> list[str]:
    return [*names[:_POOLS_MAX], *_more(names, _POOLS_MAX)]


def _ahead(dry: DryRun) -> str:
    return f"{counted(dry.runs_ahead, 'run')}, {time_words(dry.minutes_ahead)}"


def _moved_row(cell: MovedCell) -> tuple[str, ...]:
    names = map(code, (cell.case, cell.pool, cell.before, cell.after))
    return *names, signed_words(cell.ratio - 1), f"{signed_words(cell.low - 1)} to {signed_words(cell.high - 1)}"


def _culprit_row(culprit: Culprit) -> tuple[str, ...]:
    calls = " → ".join(f"{number:,.1f}".removesuffix(".0") for number in culprit.calls)
    share = f"{signed_words(culprit.share)} of the {side_words(culprit.side)}'s"
    return code(culprit.function), share, code(culprit.title), calls


def _more(items: Sequence[object], most: int = ROWS_MAX) -> list[str]:
    return [f"and {len(items) - most:,} more"] if len(items) > most else []


def time_words(minutes: float) -> str:
    """`12 min` or `3 h 10 min`; at least `1 min`."""
    whole = max(1, round(minutes))
    hours, remainder = divmod(whole, 60)
    return f"{whole} min" if not hours else f"{hours:,} h" + (f" {remainder} min" if remainder else "")
