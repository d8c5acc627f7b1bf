"""Every figure in the documents that the code could contradict agrees with the code.

A row names a document, a sentence as a pattern, and what its groups must be. Whoever changes a constant, or the
sentence, finds the other one here. Figures that were measured are not the code's.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from kexbench.alerts import histories
from kexbench.analysis import bisect, changepoints, changepoints_fit, changepoints_place, changepoints_transients
from kexbench.analysis import changepoints_screen as screen
from kexbench.analysis.detectable import ALPHA, POWER, smallest_detectable_change
from kexbench.analysis.discovery import FALSE_DISCOVERIES
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS, TRIM, estimate_median, trimmed_freedom
from kexbench.api import gate, notifications
from kexbench.domain.alerts import AlertRule
from kexbench.domain.cases import CHAIN_MAX, EARLY_DATA_MAX, THREADS_MAX
from kexbench.domain.dimensions import RSA_BITS_MAX, RSA_BITS_MIN
from kexbench.domain.hosts import IDLE_SIBLING
from kexbench.domain.plans import BATCH_NS, BATCHES, ENOUGH_NS, MIN_HANDSHAKES, WARM_UP_BATCHES
from kexbench.domain.possible import QUIC_EARLY_DATA_MAX
from kexbench.domain.samples import MIN_CLEAN_BATCHES
from kexbench.domain.verdicts import RELEVANT
from kexbench.forges.github import GitHub
from kexbench.forges.gitlab import DESCRIPTION_MAX
from kexbench.kits.build_nettle import NETTLE
from kexbench.kits.transport import KIT_MAX_BYTES
from kexbench.notify import outbox
from kexbench.planning import channels
from kexbench.planning.spec import MAX_INVOCATIONS, MIN_CONFIRMED, MeasureSpec
from kexbench.planning.written import _SHARE_MAX, _SHARE_MIN
from kexbench.service import connections
from kexbench.settings import Settings
from kexbench.watch import announcing
from kexbench.watch.proposals import MOST_SPECS

ROOT = Path(__file__).parents[2]
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
MINUTE = timedelta(minutes=1)


def word(number: float) -> str:
    assert number == int(number)
    return NUMBERS[int(number)]


def share(value: float) -> str:
    """`0.5%`."""
    return f"{100 * value:g}%"


def least_for_an_interval() -> int:
    return next(count for count in range(1, 20) if estimate_median(range(1, count + 1)).low is not None)


def ends_of_ten() -> tuple[str, str]:
    """Which of ten sorted values bound a level's interval."""
    found = estimate_median(range(1, 11))
    assert found.low is not None
    assert found.high is not None
    return ORDINALS[int(found.low)], ORDINALS[int(found.high)]


def freedom_lost() -> str:
    """Of ten values two are cut at each end and six are kept."""
    return f"{(1 - trimmed_freedom(10) / 5) * 10 / 2:.2f}"


SPEC_DEFAULTS = MeasureSpec.model_validate({})
ADDRESS = f"{Settings.model_fields['host'].default}:{Settings.model_fields['port'].default}"
SPECS = "bench-specs/README.md"
MEASURED, STATISTICS = "docs/understand/measurement.md", "docs/understand/statistics.md"
FORGES, NOTIFICATIONS = "docs/operate/connect-a-forge.md", "docs/operate/notifications.md"
LIMITS = "docs/operate/access-and-limits.md"
CLOCKS = "docs/understand/measurement/clocks.md"
CHANGES, CHANGE_POINTS = "docs/understand/statistics/changes.md", "docs/understand/statistics/change-points.md"
RESOLUTION, BISECTION = "docs/understand/statistics/resolution.md", "docs/understand/statistics/bisection.md"


@dataclass(frozen=True)
class Figure:
    document: str
    pattern: str
    """Groups are the figures; a blank fits any white space."""
    values: tuple[str, ...]


