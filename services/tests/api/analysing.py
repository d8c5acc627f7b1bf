"""An analyst over a real store, and a machine whose costs a test makes up."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from kexbench.alerts.analyst import Analyst
from kexbench.domain.alerts import Alert, alert_of
from kexbench.domain.kits import KitManifest
from kexbench.domain.plans import SENTINEL, Plan
from kexbench.domain.runs import Run, RunEvent, RunState, Trigger
from kexbench.domain.samples import Invocation, Metric, Sample
from kexbench.domain.screenings import ScreenedUpgrade
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.plan import make_plan
from kexbench.queue.supplies import LocalSupplies
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Store
from tests.builders import HOST, SPEC, a_catalogue, a_kit, a_profile, an_invocation

RULE = "alerts: { relevant: 1%, notify: [crypto-team], confirmInvocations: 12 }\n"
SEVEN = SPEC.replace("[RSA, ECDHE-ECDSA]", "[RSA, ECDHE-RSA, ECDHE-ECDSA, DHE-RSA]").replace(
    "matrix:", "matrix:\n  rsaBits: [2048, 3072]"
)
"""Seven cases, of which two are of DHE-RSA."""
COST_NS = 1e6
Costs = Mapping[str, Mapping[str, float]]
"""What a source costs relative to `COST_NS`, by what cases' ids hold."""


def a_spec(name: str = "watched", subjects: str = "1.0, 1.1", rule: str = RULE, text: str = SEVEN) -> str:
    written = text.replace("name: example", f"name: {name}").replace("[1.0, 1.1]", f"[{subjects}]")
    return written + rule


def planned(
    text: str, file: str, catalogue: str | None = None, only: Collection[str] = (), /, *, anywhere: bool = False
) -> Plan:
    known = a_catalogue() if catalogue is None else read_catalogue(catalogue, "libraries.yaml")
    return make_plan(text, file, known, only=only, anywhere=anywhere, pools=("local", "arm"))


class Killed(BaseException):
    """As if the process were killed before a write."""


class Fragile:
    """A store that lets only so many writes through."""

    def __init__(self, store: Store, writes: int) -> None:
        self._store = store
        self.writes = writes
        self.read: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):
            if self.writes == 0:
                raise Killed(name)
            self.writes -= 1
        else:
            self.read.append(name)
        return getattr(self._store, name)


