"""The benchmark's figures as Markdown tables, for the terminal and docs/results/benchmarks.md."""

import math
import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime

from bench.builds import ALIKE, Built, NotBuilt
from bench.calibration import Calibration
from bench.commits import Delays
from bench.connections import CALL_NS, TOLERANCE, Agreement
from bench.counts import Repeated
from bench.detection import Pools
from bench.levels import Level
from bench.metrics import BESIDE, Compared, Program
from bench.mixes import GOAL, Predicted
from bench.overhead import Overhead
from bench.peers import Peer
from bench.power import PowerCurve
from bench.scale import Scaled, Simulated
from bench.scale_cluster import ETCD_TAKES, MIB
from bench.sharding import Sharded
from bench.tables import markdown_table
from bench.texts import CAUSES, NO_CAUSE
from bench.threads import TOLERANCE as THREADS_TOLERANCE
from bench.threads import Together
from kexbench.analysis.estimates import trimmed_interval
from kexbench.analysis.moves import LogMove
from kexbench.analysis.resampling import Rejections
from kexbench.domain.components import components_words
from kexbench.domain.hosts import HostFacts
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.numbers import counted, move_words, signed_words
from kexbench.domain.samples import Metric
from kexbench.domain.versions import version_key


def machine_lines(at: datetime, host: HostFacts, calibration: Calibration) -> str:
    """When and where a section was measured."""
    governor = host.governor or "not readable"
    return (
        f"*{at:%Y-%m-%d}, {host.cpu_model}, {host.cpus} CPUs, {host.virtualisation or 'unknown'} virtualisation, "
        f"Linux {host.kernel}, governor {governor}.* {calibration.line()}"
    )


def document(existing: str, head: str, headings: Mapping[str, str], sections: Mapping[str, str]) -> str:
    """The complete file: `sections` by part. Parts that were not measured keep their section of `existing`, the old
    file. `headings` has the first line of each part's section, in order."""
    kept = {"## " + text.partition("\n")[0]: "## " + text for text in existing.split("\n## ")[1:]}
    texts = [sections.get(part) or kept.get(heading) for part, heading in headings.items()]
    return "\n\n".join(text.strip() for text in [head, *filter(None, texts)]) + "\n"


def overhead_table(overheads: Sequence[Overhead]) -> str:
    rows = [
        [
            f"{overhead.subject.partition('@')[0]} {overhead.case.label}",
            with_half_width(overhead.cpu_ns),
            share(overhead.split),
            between(overhead.timers_share),
            between(overhead.outside_share),
            str(overhead.invocations),
        ]
        for overhead in overheads
    ]
    header = ("case", "µs per handshake", "split / unsplit", "clocks", "outside turns", "invocations")
    return markdown_table(header, rows)


def peers_table(peers: Sequence[Peer]) -> str:
    rows = [
        [
            peer.name,
            peer.case.label,
            f"{peer.theirs_ns / 1000:,.1f}",
            f"{peer.ours_ns / 1000:,.1f}",
            ratio(peer),
            "only turns" if peer.ours_outside is None else f"{peer.ours_outside:.1%}",
        ]
        for peer in peers
    ]
    return markdown_table(("peer", "case", "theirs, µs", "ours, µs", "ours / theirs", "ours outside turns"), rows)


def levels_table(levels: Sequence[Level]) -> str:
    rows = [
        [
            level.case.label,
            f"{level.handshakes:,}",
            *(f"{ns / 1000:,.1f}" for ns in (level.loop_ns, level.level_ns)),
            _difference(level.to_loop),
            signed_words(level.median_to_loop - 1),
        ]
        for level in levels
    ]
    header = ("case", "handshakes", "loop, µs", "level, µs", "level / loop", "median / loop")
    return markdown_table(header, rows)


