"""The measured handshakes of a library version by their strength, with the answers in words."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import Field

from kexbench.analysis.estimates import estimate_median
from kexbench.analysis.forward_secrecy import Handshake, LevelAnswer, answer
from kexbench.analysis.rounds import medians
from kexbench.answers.meaning import host_kind
from kexbench.answers.security_shapes import HandshakeView, LevelView, ModelView, PartStrength, SizesView
from kexbench.answers.security_words import adds_words, cheapest_words, limit_words, missing_words, not_compared_words
from kexbench.answers.shapes import CaseView
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Key, Method, Protocol
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.security import AUTHORITIES, SecurityModel
from kexbench.domain.security_levels import SECURITY_LEVELS, level_of, level_sizes
from kexbench.domain.strength import (
    has_post_quantum_authentication,
    has_post_quantum_key_exchange,
    is_forward_secret,
    strength,
)
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES, Side
from kexbench.store.port import SampleRow, SampleStore, Selection


class SecurityView(Frozen):
    """The handshakes of one library version on one host kind, by their strength."""

    model: ModelView
    models: list[ModelView] = Field(description="the models to choose from")
    side: Side
    host_kind: HostKind | None = Field(description="null while nothing is stored")
    subject: str | None = Field(description="unique name of the library version; null while nothing is stored")
    subjects: list[Subject] = Field(description="the versions to choose from")
    levels: list[LevelView]
    unranked: list[HandshakeView] = Field(description="handshakes of unknown strength, or below the lowest level")


def model_views() -> list[ModelView]:
    return [
        ModelView(model=model, title=authority.title, sources=list(authority.sources))
        for model, authority in AUTHORITIES.items()
    ]


def sizes_view(model: SecurityModel, level_bits: int) -> SizesView:
    """The sizes of both protocols. TLS 1.2 comes first, where sizes may be smaller."""
    older, newer = (level_sizes(model, level_bits, protocol) for protocol in (Protocol.TLS_1_2, Protocol.TLS_1_3))
    return SizesView(
        level_bits=level_bits,
        rsa_bits=older.rsa_bits,
        dh_groups=_both(older.dh_groups, newer.dh_groups),
        ecdhe_groups=_both(older.ecdhe_groups, newer.ecdhe_groups),
        mlkem_groups=list(newer.mlkem_groups),
        curves=_both(older.curves, newer.curves),
        keys=list(dict.fromkeys((*older.keys, *newer.keys))),
        cipher=newer.cipher,
    )


def _both(older: Sequence[str], newer: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*older, *newer)))


def is_compared(case: Case) -> bool:
    """Whether it is a full handshake of TLS with certificates and without variations. Then costs differ only by what
    makes handshakes strong."""
    is_usual = case.key_exchange.key is not Key.PSK and not case.protocol.is_dtls
    return case.key_exchange.method is not Method.DEFAULT and is_usual and not case.variation


@dataclass(frozen=True)
class _Measured:
    handshake: Handshake
    measured_at: datetime


def handshakes_of(rows: Sequence[SampleRow], model: SecurityModel) -> tuple[list[LevelView], list[HandshakeView]]:
    """The levels, and the handshakes that reach none of them. The rows are of one subject on one host kind."""
    measured = _measured(rows, model)
    handshakes = [each.handshake for each in measured]
    by_level: dict[int | None, list[_Measured]] = defaultdict(list)
    for each in measured:
        by_level[level_of(each.handshake.bits)].append(each)
    levels = []
    for level_bits in SECURITY_LEVELS:
        at_level, sizes = answer(handshakes, level_bits), sizes_view(model, level_bits)
        levels.append(
            LevelView(
                level_bits=level_bits,
                sizes=sizes,
                cheapest=cheapest_words(at_level, level_bits),
                forward_secrecy_adds=adds_words(at_level, sizes, model),
                cheapest_case=at_level.cheapest.case.case_id if at_level.cheapest else None,
                rsa_case=at_level.plain_rsa.case.case_id if at_level.plain_rsa else None,
                rsa_title=at_level.plain_rsa.case.label if at_level.plain_rsa else None,
                missing=missing_words(at_level, sizes, model),
                handshakes=[_view(each, model, at_level) for each in by_level[level_bits]],
            )
        )
    return levels, [_view(each, model, None) for each in by_level[None]]


def _measured(rows: Sequence[SampleRow], model: SecurityModel) -> list[_Measured]:
    """Cheapest first."""
    by_case: dict[Case, list[SampleRow]] = defaultdict(list)
    for row in rows:
        by_case[row.case].append(row)
    measured = [
        _Measured(
            Handshake(
                case=case,
                bits=strength(case, model).bits,
                run_id=of_case[0].run_id,
                costs_ns={row.unit: (row.level,) for row in of_case},
            ),
            max(row.measured_at for row in of_case),
        )
        for case, of_case in by_case.items()
        if is_compared(case)
    ]
    return sorted(measured, key=lambda each: (each.handshake.cost_ns, each.handshake.case.case_id))


def _view(measured: _Measured, model: SecurityModel, at_level: LevelAnswer | None) -> HandshakeView:
    handshake = measured.handshake
    case, whole = handshake.case, strength(handshake.case, model)
    against = at_level.against_rsa.get(case.case_id) if at_level else None
    costs = medians(handshake.costs_ns).tolist()
    return HandshakeView(
        case=CaseView.of(case),
        bits=whole.bits,
        parts=[PartStrength(role=part.role, name=part.name, bits=part.bits) for part in whole.parts],
        limited_by=limit_words(whole, model),
        forward_secret=bool(is_forward_secret(case)),
        post_quantum_key_exchange=has_post_quantum_key_exchange(case),
        post_quantum_authentication=has_post_quantum_authentication(case),
        cost=estimate_median(costs),
        against_rsa=(against.ratio if against else None),
        verdict=against.verdict if against else None,
        resolves=against.resolves if against else None,
        not_compared=not_compared_words(handshake, at_level) if at_level and against is None else None,
        run_id=handshake.run_id,
        measured_at=measured.measured_at,
    )


def by_strength(
    store: SampleStore,
    model: SecurityModel,
    subject: str | None,
    side: Side,
    pool: str | None = None,
    cpu_model: str | None = None,
) -> SecurityView:
    """Full handshakes of one library version, by default the one measured last, on one host kind, each from its newest
    run. Raises Refusal."""
    kind = host_kind(store, pool, cpu_model)
    here = Selection(SIDES[side], *((kind.pool, kind.cpu_model) if kind else ()))
    measured = [row for row in store.measured_subjects(here) if kind]
    newest = max(measured, key=lambda row: row.measured_at, default=None)
    if subject is not None and subject not in {row.subject.name for row in measured}:
        detail = f"nothing of subject {subject} was measured here"
        raise Refusal(RefusalReason.MISSING, detail, "choose one of the answer without a subject")
    chosen = subject or (newest.subject.name if newest else None)
    shown = replace(here, subjects=(chosen,) if chosen else ())
    levels, unranked = store.kept_value(
        ("handshakes", shown, model),
        lambda evidence: evidence.of_subjects(shown.subjects),
        lambda: handshakes_of(store.samples(shown) if kind and chosen else [], model),
    )
    return SecurityView(
        model=next(view for view in model_views() if view.model is model),
        models=model_views(),
        side=side,
        host_kind=kind,
        subject=chosen,
        subjects=[row.subject for row in measured],
        levels=levels,
        unranked=unranked,
    )
