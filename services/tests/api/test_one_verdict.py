"""Whoever is asked about a comparison gives the same verdict: the matrix, the page of a run, an upgrade's report, the
page Compare, the command line, a commit's status, the comment at its pull request, and the screening for alerts."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import httpx2
import numpy as np
import pytest
from typer.testing import CliRunner

from kexbench.alerts.screening import cells_between
from kexbench.answers.two_ends import ComparedCell
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.commit_models import CheckView
from kexbench.cli.main import app_with
from kexbench.domain.commits import Reason
from kexbench.domain.hosts import HostFacts, kind_of
from kexbench.domain.runs import Run, RunState
from kexbench.domain.samples import Invocation, Metric
from kexbench.domain.upgrades import UpgradeCell
from kexbench.domain.verdicts import LARGEST, RELEVANT, RunVerdict
from kexbench.planning.rules import relevant_of
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Selection
from kexbench.watch.telling import comment_of, status_of
from tests.api.asking import upgrade_report
from tests.api.conftest import SECRET
from tests.api.test_qualifications import COPY, ONE, OTHERS, qualified
from tests.builders import HOST, NOON, RSA, SPEC, a_kit, a_run, an_event, an_invocation
from tests.serving import serving

OTHER = HOST.model_copy(update={"cpu_model": "Other CPU"})
SEEDS = int(os.environ.get("KEXBENCH_TEST_SEEDS", "1"))
"""Each takes half a minute: `make test-faults` has more."""
VERSIONS = ("1.0", "1.1", "1.2")
Random = np.random.Generator
Asked = tuple[str, str, str, str]
"""A case, a CPU model, and the versions before and after."""
Verdicts = dict[Asked, tuple[str, str | None, str | None]]
"""Of both sides together, of the client and of the server."""


@pytest.fixture
def commands(empty_store: ClickHouseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Commands of this process ask a service with the store."""
    (tmp_path / "token").write_text("token")
    monkeypatch.setenv("KEXBENCH_TOKEN_FILE", str(tmp_path / "token"))
    with serving(create_app(empty_store, LocalGatekeeper(SECRET), None)) as url:
        monkeypatch.setenv("KEXBENCH_API_URL", url)
        yield


@dataclass(frozen=True)
class Made:
    """A run and what it measured on."""

    run: Run
    hosts: tuple[HostFacts, ...]


def a_spec(random: Random) -> str:
    relevant = random.choice(["", "0.2%", "1%", "4%"])
    spec = SPEC.replace("[1.0, 1.1]", f"[{', '.join(VERSIONS[: random.integers(2, 4)])}]")
    spec = spec.replace("[TLSv1.2]", "[TLSv1.2, TLSv1.3]").replace("[RSA, ECDHE", "[RSA, ECDHE-RSA, ECDHE")
    spec = spec.replace("invocations: 6", "invocations: 20")
    return f"{spec}alerts: {{ relevant: {relevant} }}\n" if relevant else spec


def a_stored_run(store: ClickHouseStore, random: Random, day: int) -> Made:
    """Of a spec by chance, on one host kind or half of it on each of two, with a noise and steps of its own."""
    run = a_run(f"run-{day}", spec=a_spec(random), created_at=NOON + timedelta(days=day))
    store.add_run(run)
    hosts = (HOST, OTHER)[: random.integers(1, 3)]
    noise = random.choice([0.001, 0.004, 0.009])
    versions = [subject.reference for subject in run.plan.subjects]
    made: list[Invocation] = []
    for case in run.plan.cases:
        steps = random.choice([0.0, 0.0, 0.004, 0.008, 0.012, -0.03], size=(2, len(versions)))
        for number in range(20):
            host = hosts[number % len(hosts)]
            shares = np.array([[0.25], [0.75]]) * np.exp(noise * random.standard_normal((2, len(versions))))
            costs = 1e6 * (1 + steps) * shares
            made.append(_an_invocation(run, number, case.case_id, host, dict(zip(versions, costs.T, strict=True))))
    for host in hosts:
        store.add_invocations(run, [one for one in made if one.host_id == host.host_id], host)
    store.add_event(an_event(run, RunState.FINISHED))
    return Made(run, hosts)


def _an_invocation(run: Run, number: int, case_id: str, host: HostFacts, costs: Mapping[str, Any]) -> Invocation:
    """With the client's and the server's cost of each subject."""
    made = an_invocation(run, number, case_id=case_id, host=host, cpu_ns=dict.fromkeys(costs, 1.0))
    side_of = {
        Metric.CPU_NS: sum,
        Metric.CLIENT_CPU_NS: lambda both: both[0],
        Metric.SERVER_CPU_NS: lambda both: both[1],
    }
    samples = tuple(
        sample.model_copy(update={"values": (round(side_of[sample.metric](costs[sample.subject])),)})
        for sample in made.samples
    )
    return made.model_copy(update={"samples": samples})


