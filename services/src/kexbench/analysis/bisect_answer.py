"""What a bisection came to, in a sentence or two and in numbers."""

import numpy as np

from kexbench.analysis.bisect import MAIN_SHARE, SURE, Found, Next, Parts, Unsure, parts_of, posterior
from kexbench.analysis.bisect_notes import Notes
from kexbench.analysis.detectable import pair_sd_of, smallest_detectable_change
from kexbench.analysis.estimates import trimmed_interval
from kexbench.domain.bisections import BisectionAnswer, CaseStep, End, ToldCommit
from kexbench.domain.cases import Case


def answer(
    notes: Notes, cases: tuple[Case, ...], names: tuple[str, str], builds: int, found: Next | None
) -> BisectionAnswer:
    """The whole of it. `names` is how the person called the ends; `found` None where these do not differ."""
    steps = case_steps(notes, cases, found if isinstance(found, Found) else None)
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


def case_steps(notes: Notes, cases: tuple[Case, ...], found: Found | None = None) -> tuple[CaseStep, ...]:
    """The change from the good to the bad commit in each case that has numbers, over all measurements, with what of it
    the commit accounts for that was `found`."""
    return tuple(_step(notes, case, found) for case in cases if notes.measured and notes.steps(case.case_id))


def _says(notes: Notes, steps: tuple[CaseStep, ...], names: tuple[str, str], builds: int, found: Next | None) -> str:
    """The answer in a sentence or two, with the remedy where there is none."""
    if found is None:
        return _no_step(notes, names)
    word = _word(steps)
    if isinstance(found, Found):
        return " ".join([_named(notes, word, found), *_shares(notes, steps, names, found)])
    assert isinstance(found, Unsure)
    if found.why == "split":
        main = _main_step(steps)
        parts = _parts(notes, main, found.first, found.last)
        return (
            f"Cannot say: no commit accounts for more than {MAIN_SHARE:.0%} of the step. {_hash(notes, found.last)} "
            f"accounts for {100 * parts.between:+.1f} of {100 * (main.ratio - 1):+.1f}%; "
            f"{' and '.join(_rest(notes, names, parts))}. Search these stretches apart."
        )
    return (
        f"Cannot say: {notes.builds} builds and {len(notes.measured)} measurements leave "
        f"{found.last - found.first + 1} commits, and {SURE:.0%} that the first whose handshakes cost {word} is one of "
        f"them. --builds {builds + 4} goes on from here; --invocations {4 * notes.invocations} begins anew and sees "
        "twice as sharply."
    )


def _named(notes: Notes, word: str, found: Found) -> str:
    hashed = _hash(notes, found.last)
    if found.first == found.last:
        return f"{hashed} is the first commit whose handshakes cost {word}: {found.probability:.1%} sure."
    return (
        f"The first commit whose handshakes cost {word} is one of {found.last - found.first + 1}, of which all but "
        f"{hashed} cannot be measured: {found.probability:.1%} sure."
    )


def _shares(notes: Notes, steps: tuple[CaseStep, ...], names: tuple[str, str], found: Found) -> list[str]:
    """How much of the step the commit accounts for, where the rest is, and which cases another commit changed."""
    main = _main_step(steps)
    parts = _parts(notes, main, found.first, found.last)
    added, whole = f"{100 * parts.between:+.1f}", f"{100 * (main.ratio - 1):+.1f}"
    says = f"It accounts for {added} of {whole}%" if added != whole else f"It accounts for all of {whole}%"
    told = ["; ".join([says, *(f"a further {rest}" for rest in _rest(notes, names, parts))]) + "."]
    told += [f"{_hash(notes, commit)} lies on the other side: the cost went up and down." for commit in found.against]
    told += [
        f"In {step.title} it accounts for {100 * step.added:+.1f} of {100 * (step.ratio - 1):+.1f}%: "
        "search that case alone."
        for step in steps
        if step.changed and step.added is not None and step.added / (step.ratio - 1) <= MAIN_SHARE
    ]
    return told


def _rest(notes: Notes, names: tuple[str, str], parts: Parts) -> list[str]:
    """What the other commits add, where that shows in a tenth of a percent."""
    stretches = [
        (parts.before, names[0], _hash(notes, parts.below)),
        (parts.behind, _hash(notes, parts.above), names[1]),
    ]
    return [f"{added:+.1%} lies between {first} and {last}" for added, first, last in stretches if abs(added) >= 0.0005]


def _parts(notes: Notes, step: CaseStep, first: int, last: int) -> Parts:
    return parts_of(notes.evidence(step.case_id), notes.last, first, last)


def _main_step(steps: tuple[CaseStep, ...]) -> CaseStep:
    """The case with the largest step of those that changed."""
    return max((step for step in steps if step.changed), key=lambda step: abs(np.log(step.ratio)))


def _hash(notes: Notes, commit: int) -> str:
    return notes.commits[commit].hash[:12]


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


def _step(notes: Notes, case: Case, found: Found | None) -> CaseStep:
    centre, low, high = (float(np.exp(log)) for log in trimmed_interval(np.array(notes.steps(case.case_id))))
    changed = case.case_id in notes.changed()
    added = None
    if found:
        added = parts_of(notes.evidence(case.case_id), notes.last, found.first, found.last).between
    return CaseStep(
        case_id=case.case_id, title=case.label, changed=changed, ratio=centre, low=low, high=high, added=added
    )


def _commit(notes: Notes, number: int, probability: float) -> ToldCommit:
    failure = notes.failed.get(number)
    return ToldCommit(
        **notes.commits[number].model_dump(),
        number=number,
        probability=probability,
        fails=failure.reason if failure else None,
    )