@dataclass
class Stage:
    store: ClickHouseStore
    costs: dict[str, dict[str, float]] = field(default_factory=dict)
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    """Runs ahead of the time of day, by which runs are queued."""
    supplies: LocalSupplies = field(default_factory=lambda: LocalSupplies(planned))
    noise: float = 0.0005
    others: dict[str, Mapping[Metric, float | Sequence[float]]] = field(default_factory=dict)
    """What handshakes of a source take of other metrics, the same in every case: in every invocation, or in each."""
    chosen: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What a source negotiates by its own choice."""

    def pass_time(self, **passed: float) -> None:
        self.now += timedelta(**passed)

    def analyst(self, store: Any = None) -> Analyst:
        """Begun anew: it knows what is stored and nothing else."""
        return Analyst(store or self.store, self.supplies, lambda: self.now)

    def advance(self) -> None:
        self.pass_time(seconds=1)
        self.analyst().advance()

    def asked(self, spec: str, trigger: Trigger = Trigger.API, only: Collection[str] = ()) -> Run:
        """A run that is queued."""
        self.pass_time(minutes=1)
        plan = planned(spec, "spec.yaml", None, only)
        run_id = f"{self.now:%Y%m%d-%H%M%S}-0a0b0c0d"
        run = Run(
            run_id=run_id,
            created_at=self.now.replace(microsecond=0),
            trigger=trigger,
            spec_text=spec,
            plan=plan,
            kits={},
            host=None,
            material={},
        )
        self.store.add_event(RunEvent(run_id=run_id, at=self.now, state=RunState.QUEUED))
        self.store.add_run(run)
        return run

    def measured(
        self,
        spec: str,
        trigger: Trigger = Trigger.API,
        only: Collection[str] = (),
        sentinel: KitManifest | None = None,
        ago: timedelta = timedelta(),
    ) -> Run:
        return self.measure(self.asked(spec, trigger, only), sentinel=sentinel, ago=ago)

    def measure(
        self,
        run: Run,
        state: RunState = RunState.FINISHED,
        *,
        sentinel: KitManifest | None = None,
        ago: timedelta = timedelta(),
    ) -> Run:
        """What a executor does, with the costs of the sources; so long `ago`, since runs are queued by the time of day,
        several in one second."""
        self.pass_time(minutes=1)
        kits = {one.reference: a_kit(one.reference) for one in run.plan.subjects}
        kits |= {SENTINEL: sentinel} if sentinel else {}
        started = run.model_copy(update={"kits": kits, "host": HOST})
        self.store.add_run(started)
        then = started.model_copy(update={"created_at": started.created_at - ago})
        found = [
            self._with_others(
                an_invocation(
                    then,
                    number,
                    cpu_ns={name: self.cost(name, case.case_id, number) for name in kits},
                    case_id=case.case_id,
                )
            )
            for case in run.plan.cases
            for job in run.plan.jobs
            for number in job.numbers
        ]
        self.store.add_invocations(started, found)
        self.end(run, state)
        return started

    def _with_others(self, invocation: Invocation) -> Invocation:
        samples = [
            Sample(subject=name, metric=metric, values=(_in_turn(value, invocation.invocation),))
            for name in invocation.negotiated
            for metric, value in self.others.get(_source(name), {}).items()
        ]
        negotiated = {
            name: each.model_copy(update=self.chosen.get(_source(name), {}))
            for name, each in invocation.negotiated.items()
        }
        return invocation.model_copy(update={"samples": (*invocation.samples, *samples), "negotiated": negotiated})

    def end(self, run: Run, state: RunState, detail: str = "") -> None:
        self.pass_time(seconds=1)
        event = RunEvent(run_id=run.run_id, at=max(self.now, self._newest(run)), state=state, detail=detail)
        self.store.add_event(event)

    def resume(self, run: Run) -> None:
        self.end(run, RunState.QUEUED, "resumed by alice")

    def _newest(self, run: Run) -> datetime:
        return self.store.events(run.run_id)[-1].at + timedelta(milliseconds=1)

    def cost(self, reference: str, case_id: str, number: int) -> list[float]:
        """With noise that is the same each time."""
        source = _source(reference)
        factor = 1.0
        for part, own in self.costs.get(source, {}).items():
            factor *= own if part in case_id else 1
        seed = hash_of(source, case_id, number)
        return [COST_NS * factor * (1 + self.noise * ((seed >> 4 * place) % 15 - 7) / 4) for place in range(4)]

    def confirming(self) -> list[Run]:
        """The runs that have to confirm something and wait."""
        runs = (self.store.run(run_id) for run_id in self.store.open_runs())
        return [run for run in runs if run and run.trigger is Trigger.CONFIRMATION]

    def explaining(self) -> list[Run]:
        """The runs that have to explain an alert and wait."""
        runs = (self.store.run(run_id) for run_id in self.store.open_runs())
        return [run for run in runs if run and run.trigger is Trigger.EXPLANATION]

    def count(self, run: Run, instructions: Mapping[str, Mapping[str, float]]) -> None:
        """What an executor does with such a run: the server's functions by reference, and a client that is the same."""
        kits = {one.reference: a_kit(one.reference) for one in run.plan.subjects}
        started = run.model_copy(update={"kits": kits, "host": HOST})
        self.store.add_run(started)
        for case in run.plan.cases:
            profiles = {
                reference: (a_profile("client", hash=1000.0), a_profile("server", **functions))
                for reference, functions in instructions.items()
            }
            self.store.add_invocation(started, an_invocation(started, case_id=case.case_id, profiles=profiles))
        self.end(run, RunState.FINISHED)

    def settle(self) -> None:
        """Until nothing more happens."""
        for _ in range(10):
            self.advance()
            waiting = self.confirming()
            if not waiting:
                return
            for run in waiting:
                self.measure(run)
        raise AssertionError("it never ends")

    def alerts(self) -> list[Alert]:
        rows = self.store.alert_rows()
        return [alert_of(self.store.alert_events(row.alert_id), self.now) for row in rows]

    def upgrades(self, run: Run) -> list[ScreenedUpgrade]:
        found = self.store.screening(run.run_id)
        assert found is not None
        return list(found.upgrades)


def _in_turn(value: float | Sequence[float], number: int) -> float:
    return value[number % len(value)] if isinstance(value, Sequence) else value


def _source(reference: str) -> str:
    return reference.partition("@")[2] or reference


def hash_of(*parts: object) -> int:
    """Of a few words, the same in every process."""
    from kexbench.domain.canonical import content_hash

    return int(content_hash([str(part) for part in parts]), 16)
