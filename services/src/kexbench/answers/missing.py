"""The cases in which only one of two versions has numbers, and why."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from kexbench.answers.numbers import host_kinds
from kexbench.answers.subjects import version_names
from kexbench.domain.cases import Case, case_order
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import MissingCell
from kexbench.store.port import OutcomeRow, SampleStore, Selection

NOT_MEASURED = "not measured"


def missing_cells(store: SampleStore, before: Subject, after: Subject, *, asides: bool = False) -> list[MissingCell]:
    """The cases in which only one of two subjects has numbers, with the reason. Host kinds with only one subject are
    left out. `asides`: runs aside count too."""
    names = (before.name, after.name)
    selection = Selection(Metric.CPU_NS, libraries=(before.library,), subjects=names, asides=asides)
    appearances = store.appearances(selection)
    cases: dict[tuple[HostKind, str], dict[str, Case]] = defaultdict(dict)
    for row in appearances:
        cases[row.host_kind, row.subject][row.case.case_id] = row.case
    versions = version_names(before, after)
    missing: list[tuple[Case, MissingCell]] = []
    for kind in host_kinds(appearances):
        if cases.get((kind, before.name), {}).keys() == cases.get((kind, after.name), {}).keys():
            continue
        here = replace(selection, pool=kind.pool, cpu_model=kind.cpu_model)
        reasons = reasons_of([*store.outcomes(here), *store.set_aside(here)])
        for version, lacking, having in ((versions[0], before, after), (versions[1], after, before)):
            lacking_reasons = reasons.get(lacking.name, {})
            lacking_cases = cases.get((kind, lacking.name), {})
            if not lacking_cases and not lacking_reasons:
                continue
            for case_id, case in cases.get((kind, having.name), {}).items():
                if case_id not in lacking_cases:
                    reason = lacking_reasons.get(case_id, NOT_MEASURED)
                    missing.append((case, _missing(case, kind, version, reason)))
    return [cell for _, cell in sorted(missing, key=lambda entry: case_order(entry[0]))]


def reasons_of(rows: Iterable[OutcomeRow]) -> dict[str, dict[str, str]]:
    """The most frequent reason by subject and case, which comes first in the rows. Its details quote programs and may
    name folders and users of a machine."""
    reasons: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        parts = filter(None, (str(row.kind), row.reason))
        reasons[row.subject.name].setdefault(row.case.case_id, ": ".join(parts))
    return reasons


def _missing(case: Case, kind: HostKind, version: str, reason: str) -> MissingCell:
    return MissingCell(
        case_id=case.case_id,
        title=case.label,
        host_kind=kind,
        version=version,
        reason=reason,
    )