def version(subject: str) -> str:
    return subject.partition("@")[2].partition("~")[0]


def of_pages(client: httpx2.Client, path: str, hosts: tuple[HostFacts, ...]) -> Verdicts:
    """What the matrix or a run's page shows, of all host kinds."""
    found: Verdicts = {}
    for host in hosts:
        query = {"pool": "local", "cpu_model": kind_of(host)}
        for cell in client.get(path, params=query).raise_for_status().json()["cells"]:
            if change := cell["change"]:
                sides = (change[side]["verdict"] if change[side] else None for side in ("client", "server"))
                asked = (cell["case_id"], kind_of(host), change["before"]["version"], version(cell["subject"]))
                found[asked] = (change["verdict"], *cast(tuple[str | None, str | None], tuple(sides)))
    return found


def steps(found: Verdicts) -> set[tuple[str, str]]:
    return {(before, after) for *_, before, after in found}


def of_cells(cells: tuple[UpgradeCell, ...], before: str, after: str) -> Verdicts:
    return {
        (cell.case_id, cell.host_kind.cpu_model, before, after): (
            cell.verdict,
            cell.client.verdict if cell.client else None,
            cell.server.verdict if cell.server else None,
        )
        for cell in cells
    }


def of_reports(
    client: httpx2.Client, asked: set[tuple[str, str]], library: str = "fake", **query: str | float
) -> Verdicts:
    found: Verdicts = {}
    for before, after in asked:
        report = upgrade_report(client, before, after, library, **query)
        found |= of_cells(tuple(map(ComparedCell.model_validate, report["cells"])), before, after)
    return found


def of_comparisons(
    client: httpx2.Client, asked: set[tuple[str, str]], library: str = "fake", **query: str | float
) -> Verdicts:
    found: Verdicts = {}
    for before, after in asked:
        ends = {"base": f"{library}@{before}", "other": f"{library}@{after}"}
        for cell in client.get("/compare", params={**ends, **query}).raise_for_status().json()["cells"]:
            client_side, server_side = (cell[side] and cell[side]["verdict"] for side in ("client", "server"))
            where = (cell["case_id"], cell["host_kind"]["cpu_model"], before, after)
            found[where] = (cell["verdict"], client_side, server_side)
    return found


def of_screening(store: ClickHouseStore, made: Made, asked: set[tuple[str, str]]) -> Verdicts:
    names = {
        row.subject.version: row.subject.name
        for row in store.measured_subjects(Selection(Metric.CPU_NS, run_id=made.run.run_id))
    }
    found: Verdicts = {}
    for before, after in asked:
        relevant = relevant_of(made.run.spec_text)
        cells = cells_between(store, names[before], names[after], Metric.CPU_NS, relevant, made.run.run_id)
        found |= of_cells(cells.judged, before, after)
    return found


def of_command_line(run: Run, asked: set[tuple[str, str]]) -> Verdicts:
    """As `kexbench compare` prints it, of all host kinds."""
    found: Verdicts = {}
    references = {kit.version: reference for reference, kit in run.kits.items()}
    for before, after in asked:
        arguments = ["compare", references[before], references[after], "--run", run.run_id, "--json"]
        done = CliRunner().invoke(app_with(["compare"]), arguments)
        assert done.exit_code in (0, 1, 3), done.output
        for row in json.loads(done.stdout):
            sides = (row["ratios"][str(metric)] for metric in (Metric.CLIENT_CPU_NS, Metric.SERVER_CPU_NS))
            client, server = (side and side["verdict"] for side in sides)
            if row["verdict"]:
                found[row["case_id"], row["cpu_model"], before, after] = (row["verdict"], client, server)
    return found


