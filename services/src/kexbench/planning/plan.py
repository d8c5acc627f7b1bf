"""From a spec's text and a catalogue's text to a plan, or to all faults at once."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from kexbench.domain.ages import LONGEST_AGE_S
from kexbench.domain.cases import Case, parse_peer
from kexbench.domain.dimensions import Server
from kexbench.domain.instruments import COUNTING, Instrument
from kexbench.domain.libraries import LIBRARIES, MADE_UP, Library
from kexbench.domain.material import least_intermediate_bytes, least_ocsp_bytes
from kexbench.domain.plans import BATCH_NS, Measure, Plan, PlannedSubject, Reference, plan_id_of
from kexbench.domain.pools import LABEL_VALUE, LOCAL
from kexbench.planning import estimate, pack
from kexbench.planning.documents import Document, DocumentError, Fault, closest, parse_document, validate
from kexbench.planning.expand import MAX_CASES, count_cases, expand
from kexbench.planning.follow import followed
from kexbench.planning.security import set_twice
from kexbench.planning.spec import Catalogue, Matrix, Spec
from kexbench.planning.subjects import UnknownSelector, resolve

MAX_SUBJECTS = 1000


def read_matrices(text: str, file: str) -> list[Matrix]:
    """The matrices of a spec, with any subjects. Raises DocumentError."""
    document = parse_document(text, file)
    spec, faults = validate(document, Spec)
    faults += _too_large(document) + set_twice(document)
    if spec is None or faults:
        raise DocumentError(file, faults)
    return spec.matrix


def fault_in(text: str, file: str, path: tuple[str, ...], message: str) -> DocumentError:
    """A fault of a spec that only the machine can know, at its place."""
    return DocumentError(file, [parse_document(text, file).fault(path, message)])


def make_plan(
    text: str,
    file: str,
    catalogue: Catalogue,
    invocations: int | None = None,
    *,
    pools: Collection[str] = (LOCAL,),
    only: Collection[str] = (),
    anywhere: bool = False,
) -> Plan:
    """The plan of a spec. `invocations`: as many as its `resolve` takes on a qualified machine, fixed beforehand.
    `pools`: the names of the existing pools. `only`: the references of the subjects to measure, empty for all. For a
    spec that follows a branch these are commits; empty means the branch's head at build time. `anywhere` lets it follow
    repositories outside the catalogue. Raises DocumentError with every fault of the spec."""
    document = parse_document(text, file)
    spec, faults = validate(document, Spec)
    subjects, unknown_subjects = _subjects(document, catalogue)
    follow, wrong_follow = followed(document, catalogue, anywhere=anywhere)
    peers, unknown_peers = _peers(document, catalogue)
    faults += (
        unknown_subjects
        + wrong_follow
        + unknown_peers
        + _unknown_pools(document, pools)
        + _served_elsewhere(document)
        + _too_large(document)
        + _two_ways(document)
        + _not_timed(document)
        + set_twice(document)
    )
    if spec is None or faults:
        raise DocumentError(file, faults)
    if invocations is not None:
        spec = spec.model_copy(update={"measure": spec.measure.model_copy(update={"invocations": invocations})})
    measured = tuple(subject for subject in subjects if not only or subject.reference in only)
    if follow:
        subjects = measured = follow.subjects(only)
    plan = _assemble(spec, measured, peers, _sentinel(spec, subjects, catalogue))
    if not plan.cases:
        raise DocumentError(file, [document.fault(("matrix",), "no possible case: " + plan.skipped[0].reason)])
    faults = _unknown_references(document, plan) + _too_long(document, plan)
    faults += _too_old(document, plan) + _too_small(document, spec)
    if faults:
        raise DocumentError(file, faults)
    return plan


def subjects_of(text: str, file: str, catalogue: Catalogue) -> tuple[PlannedSubject, ...]:
    """The subjects of a spec, without planning it. Raises DocumentError where it names unknown subjects."""
    subjects, faults = _subjects(parse_document(text, file), catalogue)
    if faults:
        raise DocumentError(file, faults)
    return subjects


def _assemble(
    spec: Spec, subjects: tuple[PlannedSubject, ...], peers: Mapping[str, PlannedSubject], sentinel: str | None
) -> Plan:
    resolved = {written: f"{written.partition(':')[0]}:{peer.reference}" for written, peer in peers.items()}
    cases, skipped = expand(spec.matrix, resolved)
    pools = tuple(spec.pools)
    measure = Measure(
        **spec.measure.model_dump(exclude={"max_duration"}),
        batch_ns=BATCH_NS,
        max_duration_s=spec.measure.max_duration,
    )
    references = tuple(subject.reference for subject in subjects)
    needed = {case.peer_reference for case in cases}
    participants = sum(
        len(block) for block in pack.blocks(references, sentinel=sentinel is not None, most=measure.block_subjects)
    )
    seconds = {case.case_id: estimate.case_seconds(case, participants, measure) for case in cases}
    draft = Plan(
        plan_id="",
        spec_name=spec.metadata.name,
        description=spec.metadata.description,
        pools=pools,
        subjects=subjects,
        cases=cases,
        skipped=skipped,
        measure=measure,
        jobs=pack.jobs(
            spec.metadata.name,
            pools,
            seconds,
            references,
            measure.invocations,
            sentinel=sentinel is not None,
            block_subjects=measure.block_subjects,
            least=measure.jobs,
        ),
        estimated_s=round(sum(seconds.values()) * len(pools), 1),
        reference=Reference.model_validate(spec.reference.model_dump()) if spec.reference else None,
        sentinel=sentinel,
        peers=tuple({peer.reference: peer for peer in peers.values() if peer.reference in needed}.values()),
    )
    return draft.model_copy(update={"plan_id": plan_id_of(draft)})


def _sentinel(spec: Spec, subjects: tuple[PlannedSubject, ...], catalogue: Catalogue) -> str | None:
    """The sentinel, unless the spec turns it off. Counts and made-up libraries need none: nothing slows them down."""
    counts = spec.measure.instrument.counts
    if not spec.measure.sentinel or counts or all(subject.library in MADE_UP for subject in subjects):
        return None
    return str(catalogue.sentinel) if catalogue.sentinel else None


def _subjects(document: Document, catalogue: Catalogue) -> tuple[tuple[PlannedSubject, ...], list[Fault]]:
    """The subjects, each once, checked even where other parts of the spec have faults."""
    subjects: dict[str, PlannedSubject] = {}
    faults: list[Fault] = []
    if (count := sum(len(listed) for _, _, listed in _selectors(document))) > MAX_SUBJECTS:
        message = f"{count:,} subjects, more than the {MAX_SUBJECTS:,} a spec may have: shorten the lists"
        return (), [document.fault(("subjects",), message)]
    for index, library, listed in _selectors(document):
        for position, selector in enumerate(listed):
            if not isinstance(selector, str):
                continue
            try:
                for subject in resolve(library, selector, catalogue):
                    subjects.setdefault(subject.reference, subject)
            except UnknownSelector as error:
                faults.append(document.fault(("subjects", index, library, position), str(error)))
    return tuple(subjects.values()), faults


def _selectors(document: Document) -> Iterator[tuple[int, Library, list[Any]]]:
    """Those of each known library, with the place of their entry."""
    written = document.value.get("subjects")
    for index, entry in enumerate(written if isinstance(written, list) else []):
        for library, selectors in entry.items() if isinstance(entry, dict) else ():
            if library in LIBRARIES:
                yield index, library, selectors if isinstance(selectors, list) else [selectors]


def _peers(document: Document, catalogue: Catalogue) -> tuple[dict[str, PlannedSubject], list[Fault]]:
    """The subject of each peer, by the peer as written; each must name exactly one subject."""
    peers: dict[str, PlannedSubject] = {}
    faults: list[Fault] = []
    for path, written in _matrix_values(document, "peer"):
        try:
            ref = parse_peer(written)[1]
        except ValueError:  # no peer, or a malformed one, which the model reports
            continue
        try:
            subjects = resolve(ref.library, ref.source, catalogue)
            if len(subjects) > 1:
                names = ", ".join(subject.source for subject in subjects)
                raise UnknownSelector(f"'{ref.source}' names several versions of {ref.library}, choose one: {names}")
            peers[written] = subjects[0]
        except UnknownSelector as error:
            faults.append(document.fault(path, str(error)))
    return peers, faults


def _unknown_pools(document: Document, pools: Collection[str]) -> list[Fault]:
    """Faults of unknown pools, also where the spec has other faults."""
    faults = []
    names = sorted(pools)
    written = document.value.get("pools")
    for position, name in enumerate(written if isinstance(written, list) else []):
        if isinstance(name, str) and re.fullmatch(LABEL_VALUE, name) and name not in pools:
            message = f"there is no pool '{name}'{closest(name, names)}; there are {', '.join(names)}"
            if names == [LOCAL]:
                message = f"there is no pool '{name}': outside a cluster the only pool is {LOCAL}"
            faults.append(document.fault(("pools", position), message))
    return faults


def _served_elsewhere(document: Document) -> list[Fault]:
    """Faults of web servers in a spec for a cluster, whose pods have none."""
    written = document.value.get("pools")
    elsewhere = [str(name) for name in written if name != LOCAL] if isinstance(written, list) else []
    if not elsewhere:
        return []
    message = (
        f"web servers are measured only in the pool {LOCAL}, which is this machine: leave pool {elsewhere[0]} out, or "
        "move the servers to a spec of their own"
    )
    servers = {*Server} - {Server.NONE}
    return [document.fault(path, message) for path, name in _matrix_values(document, "server") if name in servers]


def _matrix_values(document: Document, field: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each value of a list of the matrix with its place, also where the matrix has faults."""
    written = document.value.get("matrix")
    several = isinstance(written, list)
    for index, entry in enumerate(written if isinstance(written, list) else [written]):
        values = entry.get(field) if isinstance(entry, dict) else None
        for position, value in enumerate(values if isinstance(values, list) else []):
            if isinstance(value, str):
                yield (*(("matrix", index) if several else ("matrix",)), field, position), value


