"""The two ends of a comparison: what a person named, and the host kinds on which both were measured."""

from collections.abc import Collection
from dataclasses import dataclass

from kexbench.answers.subjects import neighbours
from kexbench.domain.hosts import EVERYWHERE, HostChoice, HostKind
from kexbench.domain.subjects import Subject
from kexbench.store.port import MeasuredSubjectRow, SampleStore


@dataclass(frozen=True)
class End:
    """A subject, optionally on one host kind, in one run and in one case."""

    subject: Subject
    on: HostChoice = EVERYWHERE
    run_id: str | None = None
    case_id: str | None = None

    def is_upgraded_to(self, other: "End") -> bool:
        """Whether the two are builds of one library, in all cases of all runs, on the same machines."""
        builds = [each.subject for each in (self, other)]
        return (
            builds[0].library == builds[1].library
            and builds[0] != builds[1]
            and self == End(builds[0], self.on)
            and other == End(builds[1], self.on)
        )


Kinds = tuple[HostKind, HostKind]


def chosen_ends(
    measured: Collection[MeasuredSubjectRow], base: Subject | None, other: Subject | None
) -> tuple[Subject | None, Subject | None]:
    """Both ends; one that is not chosen is that of the upgrade measured last."""
    if base is not None and other is not None:
        return base, other
    for pair in neighbours(measured):
        if all(end is None or end.name == own.name for end, own in ((base, pair.before), (other, pair.after))):
            return pair.before, pair.after
    newest = max(measured, key=lambda row: row.measured_at, default=None)
    return base, other or (newest.subject if newest and base is None else None)


def shared_kinds(store: SampleStore, base: End, other: End, measured: Collection[MeasuredSubjectRow]) -> list[Kinds]:
    """Each host kind that both ends allow and have numbers of; without any, the newest one of each. A subject is never
    compared with itself in one run, unless in two cases."""
    known = {(row.subject.name, row.host_kind) for row in measured}
    of_base, of_other = (
        [kind for kind in store.host_kinds(end.run_id) if end.on.holds(kind) and (end.subject.name, kind) in known]
        for end in (base, other)
    )
    if shared := [(kind, kind) for kind in of_base if kind in of_other]:
        is_same = (base.subject.name, base.case_id) == (other.subject.name, other.case_id) and (
            base.run_id == other.run_id or None in (base.run_id, other.run_id)
        )
        return [] if is_same else shared
    return [(of_base[0], of_other[0])] if of_base and of_other else []


@dataclass(frozen=True)
class AskedEnd:
    """What a person wrote of an end."""

    subject: str | None = None
    on: HostChoice = EVERYWHERE
    run_id: str | None = None
    case_id: str | None = None

    def of(self, subject: Subject | None, other: "AskedEnd") -> End | None:
        """A case at one end alone is that of both."""
        case_id = self.case_id or other.case_id
        return End(subject, self.on, self.run_id, case_id) if subject else None
