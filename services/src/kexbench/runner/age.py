"""A context that ages: the requests to workers, what their answers are worth, and the samples of them."""

from collections.abc import Sequence
from statistics import linear_regression, median

from kexbench.domain.ages import LONGEST_AGE_S, old_points, points_of, young_points
from kexbench.domain.cases import Case
from kexbench.domain.metrics import Metric
from kexbench.domain.plans import HEAP_AGED
from kexbench.domain.samples import OutcomeKind, Sample
from kexbench.runner.participant import Dropped, Setting, expect, setup_request, setup_timeout_s, worker_faults
from kexbench.runner.records import Age, Batch, Ready

_SLOWER, _LEAST_S = 3, 10.0
"""How long connections may take: so many times as long as in the timed batches, and at least so many seconds."""
_MARGIN_S = 15.0


def age_of(setting: Setting, reference: str, last: Batch | None) -> list[Sample]:
    """The samples of one subject's aged contexts: CPU time from a worker of its own, and memory from another one that
    counts the heap, which slows it down. Raises Dropped."""
    connections = setting.job_input.measure.age
    time = _aged(setting, reference, connections, last, count_heap=False)
    heap = _aged(setting, reference, min(connections, HEAP_AGED), last, count_heap=True)
    return age_samples(reference, time, heap)


def _aged(setting: Setting, reference: str, connections: int, last: Batch | None, *, count_heap: bool) -> Age:
    case, longest_s = setting.case, longest_seconds(connections, last)
    request = age_request(case, connections, longest_s)
    with setting.launch(reference, count_heap=count_heap) as worker, worker_faults():
        expect(Ready, worker.ask(setup_request(case, setting.files), setup_timeout_s(case)))
        record = expect(Age, worker.ask(request, longest_s + _MARGIN_S))
    check_age(record, connections, longest_s)
    return record


def age_request(case: Case, connections: int, longest_s: float) -> str:
    points, max_ns = points_of(connections), round(longest_s * 1e9)
    return f"age id={case.case_id} connections={connections} points={points} max_ns={max_ns}"


def longest_seconds(connections: int, last: Batch | None) -> float:
    """The time that so many connections may take. `last`: a batch of the case, which shows what one takes. Raises
    Dropped."""
    each_ns = last.thread_cpu_ns / last.handshakes if last else 0.0
    usual_s = connections * each_ns / 1e9
    if usual_s > LONGEST_AGE_S:
        reason = f"{connections:,} connections of this case take {usual_s / 3600:.1f} hours: lower measure.age"
        raise Dropped(OutcomeKind.UNSUPPORTED, reason)
    return min(_LEAST_S + _SLOWER * usual_s, LONGEST_AGE_S)


def check_age(record: Age, connections: int, longest_s: float) -> None:
    """Raises Dropped, unless all connections were made in time."""
    if (made := record.connections[-1]) < connections:
        reason = f"{made:,} of {connections:,} connections on one context were made in {longest_s:.0f} s"
        raise Dropped(OutcomeKind.HUNG, f"{reason}: use an idle machine, or lower measure.age")


def age_samples(reference: str, time: Age, heap: Age) -> list[Sample]:
    """The samples of one invocation. A library whose memory is not malloc's has none of memory."""
    young, old = ends(time.connection_cpu_ns)
    values: dict[Metric, float] = {Metric.YOUNG_CPU_NS: young, Metric.OLD_CPU_NS: old}
    if (live := heap.heap_bytes) is not None:
        values |= {
            Metric.YOUNG_HEAP_BYTES: live[0],
            Metric.OLD_HEAP_BYTES: live[-1],
            Metric.GROWTH_BYTES: growth(heap.connections, live),
        }
    return [Sample(subject=reference, metric=metric, values=(float(value),)) for metric, value in values.items()]


def ends(values: Sequence[float]) -> tuple[float, float]:
    """The medians of the young points and of the old ones."""
    young, old = young_points(len(values)), old_points(len(values))
    return median(values[point] for point in young), median(values[point] for point in old)


def growth(connections: Sequence[int], live_bytes: Sequence[int]) -> float:
    """What each connection leaves behind: the slope of the line through the points of the second half by least squares,
    and at least 0. A library's own pools of memory fill in the first half."""
    half = len(connections) // 2
    if len(connections) - half < 2:
        return 0.0
    return max(0.0, linear_regression(connections[half:], live_bytes[half:]).slope)