FIGURES = (
    Figure(SPECS, r"`invocations` \|[^|]*\| (\d+) \|", (str(SPEC_DEFAULTS.invocations),)),
    Figure(SPECS, r"`batches` \|[^|]*\| (\d+) \|", (str(BATCHES),)),
    Figure(SPECS, r"`maxDuration` \|[^|]*\| (\d+)m \|", (f"{SPEC_DEFAULTS.max_duration / 60:g}",)),
    Figure(SPECS, r"`sentinel` \|[^|]*\| (\w+) \|", (str(SPEC_DEFAULTS.sentinel).lower(),)),
    Figure(SPECS, r"`isolation` \|[^|]*\| ([\w-]+) \|", (str(SPEC_DEFAULTS.isolation),)),
    Figure(
        SPECS,
        r"in statuses and in alerts; `([\d.]+%)` to `(\d+%)`\. Exact metrics have limits of their own \| `([\d.]+%)`",
        (share(_SHARE_MIN), share(_SHARE_MAX), share(AlertRule().relevant)),
    ),
    Figure(
        SPECS,
        r"confirms a suspicion, (\d+) to (\d+) \| (\d+)",
        (str(MIN_CONFIRMED), str(MAX_INVOCATIONS), str(AlertRule().confirm_invocations)),
    ),
    Figure(SPECS, r"`chainLength` \| 1 to (\d+) ", (str(CHAIN_MAX),)),
    Figure(
        SPECS,
        r"`antiReplay` \| 0 to (\d+) \(QUIC: (\d+)\),",
        (str(EARLY_DATA_MAX), str(QUIC_EARLY_DATA_MAX)),
    ),
    Figure(SPECS, r"`threads` \| 1 to (\d+),", (str(THREADS_MAX),)),
    Figure(SPECS, r"RSA-PSS keys: 2048, or (\d+) to (\d+)", (str(RSA_BITS_MIN), str(RSA_BITS_MAX))),
    Figure(
        MEASURED,
        r"turns of about (\w+) milliseconds and (\w+) handshakes at least",
        (word(BATCH_NS / 1e6), word(MIN_HANDSHAKES)),
    ),
    Figure(MEASURED, r"A turn of (\d+) ms needs no third", (f"{ENOUGH_NS / 1e6:g}",)),
    Figure(MEASURED, r"The first (\w+) rounds warm up", (word(WARM_UP_BATCHES),)),
    Figure(MEASURED, r"busy for more than a (\w+) of the time", ("twentieth" if IDLE_SIBLING == 1 / 20 else "?",)),
    Figure(CLOCKS, r"in how many invocations fewer than (\w+) other batches", (word(MIN_CLEAN_BATCHES),)),
    Figure(STATISTICS, r"With 10 invocations it reaches from the (\w+) to the (\w+) value", ends_of_ten()),
    Figure(STATISTICS, r"Below (\w+) invocations there is no such interval", (word(least_for_an_interval()),)),
    Figure(STATISTICS, r"The change is the (\d+%) trimmed mean of the paired log ratios", (share(TRIM),)),
    Figure(CHANGES, r"The change is the (\d+%) trimmed mean of the invocations' log ratios", (share(TRIM),)),
    Figure(CHANGES, r"are \(h - 1\)\(1 - ([\d.]+) g/n\)", (freedom_lost(),)),
    Figure(
        STATISTICS,
        r"a false discovery rate of (\d+%).*?Relevant differences are ([\d.]+%)",
        (share(FALSE_DISCOVERIES), share(RELEVANT)),
    ),
    Figure(STATISTICS, r"fewer than (\w+) invocations of a version", (word(MIN_COMPARED_INVOCATIONS),)),
    Figure(STATISTICS, r"with more invocations \((\d+) unless", (str(AlertRule().confirm_invocations),)),
    Figure(
        STATISTICS,
        r"The step has at least (\d+) standard errors, .*? among the last (\d+) points",
        (f"{changepoints.ALERT:g}", str(histories.RECENT)),
    ),
    Figure(
        RESOLUTION,
        r"scatter by 1%, it is ([\d.]+%) with ten invocations and ([\d.]+%) with thirty",
        tuple(f"{smallest_detectable_change(0.01, invocations):.1%}" for invocations in (10, 30)),
    ),
    Figure(
        RESOLUTION,
        r"a two-sided test at (\d+%) finds (\w+) times in (\w+)",
        (share(ALPHA), *{0.8: ("four", "five")}[POWER]),
    ),
    Figure(BISECTION, r"counts a build as (\w+) measurements", (word(bisect.BUILD_COST),)),
    Figure(BISECTION, r"when one commit has a probability of (\d+%)", (share(bisect.SURE),)),
    Figure(
        BISECTION,
        r"as halving takes plus (\w+), the ends included, and (\w+) measurements a build",
        (word(bisect.SPARE_BUILDS), word(bisect.READINGS_PER_BUILD)),
    ),
    Figure(BISECTION, r"the layout of one build \(([\d.]+%)\)", (share(bisect.LAYOUT_SD),)),
    Figure(
        BISECTION,
        r"by 1\.1%, as measured on one machine \(\[figures\]\([\w./]+/benchmarks\.md\)\), and layouts by ([\d.]+%)",
        (share(bisect.LAYOUT_SD),),
    ),
    Figure(CHANGE_POINTS, r"and never below ([\d.]+%)", (share(screen.LEAST_NOISE),)),
    Figure(
        CHANGE_POINTS,
        r"Where the same figure over (\d+) points is more than ([\d.]+) times",
        (str(screen._NOISE_WINDOW), f"{screen._UNEVEN:g}"),
    ),
    Figure(
        CHANGE_POINTS,
        r"drawn in to (\w+) standard deviations from the median of (\w+) neighbours",
        (word(screen._SPIKE_CLIP), word(screen._SPIKE_WINDOW)),
    ),
    Figure(
        CHANGE_POINTS,
        r"Means of ([\d, ]+ and \d+) points before and after each place",
        (f"{', '.join(map(str, screen.WIDTHS[:-1]))} and {screen.WIDTHS[-1]}",),
    ),
    Figure(
        CHANGE_POINTS,
        r"contrasts above z = (\d+), one in each neighbourhood, at most (\d+),",
        (f"{screen.PLACE_Z:g}", str(screen.MAX_PLACES)),
    ),
    Figure(CHANGE_POINTS, r"differ by less than (\w+) standard errors of noise without memory", (word(screen.KEPT_Z),)),
    Figure(
        CHANGE_POINTS,
        r"fades by a factor of ([\d.]+), ([\d.]+) or ([\d.]+) a point and has (\d+%), (\d+%) or all",
        (*map(str, changepoints_fit.MEMORIES), *map(share, changepoints_fit.SHARES[:2])),
    ),
    Figure(CHANGE_POINTS, r"plus (\d+) for any memory", (f"{changepoints_fit.MEMORY_PENALTY:g}",)),
    Figure(
        CHANGE_POINTS,
        r"penalty for each step: ([\d.]+) ln n while the models are compared, ([\d.]+) ln n",
        (f"{changepoints_fit.MODEL_CHANGE_PENALTY:g}", f"{changepoints_fit.CHANGE_PENALTY:g}"),
    ),
    Figure(
        CHANGE_POINTS,
        r"A chart shows a step of ([\d.]+) standard errors or more\. A suspicion takes a step of (\d+)",
        (f"{changepoints.ANNOTATE:g}", f"{changepoints.ALERT:g}"),
    ),
    Figure(CHANGE_POINTS, r"is half a percent or more, with (\w+) points after it", (word(changepoints.LEAST_AFTER),)),
    Figure(CHANGE_POINTS, r"medians of at most (\d+) points on both sides", (str(changepoints_transients.WINDOW),)),
    Figure(
        CHANGE_POINTS,
        r"the same height \(within (\d+%)\) in (\w+) such pairs or more, (\w+) where they are higher than (\w+)",
        (
            share(changepoints_transients.ALIKE),
            word(changepoints_transients.SWITCHES),
            word(changepoints_transients.CLEAR_SWITCHES),
            word(changepoints_transients.CLEAR_NOISES),
        ),
    ),
    Figure(
        CHANGE_POINTS, r"a level of (\w+) points or fewer that goes back", (word(changepoints_transients.BRIEF_POINTS),)
    ),
    Figure(
        CHANGE_POINTS, r"level of alerts fewer than (\w+) points from a larger one", (word(changepoints.PART_POINTS),)
    ),
    Figure(
        CHANGE_POINTS, r"mean absolute deviation is less than ([\d.]+) of the root", (f"{changepoints_place.PLAIN:g}",)
    ),
    Figure(CHANGE_POINTS, r"a step moves by up to (\w+) points to where", (word(changepoints_place.REACH),)),
    Figure(CHANGE_POINTS, r"if that is better by a log likelihood of (\d+)", (f"{changepoints_place.CLEARLY:g}",)),
    Figure("README.md", r"take turns of (\w+) milliseconds", (word(BATCH_NS / 1e6),)),
    Figure("README.md", r"dashboard at http://([\d.]+:\d+)", (ADDRESS,)),
    Figure("docs/use/run-a-spec.md", r"the dashboard, at http://([\d.]+:\d+)", (ADDRESS,)),
    Figure(
        "docs/operate/kubernetes.md",
        r"service/kexbench-api (\d+) &",
        (str(Settings.model_fields["port"].default),),
    ),
    Figure("docs/use/library-versions.md", r"nettle ([\d.]+) for every version", (NETTLE.version,)),
    Figure("docs/use/pull-requests.md", r"At most the first (\d+) specs", (str(MOST_SPECS),)),
    Figure(
        FORGES,
        r"more than (\w+) days ago gets no status",
        (word(announcing.LASTING / timedelta(days=1)),),
    ),
    Figure(
        FORGES,
        r"descriptions cut to (\d+) characters at GitHub and (\d+) elsewhere",
        (str(GitHub.description_max), str(DESCRIPTION_MAX)),
    ),
    Figure(
        NOTIFICATIONS,
        r"receive nothing older than (\w+) days",
        (word(notifications.LASTING / timedelta(days=1)),),
    ),
    Figure(NOTIFICATIONS, r"`digestHour` \| in UTC \| (\d+)", (str(channels.USUAL_HOUR),)),
    Figure(NOTIFICATIONS, r"`mostPerHour` [^|]*\|[^|]*\| (\d+) \|", (str(channels.USUAL_PER_HOUR),)),
    Figure(
        NOTIFICATIONS,
        r"after a minute, then after twice as long each time up to (\w+) hours, and given up after (\d+) attempts",
        (word(outbox.LONGEST_WAIT / (60 * MINUTE)), str(outbox.MAX_TRIES)),
    ),
    Figure(NOTIFICATIONS, r"so it is sent again after (\w+) minutes", (word(outbox.LEASE / MINUTE),)),
    Figure(
        LIMITS,
        r"has at most (\d+) MiB, a kit (\d+) GiB",
        (f"{gate.MAX_UPLOAD_BYTES / 2**20:g}", f"{KIT_MAX_BYTES / 2**30:g}"),
    ),
    Figure(LIMITS, r"takes longer than (\d+) s", (f"{gate.PAUSE_S:g}",)),
    Figure(LIMITS, r"Headers arrive within (\d+) s", (f"{connections.HEADERS_WITHIN_S:g}",)),
    Figure(LIMITS, r"At most (\d+) connections", (str(connections.MOST_CONNECTIONS),)),
    Figure(LIMITS, r"(\w+) requests of readers", (word(gate.READERS_AT_ONCE).capitalize(),)),
)


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: f"{figure.document}: {figure.pattern[:50]}")
def test_a_documents_figure_is_the_codes(figure: Figure) -> None:
    text = flat((ROOT / figure.document).read_text(encoding="utf-8"))
    found = [match.groups() for match in re.finditer(figure.pattern, text)]
    assert found, f"{figure.document} has no such sentence any more: change it here too"
    assert set(found) == {figure.values}