def threads_table(results: Sequence[Together]) -> str:
    """Every number of threads in the order of the kits, below a line that counts them."""
    rows = [
        [
            f"{result.subject.partition('@')[2]} {result.version}",
            str(result.case.threads),
            str(result.case.context),
            f"{result.loop_rate:,.0f}/s",
            f"{result.worker_rate:,.0f}/s",
            _difference(result.ratio),
            _share(result.efficiency),
            _share(result.loop_spread),
            _share(result.worker_spread),
            f"{result.rounds:,}",
            str(result.disturbed),
        ]
        for result in results
    ]
    alike = sum(abs(result.ratio.value - 1) <= THREADS_TOLERANCE for result in results)
    other = sum(not result.agrees for result in results)
    summary = (
        f"{alike} of {len(results)} agree within {THREADS_TOLERANCE:.0%}. {len(results) - alike - other} more have an "
        f"interval that reaches into {THREADS_TOLERANCE:.0%}, {other} do not agree."
    )
    rates = ("loop", "worker", "worker / loop", "efficiency", "loop varies", "worker varies")
    header = ("kit", "threads", "context", *rates, "rounds", "ignored")
    return f"{summary}\n\n{markdown_table(header, rows)}"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def connections_table(results: Sequence[Agreement]) -> str:
    """Every part in the order of the kits, below a line that counts them."""
    rows = [
        [
            f"{result.subject.partition('@')[2]} {result.version}",
            result.case.label,
            str(result.part),
            f"{result.loop_ns / 1000:,.2f}",
            f"{result.worker_ns / 1000:,.2f}",
            _difference(result.ratio),
            f"{result.rounds:,}",
            _agreement(result),
        ]
        for result in results
    ]
    alike = [result for result in results if result.is_alike]
    unsure = [result for result in results if result.may_be_alike]
    short = [result for result in results if result.agrees and not result.is_alike and not result.may_be_alike]
    other = sum(not result.agrees for result in results)
    cases, kits = {result.case.case_id for result in alike}, {result.subject for result in alike}
    where = f"in {len(cases)} cases and {len(kits)} kits"
    summary = (
        f"{len(alike)} of {len(results)} parts agree within {TOLERANCE:.0%}, {where}. "
        f"{len(unsure)} more have an interval that reaches into {TOLERANCE:.0%}. "
        f"{len(short)} short ones agree within {CALL_NS / 1000:g} µs for each timed call, {other} do not agree."
    )
    header = ("kit", "case", "part", "loop, µs", "worker, µs", "worker / loop", "rounds", "agrees")
    return f"{summary}\n\n{markdown_table(header, rows)}"


def _agreement(result: Agreement) -> str:
    if result.is_alike:
        return f"within {TOLERANCE:.0%}"
    if result.may_be_alike:
        return f"interval reaches {TOLERANCE:.0%}"
    return f"within {result.own_ns / 1000:g} µs" if result.agrees else "no"


def _difference(ratio: Estimate) -> str:
    """`+0.3% [+0.1%, +0.6%]`, without an interval if there are too few values."""
    if ratio.low is None or ratio.high is None:
        return signed_words(ratio.value - 1)
    return move_words(ratio.value, ratio.low, ratio.high)


def counts_table(repeated: Sequence[Repeated]) -> str:
    return markdown_table(
        ("subject", "case", "instructions", "spread", "CPU time of a count", "wall time", "load"),
        [
            (
                f"{each.subject} {each.version}",
                each.case.label,
                f"{statistics.median(each.instructions):,.0f}",
                f"{each.spread:.4%}",
                f"{each.cpu_s / len(each.instructions):.1f} s",
                f"{each.wall_s / len(each.instructions):.1f} s",
                f"{each.load:.1f}",
            )
            for each in repeated
        ],
    )


def metrics_table(compared: Sequence[Compared], load: float) -> str:
    """A row for each metric and case, in the order of metrics, also for those without a program. `load`: the load
    average at the end, beside which times say more or less."""
    rows = []
    for metric in Metric:
        program = BESIDE[metric]
        if not isinstance(program, Program):
            rows.append([f"`{metric}`", "", f"none: {program}", "", "", ""])
        rows += [
            [
                f"`{metric}`",
                each.case.label,
                f"{program}",
                _amount(metric, each.theirs),
                _amount(metric, each.ours),
                f"{each.ratio:.3f}",
            ]
            for each in compared
            if each.metric is metric
        ]
    table = markdown_table(("metric", "case", "program", "program's", "kexbench's", "ratio"), rows)
    return f"Load average at the end: {load:.0f}. Times beside other programs (above 2) say little.\n\n{table}"


def _amount(metric: Metric, value: float) -> str:
    """`541.5 µs`, `46,687 bytes`, or `2,160` of what has no unit."""
    if metric.unit == "ns":
        return f"{value / 1000:,.1f} µs"
    text = f"{value:,.0f}" if value >= 1000 or value == round(value) else f"{value:,.1f}"
    return f"{text} bytes" if metric.unit == "bytes" else text


