"""Runs that explain an alert: they count both versions in the cases that became most expensive, by the instrument that
fits the alert's metric. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import Case
from kexbench.domain.instruments import INSTRUMENTS, CountedSide, Instrument
from kexbench.domain.kits import SubjectRef
from kexbench.domain.metrics import Counted, Metric, MetricGroup
from kexbench.domain.plans import Isolation
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import Purpose
from kexbench.planning.compose import COUNTS, Wish
from kexbench.planning.confirmation import catalogue_of

CASES_MAX = 3
"""Cases of one alert that are counted: a shared cause shows in each."""


@dataclass(frozen=True)
class ExplainingRun:
    """`pool`: one that measured the change. The run needs no quiet node, since it counts."""

    name: str
    ends: tuple[SubjectRef, SubjectRef]
    cases: tuple[Case, ...]
    pool: str
    instrument: Instrument = Instrument.INSTRUCTIONS

    @property
    def wish(self) -> Wish:
        before, after = self.ends
        question = f"Which functions make {after} {_MORE[self.instrument]} than {before}?"
        return counting_wish(self.name, self.ends, self.cases, question, self.pool, self.instrument)

    @property
    def catalogue_text(self) -> str:
        return catalogue_of(self.ends, self.cases)


EXPLAINS: Mapping[MetricGroup, Instrument] = {
    MetricGroup.TIME: Instrument.INSTRUCTIONS,
    MetricGroup.CONNECTION: Instrument.INSTRUCTIONS,
    MetricGroup.COUNTERS: Instrument.INSTRUCTIONS,
    MetricGroup.CALLGRIND: Instrument.INSTRUCTIONS,
    MetricGroup.MEMORY: Instrument.ALLOCATIONS,
    MetricGroup.ALLOCATIONS: Instrument.ALLOCATIONS,
    MetricGroup.ATOMICS: Instrument.ATOMICS,
}
"""The instrument whose functions explain a change of a metric, by its group. Nothing counts the others by function."""
_HELD: Mapping[Metric, tuple[CountedSide, ...]] = {
    Metric.CLIENT_HELD_BYTES: ("client_held",),
    Metric.SERVER_HELD_BYTES: ("server_held",),
}
_MORE = {
    Instrument.INSTRUCTIONS: "slower",
    Instrument.ALLOCATIONS: "need more memory",
    Instrument.ATOMICS: "share more among threads",
}


def explaining_instrument(metric: Metric) -> Instrument | None:
    """None if nothing counts by function what the metric is of. What one side costs is explained with both."""
    return EXPLAINS.get(metric.row.group) if metric.row.decides in (None, "both") else None


def explaining_parts(metric: Metric, instrument: Instrument) -> tuple[CountedSide, ...]:
    """The parts that a change of the metric may be in. Objects are in no time of a handshake."""
    if isinstance(metric.row.origin, Counted):
        return metric.row.origin.sides
    if metric in _HELD:
        return _HELD[metric]
    of_handshake = ("client", "server") if instrument is Instrument.INSTRUCTIONS else ("client", "server", "objects")
    return tuple(part for part in INSTRUMENTS[instrument].parts if part in of_handshake)


def counting_wish(
    name: str,
    ends: tuple[SubjectRef, SubjectRef],
    cases: Sequence[Case],
    description: str,
    pool: str = LOCAL,
    instrument: Instrument = Instrument.INSTRUCTIONS,
    starts: int = 0,
) -> Wish:
    """A spec that counts two subjects; with `starts`, also a process's start."""
    return Wish(
        name=name,
        description=description,
        subjects=ends,
        cases=tuple(cases),
        invocations=COUNTS,
        pools=(pool,),
        isolation=Isolation.BEST_EFFORT,
        purpose=Purpose.SEARCH,
        instrument=instrument,
        starts=starts,
    )


def explaining_run_id(alert_id: str, confirmation_run: str) -> str:
    """The same for every request to explain what a confirmation run found."""
    return f"once-{content_hash(['explanation', alert_id, confirmation_run], length=20)}"
