"""What a user waits for over emulated paths: times with their intervals, and round trips as measured and predicted.

Percentiles are of the connections of all invocations together (analysis/percentiles.py). Where their values were
removed from the store, percentiles of the invocations stand for them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from statistics import fmean, median
from typing import NamedTuple

from kexbench.analysis.estimates import estimate_median
from kexbench.analysis.flights import Flights, Prediction, predict
from kexbench.analysis.percentiles import percentile
from kexbench.answers.cells import OutcomeView
from kexbench.answers.comparing import chosen
from kexbench.answers.meaning import host_kind
from kexbench.answers.paths_shapes import (
    Agreement,
    Emulated,
    FlightView,
    PathCase,
    PathCell,
    Paths,
    PathView,
    Percentiles,
    PredictionView,
    StepView,
)
from kexbench.answers.paths_words import FLIGHTS, difference_reason, loss_reason, paths_sentence, step_text
from kexbench.answers.shapes import CaseView
from kexbench.answers.subjects import subjects_in_order
from kexbench.domain.batches import RemovedBatches
from kexbench.domain.cases import Case, case_order
from kexbench.domain.dimensions import NOTHING, Protocol
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.metrics import OVER_PATH, Metric
from kexbench.domain.paths import PRESETS, NetworkPath, hello_packets, parse_path
from kexbench.domain.samples import Negotiated
from kexbench.domain.subjects import Subject
from kexbench.store.evidence import Evidence
from kexbench.store.port import OutcomeRow, SampleRow, SampleStore, Selection

_HANDSHAKE = (Metric.PATH_HANDSHAKE_P50_NS, Metric.PATH_HANDSHAKE_P95_NS, Metric.PATH_HANDSHAKE_P99_NS)
_ANSWER = (Metric.PATH_ANSWER_P50_NS, Metric.PATH_ANSWER_P95_NS, Metric.PATH_ANSWER_P99_NS)
_SHARES = (0.5, 0.95, 0.99)
_PROTOCOLS = {str(protocol): protocol for protocol in Protocol}


class _Place(NamedTuple):
    case_id: str
    subject: str


_Rows = Mapping[Metric, Mapping[_Place, Sequence[SampleRow]]]


def paths(
    store: SampleStore,
    pool: str | None = None,
    cpu_model: str | None = None,
    libraries: Sequence[str] = (),
    path: str | None = None,
) -> Paths:
    """All cases with a path on one host kind: where none is asked for, the first one that has any. `path`: only this
    one, by its text. Raises Refusal."""
    asked = host_kind(store, pool, cpu_model)
    kinds = store.host_kinds() if pool is None and cpu_model is None else [asked] if asked else []
    answers = (_paths_on(store, kind, libraries, path) for kind in kinds)
    return next(
        (answer for answer in answers if answer.cases), Paths(host_kind=asked, subjects=[], cases=[], sentence="")
    )


def _paths_on(store: SampleStore, kind: HostKind, libraries: Sequence[str], path: str | None) -> Paths:
    usual = Selection(Metric.PATH_HANDSHAKE_P50_NS, kind.pool, kind.cpu_model, tuple(libraries))
    of_kind = store.kept_value(("outcomes of paths", usual), Evidence.of_all, lambda: tuple(store.outcomes(usual)))
    outcomes = [row for row in of_kind if _is_shown(row.case, path)]
    cases = {row.case.case_id: row.case for row in store.measured_cases(usual) if _is_shown(row.case, path)}
    cases |= {row.case.case_id: row.case for row in outcomes}
    if not cases:
        return Paths(host_kind=kind, subjects=[], cases=[], sentence="")
    here = replace(usual, case_ids=tuple(sorted(cases)))
    return store.kept_value(
        ("paths", here),
        lambda evidence: tuple(map(evidence.of_case, here.case_ids)),
        lambda: _answer(store, kind, here, cases, outcomes),
    )


def _is_shown(case: Case, path: str | None) -> bool:
    return case.path != NOTHING and path in (None, case.path)


def _answer(
    store: SampleStore, kind: HostKind, here: Selection, cases: Mapping[str, Case], outcomes: Sequence[OutcomeRow]
) -> Paths:
    rows = {metric: _by_place(store.samples(replace(here, metric=metric))) for metric in OVER_PATH}
    measured = [row for of_place in rows[here.metric].values() for row in of_place]
    failed = {_Place(row.case.case_id, row.subject.name): row for row in outcomes}
    subjects = subjects_in_order([*measured, *outcomes])
    run_ids = {row.run_id for row in measured if row.case.leaves_a_choice}
    negotiated = chosen(store.negotiated(run_ids)) if run_ids else {}
    shown = [
        PathCase(
            case=CaseView.of(case),
            title=title_of(case),
            path=path_view(case.path),
            cells=[_cell(case, subject, rows, failed, negotiated) for subject in subjects],
        )
        for case in sorted(cases.values(), key=_order)
    ]
    return Paths(host_kind=kind, subjects=subjects, cases=shown, sentence=paths_sentence(shown))


def title_of(case: Case) -> str:
    """Whatever its path."""
    return case.model_copy(update={"path": NOTHING}).label


def _order(case: Case) -> tuple[object, ...]:
    """By case, whatever its path, then by the path's numbers."""
    path = parse_path(case.path)
    return *case_order(case.model_copy(update={"path": NOTHING})), path.round_trip_ms, path.loss_percent, case.path


