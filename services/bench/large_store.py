"""A store as large as years of measuring leave, for benchmarks of its answers.

`python -m bench.large_store FOLDER [--values MILLIONS | --matrix]` makes one. The first run is stored like any other.
The following ones are copies of it inside the database, with other hosts, times and costs, since that is a hundred
times faster.
"""

import argparse
import resource
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import numpy as np

from kexbench.domain.hosts import HostFacts, HostLoad
from kexbench.domain.kits import BuildProfile, KitManifest
from kexbench.domain.material import MaterialFiles
from kexbench.domain.plans import SENTINEL
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import Run, RunEvent, RunState, Trigger
from kexbench.domain.samples import Invocation, Metric, Sample
from kexbench.domain.variants import split_variant
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Catalogue
from kexbench.service.serving import let_readers_in
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses

Result = TypeVar("Result")
METRICS = (
    Metric.CPU_NS,
    Metric.CLIENT_CPU_NS,
    Metric.SERVER_CPU_NS,
    Metric.WALL_NS,
    Metric.ELAPSED_NS,
    Metric.ALONE_NS,
    Metric.FIRST_NS,
    Metric.CLIENT_BYTES,
    Metric.SERVER_BYTES,
    Metric.CLIENT_OBJECTS_CPU_NS,
    Metric.SERVER_OBJECTS_CPU_NS,
    Metric.CLIENT_TRANSFER_CPU_NS,
    Metric.SERVER_TRANSFER_CPU_NS,
    Metric.CONNECTION_CPU_NS,
    Metric.CLIENT_CONNECTION_CPU_NS,
    Metric.SERVER_CONNECTION_CPU_NS,
)
"""In a fixed order, so that a new metric does not change the random numbers."""
INVOCATIONS = 6
BATCHES = 14
FIRST_RUN = datetime(2026, 1, 1, 12, tzinfo=UTC)
_AT_ONCE = 60
"""Invocations that are stored together."""
_GROUPS = ("X25519", "P-256", "P-384", "P-521", "X448")
_SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: large, description: Every version in every case. }}
subjects:
  - openssl: [{sources}]
matrix:
  protocol: [TLSv1.3]
  keyExchange: [{key_exchanges}]
  curve: [{curves}]
  rsaBits: [{rsa_bits}]
  group: [{groups}]
  cipher: [AES-128-GCM, AES-256-GCM]
  chainLength: [1, 2, 3]
measure: {{ invocations: {invocations}, batches: {batches}, maxDuration: 100000h }}
"""


@dataclass(frozen=True)
class Extent:
    """How much a store holds. Each host measures all versions in all cases, as often as there are runs."""

    runs: int
    groups: int = len(_GROUPS)
    """Each has six cases with each certificate."""
    curves: tuple[str, ...] = ("P-256",)
    rsa_bits: tuple[int, ...] = ()
    versions: int = 28
    hosts: int = 4
    batches: int = BATCHES


EXTENTS = {1: Extent(runs=1, groups=1), 14: Extent(runs=2), 99: Extent(runs=15), 139: Extent(runs=21)}
"""By the approximate number of values, in millions. A sample has fourteen: 139 million are ten million samples."""
MATRIX = Extent(runs=1, groups=2, curves=("P-256", "P-384"), rsa_bits=(2048, 3072, 4096))
"""60 cases with five certificates, to look at."""


def make_large_store(folder: Path, extent: Extent) -> ClickHouseStore:
    store = open_large_store(folder)
    fill(store, extent)
    return store


def fill(store: ClickHouseStore, extent: Extent) -> None:
    runs = runs_of(extent)
    for run in runs:
        store.add_run(run)
        for state, minutes in ((RunState.RUNNING, 0), (RunState.FINISHED, 600)):
            store.add_event(RunEvent(run_id=run.run_id, at=run.created_at + timedelta(minutes=minutes), state=state))
    invocations = list(invocations_of(runs[0]))
    for start in range(0, len(invocations), _AT_ONCE):
        store.add_invocations(runs[0], invocations[start : start + _AT_ONCE])
    for run in runs[1:]:
        copy_results(store, runs[0], run)
    store.summarise()


def runs_of(extent: Extent) -> list[Run]:
    return [run_of(extent, host, number) for number in range(extent.runs) for host in range(extent.hosts)]


def open_large_store(folder: Path) -> ClickHouseStore:
    store = ClickHouseStore(f"chdb://{folder.absolute()}", "kexbench", EngineClauses())
    store.migrate()
    return store


def in_a_process(function: Callable[..., Result], *arguments: object) -> Result:
    """Calls a function in a new process that is set like a service's, since a process can have only one embedded
    store."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=let_readers_in) as process:
        return process.submit(function, *arguments).result()