def only(found: Verdicts, like: Verdicts) -> Verdicts:
    return {asked: verdict for asked, verdict in found.items() if asked in like}


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 2 + SEEDS))]
)
@pytest.mark.usefixtures("commands")
def test_all_who_are_asked_give_one_verdict(seed: int, client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    random = np.random.default_rng(seed)
    made = [a_stored_run(empty_store, random, day) for day in range(random.integers(1, 4))]
    for each in made:
        run = each.run
        shown = of_pages(client, f"/runs/{run.run_id}", each.hosts)
        assert shown
        assert only(of_screening(empty_store, each, steps(shown)), shown) == shown
        relevant, run_id = relevant_of(run.spec_text), run.run_id
        compared = of_comparisons(client, steps(shown), relevant=relevant, base_run_id=run_id, other_run_id=run_id)
        assert only(compared, shown) == shown
        assert only(of_command_line(run, steps(shown)), shown) == shown
        assert_announced(client, run, shown)
    newest = made[-1]
    shown = of_pages(client, f"/runs/{newest.run.run_id}", newest.hosts)
    by_all = of_reports(client, steps(shown), relevant=relevant_of(newest.run.spec_text))
    if len(made) == 1 or len(newest.hosts) == 2:  # else older runs have cells of the other host kind
        assert only(by_all, shown) == shown
    matrix = of_pages(client, "/matrix", (HOST, OTHER))
    reports = only(of_reports(client, steps(matrix)), matrix)
    assert {asked: both for asked, (both, *_) in matrix.items()} == {
        asked: both for asked, (both, *_) in reports.items()
    }
    assert of_comparisons(client, steps(matrix)) == of_reports(client, steps(matrix))
    one = kind_of(HOST)
    narrowed = of_reports(client, steps(matrix), cpu_model=one)
    assert narrowed == {asked: found for asked, found in of_reports(client, steps(matrix)).items() if asked[1] == one}


@pytest.mark.usefixtures("commands")
def test_a_qualification_changes_every_verdict_at_once(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """3% more is slower, until builds of one source are known to differ by more."""
    before, after = kits = ("openssl@debian/bookworm", "openssl@debian/trixie")
    spec = SPEC.replace("fake: [1.0, 1.1]", "openssl: [debian/bookworm, debian/trixie]")
    versions = dict(zip(kits, ("3.0.20", "3.5.4"), strict=True))
    run = a_run("upgrade", spec=spec, kits={name: a_kit(name, version=versions[name]) for name in kits})
    empty_store.add_run(run)
    made = tuple(
        an_invocation(run, number, cpu_ns={before: 100_000.0 + number, after: 103_000.0 + number}, case_id=RSA)
        for number in range(6)
    )
    empty_store.add_invocations(run, made)
    empty_store.add_event(an_event(run, RunState.FINISHED))
    for expected in ("more", "unresolved"):
        shown = of_pages(client, "/runs/upgrade", (HOST,))
        assert [both for both, *_ in shown.values()] == [expected]
        assert of_screening(empty_store, Made(run, (HOST,)), steps(shown)) == shown
        assert of_comparisons(client, steps(shown), "openssl") == shown
        assert of_reports(client, steps(shown), "openssl") == shown
        assert of_command_line(run, steps(shown)) == shown
        assert_announced(client, run, shown)
        qualified(empty_store, ONE, COPY, *OTHERS, run_id="qualification", layouts=0.02)


def assert_announced(client: httpx2.Client, run: Run, shown: Verdicts) -> None:
    """The status and the comment say what the page shows."""
    said = RunVerdict.model_validate(client.get(f"/runs/{run.run_id}/verdict").raise_for_status().json())
    words = [both for both, *_ in shown.values()]
    counted = (words.count("more"), words.count("less"), words.count("unresolved"), len(words))
    assert (said.more, said.less, said.unresolved, said.compared) == counted
    check = CheckView(
        path="a.yaml",
        reason=Reason.SPEC,
        run_id=run.run_id,
        faults=[],
        dry_run=None,
        state=RunState.FINISHED,
        detail="",
        invocations_stored=1,
    )
    is_whole = bool(words) and not said.trouble
    expected = "failure" if "more" in words else "success" if is_whole else "error"
    assert status_of(check, {run.run_id: said}, "").state == expected
    comment = comment_of("0" * 40, [check], {run.run_id: said}, "")
    assert comment is not None
    titles = {case.case_id: case.label for case in run.plan.cases}
    for (case_id, *_), (both, *_) in shown.items():
        if both in ("more", "less") and len(words) <= LARGEST:
            assert titles[case_id] in comment.body


def test_the_generated_stores_hold_every_verdict_that_is_decided(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """Else that all agree would say little."""
    words: set[str] = set()
    for seed in range(6):
        made = a_stored_run(empty_store, np.random.default_rng(seed), seed)
        words |= {both for both, *_ in of_pages(client, f"/runs/{made.run.run_id}", made.hosts).values()}
    assert words == {"more", "less", "same", "unresolved"}
    assert relevant_of(SPEC) == RELEVANT