def path_view(text: str) -> PathView:
    preset, path = PRESETS.get(text), parse_path(text)
    return PathView(
        text=text,
        words=path.words,
        title=preset.title if preset else None,
        source=preset.source if preset else None,
        numbers=path,
    )


def _by_place(rows: Sequence[SampleRow]) -> Mapping[_Place, Sequence[SampleRow]]:
    places: dict[_Place, list[SampleRow]] = defaultdict(list)
    for row in rows:
        places[_Place(row.case.case_id, row.subject.name)].append(row)
    return places


def _cell(
    case: Case,
    subject: Subject,
    rows: _Rows,
    failed: Mapping[_Place, OutcomeRow],
    negotiated: Mapping[tuple[str, str, str], Negotiated],
) -> PathCell:
    place = _Place(case.case_id, subject.name)
    own = {metric: of_metric[place] for metric, of_metric in rows.items() if place in of_metric}
    newest = max(own.get(Metric.PATH_HANDSHAKE_P50_NS, ()), key=lambda row: row.measured_at, default=None)
    outcome = failed.get(place)
    if newest and outcome and outcome.run_id != newest.run_id and outcome.measured_at <= newest.measured_at:
        outcome = None  # an older run's does not apply to the newest numbers
    levels = {metric: [row.level for row in of_metric] for metric, of_metric in own.items()}
    chose = negotiated.get((newest.run_id, case.case_id, f"{subject.library}@{subject.source}")) if newest else None
    prediction = prediction_of(case, levels, chose)
    trips = estimate_median(levels[Metric.PATH_ROUND_TRIPS]) if Metric.PATH_ROUND_TRIPS in levels else None
    path = parse_path(case.path)
    agreement = _agreement(path, trips, prediction) if newest else None
    return PathCell(
        subject=subject.name,
        handshake=_percentiles(own, _HANDSHAKE),
        computing_ns=_middle(levels, Metric.PATH_COMPUTING_P50_NS),
        first_byte_ns=_pooled(own[Metric.PATH_FIRST_BYTE_P50_NS], 0.5)
        if Metric.PATH_FIRST_BYTE_P50_NS in own
        else None,
        answer=_percentiles(own, _ANSWER),
        round_trips=trips,
        predicted=_prediction_view(case, path, levels, prediction) if prediction else None,
        agreement=agreement,
        reason=_reason(path, agreement, trips, prediction),
        negotiated=chose if case.leaves_a_choice else None,
        server_retransmissions=_middle(levels, Metric.PATH_SERVER_RETRANSMISSIONS),
        emulated=_emulated(path, levels) if Metric.PATH_LOST_PPM in levels else None,
        connections=sum(_count(row) for row in own.get(Metric.PATH_HANDSHAKE_P50_NS, ())),
        outcome=OutcomeView(
            kind=outcome.kind, reason=outcome.reason, detail=outcome.detail, invocations=outcome.invocations
        )
        if outcome
        else None,
        run_id=newest.run_id if newest else outcome.run_id if outcome else None,
        measured_at=newest.measured_at if newest else outcome.measured_at if outcome else None,
    )


def _emulated(path: NetworkPath, levels: Mapping[Metric, Sequence[float]]) -> Emulated:
    delay_ns, rate_bit_s = _middle(levels, Metric.PATH_DELAY_P50_NS), _middle(levels, Metric.PATH_CARRIED_BIT_S)
    done = (
        None if delay_ns is None else 2 * delay_ns / 1e6,
        fmean(levels[Metric.PATH_LOST_PPM]) / 1e4,
        None if rate_bit_s is None else rate_bit_s / 1e6,
    )
    return Emulated(round_trip_ms=done[0], loss_percent=done[1], rate_mbit=done[2], text=path.beside(*done))


