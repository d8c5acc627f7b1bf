"""The answer of a bisection, in a few sentences and in numbers."""

import numpy as np

from kexbench.analysis.bisect import MAIN_SHARE, SURE, Found, Next, Parts, Unsure, parts_of, posterior
from kexbench.analysis.bisect_notes import Notes
from kexbench.analysis.detectable import POWER, pair_sd_of, smallest_detectable_change
from kexbench.analysis.estimates import trimmed_interval
from kexbench.domain.bisections import BisectionAnswer, BisectionCommit, CaseStep, End
from kexbench.domain.cases import Case
from kexbench.domain.numbers import signed_words
from kexbench.domain.verdicts import RELEVANT


def answer(
    notes: Notes, cases: tuple[Case, ...], names: tuple[str, str], builds: int, result: Next | None
) -> BisectionAnswer:
    """The complete answer. `names` are the ends as the user wrote them; `result` is None if the ends do not differ."""
    steps = case_steps(notes, cases, result if isinstance(result, Found) else None)
    candidates = range(result.first, result.last + 1) if isinstance(result, Found | Unsure) else range(0)
    chances = posterior(notes.search(builds)) if result else np.zeros(notes.last)
    return BisectionAnswer(
        verdict="found" if isinstance(result, Found) else "cannot say",
        says=_sentences(notes, steps, names, builds, result),
        probability=result.probability if isinstance(result, Found) else None,
        commits=tuple(_commit(notes, number, float(chances[number - 1])) for number in candidates),
        steps=steps,
        repository=notes.address,
        good=End(name=names[0], hash=notes.commits[0].hash),
        bad=End(name=names[1], hash=notes.commits[-1].hash),
        searched=len(notes.commits),
        builds=notes.builds,
        failed=tuple(_commit(notes, number, 0.0) for number in sorted(notes.failed)),
        measurements=len(notes.measured),
        invocations=notes.invocations,
        instrument=notes.instrument,
        run_ids=tuple(measurement.run_id for measurement in notes.measured),
    )


def case_steps(notes: Notes, cases: tuple[Case, ...], result: Found | None = None) -> tuple[CaseStep, ...]:
    """The change from the good to the bad commit in each case that has numbers, over all measurements. With `result`,
    also the part that its commits account for."""
    return tuple(_step(notes, case, result) for case in cases if notes.measured and notes.steps(case.case_id))


def _sentences(
    notes: Notes, steps: tuple[CaseStep, ...], names: tuple[str, str], builds: int, result: Next | None
) -> str:
    """The answer in a few sentences, with the remedy if no commit was found."""
    if result is None:
        return _no_step(notes, names)
    if isinstance(result, Found):
        return " ".join([_first_commit(notes, steps, result), *_shares(notes, steps, names, result)])
    assert isinstance(result, Unsure)
    if result.why == "split":
        main = _main_step(steps)
        parts = _parts(notes, main, result.first, result.last)
        between = f"{signed_words(parts.between)} of {signed_words(main.ratio - 1)}"
        sentences = [
            f"No single commit accounts for more than {MAIN_SHARE:.0%} of the change.",
            f"{_hash(notes, result.last)} accounts for {between}.",
            *_other_parts(notes, names, parts),
        ]
        return " ".join([*sentences, "Bisect each of these ranges separately."])
    return (
        f"After {notes.builds} builds and {len(notes.measured)} measurements, "
        f"the first {_changed_commit(steps)} is one of {result.last - result.first + 1} ({SURE:.0%} probability). "
        f"To continue, use --builds {builds + 4}. "
        f"To start again with twice the resolution, use --invocations {4 * notes.invocations}."
    )


def _first_commit(notes: Notes, steps: tuple[CaseStep, ...], result: Found) -> str:
    subject, last, probability = f"The first {_changed_commit(steps)}", _hash(notes, result.last), result.probability
    if result.first == result.last:
        return f"{subject} is {last} ({probability:.1%} probability)."
    count = result.last - result.first + 1
    return f"{subject} is one of {count} ({probability:.1%} probability). Only {last} of them can be measured."


def _shares(notes: Notes, steps: tuple[CaseStep, ...], names: tuple[str, str], result: Found) -> list[str]:
    """How much of the step the commit accounts for, where the rest is, and which cases another commit changed."""
    main = _main_step(steps)
    parts = _parts(notes, main, result.first, result.last)
    subject = "It accounts" if result.first == result.last else "Together they account"
    return [
        f"{subject} for {signed_words(parts.between)} of {signed_words(main.ratio - 1)}.",
        *_other_parts(notes, names, parts),
        *(f"{_hash(notes, commit)} does not fit: the cost went up and down." for commit in result.against),
        *(
            f"In {step.title}, {subject.lower()} for {signed_words(step.added)} of {signed_words(step.ratio - 1)}. "
            "Bisect this case separately."
            for step in steps
            if step.changed and step.added is not None and step.added / (step.ratio - 1) <= MAIN_SHARE
        ),
    ]


def _other_parts(notes: Notes, names: tuple[str, str], parts: Parts) -> list[str]:
    """A sentence for each part of the change outside the commits, from 0.05% on."""
    ranges = [
        (parts.before, names[0], _hash(notes, parts.below)),
        (parts.behind, _hash(notes, parts.above), names[1]),
    ]
    return [
        f"Another {signed_words(part)} lies between {start} and {end}."
        for part, start, end in ranges
        if abs(part) >= 5e-4
    ]


def _parts(notes: Notes, step: CaseStep, first: int, last: int) -> Parts:
    return parts_of(notes.evidence(step.case_id), notes.last, first, last)


def _main_step(steps: tuple[CaseStep, ...]) -> CaseStep:
    """The case with the largest step of those that changed."""
    return max((step for step in steps if step.changed), key=lambda step: abs(np.log(step.ratio)))


def _hash(notes: Notes, commit: int) -> str:
    return notes.commits[commit].hash[:12]


def _no_step(notes: Notes, names: tuple[str, str]) -> str:
    measured = [logs.steps for logs in notes.measured[0].logs.values() if logs.steps]
    count = max(map(len, measured))
    detectable = max(smallest_detectable_change(pair_sd_of(np.array(logs)), len(logs)) for logs in measured)
    return (
        f"No significant change from {names[0]} to {names[1]} in {count} invocations. They detect a change of "
        f"{detectable:.2%} with {POWER:.0%} probability; --invocations {4 * notes.invocations} detects half of that. "
        f"Changes below {RELEVANT:.1%} never count."
    )


def _changed_commit(steps: tuple[CaseStep, ...]) -> str:
    ratios = [step.ratio for step in steps if step.changed]
    return "slower commit" if min(ratios) > 1 else "faster commit" if max(ratios) < 1 else "commit with different costs"


def _step(notes: Notes, case: Case, result: Found | None) -> CaseStep:
    centre, low, high = (float(np.exp(log)) for log in trimmed_interval(np.array(notes.steps(case.case_id))))
    changed = case.case_id in notes.changed()
    added = None
    if result:
        added = parts_of(notes.evidence(case.case_id), notes.last, result.first, result.last).between
    return CaseStep(
        case_id=case.case_id, title=case.label, changed=changed, ratio=centre, low=low, high=high, added=added
    )


def _commit(notes: Notes, number: int, probability: float) -> BisectionCommit:
    failure = notes.failed.get(number)
    return BisectionCommit(
        **notes.commits[number].model_dump(),
        number=number,
        probability=probability,
        fails=failure.reason if failure else None,
    )