def builds_table(results: Sequence[Built | NotBuilt]) -> str:
    """All cases of each pair, largest difference first, with the causes of differences, then what was not compared."""
    compared = sorted(
        (result for result in results if isinstance(result, Built)),
        key=lambda result: (result.library, version_key(result.version), -abs(result.ratio.ratio - 1)),
    )
    rows = [
        [
            f"{result.library} {result.version}",
            result.case.label,
            f"{result.packaged_ns / 1000:,.1f}",
            _percent(result.ratio),
            _cause(result) if result.differs else "",
        ]
        for result in compared
    ]
    table = markdown_table(("library", "case", "Debian's, µs", "built / Debian's", "cause of more than 3%"), rows)
    differing = sum(result.differs for result in compared)
    unknown = sum(result.differs and NO_CAUSE in _cause(result) for result in compared)
    summary = (
        f"{len(compared)} cases: {differing} differ by more than {ALIKE:.0%}, and the cause of {unknown} of these "
        "differences is unknown."
    )
    lines = [
        f"- {result.built} and {result.packaged}: {result.reason}" for result in results if isinstance(result, NotBuilt)
    ]
    missing = "\n\nNot compared:\n\n" + "\n".join(lines) if lines else ""
    return f"{summary}\n\n{table}{missing}"


def mixes_table(results: Sequence[Predicted]) -> str:
    rows = [
        [
            result.mix.case.label,
            _per_core(result.added_up),
            _per_core(result.measured),
            _moved(result.difference),
        ]
        for result in results
    ]
    within = sum(result.is_within_goal for result in results)
    summary = f"{within} of {len(results)} predictions are within {GOAL:.0%}."
    return f"{summary}\n\n{markdown_table(('mix', 'predicted, per core', 'measured', 'predicted / measured'), rows)}"


def _per_core(cost: LogMove) -> str:
    """`1,234 [1,200, 1,270]` connections a second. The bounds of a rate are those of the cost, the other way round."""
    low, high = cost.bounds()
    return f"{1e9 / math.exp(cost.centre):,.0f} [{1e9 / math.exp(high):,.0f}, {1e9 / math.exp(low):,.0f}]"


def _moved(cost: LogMove) -> str:
    """How much more connections were predicted, which is how much less they were to cost."""
    low, high = cost.bounds()
    return move_words(math.exp(-cost.centre), math.exp(-high), math.exp(-low))


def _cause(result: Built) -> str:
    """The known cause, then the changed components. A changed component alone does not explain a difference."""
    cause = CAUSES.get((result.packaged, result.case.label), CAUSES.get((result.packaged, "")))
    text = cause.text if cause and cause.explains(result.ratio.ratio - 1) else NO_CAUSE
    return "; ".join(filter(None, [text, components_words(result.components)]))


def _percent(ratio: Ratio) -> str:
    return move_words(ratio.ratio, ratio.low, ratio.high)


def detection_text(pools: Pools, curve: PowerCurve) -> str:
    """The table of one case, and the numbers of draws."""
    rows = [
        [
            "0 (the same kit twice)" if injection.injected == 0 else f"{injection.injected:.1%}",
            f"{injection.invocations:,}",
            move_words(**vars(injection.measured), places=3),
            f"{injection.detected.rate.value:.1%}",
            "{:.1%} to {:.1%}".format(*injection.detected.rate.bounds),
            f"{injection.detected.tests:,} ({injection.detected.effective_tests:.0f})",
        ]
        for injection in curve.injections
    ]
    header = ("injected", "pool", "measured by the whole pool", "detected", "95% interval", "tests (independent)")
    change = curve.smallest_change
    smallest = "larger than these injections"
    if change is not None:
        smallest = f"{change.value:.2%} (95% interval {change.low:.2%} to {bound(change.high)})"
    cpu_s = pools.pair_cpu_s * pools.group
    copy, low, high = (math.exp(value) for value in trimmed_interval(pools.copy))
    return (
        f"**{pools.case.label}**: smallest detectable change **{smallest}** in {cpu_s:.0f} CPU-seconds of a pair, or "
        f"{pools.group} invocations, at p < {curve.alpha:g} and power 0.8. Each pool is cut at random into disjoint "
        f"groups of that size, {curve.injections[0].detected.partitions} times. These tests overlap, so they are "
        f"equivalent to fewer independent ones. {pools.discarded_batches} preempted batches were repeated, "
        f"{pools.preempted_batches} kept.\n\n"
        + markdown_table(header, rows)
        + f"\n\nThe same kit in other files differs by {move_words(copy, low, high, places=3)}."
    )


def usual_group_text(rejected: Rejections | None, group: int, alpha: float) -> str:
    """False alarms of small groups, of which a pool has many."""
    if rejected is None:
        return ""
    low, high = rejected.rate.bounds
    return (
        f"\n\nIn groups of {group} invocations, as in an ordinary run, the same kit differs from itself in "
        f"{rejected.rate.value:.1%} of tests ({low:.1%} to {high:.1%}; {rejected.tests:,} tests, like "
        f"{rejected.effective_tests:.0f} independent ones). The nominal rate is {alpha:.0%}."
    )


