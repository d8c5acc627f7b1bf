"""What a bisection came to, in words that can stand in a mail, and for machines."""

from typing import Any

import numpy as np

from kexbench.analysis.bisect import SURE, Found, Next, Unsure, posterior
from kexbench.analysis.detectable import pair_sd_of, smallest_detectable_change
from kexbench.analysis.estimates import trimmed_interval
from kexbench.cli.bisect_notes import Notes
from kexbench.cli.console import out
from kexbench.domain.cases import Case

SHOWN_COMMITS = 12
Answer = dict[str, Any]


def answer(notes: Notes, cases: tuple[Case, ...], names: tuple[str, str], builds: int, found: Next | None) -> Answer:
    """The whole of it. `names` is how the person called the ends; `found` None where these do not differ."""
    steps = [_step(notes, case) for case in cases if notes.steps(case.case_id)]
    shown = range(0)
    if isinstance(found, Found | Unsure):
        shown = range(found.first, found.last + 1)
    chances = posterior(notes.search(builds)) if found else np.zeros(notes.last)
    return {
        "verdict": "found" if isinstance(found, Found) else "cannot say",
        "says": _says(notes, steps, names, builds, found),
        "probability": found.probability if isinstance(found, Found) else None,
        "commits": [_commit(notes, number, float(chances[number - 1])) for number in shown],
        "steps": steps,
        "repository": notes.address,
        "good": {"name": names[0], "hash": notes.commits[0].hash},
        "bad": {"name": names[1], "hash": notes.commits[-1].hash},
        "searched": len(notes.commits),
        "builds": notes.builds,
        "failed": [_commit(notes, number, 0.0) for number in sorted(notes.failed)],
        "measurements": len(notes.measured),
        "invocations": notes.invocations,
        "run_ids": [each.run_id for each in notes.measured],
    }


def print_answer(told: Answer) -> None:
    """Plain lines, the commits as git log shows them."""
    _line(told["says"])
    for commit in told["commits"][:SHOWN_COMMITS]:
        _line("")
        _line(f"commit {commit['hash']}")
        _line(f"Author: {commit['author']}")
        _line(f"Date:   {commit['date']}")
        _line(f"    {commit['subject']}")
        if commit["fails"]:
            _line(f"    (cannot be measured: {commit['fails']})")
    if more := len(told["commits"]) - SHOWN_COMMITS:
        _line(f"\nand {more} more" if more > 0 else "")
    good, bad = told["good"], told["bad"]
    _line(f"CPU time of a handshake, {bad['name']} ({bad['hash'][:12]}) against {good['name']} ({good['hash'][:12]}):")
    for step in told["steps"]:
        _line(f"    {step['title']}  {_percent(step['ratio'])}  [{_percent(step['low'])}, {_percent(step['high'])}]")
    _line(
        f"\nOf {told['searched']} commits of {told['repository']}, by first parents, {told['builds']} were built and "
        f"{len(told['failed'])} could not be measured. {told['measurements']} measurements of {told['invocations']} "
        "invocations, the first of twice as many, each of both ends and one commit on one core; intervals are 95%."
    )


def _says(notes: Notes, steps: list[Answer], names: tuple[str, str], builds: int, found: Next | None) -> str:
    """The answer in a sentence or two, with the remedy where there is none."""
    if found is None:
        return _no_step(notes, names)
    word = _word(steps)
    if isinstance(found, Found):
        hashed = notes.commits[found.last].hash[:12]
        if found.first == found.last:
            return f"{hashed} is the first commit whose handshakes cost {word}: {found.probability:.1%} sure."
        return (
            f"The first commit whose handshakes cost {word} is one of {found.last - found.first + 1}, of which all but "
            f"{hashed} cannot be measured: {found.probability:.1%} sure."
        )
    assert isinstance(found, Unsure)
    if found.why == "misfit":
        assert found.commit is not None
        between = notes.commits[found.commit].hash[:12]
        return (
            f"Cannot say: more than one commit changed the cost. {between} costs neither what {names[0]} nor what "
            f"{names[1]} does in every case. Search {names[0]} to {between} and {between} to {names[1]} apart, or one "
            "case at a time."
        )
    return (
        f"Cannot say: {notes.builds} builds and {len(notes.measured)} measurements leave "
        f"{found.last - found.first + 1} commits, and {SURE:.0%} that the first whose handshakes cost {word} is one of "
        f"them. --builds {builds + 4} goes on from here; --invocations {4 * notes.invocations} begins anew and sees "
        "twice as sharply."
    )


def _no_step(notes: Notes, names: tuple[str, str]) -> str:
    known = [logs.steps for logs in notes.measured[0].logs.values() if logs.steps]
    count = max(map(len, known))
    sees = max(smallest_detectable_change(pair_sd_of(np.array(logs)), len(logs)) for logs in known)
    return (
        f"Cannot say: {names[1]} costs what {names[0]} does, as far as {count} invocations tell; they find a change of "
        f"{sees:.2%} four times in five, and less than 0.5% is never called one. --invocations {4 * notes.invocations} "
        "sees half of that."
    )


def _word(steps: list[Answer]) -> str:
    ratios = [step["ratio"] for step in steps if step["changed"]]
    return "more" if min(ratios) > 1 else "less" if max(ratios) < 1 else "something else"


def _step(notes: Notes, case: Case) -> Answer:
    """The change from the good to the bad commit over all measurements."""
    centre, low, high = (float(np.exp(log)) for log in trimmed_interval(np.array(notes.steps(case.case_id))))
    changed = case.case_id in notes.changed()
    return {
        "case_id": case.case_id, "title": case.label, "changed": changed, "ratio": centre, "low": low, "high": high,
    }  # fmt: skip


def _commit(notes: Notes, number: int, probability: float) -> Answer:
    failure = notes.failed.get(number)
    return {
        **notes.commits[number].model_dump(),
        "number": number,
        "probability": probability,
        "fails": failure.reason if failure else None,
    }


def _percent(ratio: float) -> str:
    return f"{ratio - 1:+.2%}"


def _line(text: str) -> None:
    out.print(text, markup=False, soft_wrap=True)