def _count(row: SampleRow) -> int:
    return 0 if isinstance(row.values, RemovedBatches) else len(row.values)


def _middle(levels: Mapping[Metric, Sequence[float]], metric: Metric) -> float | None:
    return median(levels[metric]) if metric in levels else None


def _percentiles(
    own: Mapping[Metric, Sequence[SampleRow]], metrics: tuple[Metric, Metric, Metric]
) -> Percentiles | None:
    """From the values of the median's metric, which has all connections."""
    if metrics[0] not in own:
        return None
    found = [
        _pooled(own[metrics[0]], share) or estimate_median([row.level for row in own[metric]])
        for metric, share in zip(metrics, _SHARES, strict=True)
    ]
    return Percentiles(p50=found[0], p95=found[1], p99=found[2])


def _pooled(rows: Sequence[SampleRow], share: float) -> Estimate | None:
    """None if values were removed."""
    values: list[float] = []
    for row in rows:
        if isinstance(row.values, RemovedBatches):
            return None
        values += [value for value in row.values if not isnan(value)]
    return percentile(values, share, len(rows)) if values else None


def prediction_of(
    case: Case, levels: Mapping[Metric, Sequence[float]], negotiated: Negotiated | None
) -> Prediction | None:
    """None where the sizes are unknown, or what was negotiated by default settings."""
    sizes = (_middle(levels, metric) for metric in SIZES)
    hello, server, client_last = (None if size is None else round(size) for size in sizes)
    protocol = _PROTOCOLS.get(negotiated.protocol or "") if negotiated else case.protocol
    if hello is None or server is None or client_last is None or protocol in (None, Protocol.DEFAULT):
        return None
    return predict(
        protocol,
        parse_path(case.path),
        Flights(hello - case.early_data_bytes, server, client_last),  # the server answers the ClientHello alone
        resumption=case.resumption,
        hello_retry=case.hello_retry or bool(negotiated and negotiated.hello_retry),
        sends_at_once=case.sends_at_once,
    )


SIZES = (Metric.PATH_CLIENT_HELLO_BYTES, Metric.PATH_SERVER_FLIGHT_BYTES, Metric.PATH_CLIENT_LAST_FLIGHT_BYTES)


def _prediction_view(
    case: Case, path: NetworkPath, levels: Mapping[Metric, Sequence[float]], found: Prediction
) -> PredictionView:
    hello_bytes = round(_middle(levels, Metric.PATH_CLIENT_HELLO_BYTES) or 0)
    is_split = hello_packets(path, case.protocol is Protocol.QUIC_V1, hello_bytes) > 1
    delay_ns = path.split_delay_ns if is_split else 0
    # What is under way while the handshake waits for a window is sent meanwhile.
    sent_bytes = sum(step.flight_bytes - (step.limit_bytes if step.round_trips else 0) for step in found.flights)
    return PredictionView(
        connecting=found.connecting,
        handshake=found.handshake,
        before_request=found.before_request,
        handshake_ns=(found.connecting + found.handshake) * path.round_trip_ns + path.sending_ns(sent_bytes) + delay_ns,
        steps=[
            StepView(
                kind=step.kind,
                round_trips=step.round_trips,
                is_further=step.kind in FLIGHTS,
                text=step_text(step),
            )
            for step in found.steps
        ],
        flights=[
            FlightView(
                kind=step.kind,
                size_bytes=step.flight_bytes,
                limit_bytes=step.limit_bytes,
                round_trips=step.round_trips,
            )
            for step in found.flights
        ],
    )


def _agreement(path: NetworkPath, trips: Estimate | None, prediction: Prediction | None) -> Agreement | None:
    if prediction is None:
        return None
    if path.loss_ppm:
        return "with loss"
    if trips is None:
        return "not counted"
    return "as predicted" if trips.value == prediction.before_request else "differs"


def _reason(
    path: NetworkPath, agreement: Agreement | None, trips: Estimate | None, prediction: Prediction | None
) -> str | None:
    if agreement == "with loss":
        return loss_reason(path.loss_percent)
    if agreement == "differs" and trips and prediction:
        return difference_reason(trips.value, prediction.before_request)
    return None
