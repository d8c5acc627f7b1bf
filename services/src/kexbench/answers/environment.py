"""What differs between a run and the run before it of the same spec: the machine, the kits and the measuring itself."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from pydantic import Field

from kexbench.domain.differences import Difference
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostFacts, HostKind, HostTrait, kind_of, trait_of
from kexbench.domain.kit_changes import compare_kits, differences
from kexbench.domain.kits import KitManifest
from kexbench.domain.runs import JobAttempt, Run
from kexbench.store.port import Store

_RUNS_TRIED = 10
"""Earlier runs of the spec, of which one is on the same pool and CPU."""


class EnvironmentChanges(Frozen):
    """The differences from an earlier run on the same pool and CPU model. No lists: nothing differs."""

    since_run: str
    since: datetime
    host: tuple[Difference, ...] = Field(description="recorded facts of the machines")
    kits: dict[str, tuple[Difference, ...]] = Field(
        description="library, build, packages and worker, by the reference of a kit"
    )
    measure: tuple[Difference, ...] = Field(description="how it is measured")


def environment_changes(
    store: Store, run: Run, attempts: Iterable[JobAttempt], kind: HostKind
) -> EnvironmentChanges | None:
    """None without an earlier run of the spec on the pool and a CPU of this model."""
    hosts = [host for host in _hosts_in(run, attempts, kind.pool) if kind_of(host) == kind.cpu_model]
    cpu_models = {host.cpu_model for host in hosts}
    for earlier in store.runs_of_spec(run.plan.spec_name, _RUNS_TRIED, run.created_at):
        if earlier.purpose is not run.purpose or not earlier.is_started:
            continue
        earlier_attempts = [] if earlier.host else store.attempts(earlier.run_id)
        comparable_hosts = [
            host for host in _hosts_in(earlier, earlier_attempts, kind.pool) if host.cpu_model in cpu_models
        ]
        if comparable_hosts:
            return EnvironmentChanges(
                since_run=earlier.run_id,
                since=earlier.created_at,
                host=host_differences(comparable_hosts, hosts),
                kits=dict(_kit_differences(earlier.kits, run.kits)),
                measure=differences(_measure(earlier), _measure(run)),
            )
    return None


def _hosts_in(run: Run, attempts: Iterable[JobAttempt], pool: str) -> list[HostFacts]:
    if run.host:
        return [run.host] if pool in run.plan.pools else []
    job_ids = {job.job_id for job in run.plan.jobs if job.pool == pool}
    return [attempt.host for attempt in attempts if attempt.job_id in job_ids]


def host_differences(before: Collection[HostFacts], after: Collection[HostFacts]) -> tuple[Difference, ...]:
    """Facts that differ; several machines of one run have several values."""
    flags_before, flags_after = ({flag for host in hosts for flag in host.cpu_flags} for hosts in (before, after))
    flags = Difference(
        what="CPU flags",
        before=", ".join(sorted(flags_before - flags_after)) or None,
        after=", ".join(sorted(flags_after - flags_before)) or None,
    )
    known = flags_before and flags_after and flags_before != flags_after
    return (*differences(_facts(before), _facts(after)), *((flags,) if known else ()))


def _facts(hosts: Iterable[HostFacts]) -> dict[str, str]:
    values: dict[str, set[str]] = defaultdict(set)
    for host in hosts:
        values["kernel"].add(host.kernel)
        for trait in HostTrait:
            values[trait].add(trait_of(host, trait).removeprefix(f"{trait} "))
        values["CPUs"].add(str(host.cpus))
        values["memory"].add(f"{host.memory_bytes / 2**30:.1f} GiB")
    return {name: ", ".join(sorted(several)) for name, several in values.items()}


def _kit_differences(
    before: Mapping[str, KitManifest], after: Mapping[str, KitManifest]
) -> Iterator[tuple[str, tuple[Difference, ...]]]:
    for reference in dict.fromkeys([*before, *after]):
        old, new = before.get(reference), after.get(reference)
        if old and new:
            compared = compare_kits((old, None), (new, None))
            changes = (*compared.build, *compared.packages)
            if not changes and old.kit_id != new.kit_id:
                changes = (Difference(what="kit", before=old.kit_id, after=new.kit_id),)
        else:
            changes = (Difference(what="version", before=old and old.version, after=new and new.version),)
        if changes:
            yield reference, changes


def _measure(run: Run) -> dict[str, str]:
    return {
        "method": str(run.plan.harness_version),
        **{name: str(value) for name, value in run.plan.measure if value is not None},
    }