def _two_ways(document: Document) -> list[Fault]:
    """A fault where `measure` has resolve beside something else that settles the number of invocations."""
    written = document.value.get("measure")
    if not isinstance(written, dict) or "resolve" not in written:
        return []
    if "invocations" in written:
        message = "give either invocations or resolve: resolve sets the number of invocations"
    elif written.get("instrument") in COUNTING:
        message = "resolve is for times: counts hardly differ from count to count; give invocations instead"
    else:
        return []
    return [document.fault(("measure", "resolve"), message, at_key=True)]


def _not_timed(document: Document) -> list[Fault]:
    """A fault where `measure` asks for what only the instrument time measures, beside another instrument."""
    written = document.value.get("measure")
    if not isinstance(written, dict) or "age" not in written or written.get("instrument", Instrument.TIME) == "time":
        return []
    message = "only instrument: time ages a context: remove age, or the instrument"
    return [document.fault(("measure", "age"), message, at_key=True)]


def _too_large(document: Document) -> list[Fault]:
    """A fault where the matrix has more cases than a spec may have."""
    written = document.value.get("matrix")
    entries = written if isinstance(written, list) else [written]
    count = sum(count_cases(entry) for entry in entries if isinstance(entry, dict))
    if count <= MAX_CASES:
        return []
    message = f"{count:,} cases, more than the {MAX_CASES:,} a spec may have: shorten the lists"
    return [document.fault(("matrix",), message)]


