"""What a bisection came to, in words that can stand in a mail."""

from kexbench.cli.console import out
from kexbench.domain.bisections import BisectionAnswer

SHOWN_COMMITS = 12


def print_answer(told: BisectionAnswer) -> None:
    """Plain lines, the commits as git log shows them."""
    _line(told.says)
    for commit in told.commits[:SHOWN_COMMITS]:
        _line("")
        _line(f"commit {commit.hash}")
        _line(f"Author: {commit.author}")
        _line(f"Date:   {commit.date}")
        _line(f"    {commit.subject}")
        if commit.fails:
            _line(f"    (cannot be measured: {commit.fails})")
    if more := len(told.commits) - SHOWN_COMMITS:
        _line(f"\nand {more} more" if more > 0 else "")
    good, bad = told.good, told.bad
    _line(f"CPU time of a handshake, {bad.name} ({bad.hash[:12]}) against {good.name} ({good.hash[:12]}):")
    for step in told.steps:
        _line(f"    {step.title}  {_percent(step.ratio)}  [{_percent(step.low)}, {_percent(step.high)}]")
    _line(
        f"\nOf {told.searched} commits of {told.repository}, by first parents, {told.builds} were built and "
        f"{len(told.failed)} could not be measured. {told.measurements} measurements of {told.invocations} "
        "invocations, the first of twice as many, each of both ends and one commit on one core; intervals are 95%."
    )


def _percent(ratio: float) -> str:
    return f"{ratio - 1:+.2%}"


def _line(text: str) -> None:
    out.print(text, markup=False, soft_wrap=True)