def test_what_the_figures_take_for_granted_is_so() -> None:
    """Words for which there is no number to compare."""
    assert outbox.FIRST_WAIT == MINUTE
    assert RELEVANT == 0.005, "half a percent"
    assert (FALSE_DISCOVERIES, MIN_COMPARED_INVOCATIONS) == (0.05, 3)


def test_the_clocks_cost_what_the_page_on_clocks_says() -> None:
    """Of the machine of benchmarks.md, which `make bench` writes."""
    said = flat((ROOT / CLOCKS).read_text(encoding="utf-8"))
    for sentence in ("costs hundreds of nanoseconds", "tick counter that costs some ten nanoseconds"):
        assert sentence in said
    found = re.search(
        r"A tick reading \(\w+\) costs (\d+) ns, a reading of the thread's CPU clock (\d+) ns",
        flat((ROOT / "docs/results/benchmarks.md").read_text(encoding="utf-8")),
    )
    assert found
    assert 5 <= int(found[1]) < 30
    assert 100 <= int(found[2]) < 1000


def test_specs_to_copy_say_of_measuring_what_their_comments_say() -> None:
    """A figure in a comment of a spec, such as `20 batches`, is that of the spec."""
    for path in sorted((ROOT / "bench-specs").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        measure = (yaml.safe_load(text) or {}).get("measure") or {}
        for number, noun in re.findall(r"^\s*#.*?\b(\d+) (batches|invocations)\b", text, re.MULTILINE):
            assert str(measure.get(noun)) == number, f"{path.name}: {number} {noun}"
