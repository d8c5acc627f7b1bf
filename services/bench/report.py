"""The benchmark's figures as text: the same tables on the terminal and in docs/benchmarks.md."""

import math
import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime

from bench.builds import ALIKE, Built, NotBuilt
from bench.calibration import Calibration
from bench.commits import Delays
from bench.detection import Pools
from bench.levels import Level
from bench.overhead import Overhead
from bench.peers import Peer
from bench.scale import Scaled, Simulated
from bench.scale_cluster import ETCD_TAKES, MIB
from bench.tables import markdown_table
from bench.texts import CAUSES, NO_CAUSE
from kexbench.analysis.estimates import MedianEstimate, RatioEstimate, trimmed_interval
from kexbench.analysis.power import PowerCurve
from kexbench.analysis.resampling import Rejections
from kexbench.domain.components import components_words
from kexbench.domain.hosts import HostFacts
from kexbench.domain.versions import version_key


def machine_lines(at: datetime, host: HostFacts, calibration: Calibration) -> str:
    """When and where a section was measured."""
    governor = host.governor or "not readable"
    return (
        f"*{at:%Y-%m-%d}, {host.cpu_model}, {host.cpus} CPUs, {host.virtualisation or 'unknown'} virtualisation, "
        f"Linux {host.kernel}, governor {governor}.* {calibration.line()}"
    )


def document(known: str, head: str, headings: Mapping[str, str], sections: Mapping[str, str]) -> str:
    """The whole file: `sections` by part, and of the parts that were not measured what `known`, the file so far, has.
    `headings` is the first line of each part's section, in their order."""
    kept = {"## " + text.partition("\n")[0]: "## " + text for text in known.split("\n## ")[1:]}
    texts = [sections.get(part) or kept.get(heading) for part, heading in headings.items()]
    return "\n\n".join(text.strip() for text in [head, *filter(None, texts)]) + "\n"


def overhead_table(found: Sequence[Overhead]) -> str:
    rows = [
        [
            f"{one.subject.partition('@')[0]} {one.case.label}",
            with_half_width(one.cpu_ns),
            share(one.split),
            between(one.timers_share),
            between(one.outside_share),
            str(one.invocations),
        ]
        for one in found
    ]
    header = ("case", "µs a handshake", "split against unsplit", "clocks alone", "left out", "invocations")
    return markdown_table(header, rows)


def peers_table(found: Sequence[Peer]) -> str:
    rows = [
        [
            one.name,
            one.case.label,
            f"{one.theirs_ns / 1000:,.1f}",
            f"{one.ours_ns / 1000:,.1f}",
            ratio(one),
            "turns alone" if one.ours_outside is None else f"{one.ours_outside:.1%}",
        ]
        for one in found
    ]
    return markdown_table(("peer", "case", "theirs, µs", "ours, µs", "ours / theirs", "of ours outside turns"), rows)


def levels_table(found: Sequence[Level]) -> str:
    rows = [
        [
            one.case.label,
            f"{one.handshakes:,}",
            *(f"{ns / 1000:,.1f}" for ns in (one.loop_ns, one.level_ns)),
            _difference(one.to_loop),
            f"{one.median_to_loop - 1:+.1%}",
        ]
        for one in found
    ]
    header = ("case", "handshakes", "loop, µs", "level, µs", "level / loop", "median / loop")
    return markdown_table(header, rows)


def _difference(ratio: MedianEstimate) -> str:
    """`+0.3% [-0.1%, +0.6%]`, or without an interval where there are too few values for one."""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value - 1:+.1%}"
    return f"{ratio.value - 1:+.1%} [{ratio.low - 1:+.1%}, {ratio.high - 1:+.1%}]"


def builds_table(results: Sequence[Built | NotBuilt]) -> str:
    """Every case, the furthest apart first of each pair; below, what differs with its cause, and what is missing."""
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
        f"{len(compared)} cases, {differing} of them more than {ALIKE:.0%} apart, {unknown} of these for no cause that "
        "is known."
    )
    lines = [
        f"- {result.built} and {result.packaged}: {result.reason}" for result in results if isinstance(result, NotBuilt)
    ]
    missing = "\n\nNot compared:\n\n" + "\n".join(lines) if lines else ""
    return f"{summary}\n\n{table}{missing}"


def _cause(result: Built) -> str:
    """Components are named beside a cause that is known: that one is of another version explains nothing yet."""
    cause = CAUSES.get((result.packaged, result.case.label), CAUSES.get((result.packaged, "")))
    known = cause.text if cause and cause.explains(result.ratio.ratio - 1) else NO_CAUSE
    return "; ".join(filter(None, [known, components_words(result.components)]))


def _percent(ratio: RatioEstimate) -> str:
    return f"{ratio.ratio - 1:+.1%} [{ratio.low - 1:+.1%}, {ratio.high - 1:+.1%}]"


