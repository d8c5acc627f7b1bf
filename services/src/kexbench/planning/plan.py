"""From a spec's text and a catalogue's text to a plan, or to all faults at once."""

import re
from collections.abc import Collection, Iterator, Mapping

from kexbench.domain.cases import parse_peer
from kexbench.domain.libraries import LIBRARIES, MADE_UP
from kexbench.domain.material import least_ocsp_bytes
from kexbench.domain.plans import BATCH_NS, Measure, Plan, PlannedSubject, Reference, plan_id_of
from kexbench.domain.pools import LABEL_VALUE, LOCAL
from kexbench.planning import estimate, pack
from kexbench.planning.documents import Document, DocumentError, Fault, closest, parse_document, validate
from kexbench.planning.expand import MAX_CASES, count_cases, expand
from kexbench.planning.follow import followed
from kexbench.planning.spec import Catalogue, Matrix, Spec
from kexbench.planning.subjects import UnknownSelector, resolve


def read_matrices(text: str, file: str) -> list[Matrix]:
    """The matrices of a spec, whatever its subjects. Raises DocumentError."""
    document = parse_document(text, file)
    spec, faults = validate(document, Spec)
    faults += _too_large(document)
    if spec is None or faults:
        raise DocumentError(file, faults)
    return spec.matrix


def fault_in(text: str, file: str, path: tuple[str, ...], message: str) -> DocumentError:
    """What only the machine knows to be wrong with a spec, at its place in it."""
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
    """The plan of a spec. `invocations` are those that its `resolve` takes on a qualified machine, fixed before
    anything is measured; `pools` are the names of those that there are; `only` are the references of the subjects that
    are measured, where that is not all; of a spec that follows a branch, those of its commits, without which it is what
    the branch leads to when it is built. `anywhere` lets it follow repositories that the catalogue doesn't name. Raises
    DocumentError with every fault of the spec."""
    document = parse_document(text, file)
    spec, faults = validate(document, Spec)
    subjects, unknown = _subjects(document, catalogue)
    follow, wrong = followed(document, catalogue, anywhere=anywhere)
    peers, unknown_peers = _peers(document, catalogue)
    faults += (
        unknown + wrong + unknown_peers + _unknown_pools(document, pools) + _too_large(document) + _two_ways(document)
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
    if faults := _unknown_references(document, plan) + _too_long(document, plan) + _too_small(document, spec):
        raise DocumentError(file, faults)
    return plan


def subjects_of(text: str, file: str, catalogue: Catalogue) -> tuple[PlannedSubject, ...]:
    """What a spec compares, without planning it. Raises DocumentError where it names what there is not."""
    subjects, faults = _subjects(parse_document(text, file), catalogue)
    if faults:
        raise DocumentError(file, faults)
    return subjects


def _assemble(
    spec: Spec, subjects: tuple[PlannedSubject, ...], peers: Mapping[str, PlannedSubject], sentinel: str | None
) -> Plan:
    named = {written: f"{written.partition(':')[0]}:{peer.reference}" for written, peer in peers.items()}
    cases, skipped = expand(spec.matrix, named)
    pools = tuple(spec.pools)
    measure = Measure(
        **spec.measure.model_dump(exclude={"max_duration"}),
        batch_ns=BATCH_NS,
        max_duration_s=spec.measure.max_duration,
    )
    references = tuple(subject.reference for subject in subjects)
    needed = {case.peer_reference for case in cases}
    parties = sum(len(block) for block in pack.blocks(references, sentinel=sentinel is not None))
    seconds = {case.case_id: estimate.case_seconds(case, parties, measure) for case in cases}
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
            spec.metadata.name, pools, seconds, references, measure.invocations, sentinel=sentinel is not None
        ),
        estimated_s=round(sum(seconds.values()) * len(pools), 1),
        reference=Reference.model_validate(spec.reference.model_dump()) if spec.reference else None,
        sentinel=sentinel,
        peers=tuple({peer.reference: peer for peer in peers.values() if peer.reference in needed}.values()),
    )
    return draft.model_copy(update={"plan_id": plan_id_of(draft)})


def _sentinel(spec: Spec, subjects: tuple[PlannedSubject, ...], catalogue: Catalogue) -> str | None:
    """What is measured along, unless the spec doesn't want it. Made-up libraries live in virtual time, which no
    machine slows down."""
    if not spec.measure.sentinel or all(subject.library in MADE_UP for subject in subjects):
        return None
    return str(catalogue.sentinel) if catalogue.sentinel else None


