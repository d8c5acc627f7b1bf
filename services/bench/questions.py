"""The questions that pages and pollers ask: every route that answers GET, with parameters that a made-up store has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from bench.furnishing import BISECTION, REPOSITORY, alert_id, counted_run
from bench.large_store import Extent, run_of
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.domain.kits import KitManifest
from kexbench.domain.runs import Run
from kexbench.store.port import Store

Parameters = Mapping[str, str | Sequence[str]]
LEFT_OUT = {
    "export_samples": "a download, which has figures of its own",
    "backup": "a download of the whole store",
    "prunable": "a person asks it before a removal, which reads the whole store as well",
    "known_kits": "only a cluster's service answers it, from files",
    "material": "only a cluster's service answers it, with a file",
    "kit": "only a cluster's service answers it, with a file",
    **dict.fromkeys(("me", "tokens", "audit"), "administration, which reads small tables"),
    **dict.fromkeys(("login", "login_callback"), "the provider answers it"),
    "scorecard": "answered from a file, which a service need not have",
}
"""Routes that are not measured, and why."""


@dataclass(frozen=True)
class Question:
    name: str
    """The route's operation, and what is asked of it where it is asked more than one thing."""
    path: str
    """Below the service's address."""
    parameters: Parameters = field(default_factory=dict)
    needs_token: bool = False
    """Of the service itself."""


@dataclass(frozen=True)
class Asked:
    """What the questions are about, where they are about something: a run, its first case, and two neighbouring
    versions that it measures in the same invocations."""

    extent: Extent
    run: Run

    @property
    def block(self) -> Sequence[str]:
        """The versions that are measured with the newest one."""
        newest = self.run.plan.subjects[-1].reference
        return next(block for block in self.run.plan.jobs[0].blocks if newest in block)

    @property
    def step(self) -> tuple[str, str]:
        """The unique names of the newest version and of the next older one in its block."""
        references = [each.reference for each in self.run.plan.subjects if each.reference in self.block]
        before, after = (_name(self.run.kits[reference]) for reference in references[-2:])
        return before, after

    @property
    def where(self) -> Parameters:
        return _where(self.run)


@dataclass(frozen=True)
class _Route:
    operation: str
    path: str
    needs_token: bool


@cache
def get_routes() -> tuple[_Route, ...]:
    """Those that answer GET, as the API's document lists them."""
    document: dict[str, Any] = create_app(cast(Store, None), LocalGatekeeper(""), None).whole_document()
    return tuple(
        _Route(operations["get"]["operationId"], path, bool(operations["get"].get("security")))
        for path, operations in document["paths"].items()
        if "get" in operations
    )


def questions(asked: Asked) -> list[Question]:
    """Raises KeyError for a route that has neither parameters here nor a reason to be left out."""
    parameters = parameters_of(asked)
    return [
        Question(
            f"{route.operation}, {about}" if about else route.operation,
            route.path.format(**given),
            {name: value for name, value in given.items() if f"{{{name}}}" not in route.path},
            route.needs_token,
        )
        for route in get_routes()
        if route.operation not in LEFT_OUT
        for about, given in parameters[route.operation].items()
    ]


def parameters_of(asked: Asked) -> Mapping[str, Mapping[str, Parameters]]:
    """By operation, then by what is asked of it."""
    case_ids, where, (before, after) = [case.case_id for case in asked.run.plan.cases], asked.where, asked.step
    first, case, run = run_of(asked.extent, 0, 0), {"case_id": case_ids[0]}, {"run_id": asked.run.run_id}
    ended = {"run_id": run_of(asked.extent, asked.extent.hosts - 1, 0).run_id}
    two_cpus = {"base": after, "other": after}
    for end, of_run in (("base", asked.run), ("other", first)):
        two_cpus |= {f"{end}_{name}": str(value) for name, value in _where(of_run).items()}
    counting = counted_run(asked.extent)
    counted = {"library": "openssl", "case_id": counting.plan.cases[0].case_id, "side": "server"}
    *_, first_kit, second_kit = asked.block
    older, newer = (_name(counting.kits[subject.reference]) for subject in counting.plan.subjects)
    without: Mapping[str, Mapping[str, Parameters]] = {
        operation: {"": {}}
        for operation in (
            *("health", "store", "filters", "subjects", "runs", "articles", "queue", "overview", "commits"),
            *("schedules", "upgrades", "alerts", "screenings", "notifications", "feed", "bisections", "rings"),
            *("open_runs", "fleet", "set_asides"),
        )
    }
    return {
        **without,
        "matrix": {"": where},
        "stacks": {"": {**where, "version": [before, after]}},
        "run": {"": run},
        "run_progress": {"": run},
        "verdict": {"": ended},
        "verdicts": {"": {"run_id": [ended["run_id"], run["run_id"]]}},
        "pair": {"": {**run, "before": first_kit, "after": second_kit}},
        "screening": {"": ended},
        "open_run": {"": run},
        "job_order": {"": {**run, "job_id": asked.run.plan.jobs[0].job_id}},
        "stored_invocations": {"": run},
        "stored_by_job": {"": run},
        "trends": {"": {}, "one series": {**case, **where, "levels": "true"}, "30 cases": {"case_id": case_ids[:30]}},
        "cpus": {"": case},
        "distribution": {"": {**case, **where, "subject": after}},
        "security": {"": where},
        "paths": {"": {}},
        "life": {"": {}},
        "scaling": {"": where},
        "qualifications": {"": where},
        "search": {"": {"q": "openssl 3"}},
        "compare": {"": {}, "an upgrade": {"base": before, "other": after}, "two CPUs": two_cpus},
        "upgrade_why": {"": {"library": "openssl", "before": older, "after": newer}},
        "upgrade_why_stacks": {"": {**counted, "before": older, "after": newer}},
        "upgrade_why_profile": {"": {**counted, "subject": newer}},
        "badge": {"": {"library": "openssl", "line": "3"}},
        "alert": {"": {"alert_id": alert_id(0)}},
        "bisection": {"": {"bisection_id": BISECTION}},
        "repository_heads": {"": {"name": REPOSITORY}},
        "followed": {"": {"name": REPOSITORY}},
    }


def _where(run: Run) -> dict[str, str]:
    assert run.host is not None
    return {"pool": run.plan.pools[0], "cpu_model": run.host.cpu}


def _name(kit: KitManifest) -> str:
    return f"{kit.library}@{kit.version}~{kit.source}~{kit.build_profile.id}"
