"""The result of a bisection, as text that can be pasted into a mail."""

from kexbench.cli.console import out
from kexbench.domain.bisections import BisectionAnswer
from kexbench.domain.instruments import INSTRUMENTS
from kexbench.domain.numbers import percent

SHOWN_COMMITS = 12


def print_answer(answer: BisectionAnswer) -> None:
    """Plain lines; commits look as in `git log`."""
    _line(answer.says)
    for commit in answer.commits[:SHOWN_COMMITS]:
        _line("")
        _line(f"commit {commit.hash}")
        _line(f"Author: {commit.author}")
        _line(f"Date:   {commit.date}")
        _line(f"    {commit.subject}")
        if commit.fails:
            _line(f"    (cannot be measured: {commit.fails})")
    if more := len(answer.commits) - SHOWN_COMMITS:
        _line(f"\nand {more} more" if more > 0 else "")
    good, bad = answer.good, answer.bad
    counts = answer.instrument.counts
    row = INSTRUMENTS[answer.instrument]
    _line(f"{row.measure} of a handshake, {bad.name} ({bad.hash[:12]}) compared with {good.name} ({good.hash[:12]}):")
    for step in answer.steps:
        _line(f"    {step.title}  {percent(step.ratio, 2)}  [{percent(step.low, 2)}, {percent(step.high, 2)}]")
    built = (
        f"\n{answer.searched} commits of {answer.repository} (first parents): {answer.builds} built, "
        f"{len(answer.failed)} could not be measured. "
    )
    if counts:
        _line(f"{built}Each was counted {answer.invocations} times by {row.counted_by}.")
        return
    _line(
        f"{built}{answer.measurements} measurements of {answer.invocations} invocations, the first of twice as many. "
        "Each measures both ends and one commit on one core. Intervals: 95%."
    )


def _line(text: str) -> None:
    out.print(text, markup=False, soft_wrap=True)