def _subjects(document: Document, catalogue: Catalogue) -> tuple[tuple[PlannedSubject, ...], list[Fault]]:
    """The subjects, each once, checked even where other parts of the spec are at fault."""
    found: dict[str, PlannedSubject] = {}
    faults: list[Fault] = []
    written = document.value.get("subjects")
    for index, entry in enumerate(written if isinstance(written, list) else []):
        for library, selectors in entry.items() if isinstance(entry, dict) else ():
            if library not in LIBRARIES:
                continue
            listed = selectors if isinstance(selectors, list) else [selectors]
            for position, selector in enumerate(listed):
                if not isinstance(selector, str):
                    continue
                try:
                    for subject in resolve(library, selector, catalogue):
                        found.setdefault(subject.reference, subject)
                except UnknownSelector as error:
                    faults.append(document.fault(("subjects", index, library, position), str(error)))
    return tuple(found.values()), faults


def _peers(document: Document, catalogue: Catalogue) -> tuple[dict[str, PlannedSubject], list[Fault]]:
    """The subject of each peer by the peer as it is written; each must name exactly one."""
    found: dict[str, PlannedSubject] = {}
    faults: list[Fault] = []
    for path, written in _matrix_values(document, "peer"):
        try:
            ref = parse_peer(written)[1]
        except ValueError:  # no peer, or a fault of its form, which the model tells
            continue
        try:
            subjects = resolve(ref.library, ref.source, catalogue)
            if len(subjects) > 1:
                names = ", ".join(subject.source for subject in subjects)
                raise UnknownSelector(f"'{ref.source}' names several versions of {ref.library}, a peer is one: {names}")
            found[written] = subjects[0]
        except UnknownSelector as error:
            faults.append(document.fault(path, str(error)))
    return found, faults


def _unknown_pools(document: Document, pools: Collection[str]) -> list[Fault]:
    """Faults of pools that there are not, whatever else is wrong with the spec."""
    faults = []
    known = sorted(pools)
    written = document.value.get("pools")
    for position, name in enumerate(written if isinstance(written, list) else []):
        if isinstance(name, str) and re.fullmatch(LABEL_VALUE, name) and name not in pools:
            message = f"there is no pool '{name}'{closest(name, known)}; there are {', '.join(known)}"
            if known == [LOCAL]:
                message = f"there is no pool '{name}': a machine that measures by itself has one, {LOCAL}"
            faults.append(document.fault(("pools", position), message))
    return faults


def _matrix_values(document: Document, field: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each value of a list of the matrix with its place, whatever else is wrong with the matrix."""
    written = document.value.get("matrix")
    several = isinstance(written, list)
    for index, entry in enumerate(written if isinstance(written, list) else [written]):
        values = entry.get(field) if isinstance(entry, dict) else None
        for position, value in enumerate(values if isinstance(values, list) else []):
            if isinstance(value, str):
                yield (*(("matrix", index) if several else ("matrix",)), field, position), value


def _two_ways(document: Document) -> list[Fault]:
    """A fault where both ways are used to say how much is measured."""
    written = document.value.get("measure")
    if not isinstance(written, dict) or not {"invocations", "resolve"} <= written.keys():
        return []
    message = "give either invocations or resolve: what shall be resolved decides how many invocations it takes"
    return [document.fault(("measure", "resolve"), message, at_key=True)]


def _too_large(document: Document) -> list[Fault]:
    """A fault where the matrix names more cases than a spec may have."""
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


def _too_small(document: Document, spec: Spec) -> list[Fault]:
    """Faults of OCSP responses that can't be made that small, with the least size for all keys of their matrix."""
    faults = []
    for path, size in _matrix_values(document, "ocspBytes"):
        matrix = spec.matrix[path[1] if isinstance(path[1], int) else 0]
        cases = [case for case in expand([matrix], {})[0] if case.ocsp_bytes == int(size) > 0]
        least, key = max(((least_ocsp_bytes(case), case.key_name) for case in cases), default=(0, ""))
        if int(size) < least:
            faults.append(document.fault(path, f"an OCSP response for the key {key} has at least {least} bytes"))
    return faults


def _unknown_references(document: Document, plan: Plan) -> list[Fault]:
    """Faults of a reference that names cases which the matrix does not have."""
    if plan.reference is None:
        return []
    known = [case.case_id for case in plan.cases]
    faults = []
    for position, table in enumerate(plan.reference.tables):
        named = [(("rows", row, "caseId"), entry.case_id) for row, entry in enumerate(table.rows)]
        for place, case_id in [(("baseline",), table.baseline), *named]:
            if case_id not in known:
                message = f"the matrix has no case '{case_id}'{closest(case_id, known)}"
                faults.append(document.fault(("reference", "tables", position, *place), message))
        if table.baseline not in (entry.case_id for entry in table.rows):
            message = "the baseline must be one of the table's rows"
            faults.append(document.fault(("reference", "tables", position, "baseline"), message))
    return faults