def _too_long(document: Document, plan: Plan) -> list[Fault]:
    """A fault where measuring would take longer than the spec allows."""
    if plan.estimated_s <= plan.measure.max_duration_s:
        return []
    message = (
        f"measuring takes about {plan.estimated_s / 60:.0f} minutes, longer than the "
        f"{plan.measure.max_duration_s / 60:.0f} allowed: raise maxDuration, or measure fewer cases or invocations"
    )
    return [document.fault(("measure", "maxDuration"), message)]


def _too_old(document: Document, plan: Plan) -> list[Fault]:
    """A fault where an age would take more than its hour even if connections were twice as fast as estimated. The
    runner refuses what it finds to take longer."""
    seconds = {case.label: plan.measure.age * estimate.handshake_seconds(case) for case in plan.cases if case.ages}
    label = max(seconds, key=lambda each: seconds[each], default="")
    if not label or seconds[label] <= 2 * LONGEST_AGE_S:
        return []
    message = (
        f"{plan.measure.age:,} connections of {label} take about {seconds[label] / 3600:.1f} hours, and an age may "
        f"take {LONGEST_AGE_S / 3600:.0f}: lower age, or give this case a spec of its own"
    )
    return [document.fault(("measure", "age"), message)]


_LEAST: tuple[tuple[str, str, Callable[[Case], int]], ...] = (
    ("ocsp_bytes", "an OCSP response", least_ocsp_bytes),
    ("intermediate_bytes", "an intermediate certificate", least_intermediate_bytes),
)
"""Sizes of cases that have a least value, which depends on the certificate's key; 0 stands for no such size."""


def _too_small(document: Document, spec: Spec) -> list[Fault]:
    """Faults of what can't be that small, with the least size for all keys of their matrix."""
    faults = []
    for field, what, least_bytes in _LEAST:
        for path, size in _matrix_values(document, to_camel(field)):
            matrix = spec.matrix[path[1] if isinstance(path[1], int) else 0]
            cases = [case for case in expand([matrix], {})[0] if getattr(case, field) == int(size) > 0]
            least, key = max(((least_bytes(case), case.key_name) for case in cases), default=(0, ""))
            if int(size) < least:
                faults.append(document.fault(path, f"{what} for the key {key} has at least {least} bytes"))
    return faults


def _unknown_references(document: Document, plan: Plan) -> list[Fault]:
    """Faults of a reference without figures, or whose cases are not in the matrix."""
    if plan.reference is None:
        return []
    case_ids = [case.case_id for case in plan.cases]
    faults = [
        document.fault(("reference", *place), f"the matrix has no case '{case_id}'{closest(case_id, case_ids)}")
        for place, case_id in _named_cases(plan.reference)
        if case_id not in case_ids
    ]
    for position, table in enumerate(plan.reference.tables):
        if table.baseline not in (row.case_id for row in table.rows):
            message = "the baseline must be one of the table's rows"
            faults.append(document.fault(("reference", "tables", position, "baseline"), message))
    if not plan.reference.tables and not plan.reference.ratios:
        faults.append(document.fault(("reference",), "a reference needs tables or ratios"))
    return faults


def _named_cases(reference: Reference) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The case ids of a reference with their places in it."""
    for position, table in enumerate(reference.tables):
        yield ("tables", position, "baseline"), table.baseline
        for number, row in enumerate(table.rows):
            yield ("tables", position, "rows", number, "caseId"), row.case_id
    for position, ratios in enumerate(reference.ratios):
        for number, published in enumerate(ratios.rows):
            yield ("ratios", position, "rows", number, "caseId"), published.case_id
            yield ("ratios", position, "rows", number, "relativeTo"), published.relative_to
