"""Writes specs for commands that need none from people. A run keeps the spec as plain text."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import yaml
from pydantic.alias_generators import to_camel

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import NOTHING, KeyExchange, Method, Protocol
from kexbench.domain.instruments import Instrument
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import (
    BATCH_NS,
    BATCHES,
    JOBS_PER_CELL,
    PATH_CONNECTIONS,
    Isolation,
    Measure,
)
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import Purpose
from kexbench.domain.verdicts import RELEVANT
from kexbench.planning.documents import parse_document
from kexbench.planning.estimate import estimated_seconds
from kexbench.planning.expand import expand
from kexbench.planning.spec import Matrix

USUAL = (
    Matrix.model_validate({"protocol": ["TLSv1.2"], "keyExchange": ["ECDHE-RSA"], "group": ["P-256"]}),
    Matrix.model_validate(
        {"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-RSA", "ECDHE-ECDSA"], "group": ["X25519"]},
    ),
    Matrix.model_validate(
        {"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-ECDSA"], "group": ["X25519"], "resumption": ["psk-dhe"]}
    ),
)
"""The most common handshakes of servers."""
_EVERY = (
    Matrix.model_validate(
        {"protocol": list(Protocol), "keyExchange": list(KeyExchange), "rsaBits": [2048, 3072, 4096]}
    ),
)
"""What a pattern may name though it is not among the usual cases."""
LEAST_INVOCATIONS, MOST_INVOCATIONS = 6, 60
JOBS_OF_A_VERDICT = 6
"""Jobs of a run that decides about few cells by itself: two jobs hardly show how much jobs differ (ADR 43)."""
COUNTS = 2
"""Invocations that count instructions, so that the difference of two counts is known."""
QUICK_INVOCATIONS, FEW_BATCHES = 3, 4
"""For a first look: three invocations are the fewest with an interval."""
QUICK_BATCHES = BATCHES // 2
"""Half the usual number, since somebody waits for an answer."""


@dataclass(frozen=True)
class Wish:
    """What a command measures."""

    name: str
    description: str
    subjects: tuple[SubjectRef, ...]
    cases: tuple[Case, ...]
    invocations: int
    batches: int = QUICK_BATCHES
    max_duration_s: int = 3600
    sentinel: bool = False
    pools: tuple[str, ...] = (LOCAL,)
    isolation: Isolation = Isolation.EXCLUSIVE
    purpose: Purpose = Purpose.HISTORY
    instrument: Instrument = Instrument.TIME
    jobs: int = JOBS_PER_CELL
    connections: int = PATH_CONNECTIONS
    starts: int = 0
    age: int = 0
    relevant: float = RELEVANT


def spec_text(wish: Wish) -> str:
    """A spec that expands into exactly these subjects and cases."""
    document = {
        "apiVersion": "kexbench.dev/v1",
        "kind": "Benchmark",
        "metadata": {"name": wish.name, "description": wish.description},
        "subjects": [{subject.library: [subject.source]} for subject in wish.subjects],
        **({} if wish.pools == (LOCAL,) else {"pools": list(wish.pools)}),
        "matrix": [matrix_entry(case) for case in wish.cases],
        "measure": {
            "invocations": wish.invocations,
            "batches": wish.batches,
            "maxDuration": f"{wish.max_duration_s}s",
            "sentinel": wish.sentinel,
            **({} if wish.isolation is Isolation.EXCLUSIVE else {"isolation": str(wish.isolation)}),
            **({} if wish.instrument is Instrument.TIME else {"instrument": str(wish.instrument)}),
            **({} if wish.jobs == JOBS_PER_CELL else {"jobs": wish.jobs}),
            **({} if wish.connections == PATH_CONNECTIONS else {"connections": wish.connections}),
            **({} if wish.starts == 0 else {"starts": wish.starts}),
            **({"age": wish.age} if wish.age else {}),
        },
        **({} if wish.relevant == RELEVANT else {"alerts": {"relevant": f"{wish.relevant * 100:.10g}%"}}),
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def quick_text(text: str, file: str) -> str:
    """A valid spec with as few and short invocations as give intervals. Comments are lost."""
    document = parse_document(text, file).value
    kept = {name: value for name, value in document.get("measure", {}).items() if name != "resolve"}
    document = {**document, "measure": {**kept, "invocations": QUICK_INVOCATIONS, "batches": FEW_BATCHES}}
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def matrix_entry(case: Case) -> dict[str, Any]:
    """The matrix of one case: every field is a list with one value."""
    dumped = case.model_dump(mode="json")
    first = ("protocol", "key_exchange", "cipher", "rsa_bits", "curve", "group")
    fields = {name: dumped[name] for name in first if dumped[name] not in (NOTHING, 0)}
    if case.dh_parameters_name:
        fields["dh_bits"] = int(fields.pop("group").removeprefix("dh-"))
    elif case.key_exchange.method is Method.DHE:
        fields["dh_group"] = fields.pop("group")
    return {to_camel(name): [value] for name, value in {**fields, **case.variation}.items()}


def chosen(matrices: Sequence[Matrix], patterns: Sequence[str]) -> tuple[Case, ...]:
    """The cases of the matrices whose id matches one of the patterns (`*ecdsa*`), or all cases without patterns."""
    cases, _ = expand(list(matrices), {})
    return tuple(
        case for case in cases if not patterns or any(fnmatchcase(case.case_id, pattern) for pattern in patterns)
    )


def usual_cases(usual: Sequence[Matrix], patterns: Sequence[str]) -> tuple[Case, ...]:
    """The usual cases, or those that match a pattern. A pattern that matches none of them is looked up among cases of
    every key exchange, so that no list of usual cases hides one."""
    if not patterns:
        return chosen(usual, ())
    cases = (case for pattern in patterns for case in chosen(usual, [pattern]) or chosen(_EVERY, [pattern]))
    return tuple({case.case_id: case for case in cases}.values())


def affordable_invocations(
    cases: tuple[Case, ...], subjects: int, seconds: float, *, batches: int = QUICK_BATCHES, jobs: int = JOBS_PER_CELL
) -> int:
    """How many invocations fit into a time in seconds, within bounds."""

    def takes(invocations: int) -> float:
        measure = Measure(invocations=invocations, batches=batches, batch_ns=BATCH_NS, max_duration_s=1, jobs=jobs)
        return estimated_seconds(cases, subjects, 1, measure)

    least_s = takes(LEAST_INVOCATIONS)
    further = (seconds - least_s) / (takes(LEAST_INVOCATIONS + 1) - least_s)
    return LEAST_INVOCATIONS + max(0, min(MOST_INVOCATIONS - LEAST_INVOCATIONS, int(further)))
