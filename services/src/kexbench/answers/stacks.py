"""Which stack? All libraries of one machine kind side by side: what a server pays for each kind of connection."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from kexbench.answers.meaning import fitting_kind, version_of
from kexbench.answers.stacks_columns import PROTOCOLS, columns_of, work_of
from kexbench.answers.stacks_shapes import RANKED, Stack, Stacks
from kexbench.answers.stacks_table import StacksTable
from kexbench.answers.stacks_words import stacks_sentence
from kexbench.answers.stacks_workload import DEFAULT_RESUMED_PERCENT, workload_of
from kexbench.answers.subjects import end_of, previous_of, version_order
from kexbench.answers.why import why_commands
from kexbench.domain.dimensions import Protocol
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.planning.spec import Catalogue
from kexbench.store.port import MeasuredSubjectRow, SampleStore, Selection


@dataclass(frozen=True)
class StacksRequest:
    """What a person may choose. Empty and None are the defaults."""

    pool: str | None = None
    cpu_model: str | None = None
    protocol: Protocol | None = None
    libraries: Sequence[str] = ()
    versions: Sequence[str] = ()
    """Shown in place of the newest versions of their libraries, where they were measured on the machine kind."""
    certificate: str | None = None
    resumed_percent: int = DEFAULT_RESUMED_PERCENT


def stacks(store: SampleStore, catalogue: Catalogue, asked: StacksRequest) -> Stacks:
    """On the machine kind with most libraries, unless one is asked for. Raises Refusal."""
    everywhere = store.measured_subjects(Selection(Metric.CPU_NS, libraries=tuple(asked.libraries)))
    kind = _host_kind(store, everywhere, asked)
    if kind is None:
        return Stacks(
            host_kind=None,
            protocol=asked.protocol or PROTOCOLS[0],
            protocols=[],
            stacks=[],
            columns=[],
            workload=None,
            sentence="",
            newest=None,
            why=[],
        )
    here = Selection(Metric.SERVER_CPU_NS, kind.pool, kind.cpu_model)
    cases = [row.case for row in store.measured_cases(replace(here, metric=Metric.CPU_NS)) if work_of(row.case)]
    protocols = [protocol for protocol in PROTOCOLS if any(case.protocol is protocol for case in cases)]
    protocol = asked.protocol or next(iter(protocols), PROTOCOLS[0])
    cases = [case for case in cases if case.protocol is protocol]
    measured = {row.subject: row for row in everywhere if row.host_kind == kind}
    named = [
        subject for text in asked.versions if (subject := version_of(store, catalogue, Metric.CPU_NS, text)) in measured
    ]
    subjects = _stacks_of(measured, named, {case.case_id for case in cases})
    numbers = {subject.name: measured[subject].case_ids for subject in subjects}
    counts = {case.case_id: sum(case.case_id in ids for ids in numbers.values()) for case in cases}
    previous = {subject.name: _previous(subject, measured) for subject in subjects}
    table = StacksTable(store, here, subjects, previous, columns_of(counts, cases))
    columns = table.columns()
    answer = Stacks(
        host_kind=kind,
        protocol=protocol,
        protocols=protocols,
        stacks=[
            Stack(
                subject=subject,
                end=end_of(subject),
                previous=end_of(before) if (before := previous[subject.name]) else None,
                measured_at=measured[subject].measured_at,
            )
            for subject in subjects
        ],
        columns=columns,
        workload=workload_of(store, table, columns, asked.certificate, asked.resumed_percent),
        sentence=stacks_sentence(table.labels, columns),
        newest=max((cell.measured_at for column in columns for cell in column.cells if cell.measured_at), default=None),
        why=why_commands(subjects),
    )
    return _cheapest_first(answer)


def _cheapest_first(answer: Stacks) -> Stacks:
    """The stacks in the order of what the mix costs them. Last come those whose mix is not ranked."""
    if answer.workload is None:
        return answer
    costs = answer.workload.costs
    order = sorted(
        range(len(costs)),
        key=lambda place: (costs[place].standing not in RANKED, cost.value if (cost := costs[place].cpu_ns) else inf),
    )
    columns = [
        column.model_copy(update={"cells": [column.cells[place] for place in order]}) for column in answer.columns
    ]
    workload = answer.workload.model_copy(update={"costs": [costs[place] for place in order]})
    stacks = [answer.stacks[place] for place in order]
    return answer.model_copy(update={"stacks": stacks, "columns": columns, "workload": workload})


def _host_kind(store: SampleStore, measured: Collection[MeasuredSubjectRow], asked: StacksRequest) -> HostKind | None:
    """The first that fits what was asked for; without a wish, the one with most libraries, then the newest results."""
    kinds = store.host_kinds()
    if asked.pool or asked.cpu_model:
        return fitting_kind(kinds, asked.pool, asked.cpu_model)
    libraries = {kind: {row.subject.library for row in measured if row.host_kind == kind} for kind in kinds}
    return max(kinds, key=lambda kind: len(libraries[kind]), default=None)


def _stacks_of(
    measured: Mapping[Subject, MeasuredSubjectRow], named: Sequence[Subject], case_ids: Collection[str]
) -> list[Subject]:
    """The named versions, and of each other library the newest one that has a number in the table. Commits stand for a
    library only where it has no release."""
    replaced = {subject.library for subject in named}
    newest: dict[str, Subject] = {}
    for subject, row in measured.items():
        if subject.library in replaced or row.case_ids.isdisjoint(case_ids):
            continue
        newest[subject.library] = max(
            newest.get(subject.library, subject), subject, key=lambda each: (each.commit is None, version_order(each))
        )
    return sorted({*named, *newest.values()}, key=version_order)


def _previous(subject: Subject, measured: Mapping[Subject, MeasuredSubjectRow]) -> Subject | None:
    own = measured[subject].case_ids
    return previous_of(subject, [each for each, row in measured.items() if not own.isdisjoint(row.case_ids)])
