"""Runs in brief: what their plans and kits say, and their states."""

from collections.abc import Collection
from datetime import datetime

from pydantic import Field

from kexbench.domain.commits import Commit
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import kind_of
from kexbench.domain.kits import KitManifest
from kexbench.domain.library_commits import version_text
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import Purpose, Run, RunEvent, RunState, Trigger
from kexbench.store.port import (
    RunKey,
    RunProgress,
    RunStore,
    Store,
)


class RunFacts(Frozen):
    """What a run's plan and kits say."""

    run_id: str
    plan_id: str
    spec_name: str
    description: str
    created_at: datetime
    trigger: Trigger
    cpu_model: str | None = Field(description="null on a cluster, where attempts have different machines")
    pools: list[str]
    subjects: list[str] = Field(
        description="library and version; the reference until they are known", examples=[["openssl 3.5.7"]]
    )
    commit: Commit | None = Field(description="the commit that triggered the run")
    spec_path: str | None = Field(description="path of the spec in the commit")
    cases: int
    invocations_planned: int
    first_look: bool = Field(description="measured with few and short invocations: `kexbench run --quick`")


class RunSummary(RunFacts):
    state: RunState
    state_at: datetime
    detail: str
    invocations_stored: int


class RunPage(Frozen):
    runs: list[RunSummary]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


def _facts_of_runs(store: RunStore, keys: Collection[RunKey]) -> dict[RunKey, RunFacts | None]:
    """None for runs that cannot be read: they must not hide the others."""
    runs = {run.run_id: run for run in store.runs_named([key.run_id for key in keys])}
    return {key: facts_of(read) if (read := runs.get(key.run_id)) else None for key in keys}


def known_run(store: RunStore, run_id: str) -> Run:
    """Raises Refusal."""
    run = store.run(run_id)
    if run is None:
        raise Refusal(RefusalReason.MISSING, f"there is no run {run_id}", "kexbench runs list lists the runs")
    return run


def newest_event(run: Run | RunFacts, progress: RunProgress | None) -> RunEvent:
    """A run without events was just announced."""
    return progress.event if progress else RunEvent(run_id=run.run_id, at=run.created_at, state=RunState.RUNNING)


def summary(run: Run, progress: RunProgress | None) -> RunSummary:
    return _summary(facts_of(run), progress)


def _summary(facts: RunFacts, progress: RunProgress | None) -> RunSummary:
    event = newest_event(facts, progress)
    return RunSummary(
        **vars(facts),
        state=event.state,
        state_at=event.at,
        detail=event.detail,
        invocations_stored=progress.invocations_stored if progress else 0,
    )


def facts_of(run: Run) -> RunFacts:
    return RunFacts(
        run_id=run.run_id,
        plan_id=run.plan.plan_id,
        spec_name=run.plan.spec_name,
        description=run.plan.description,
        created_at=run.created_at,
        trigger=run.trigger,
        cpu_model=kind_of(run.host) if run.host else None,
        pools=list(run.plan.pools),
        subjects=[f"{kit.library} {version_text(kit.version, kit.commit)}" for kit in measured_kits(run)]
        or [subject.reference for subject in run.plan.subjects],
        commit=run.commit,
        spec_path=run.spec_path,
        cases=len(run.plan.cases),
        invocations_planned=run.plan.invocations,
        first_look=run.purpose is Purpose.FIRST_LOOK,
    )


def measured_kits(run: Run) -> list[KitManifest]:
    """The kits of the plan's subjects, without sentinel and peers; none before the run is started."""
    return [run.kits[subject.reference] for subject in run.plan.subjects] if run.is_started else []


def runs(store: Store, limit: int, before: datetime | None = None) -> RunPage:
    """The newest first, of those created before a time."""
    page = store.run_keys(limit, before)
    facts = store.kept(page, lambda _evidence, _key: None, lambda keys: _facts_of_runs(store, keys))
    readable = [each for key in page if (each := facts[key])]
    progress = store.progress([each.run_id for each in readable])
    return RunPage(
        runs=[_summary(each, progress.get(each.run_id)) for each in readable],
        next_before=page[-1].created_at if len(page) >= limit else None,
    )
