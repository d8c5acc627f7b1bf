"""What the terminal says about a run is what the API says: the same cells, by the same rule, with the same floors."""

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from typer.testing import CliRunner

from kexbench.alerts.reading import UnderConfirmation
from kexbench.answers.two_ends import ComparedCell
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.cli.alert_words import suspicion_text
from kexbench.cli.main import app_with
from kexbench.domain.instruments import Instrument
from kexbench.domain.metrics import Metric
from kexbench.domain.runs import Purpose, Run, RunState
from kexbench.domain.samples import Invocation, OutcomeKind, Sample
from kexbench.domain.upgrades import SIDES_OF, UpgradeEnd
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.test_qualifications import COPY, ONE, OTHERS, qualified
from tests.builders import (
    ECDSA,
    NOON,
    RSA,
    SPEC,
    a_kit,
    a_profile,
    a_run,
    a_screening,
    an_event,
    an_invocation,
    an_outcome,
)
from tests.serving import serving

OLD, NEW = "openssl@debian/bookworm", "openssl@debian/trixie"
COUNT = 12
FLOOR_LAYOUTS = 0.0115
"""Of relinks that differ so much from one to the next, the floor is about 5%."""


class Terminal:
    """Commands in this process, against a service with a store."""

    def __init__(self, url: str) -> None:
        self.http = httpx2.Client(base_url=url + API_PREFIX, timeout=120, trust_env=False)

    def __call__(self, *arguments: str, status: int = 0) -> str:
        done = CliRunner().invoke(app_with([arguments[0]]), arguments)
        assert done.exit_code == status, (done.output, done.exception)
        return done.stdout

    def rows(self, *arguments: str, status: int = 0) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self(*arguments, "--json", status=status))
        return rows

    def ask(self, path: str, **query: str) -> Any:
        return self.http.get(path, params=query).raise_for_status().json()