def peak_bytes() -> int:
    """The largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def values_of(store: ClickHouseStore) -> int:
    return int(next(store._query("SELECT sum(length(`values`)) AS total FROM samples"))["total"])


def copy_results(
    store: ClickHouseStore,
    run: Run,
    copied: Run,
    *,
    slower: Mapping[str, float] | None = None,
    without: Sequence[str] = (),
) -> None:
    """The same results and attempts for another run, on its host if it has one, at its time, with all costs of an
    invocation changed by up to one percent. `slower`: factors of the costs of some jobs. `without`: jobs left out."""
    later_s = (copied.created_at - run.created_at) // timedelta(seconds=1)
    factor = f"(0.99 + cityHash64('{copied.run_id}', reference, metric, invocation) % 2001 / 100000)"
    for job_id, times in (slower or {}).items():
        factor += f" * if(job_id = '{job_id}', {times}, 1)"
    changed = f"arrayMap(value -> round(value * {factor}), `values`)"
    costs = [f"{column} * {factor} AS {column}" for column in ("level", "p05", "p95")]
    costs.append(f"arrayReduce('quantileExactInclusive(0.5)', {changed}) AS `median`")
    batches = f"{changed} AS `values`"
    where = [f"'{copied.run_id}' AS run_id", f"addSeconds(measured_at, {later_s}) AS measured_at"]
    on_host: list[str] = []
    if copied.host is not None:
        store._note_host(copied.host)
        where.append(f"'{copied.host.host_id}' AS host_id")
        on_host.append(f"'{copied.host.cpu}' AS cpu_model")
    for table, replaced in (
        ("samples", [*where, *on_host, *costs, batches]),
        ("attempts", [where[0], f"addSeconds(started_at, {later_s}) AS started_at"]),
        ("invocations", where),
    ):
        source = f"(SELECT * FROM {table} WHERE run_id = {{run_id:String}} AND job_id NOT IN {{without:Array(String)}})"  # noqa: S608 (names of tables)
        store._command(
            f"INSERT INTO {table} SELECT * REPLACE ({', '.join(replaced)}) FROM {source}",  # noqa: S608 (this module's own ids)
            {"run_id": run.run_id, "without": list(without)},
        )


def run_of(extent: Extent, host: int, number: int) -> Run:
    """Every host measures once a week."""
    spec = _SPEC.format(
        sources=", ".join(sources_of(extent)),
        key_exchanges=", ".join(["ECDHE-ECDSA", *(["ECDHE-RSA"] if extent.rsa_bits else [])]),
        curves=", ".join(extent.curves),
        rsa_bits=", ".join(map(str, extent.rsa_bits or (2048,))),
        groups=", ".join(_GROUPS[: extent.groups]),
        invocations=INVOCATIONS,
        batches=extent.batches,
    )
    return run_of_spec(spec, extent, host, FIRST_RUN + timedelta(weeks=number, hours=host))


def sources_of(extent: Extent) -> list[str]:
    return [f"debian/v{version}" for version in range(extent.versions)]


def run_of_spec(spec: str, extent: Extent, host: int, created_at: datetime, pools: Collection[str] = (LOCAL,)) -> Run:
    """A run of some versions of an extent. `pools`: those that exist."""
    sources = sources_of(extent)
    catalogue = Catalogue.model_validate(
        {
            "apiVersion": "kexbench.dev/v1",
            "kind": "Catalogue",
            "sentinel": f"openssl@{sources[0]}",
            "libraries": {"openssl": [{"source": source} for source in sources]},
        }
    )
    plan = make_plan(spec, "large.yaml", catalogue, pools=pools)
    files = MaterialFiles(key=f"{'4' * 64}.pem", certificate=f"{'5' * 64}.pem", dh_parameters="-")
    kits = {subject.reference: _kit(subject.source) for subject in plan.subjects}
    return Run(
        run_id=f"{created_at:%Y%m%d-%H%M%S}-{host:08d}",
        created_at=created_at,
        trigger=Trigger.SCHEDULE,
        spec_text=spec,
        plan=plan,
        kits={SENTINEL: _kit(sources[0]), **kits},
        host=_host(host),
        material={case.case_id: files for case in plan.cases},
    )


def _host(number: int) -> HostFacts:
    return HostFacts(
        cpu_model=f"CPU {number}", architecture="x86_64", cpus=8, kernel="6.1.0", memory_bytes=16_000_000_000
    )


def _kit(source: str) -> KitManifest:
    version = f"3.{split_variant(source)[0].removeprefix('debian/v')}.0"
    return KitManifest.sealed(
        library="openssl",
        version=version,
        source=source,
        build_profile=BuildProfile(provider="debian", compiler="gcc", flags="-O2", libc="glibc", architecture="x86_64"),
        worker=("bin/worker",),
        environment={},
        worker_compiler="gcc",
        worker_flags="-O2",
        worker_source_sha256="2" * 64,
        files={"bin/worker": "3" * 64},
    )


def invocations_of(run: Run, metrics: Sequence[Metric] = METRICS) -> Iterator[Invocation]:
    """All invocations of a run. A case has a base cost, and a newer version costs a little more."""
    random = np.random.default_rng(0)
    assert run.host is not None
    started = run.created_at
    for job in run.plan.jobs:
        for case_id in job.case_ids:
            base_ns = 500_000 * (1 + run.plan.cases.index(run.plan.case(case_id)))
            for number in job.numbers:
                started += timedelta(seconds=5)
                block = job.blocks[number % len(job.blocks)]
                yield Invocation(
                    run_id=run.run_id,
                    job_id=job.job_id,
                    attempt=1,
                    case_id=case_id,
                    invocation=number,
                    host_id=run.host.host_id,
                    host_load=HostLoad(load_average_1m=0.1, steal_share=0.0, busy_share=0.5),
                    started_at=started.isoformat(timespec="milliseconds"),
                    negotiated={},
                    samples=tuple(_samples(block, metrics, base_ns, run, random)),
                    outcomes=(),
                )


def _samples(
    block: Sequence[str], metrics: Sequence[Metric], base_ns: float, run: Run, random: np.random.Generator
) -> Iterator[Sample]:
    references, shape = list(run.kits), (len(metrics), run.plan.measure.batches)
    together = random.normal(1, 0.01)
    for reference in block:
        cost_ns = base_ns * together * (1 + 0.002 * references.index(reference))
        values = np.round(cost_ns * random.normal(1, 0.005, shape))
        for metric, batches in zip(metrics, values, strict=True):
            yield Sample(
                subject=reference, metric=metric, values=tuple(map(float, batches)), level=float(batches.mean())
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--values", type=int, choices=EXTENTS, default=14, help="in millions")
    parser.add_argument("--matrix", action="store_true", help="28 versions in 60 cases with several certificates")
    options = parser.parse_args()
    store = make_large_store(options.folder, MATRIX if options.matrix else EXTENTS[options.values])
    print(f"{values_of(store):,} values")
    store.close()


if __name__ == "__main__":
    main()
