"""What a run says of two of its subjects, in one direction."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kexbench.answers.exact import exact_changes
from kexbench.answers.run_verdict import CasePlace, culprits_in, left_out_of, missing_in, subject_row, trouble_of
from kexbench.answers.runs import known_run
from kexbench.answers.two_ends import compared_in_run
from kexbench.answers.waits import waits_of_steps
from kexbench.domain.cases import Case
from kexbench.domain.components import changed_components
from kexbench.domain.hosts import HostKind
from kexbench.domain.kits import KitManifest
from kexbench.domain.libraries import PACKAGES
from kexbench.domain.library_commits import version_text
from kexbench.domain.pairs import Pair, PairEnd
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import Run
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import NOT_JUDGED, SIDES_OF, UpgradeCell
from kexbench.domain.verdicts import RunVerdict, run_verdict
from kexbench.planning.rules import relevant_of
from kexbench.store.port import Store


def pair_in_run(store: Store, run_id: str, before: str, after: str) -> Pair:
    """From one subject of a run to another, each by its reference. Raises Refusal."""
    run = known_run(store, run_id)
    for reference in (before, after):
        if reference not in run.kits:
            others = ", ".join(run.kits) or "nothing yet"
            reason = f"run {run_id} did not measure {reference}; it measured {others}"
            raise Refusal(RefusalReason.MISSING, reason, "name two of these")
    ends = subject_row(run, before), subject_row(run, after)
    instrument = run.plan.measure.instrument
    names = ends[0].name, ends[1].name
    relevant = relevant_of(run.spec_text)
    cells = compared_in_run(store, run_id, names, relevant, SIDES_OF[instrument])
    return Pair(
        run_id=run_id,
        instrument=instrument,
        relevant=relevant,
        before=_end(run, before, ends),
        after=_end(run, after, ends[::-1]),
        components=changed_components(run.kits[before].components, run.kits[after].components),
        cells=tuple(_of_every_case(store, run, cells)),
        waits=waits_of_steps(store, [names], (run_id, run_id))[names],
        verdict=_verdict(store, run, (before, after), names, cells),
    )


def _verdict(
    store: Store, run: Run, references: tuple[str, str], names: tuple[str, str], cells: Sequence[UpgradeCell]
) -> RunVerdict:
    # Ends that did other work have a ratio, which is shown and not judged.
    judged = [cell.model_copy(update={"move": None}) if cell.verdict in NOT_JUDGED else cell for cell in cells]
    steps = [(names, cell) for cell in judged]
    planned = _planned(run, references, names)
    missing = dict(missing_in(store, run, planned, steps, SIDES_OF[run.plan.measure.instrument]["both"]))
    progress = store.progress([run.run_id]).get(run.run_id)
    return run_verdict(
        [(references, cell) for cell in judged],
        trouble_of(run, progress, left_out_of(store, run)) if progress else "nothing was reported",
        Counter(reason for reason, _ in missing.values()),
        sum(is_lost for _, is_lost in missing.values()),
        tuple(culprits_in(store, run, steps)),
        exact_changes(store, run.run_id, {names: references}),
    )


def _planned(
    run: Run, references: tuple[str, str], names: tuple[str, str]
) -> Iterator[tuple[CasePlace, tuple[str, ...]]]:
    """Where both are measured in one job."""
    for job in run.plan.jobs:
        if set(references) <= {reference for block in job.blocks for reference in block}:
            for case_id in job.case_ids:
                yield CasePlace(case_id, job.pool, names[1]), names[:1]


def _of_every_case(store: Store, run: Run, cells: Iterable[UpgradeCell]) -> Iterator[UpgradeCell]:
    """In the order of the plan."""
    of_cases: dict[str, list[UpgradeCell]] = {case.case_id: [] for case in run.plan.cases}
    for cell in cells:
        of_cases[cell.case_id].append(cell)
    kind = next(iter(store.host_kinds(run.run_id)), HostKind("", ""))
    for case in run.plan.cases:
        yield from of_cases[case.case_id] or [_without_result(case, kind)]


def _end(run: Run, reference: str, ends: tuple[Subject, Subject]) -> PairEnd:
    """That of the first subject. If the other has the same version, packages are told apart by their revisions."""
    own, other = (version_text(subject.version, subject.commit) for subject in ends)
    return PairEnd(
        reference=reference,
        version=own if own != other else ", ".join([own, *_package_of(run.kits[reference])]),
        build_profile_label=ends[0].build_profile_label,
    )


def _package_of(kit: KitManifest) -> list[str]:
    """The distribution's package of the library, if it is from one."""
    names = PACKAGES.get(kit.library)
    return [
        f"{package.name} {package.version}"
        for package in kit.packages
        if names and names.debian_runtime.match(package.name)
    ]


def _without_result(case: Case, kind: HostKind) -> UpgradeCell:
    """The cell of a case in which the two could not be compared."""
    return UpgradeCell(
        case_id=case.case_id,
        title=case.label,
        host_kind=kind,
        verdict="unresolved",
        move=None,
        client=None,
        server=None,
        q=None,
        resolves=None,
        paired=False,
        before_ns=None,
        after_ns=None,
        invocations=0,
        run_ids=(),
        warnings=(),
    )