@pytest.fixture
def terminal(empty_store: ClickHouseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    (tmp_path / "token").write_text("token")
    monkeypatch.setenv("KEXBENCH_TOKEN_FILE", str(tmp_path / "token"))
    with serving(create_app(empty_store, LocalGatekeeper("s" * 64), None)) as url:
        monkeypatch.setenv("KEXBENCH_API_URL", url)
        terminal = Terminal(url)
        with terminal.http:
            yield terminal


def a_comparison(
    store: ClickHouseStore,
    invocations: list[Invocation] | None = None,
    *,
    ratio: float = 1.03,
    spec: str = SPEC,
    run_id: str = "20260103-120000-0a0b0c0d",
) -> Run:
    """A run of two builds of one version, of which the second costs 3% more."""
    spec = spec.replace("- fake: [1.0, 1.1]", f"- openssl: [{OLD.partition('@')[2]}, {NEW.partition('@')[2]}]")
    kits = {reference: a_kit(reference, version="3.0.2") for reference in (OLD, NEW)}
    run = a_run(run_id, spec=spec.replace("invocations: 6", f"invocations: {COUNT}"), kits=kits)
    store.add_run(run)
    store.add_invocations(run, measured(run, ratio) if invocations is None else invocations)
    store.add_event(an_event(run, RunState.FINISHED))
    return run


def measured(run: Run, ratio: float) -> list[Invocation]:
    chance = np.random.default_rng(7)
    costs = 1e6 * np.exp(0.002 * chance.standard_normal((2, COUNT, 2)))
    return [
        an_invocation(run, number, case_id=case_id, cpu_ns={OLD: old, NEW: new * ratio})
        for case_id, of_case in zip((RSA, ECDSA), costs, strict=True)
        for number, (old, new) in enumerate(of_case.tolist())
    ]


def by_case(cells: list[dict[str, Any]]) -> dict[str, ComparedCell]:
    return {cell["case_id"]: ComparedCell.model_validate(cell) for cell in cells}


def test_a_comparison_and_the_pages_judge_with_the_same_floor(terminal: Terminal, empty_store: ClickHouseStore) -> None:
    qualified(empty_store, ONE, COPY, *OTHERS, layouts=FLOOR_LAYOUTS)
    (qualification,) = terminal.ask("/qualifications")["rows"]
    assert qualification["layout_floor"] == pytest.approx(0.05, abs=0.003)
    run = a_comparison(empty_store)
    rows = {row["case_id"]: row for row in terminal.rows("compare", OLD, NEW, "--run", run.run_id, status=3)}
    assert (rows[RSA]["verdict"], rows[ECDSA]["verdict"]) == ("unresolved", "more"), "one case was qualified"
    names = {view["source"]: view["name"] for view in terminal.ask(f"/runs/{run.run_id}")["subjects"]}
    ends = [names[end.partition("@")[2]] for end in (OLD, NEW)]
    pages = {
        cell["case_id"]: cell
        for cell in terminal.ask(
            "/compare", base=ends[0], other=ends[1], base_run_id=run.run_id, other_run_id=run.run_id
        )["cells"]
    }
    report = by_case(terminal.ask("/compare", base=ends[0], other=ends[1])["cells"])
    for case_id, row in rows.items():
        for side, metric in (("both", "cpu_ns"), ("client", "client_cpu_ns"), ("server", "server_cpu_ns")):
            cell, printed = pages[case_id], row["ratios"][metric]
            own = {name: printed[name] for name in ("ratio", "low", "high", "verdict")}
            assert own == (cell[side] if side != "both" else cell["move"] | {"verdict": cell["verdict"]})
        assert row["verdict"] == pages[case_id]["verdict"]
        assert row["resolves"] == pages[case_id]["resolves"] == report[case_id].resolves
        assert row["verdict"] == report[case_id].verdict
    assert "(resolution 5." in terminal("compare", OLD, NEW, "--run", run.run_id, status=3)


def test_the_older_build_may_come_second(terminal: Terminal, empty_store: ClickHouseStore) -> None:
    run = a_comparison(empty_store)
    there = terminal.rows("compare", OLD, NEW, "--run", run.run_id, status=3)
    back = terminal.rows("compare", NEW, OLD, "--run", run.run_id)
    assert {row["verdict"] for row in back} == {"less"}
    for one, other in zip(there, back, strict=True):
        assert one["ratios"]["cpu_ns"]["ratio"] * other["ratios"]["cpu_ns"]["ratio"] == pytest.approx(1)


def test_what_has_no_result_is_named_with_its_reason_and_is_no_success(
    terminal: Terminal, empty_store: ClickHouseStore
) -> None:
    run = a_comparison(empty_store, [])
    failed = [an_invocation(run, number, cpu_ns={OLD: 1e6}, outcomes=[an_outcome(NEW)]) for number in range(COUNT)]
    empty_store.add_invocations(run, failed)
    rows = terminal.rows("compare", OLD, NEW, "--run", run.run_id, status=3)
    assert [(row["case_id"], row["verdict"], row["invocations"]) for row in rows] == [(RSA, None, 0), (ECDSA, None, 0)]
    printed = terminal("compare", NEW, OLD, "--run", run.run_id, status=1)
    assert printed.count("no result") == 6, "of two cases both sides together, the client and the server"
    assert "openssl 3.0.2 (debian/trixie): unsupported: no such group: " in printed


def test_sides_that_preemption_spoilt_are_marked_in_their_case_and_below(
    terminal: Terminal, empty_store: ClickHouseStore
) -> None:
    run = a_comparison(empty_store, [])
    spoilt = [
        an_invocation(run, n, cpu_ns={OLD: 1000, NEW: 1100}, preempted_batches=9, without_sides=[NEW])
        for n in range(COUNT)
    ]
    empty_store.add_invocations(run, spoilt)
    printed = terminal("compare", OLD, NEW, "--run", run.run_id, status=3)
    assert printed.count("no result") == 2 + 3, "the sides of one case; all of the other, which was not measured"
    assert "openssl 3.0.2 (debian/trixie), client and server apart: disturbed: " in printed
    assert "(debian/bookworm), client and server apart" not in printed
    assert terminal.rows("compare", OLD, NEW, "--run", run.run_id, status=3)[0]["disturbed"] == COUNT


def test_libraries_that_chose_other_groups_are_not_comparable(terminal: Terminal, empty_store: ClickHouseStore) -> None:
    """The pages say so too: whatever the costs are, another group is other work."""
    spec = SPEC.replace("[TLSv1.2]", "[default]").replace("[RSA, ECDHE-ECDSA]", "[default-ECDSA]")
    run = a_comparison(empty_store, [], spec=spec)
    (case,) = run.plan.cases
    invocations = []
    for number in range(COUNT):
        made = an_invocation(run, number, cpu_ns={OLD: 1000 + number, NEW: 2000 + number}, case_id=case.case_id)
        hybrid = made.negotiated[NEW].model_copy(update={"group": "X25519MLKEM768"})
        invocations.append(made.model_copy(update={"negotiated": {**made.negotiated, NEW: hybrid}}))
    empty_store.add_invocations(run, invocations)
    group = invocations[0].negotiated[OLD].group
    why = f"negotiated differently: group X25519MLKEM768 instead of {group}"
    printed = terminal("compare", OLD, NEW, "--run", run.run_id, status=1)
    assert "not comparable" in printed
    assert f"{why}: Default settings, ECDSA P-256\n" in printed
    (row,) = terminal.rows("compare", OLD, NEW, "--run", run.run_id, status=1)
    assert (row["verdict"], row["warnings"]) == ("unlike", [why])
    assert {ratio["verdict"] for ratio in row["ratios"].values()} == {"unlike"}


def test_functions_are_those_that_the_pages_name(
    terminal: Terminal, empty_store: ClickHouseStore, tmp_path: Path
) -> None:
    spec = SPEC.replace("batches: 4", "batches: 4, instrument: instructions")
    run = a_comparison(empty_store, [], spec=spec)
    counted = {
        OLD: (a_profile("client", sign=5e5, hash=1e5), a_profile("server", sign=8e5, hash=1e5)),
        NEW: (a_profile("client", sign=5e5, hash=1e5), a_profile("server", sign=9e5, hash=1e5)),
    }
    metrics = (*SIDES_OF[Instrument.INSTRUCTIONS].values(),)
    samples = tuple(Sample(subject=end, metric=metric, values=(1e6,)) for end in (OLD, NEW) for metric in metrics)
    invocations = [an_invocation(run, n, cpu_ns={OLD: 1, NEW: 1}, profiles=counted) for n in range(2)]
    empty_store.add_invocations(run, [made.model_copy(update={"samples": samples}) for made in invocations])
    names = {view["source"]: view["name"] for view in terminal.ask(f"/runs/{run.run_id}")["subjects"]}
    ends = [names[end.partition("@")[2]] for end in (OLD, NEW)]
    (page,) = terminal.ask("/upgrades/why", library="openssl", before=ends[0], after=ends[1])
    folder = tmp_path / "profiles"
    sources = [end.partition("@")[2] for end in (OLD, NEW)]
    rows = terminal.rows("why", "openssl", *sources, "--run", run.run_id, "--save", str(folder))
    assert [{key: row[key] for key in page["sides"][0]} for row in rows] == page["sides"]
    assert [(row["side"], row["has_changed"]) for row in rows] == [("client", False), ("server", True)]
    assert rows[1]["functions"][0]["name"] == "sign"
    assert len(list(folder.iterdir())) == 8


def test_a_run_that_measured_something_else_is_refused_with_what_it_measured(
    terminal: Terminal, empty_store: ClickHouseStore
) -> None:
    run = a_comparison(empty_store)
    done = CliRunner().invoke(app_with(["compare"]), ["compare", OLD, "gnutls@system", "--run", run.run_id])
    said = " ".join(done.output.replace("│", " ").split())
    assert done.exit_code == 2
    assert f"did not measure gnutls@system; it measured {OLD}, {NEW}" in said
    refused = CliRunner().invoke(app_with(["compare"]), ["compare", OLD, NEW, "--run", run.run_id, "--count"])
    assert (refused.exit_code, "leave out the options" in refused.output) == (2, True)


def test_a_suspicion_under_way_is_named_with_its_run_and_the_time_left() -> None:
    ends = [
        UpgradeEnd(subject=f"fake@{version}", version=version, source=version, build_profile_label="", label="")
        for version in ("1.0", "1.1")
    ]
    suspicion = UnderConfirmation(
        library="fake",
        metrics=[Metric.CPU_NS],
        before=ends[0],
        after=ends[1],
        spec_name="nightly",
        cells=3,
        screened_run="first",
        confirmation_run="once-0a0b",
        state=RunState.RUNNING,
        expected_end_at=NOON + timedelta(minutes=4),
    )
    what = "fake 1.0 → 1.1 looks slower in 3 cases of nightly: run once-0a0b decides"
    assert suspicion_text(suspicion, NOON) == f"{what}, running, about 4 min left"
    queued = suspicion.model_copy(update={"state": RunState.QUEUED, "expected_end_at": None})
    assert suspicion_text(queued, NOON) == f"{what}, queued"


def test_alerts_name_the_suspicions_that_the_service_lists(terminal: Terminal, empty_store: ClickHouseStore) -> None:
    assert "no alerts yet: `kexbench serve` raises them" in terminal("alerts")
    run, confirmation = a_comparison(empty_store), a_run("once-0a0b")
    empty_store.add_run(confirmation)
    empty_store.add_event(an_event(confirmation, RunState.QUEUED))
    screening = a_screening(run.run_id)
    change = {"confirmation_run": "once-0a0b", "outcome": "confirming", "suspected": ("local/a", "local/b")}
    upgrades = (screening.upgrades[0].model_copy(update=change),)
    empty_store.add_screening(screening.model_copy(update={"upgrades": upgrades}))
    printed = terminal("alerts")
    assert "they come from specs" not in printed
    assert "looks slower in 2 cases of " in printed
    assert ": run once-0a0b decides, queued" in printed


def test_quick_runs_are_listed_until_there_are_others_and_then_named_as_left_out(
    terminal: Terminal, empty_store: ClickHouseStore
) -> None:
    quick = a_run("quick-run").model_copy(update={"purpose": Purpose.FIRST_LOOK})
    a_stored(empty_store, quick)
    printed = terminal("upgrade")
    assert ["fake", "1.0", "1.1", "1"] in [line.split()[:4] for line in printed.splitlines()]
    assert "From first looks (--quick), until another run has results: quick-run (example)" in printed
    a_comparison(empty_store)
    assert "Not shown: 1 first look (--quick), the last: quick-run (example)" in terminal("upgrade")


MIX = """\
apiVersion: kexbench.dev/v1
kind: TrafficMix
connectionsPerSecond: 1000
utilisation: 0.5
coresPerMachine: 4
parts:
  - { share: 1, case: { protocol: TLSv1.2, keyExchange: RSA } }
"""


def test_a_version_whose_results_lack_the_server_is_not_called_unmeasured(
    terminal: Terminal, empty_store: ClickHouseStore, tmp_path: Path
) -> None:
    quick = a_run("quick-run").model_copy(update={"purpose": Purpose.FIRST_LOOK})
    a_stored(empty_store, quick, without_sides=["fake@1.0", "fake@1.1"])
    (tmp_path / "mix.yaml").write_text(MIX)
    for version in ("fake@1.1", "fake@1"):
        done = CliRunner().invoke(app_with(["capacity"]), ["capacity", str(tmp_path / "mix.yaml"), "--from", version])
        said = str(done.exception)
        assert "1.1 (1.1)" in said
        assert "has results, but none of server_connection_cpu_ns: other programs took over 1%" in said
        assert "stored versions: none" not in said


def test_a_version_that_nobody_measured_so_is_not_called_disturbed(
    terminal: Terminal, empty_store: ClickHouseStore, tmp_path: Path
) -> None:
    a_stored(empty_store, a_run())
    (tmp_path / "mix.yaml").write_text(MIX)
    done = CliRunner().invoke(app_with(["capacity"]), ["capacity", str(tmp_path / "mix.yaml"), "--from", "fake@1.1"])
    assert "none of server_connection_cpu_ns: no run measured it in their cases" in str(done.exception)


def test_a_case_that_only_the_second_build_fails_is_reported_by_the_exit_status(
    terminal: Terminal, empty_store: ClickHouseStore
) -> None:
    run = a_run()
    empty_store.add_run(run)
    both, alone = {"fake@1.0": 1000, "fake@1.1": 1000}, {"fake@1.0": 1000}
    crashed = [an_outcome("fake@1.1", OutcomeKind.CRASHED)]
    for case_id, costs in ((RSA, both), (ECDSA, alone)):
        outcomes = () if costs is both else crashed
        invocations = [an_invocation(run, n, case_id=case_id, cpu_ns=costs, outcomes=outcomes) for n in range(6)]
        empty_store.add_invocations(run, invocations)
    empty_store.add_event(an_event(run, RunState.FINISHED))
    rows = terminal.rows("compare", "fake@1.0", "fake@1.1", "--run", run.run_id, status=3)
    assert [(row["case_id"], row["verdict"]) for row in rows] == [(RSA, "same"), (ECDSA, None)]
    assert terminal.rows("compare", "fake@1.1", "fake@1.0", "--run", run.run_id, status=0)


def a_stored(store: ClickHouseStore, run: Run, *, without_sides: Sequence[str] = ()) -> None:
    store.add_run(run)
    costs = {"fake@1.0": 1000, "fake@1.1": 1100}
    preempted = 9 if without_sides else 0
    store.add_invocations(
        run,
        [
            an_invocation(run, n, cpu_ns=costs, preempted_batches=preempted, without_sides=without_sides)
            for n in range(3)
        ],
    )
    store.add_event(an_event(run, RunState.FINISHED))