def detection_text(pools: Pools, curve: PowerCurve) -> str:
    """The table of one case, with what was drawn and how often."""
    rows = [
        [
            "0 (the same kit twice)" if one.injected == 0 else f"{one.injected:.1%}",
            f"{one.invocations:,}",
            f"{one.ratio - 1:+.3%} [{one.low - 1:+.3%}, {one.high - 1:+.3%}]",
            f"{one.detected.rate:.1%}",
            f"{one.detected.low:.1%} to {one.detected.high:.1%}",
            f"{one.detected.tests:,} ({one.detected.effective_tests:.0f})",
        ]
        for one in curve.injections
    ]
    header = ("injected", "pool", "the whole pool measures", "detected", "95% interval", "tests (independent)")
    change = curve.smallest_change
    found = "not reached by these injections"
    if change is not None:
        found = f"{change.value:.2%} (95% interval {change.low:.2%} to {bound(change.high)})"
    cpu_s = pools.pair_cpu_s * pools.group
    copy, low, high = (math.expm1(value) for value in trimmed_interval(pools.copy))
    return (
        f"**{pools.case.label}**: smallest detectable change **{found}** in {cpu_s:.0f} CPU-seconds of a pair, which "
        f"are {pools.group} invocations, at p < {curve.alpha:g} and power 0.8. Each pool is cut "
        f"{curve.injections[0].detected.partitions} times at random into disjoint groups of so many; the tests of all "
        f"groups are worth fewer independent ones. {pools.discarded_batches} preempted batches were repeated, "
        f"{pools.preempted_batches} kept.\n\n"
        + markdown_table(header, rows)
        + f"\n\nThe same kit in files of its own differs by {copy:+.3%} [{low:+.3%}, {high:+.3%}]."
    )


def usual_group_text(found: Rejections | None, group: int, alpha: float) -> str:
    """False positives of small groups, of which a pool has many."""
    if found is None:
        return ""
    return (
        f"\n\nOf groups of {group} invocations, as an ordinary run has, the same kit twice differs in {found.rate:.1%} "
        f"({found.low:.1%} to {found.high:.1%}; {found.tests:,} tests worth {found.effective_tests:.0f} independent "
        f"ones) at a nominal {alpha:.0%}."
    )


def commits_table(found: Delays) -> str:
    rows = [
        ("pushes", f"{len(found.seconds)}"),
        ("between two looks", f"{found.interval_s:g} s"),
        ("from push to run, median", f"{statistics.median(found.seconds):.1f} s"),
        ("from push to run, longest", f"{max(found.seconds):.1f} s"),
    ]
    return markdown_table(("what", "measured"), rows)


def scale_table(found: Scaled) -> str:
    plan = found.planned.plan
    rows = [
        ("cases, each in every pool", f"{len(plan.cases):,} in {len(plan.pools)} pools"),
        ("planning, from the spec's text to the plan", f"{found.planned.seconds:.1f} s"),
        ("the plan", f"{len(plan.jobs):,} jobs, {plan.invocations:,} invocations, {megabytes(found.planned.bytes)}"),
    ]
    if isinstance(found.simulated, Simulated):
        rows += _simulated_rows(found.simulated)
        return markdown_table(("what", "measured"), rows)
    return markdown_table(("what", "measured"), rows) + f"\n\nNothing was simulated: {found.simulated}"


def _simulated_rows(found: Simulated) -> list[tuple[str, str]]:
    looks = [look.seconds for look in found.looks]
    answers = [look.answers_s for look in found.looks]
    counted = f"{len(looks)} looks, {sum(not look.was_answered for look in found.looks)} unanswered"
    return [
        ("nodes", f"{found.nodes:,}"),
        ("submission by the dispatcher", f"{found.workflows} workflows in {found.submitted_s:.1f} s"),
        ("largest workflow as submitted", of_etcd(found.submitted_bytes)),
        ("largest workflow at its end", of_etcd(found.ended_bytes)),
        (
            "until all pods were bound",
            f"{found.bound_s:.0f} s, {found.pods:,} pods, {found.pods / found.bound_s:.0f}/s",
        ),
        ("bound after the scheduler saw it, 99% of pods", f"within {found.scheduler_s:g} s"),
        ("until all workflows had ended", f"{found.ended_s:.0f} s"),
        (
            "a look of the dispatcher",
            f"{statistics.median(looks):.1f} s, at most {max(looks):.1f} s ({counted})",
        ),
        (
            "of which to read what the API answers",
            f"{statistics.median(answers):.1f} s, at most {max(answers):.1f} s",
        ),
        *((f"peak memory of {name}", megabytes(peak)) for name, peak in found.peak_bytes.items()),
    ]


def of_etcd(size: int) -> str:
    """`0.41 MiB, 27% of what etcd takes`."""
    return f"{size / MIB:.2f} MiB, {size / ETCD_TAKES:.0%} of what etcd takes"


def megabytes(size: int) -> str:
    return f"{size / MIB:,.0f} MiB"


def with_half_width(found: MedianEstimate) -> str:
    """Nanoseconds as `541.5 ± 0.4%`, in microseconds."""
    text = f"{found.value / 1000:,.1f}"
    if found.low is None or found.high is None:
        return text
    return f"{text} ± {(found.high - found.low) / 2 / found.value:.1%}"


def between(found: MedianEstimate) -> str:
    """`0.14% [0.13%, 0.15%]`."""
    if found.low is None or found.high is None:
        return f"{found.value:.2%}"
    return f"{found.value:.2%} [{found.low:.2%}, {found.high:.2%}]"


def share(found: RatioEstimate) -> str:
    """`+0.12% [-0.05%, +0.29%]`."""
    return f"{found.ratio - 1:+.2%} [{found.low - 1:+.2%}, {found.high - 1:+.2%}]"


def ratio(peer: Peer) -> str:
    found = peer.ratio
    if found is None:
        return f"{peer.ours_ns / peer.theirs_ns:.3f}"
    return f"{found.ratio:.3f} [{found.low:.3f}, {found.high:.3f}]"


def bound(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2%}"
