"""What a bisection came to, in a sentence or two and in numbers."""

import numpy as np

from kexbench.analysis.bisect import SURE, Found, Next, Unsure, posterior
from kexbench.analysis.bisect_notes import Notes
from kexbench.analysis.detectable import pair_sd_of, smallest_detectable_change
from kexbench.analysis.estimates import trimmed_interval
from kexbench.domain.bisections import BisectionAnswer, CaseStep, End, ToldCommit
from kexbench.domain.cases import Case


def answer(
    notes: Notes, cases: tuple[Case, ...], names: tuple[str, str], builds: int, found: Next | None
) -> BisectionAnswer:
    """The whole of it. `names` is how the person called the ends; `found` None where these do not differ."""
    steps = case_steps(notes, cases)
    shown = range(0)
    if isinstance(found, Found | Unsure):
        shown = range(found.first, found.last + 1)
    chances = posterior(notes.search(builds)) if found else np.zeros(notes.last)
    return BisectionAnswer(
        verdict="found" if isinstance(found, Found) else "cannot say",
        says=_says(notes, steps, names, builds, found),
        probability=found.probability if isinstance(found, Found) else None,
        commits=tuple(_commit(notes, number, float(chances[number - 1])) for number in shown),
        steps=steps,
        repository=notes.address,
        good=End(name=names[0], hash=notes.commits[0].hash),
        bad=End(name=names[1], hash=notes.commits[-1].hash),
        searched=len(notes.commits),
        builds=notes.builds,
        failed=tuple(_commit(notes, number, 0.0) for number in sorted(notes.failed)),
        measurements=len(notes.measured),
        invocations=notes.invocations,
        run_ids=tuple(each.run_id for each in notes.measured),
    )


def case_steps(notes: Notes, cases: tuple[Case, ...]) -> tuple[CaseStep, ...]:
    """The change from the good to the bad commit in each case that has numbers, over all measurements."""
    return tuple(_step(notes, case) for case in cases if notes.measured and notes.steps(case.case_id))


def _says(notes: Notes, steps: tuple[CaseStep, ...], names: tuple[str, str], builds: int, found: Next | None) -> str:
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


def _word(steps: tuple[CaseStep, ...]) -> str:
    ratios = [step.ratio for step in steps if step.changed]
    return "more" if min(ratios) > 1 else "less" if max(ratios) < 1 else "something else"


def _step(notes: Notes, case: Case) -> CaseStep:
    centre, low, high = (float(np.exp(log)) for log in trimmed_interval(np.array(notes.steps(case.case_id))))
    changed = case.case_id in notes.changed()
    return CaseStep(case_id=case.case_id, title=case.label, changed=changed, ratio=centre, low=low, high=high)


def _commit(notes: Notes, number: int, probability: float) -> ToldCommit:
    failure = notes.failed.get(number)
    return ToldCommit(
        **notes.commits[number].model_dump(),
        number=number,
        probability=probability,
        fails=failure.reason if failure else None,
    )