def commits_table(delays: Delays) -> str:
    rows = [
        ("pushes", f"{len(delays.seconds)}"),
        ("polling interval", f"{delays.interval_s:g} s"),
        ("from push to run, median", f"{statistics.median(delays.seconds):.1f} s"),
        ("from push to run, longest", f"{max(delays.seconds):.1f} s"),
    ]
    return markdown_table(("what", "measured"), rows)


def scale_table(scaled: Scaled) -> str:
    plan = scaled.planned.plan
    rows = [
        ("cases, each in every pool", f"{len(plan.cases):,} in {len(plan.pools)} pools"),
        ("planning, from the spec's text to the plan", f"{scaled.planned.seconds:.1f} s"),
        ("plan", f"{len(plan.jobs):,} jobs, {plan.invocations:,} invocations, {megabytes(scaled.planned.bytes)}"),
    ]
    if isinstance(scaled.simulated, Simulated):
        rows += _simulated_rows(scaled.simulated)
        return markdown_table(("what", "measured"), rows)
    return markdown_table(("what", "measured"), rows) + f"\n\nNot simulated: {scaled.simulated}"


def _simulated_rows(simulated: Simulated) -> list[tuple[str, str]]:
    rounds_s = [look.seconds for look in simulated.looks]
    answers_s = [look.answers_s for look in simulated.looks]
    rounds = f"{len(rounds_s)} rounds, {sum(not look.was_answered for look in simulated.looks)} unanswered"
    return [
        ("nodes", f"{simulated.nodes:,}"),
        ("submission by the dispatcher", f"{simulated.workflows} workflows in {simulated.submitted_s:.1f} s"),
        ("largest workflow as submitted", of_etcd(simulated.submitted_bytes)),
        ("largest workflow when it ended", of_etcd(simulated.ended_bytes)),
        (
            "until all pods were bound",
            f"{simulated.bound_s:.0f} s, {simulated.pods:,} pods, {simulated.pods / simulated.bound_s:.0f}/s",
        ),
        ("from seen by the scheduler to bound, 99% of pods", f"within {simulated.scheduler_s:g} s"),
        ("until all workflows had ended", f"{simulated.ended_s:.0f} s"),
        (
            "round of the dispatcher",
            f"{statistics.median(rounds_s):.1f} s, at most {max(rounds_s):.1f} s ({rounds})",
        ),
        (
            "part of it to parse the API's answers",
            f"{statistics.median(answers_s):.1f} s, at most {max(answers_s):.1f} s",
        ),
        *((f"peak memory of {name}", megabytes(peak)) for name, peak in simulated.peak_bytes.items()),
    ]


def sharding_table(results: Sequence[Sharded]) -> str:
    """The first result is what the others are compared with."""
    alone = results[0]
    rows = [
        (
            f"{each.nodes:,} in {counted(each.pools, 'pool')}",
            f"{each.jobs:,} of {each.job_s} s",
            f"{each.ended_s:,.0f} s",
            f"{alone.ended_s / each.ended_s:.1f} times as fast" if each.jobs == alone.jobs else "",
            f"{each.share_used:.0%}",
        )
        for each in results
    ]
    return markdown_table(("nodes", "jobs", "until all had ended", "against the first", "nodes' time used"), rows)


def of_etcd(size: int) -> str:
    """`0.41 MiB, 27% of etcd's limit`."""
    return f"{size / MIB:.2f} MiB, {size / ETCD_TAKES:.0%} of etcd's limit"


def megabytes(size: int) -> str:
    return f"{size / MIB:,.0f} MiB"


def with_half_width(estimate: Estimate) -> str:
    """Nanoseconds as `541.5 ± 0.4%`, in microseconds."""
    text = f"{estimate.value / 1000:,.1f}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} ± {(estimate.high - estimate.low) / 2 / estimate.value:.1%}"


def between(estimate: Estimate) -> str:
    """`0.14% [0.13%, 0.15%]`."""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2%}"
    return f"{estimate.value:.2%} [{estimate.low:.2%}, {estimate.high:.2%}]"


def share(estimate: Ratio) -> str:
    """`+0.12% [+0.05%, +0.29%]`."""
    return move_words(estimate.ratio, estimate.low, estimate.high, places=2)


def ratio(peer: Peer) -> str:
    estimate = peer.ratio
    if estimate is None:
        return f"{peer.ours_ns / peer.theirs_ns:.3f}"
    return f"{estimate.ratio:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def bound(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2%}"
