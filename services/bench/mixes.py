"""Compares what `kexbench capacity` predicts for a traffic mix with a real web server that serves the mix."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp

from bench.detection import no_load
from bench.machine import BenchError, Machine, Scale
from kexbench.analysis.capacity import Levels, log_costs, mix_cost, other_parts
from kexbench.analysis.moves import LogMove
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Server
from kexbench.domain.mixes import SERVER_COSTS, CostOf
from kexbench.domain.samples import Invocation
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn

SUBJECT = "openssl@crate/3.5.5"
GOAL = 0.15
BATCHES = 5
_METRIC = SERVER_COSTS[CostOf.CONNECTION]
_NGINX = {"transfer_bytes": 4096, "server": "nginx"}


def _a_case(protocol: str, key_exchange: str, **fields: object) -> Case:
    return Case.model_validate({"protocol": protocol, "key_exchange": key_exchange, **_NGINX, **fields})


_RSA = _a_case("TLSv1.2", "ECDHE-RSA", rsa_bits=2048, group="P-256")
_ECDSA = _a_case("TLSv1.2", "ECDHE-ECDSA", curve="P-256", group="P-256")
_RSA_1_3 = _a_case("TLSv1.3", "ECDHE-RSA", rsa_bits=2048, group="X25519")
_PSK = _a_case("TLSv1.3", "ECDHE-RSA", rsa_bits=2048, group="X25519", resumption="psk-dhe")


@dataclass(frozen=True)
class Mix:
    """Connections of two cases on one server: a case that mixes them, and both cases alone."""

    case: Case
    parts: tuple[Case, Case]
    percents: tuple[int, int]


def _hybrid(case: Case, percent: int) -> Mix:
    return Mix(case.model_copy(update={"ecdsa_percent": percent}), (case, _ECDSA), (100 - percent, percent))


def _returning(full: Case, resumed: Case, percent: int) -> Mix:
    return Mix(resumed.model_copy(update={"resumed_percent": percent}), (full, resumed), (100 - percent, percent))


MIXES = (
    *(_hybrid(_RSA, percent) for percent in (10, 50, 90)),
    *(_returning(_RSA_1_3, _PSK, percent) for percent in (50, 90)),
)
CASES = tuple({case.case_id: case for mix in MIXES for case in (*mix.parts, mix.case)}.values())


@dataclass(frozen=True)
class Predicted:
    """The cost of a mix, added up from its parts and measured."""

    mix: Mix
    added_up: LogMove
    measured: LogMove
    difference: LogMove
    """Of the prediction to the measurement."""

    @property
    def is_within_goal(self) -> bool:
        return abs(exp(self.difference.centre) - 1) <= GOAL


def compare_mixes(machine: Machine, scale: Scale) -> Iterator[str | Predicted]:
    """Yields progress texts, then the results. Raises BenchError and KitError."""
    kit = machine.kit(SUBJECT)
    program = machine.installation.servers().add(Server.NGINX, kit.manifest.ref, kit.manifest)
    kits = {SUBJECT: kit.model_copy(update={"servers": {Server.NGINX: program}})}
    job_input = machine.job_input(CASES, kits, BATCHES)
    levels: dict[str, dict[str, float]] = defaultdict(dict)
    for number in range(scale.mixes):
        yield f"invocation {number + 1} of {scale.mixes}"
        for case in CASES:
            turn = Turn(case.case_id, (SUBJECT,), number)
            invocation = measure_invocation(job_input, turn, machine.cpus, machine.log, no_load)
            levels[case.case_id][f"bench/{number}"] = _level(invocation)
    yield from predictions(levels)


def _level(invocation: Invocation) -> float:
    for outcome in invocation.outcomes:
        raise BenchError(f"{invocation.case_id}: {outcome.kind}: {outcome.reason}")
    return next(sample.cost for sample in invocation.samples if sample.metric is _METRIC)


def predictions(levels: Mapping[str, Levels]) -> Iterator[Predicted]:
    """`levels`: the costs of each case by invocation."""
    costs = dict(zip(levels, log_costs(list(levels.values())), strict=True))
    for mix in MIXES:
        shares = [percent / 100 for percent in mix.percents]
        parts, measured = [costs[part.case_id] for part in mix.parts], costs[mix.case.case_id]
        yield Predicted(
            mix=mix,
            added_up=mix_cost(shares, parts),
            measured=measured,
            difference=other_parts([*shares, 0], [0, 0, 1], [*parts, measured]),
        )
