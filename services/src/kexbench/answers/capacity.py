"""What a mix of connections needs, from the stored costs of its parts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil

from kexbench.analysis.capacity import (
    judge_alone,
    load_shares,
    mix_cost,
    other_parts,
)
from kexbench.analysis.moves import LogMove
from kexbench.answers.capacity_shapes import (
    CapacityRequest,
    CpuNeed,
    MixNeed,
    MixPartView,
    MixReport,
    PartChange,
    VersionNeed,
)
from kexbench.answers.capacity_words import change_sentence, instead_sentence, need_sentence
from kexbench.answers.meaning import version_of
from kexbench.answers.missing import NOT_MEASURED, reasons_of
from kexbench.answers.mix_costs import (
    ComparedPart,
    OfVersion,
    amount_of,
    change_of,
    compared_steps,
    costs_of,
    measured_part,
    mix_change,
)
from kexbench.answers.subjects import end_of, subject_version, version_names
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Server
from kexbench.domain.hosts import HostKind, meant_by
from kexbench.domain.intervals import Estimate
from kexbench.domain.kits import SubjectRef
from kexbench.domain.mixes import SERVER_COSTS, MixPart, TrafficMix
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import MissingCell
from kexbench.planning.compose import Wish, spec_text
from kexbench.planning.documents import DocumentError
from kexbench.planning.mix import not_served, read_mix
from kexbench.planning.spec import Catalogue
from kexbench.store.port import SampleRow, SampleStore, Selection

DIFFERENT_RUNS = "{version}: the parts were measured in different runs, so the total includes changes of the machine"
_INVOCATIONS = 10


def with_cases(store: SampleStore, mix: TrafficMix) -> TrafficMix:
    """The mix with the cases that it names by their ids. Raises Refusal."""
    cases = {part.case_id: part.case or _named_case(store, mix, part.case_id) for part in mix.all_parts}

    def known(parts: Iterable[MixPart]) -> tuple[MixPart, ...]:
        return tuple(replace(part, case=cases[part.case_id]) for part in parts)

    if len({case.server for case in cases.values()}) > 1:
        detail = "some parts are served by a web server and others are not, so their costs contain different things"
        raise Refusal(RefusalReason.UNUSABLE, detail, "give all parts the same server, or none")
    return replace(mix, parts=known(mix.parts), against=known(mix.against))


def _named_case(store: SampleStore, mix: TrafficMix, case_id: str) -> Case:
    appearances = store.appearances(Selection(SERVER_COSTS[mix.cost], case_ids=(case_id,), asides=True))
    if not appearances:
        detail = f"no version has a result in the case {case_id}"
        raise Refusal(RefusalReason.MISSING, detail, "the matrix lists the measured cases; or write case: instead")
    case = appearances[0].case
    if reason := not_served(case, mix.cost):
        raise Refusal(RefusalReason.UNUSABLE, f"{case.label}: {reason}")
    return case


def mix_report(
    store: SampleStore,
    mix: TrafficMix,
    before: Subject,
    after: Subject | None = None,
    pool: str | None = None,
    cpu_model: str | None = None,
) -> MixReport:
    """On all host kinds where a version was measured, or on the chosen ones. Runs aside count only if no host kind has
    all parts otherwise. All parts of the mix have cases."""
    subjects = [before] if after is None else [before, after]
    here = Selection(SERVER_COSTS[mix.cost], subjects=tuple(subject.name for subject in subjects))
    lacking, complete = _lacking(store, mix, here, pool, cpu_model)
    if not complete:
        here = replace(here, asides=True)
        lacking, complete = _lacking(store, mix, here, pool, cpu_model)
    step = (before.name, after.name) if after else None
    cells = compared_steps(store, here, [step])[step] if step and complete else {}
    missing, text = _missing(store, mix, subjects, {kind: lacking[kind] for kind in lacking if kind not in complete})
    return MixReport(
        connections_per_s=mix.connections_per_s,
        utilisation=mix.utilisation,
        cores_per_machine=mix.cores_per_machine,
        cost=mix.cost,
        server=next((part.case.server for part in mix.all_parts if part.case), Server.NONE),
        cpus=tuple(_cpu_need(store, mix, here, kind, subjects, cells) for kind in complete),
        missing=missing,
        spec_text=text,
    )


def _lacking(
    store: SampleStore, mix: TrafficMix, here: Selection, pool: str | None, cpu_model: str | None
) -> tuple[dict[HostKind, dict[str, set[str]]], list[HostKind]]:
    """The cases that each subject lacks on each host kind where one was measured, and the host kinds where none lacks
    any. Those measured last come first."""
    rows = [row for row in store.measured_subjects(here) if pool in (None, row.host_kind.pool)]
    cpu_models = meant_by(cpu_model, {row.host_kind.cpu_model for row in rows}) if cpu_model else None
    measured: dict[HostKind, dict[str, frozenset[str]]] = defaultdict(dict)
    for row in sorted(rows, key=lambda row: row.measured_at, reverse=True):
        if cpu_models is None or row.host_kind.cpu_model in cpu_models:
            measured[row.host_kind][row.subject.name] = row.case_ids
    needed = {part.case_id for part in mix.all_parts}
    lacking = {
        kind: {name: needed - case_ids.get(name, frozenset()) for name in here.subjects}
        for kind, case_ids in measured.items()
    }
    return lacking, [kind for kind, by_subject in lacking.items() if not any(by_subject.values())]


def _cpu_need(
    store: SampleStore,
    mix: TrafficMix,
    here: Selection,
    kind: HostKind,
    subjects: Sequence[Subject],
    cells: Mapping[tuple[HostKind, str], ComparedPart],
) -> CpuNeed:
    where = replace(here, pool=kind.pool, cpu_model=kind.cpu_model)
    compared = {part.case_id: cells[kind, part.case_id] for part in mix.all_parts} if cells else {}
    case_ids = tuple(sorted(part.case_id for part in mix.all_parts))
    measured = _levels(store, replace(where, case_ids=case_ids), subjects, compared)
    costs = [costs_of(mix, of_version) for of_version in measured]
    versions = tuple(
        _version_need(mix, subject, of_version, of_costs)
        for subject, of_version, of_costs in zip(subjects, measured, costs, strict=True)
    )
    change = mix_change(mix.parts, compared, measured[0], costs[0]) if compared else None
    return CpuNeed(
        host_kind=kind,
        versions=versions,
        change=change,
        part_changes=tuple(_part_change(compared[part.case_id]) for part in mix.parts if compared),
        sentence=change_sentence(versions[0], versions[1], change) if change else versions[0].sentence,
        warnings=tuple(
            DIFFERENT_RUNS.format(version=version.end.label)
            for version in versions
            if len({part.run_id for part in (*version.parts, *version.against_parts)}) > 1
        ),
    )


def _levels(
    store: SampleStore, where: Selection, subjects: Sequence[Subject], compared: Mapping[str, ComparedPart]
) -> list[OfVersion]:
    """The costs of each version: from the runs of the comparison, otherwise from the newest run of each case."""
    runs = {run_id for each in compared.values() for run_id in each.data.run_ids}
    by_place: dict[tuple[str, str, str], list[SampleRow]] = defaultdict(list)
    for row in store.samples(replace(where, runs=tuple(sorted(runs)))):
        by_place[row.subject.name, row.case.case_id, row.run_id].append(row)
    if not compared:
        return [{case_id: measured_part(rows) for (_, case_id, _), rows in by_place.items()}]
    before, after = (subject.name for subject in subjects)
    ends = {case_id: (each.data.run_ids[0], each.data.run_ids[-1]) for case_id, each in compared.items()}
    return [
        {
            case_id: measured_part(by_place[before, case_id, first], compared[case_id].data)
            for case_id, (first, _) in ends.items()
        },
        {case_id: measured_part(by_place[after, case_id, second]) for case_id, (_, second) in ends.items()},
    ]


def _version_need(mix: TrafficMix, subject: Subject, measured: OfVersion, costs: Mapping[str, LogMove]) -> VersionNeed:
    end, need = end_of(subject), _need(mix, mix.parts, costs)
    against, instead = None, None
    if mix.against:
        against = _need(mix, mix.against, costs)
        shares = [{part.case_id: part.share for part in parts} for parts in (mix.parts, mix.against)]
        first, second = ([of_parts.get(case_id, 0.0) for case_id in costs] for of_parts in shares)
        instead = change_of(judge_alone(other_parts(first, second, list(costs.values()))))
    return VersionNeed(
        end=end,
        need=need,
        parts=_part_views(mix.parts, measured, costs),
        against=against,
        against_parts=_part_views(mix.against, measured, costs),
        instead=instead,
        sentence=instead_sentence(end, need, against, instead)
        if against and instead
        else need_sentence(end, need, mix.connections_per_s),
    )


def _need(mix: TrafficMix, parts: Sequence[MixPart], costs: Mapping[str, LogMove]) -> MixNeed:
    cost = mix_cost([part.share for part in parts], [costs[part.case_id] for part in parts])
    cores = amount_of(cost, mix.connections_per_s / 1e9 / mix.utilisation)
    return MixNeed(cpu_ns=amount_of(cost), cores=cores, machines=_machines(cores, mix.cores_per_machine))


def _machines(cores: Estimate, cores_per_machine: int | None) -> Estimate | None:
    if cores_per_machine is None:
        return None
    low, high = (None if bound is None else ceil(bound / cores_per_machine) for bound in (cores.low, cores.high))
    return Estimate(value=ceil(cores.value / cores_per_machine), low=low, high=high)


def _part_views(parts: Sequence[MixPart], measured: OfVersion, costs: Mapping[str, LogMove]) -> tuple[MixPartView, ...]:
    if not parts:
        return ()
    loads = load_shares([part.share for part in parts], [costs[part.case_id] for part in parts])
    return tuple(
        MixPartView(
            case_id=part.case_id,
            title=measured[part.case_id].case.label,
            share=part.share,
            load_share=load,
            cpu_ns=amount_of(costs[part.case_id]),
            invocations=len(measured[part.case_id].levels),
            run_id=measured[part.case_id].run_id,
        )
        for part, load in zip(parts, loads, strict=True)
    )


def _part_change(each: ComparedPart) -> PartChange:
    view = each.view
    return PartChange(
        verdict=view.verdict,
        move=view.move,
        resolves=view.resolves,
        case_id=view.case_id,
        title=view.title,
        paired=view.paired,
        run_ids=view.run_ids,
        warnings=view.warnings,
    )


def _missing(
    store: SampleStore,
    mix: TrafficMix,
    subjects: Sequence[Subject],
    lacking: Mapping[HostKind, Mapping[str, set[str]]],
) -> tuple[tuple[MissingCell, ...], str | None]:
    """The parts without a number, and a spec that measures the mix where some were never measured."""
    if not lacking:
        return (), None
    cases = {part.case_id: part.case for part in mix.all_parts if part.case}
    names = [subject_version(subjects[0])] if len(subjects) == 1 else version_names(*subjects)
    missing, unmeasured = [], False
    for kind, by_subject in lacking.items():
        where = Selection(SERVER_COSTS[mix.cost], kind.pool, kind.cpu_model, subjects=tuple(by_subject), asides=True)
        reasons = reasons_of([*store.outcomes(where), *store.disturbed(where), *store.set_aside(where)])
        for subject, version in zip(subjects, names, strict=True):
            for part in mix.all_parts:
                if part.case_id not in by_subject[subject.name]:
                    continue
                reason = reasons.get(subject.name, {}).get(part.case_id)
                unmeasured |= reason is None
                missing.append(
                    MissingCell(
                        case_id=part.case_id,
                        title=cases[part.case_id].label,
                        host_kind=kind,
                        version=version,
                        reason=reason or NOT_MEASURED,
                    )
                )
    return tuple(missing), _spec_text(subjects, tuple(cases.values()), lacking) if unmeasured else None


def _spec_text(subjects: Sequence[Subject], cases: tuple[Case, ...], kinds: Iterable[HostKind]) -> str:
    return spec_text(
        Wish(
            name="mix",
            description="The parts of a traffic mix.",
            subjects=tuple(SubjectRef(library=subject.library, source=subject.source) for subject in subjects),
            cases=cases,
            invocations=_INVOCATIONS,
            sentinel=True,
            pools=tuple(dict.fromkeys(kind.pool for kind in kinds)),
        )
    )


def capacity(store: SampleStore, catalogue: Catalogue, asked: CapacityRequest) -> MixReport:
    """What the mix of a request needs. Raises Refusal, with all faults of the mix."""
    try:
        mix = with_cases(store, read_mix(asked.mix, asked.mix_file))
    except DocumentError as error:
        raise Refusal(RefusalReason.UNUSABLE, str(error), "correct the mix") from None
    metric = SERVER_COSTS[mix.cost]
    ends = [version_of(store, catalogue, metric, text) for text in (asked.version, asked.to) if text is not None]
    if len({end.name for end in ends}) < len(ends):
        detail = f"{asked.version} and {asked.to} are the same: {ends[0].name}"
        raise Refusal(RefusalReason.UNUSABLE, detail, "name two versions")
    if len({end.library for end in ends}) > 1:
        detail = f"{asked.version} and {asked.to} are of different libraries, so there is no upgrade between them"
        raise Refusal(RefusalReason.UNUSABLE, detail, "ask for each version alone")
    report = mix_report(store, mix, ends[0], ends[1] if len(ends) > 1 else None, asked.pool, asked.cpu_model)
    if not report.cpus and not report.missing:
        where = ", ".join(filter(None, (asked.pool, asked.cpu_model)))
        detail = f"no results of {' and '.join(end.name for end in ends)} on {where}"
        raise Refusal(RefusalReason.MISSING, detail, "leave out pool and CPU to see where there are results")
    return report
