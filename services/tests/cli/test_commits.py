"""`kexbench commits`, asked of a cluster's API."""

import os
from collections.abc import Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from kexbench.api.commit_models import CommitPage, CommitView
from kexbench.cli.commits import commits_table
from kexbench.client import ApiClient
from kexbench.domain.commits import Check, DryRun, Reason, branch_of
from kexbench.domain.runs import RunState
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.lock import ServiceAddress
from tests.api.cluster import cluster_app
from tests.builders import a_commit, a_handled_commit, a_run, an_event
from tests.cli.conftest import Cli
from tests.serving import serving

FAULTS = ("bench-specs/broken.yaml:6:9: there is no pool 'c'", "bench-specs/broken.yaml:7:1: unknown field")
SKIPPED = "[skip bench] in its message"


@pytest.fixture
def store(empty_store: ClickHouseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClickHouseStore]:
    """Of the cluster that the command line is set to."""
    (tmp_path / "token").write_text("submitter")
    with serving(cluster_app(empty_store, tmp_path / "api")) as url:
        monkeypatch.setenv("KEXBENCH_API_URL", url)
        monkeypatch.setenv("KEXBENCH_TOKEN_FILE", str(tmp_path / "token"))
        yield empty_store


def with_commits(store: ClickHouseStore) -> None:
    run = a_run("once-0123456789abcdef0123")
    store.add_run(run)
    store.add_event(an_event(run, RunState.FINISHED))
    checks = (
        Check(path="bench-specs/broken.yaml", reason=Reason.SPEC, faults=FAULTS),
        Check(path="bench-specs/quick.yaml", reason=Reason.LIBRARY, run_id=run.run_id),
    )
    store.add_commit(a_handled_commit("Measure [bold] things", checks=checks))
    store.add_commit(a_handled_commit("Tidy", repository="others", minutes=1, checks=(), note=SKIPPED))


def test_commits_are_listed_newest_first_each_with_its_specs_and_then_all_faults(
    cli: Cli, store: ClickHouseStore
) -> None:
    with_commits(store)
    done = cli("commits")
    assert (done.status, done.err) == (0, "")
    tidy, measured = a_commit("Tidy"), a_commit("Measure [bold] things")
    assert [" ".join(line.split()) for line in done.out.splitlines()] == [
        "commit title spec run",
        f"{tidy.commit[:7]} 2026-01-01 12:00 Tidy {SKIPPED}",
        "others/main",
        f"{measured.commit[:7]} 2026-01-01 12:00 Measure [bold] things bench-specs/broken.yaml no run, 2 faults",
        "benchmarks/main",
        "bench-specs/quick.yaml finished, 0 invocations",
        "new version of a library it tracks once-0123456789abcdef0123",
        *(f"{measured.commit[:7]} {fault}" for fault in FAULTS),
    ]


def test_a_spec_that_is_planned_and_not_measured_tells_how_much_it_would_be(cli: Cli, store: ClickHouseStore) -> None:
    dry = DryRun(cases=18, jobs=4, minutes={"local": 12.4}, runs_ahead=0, minutes_ahead=0, detects=None)
    checks = (Check(path="bench-specs/quick.yaml", reason=Reason.SPEC, dry_run=dry),)
    store.add_commit(a_handled_commit("Measure more", branch=branch_of(7), checks=checks))
    assert [" ".join(line.split()) for line in cli("commits").out.splitlines()][1:] == [
        f"{a_commit('Measure more').commit[:7]} 2026-01-01 12:00 Measure more bench-specs/quick.yaml planned, 18 cases",
        "benchmarks/pull request 7 the spec changed 12 min",
    ]


def test_of_one_repository_only_its_commits_are_listed_and_no_more_than_are_asked_for(
    cli: Cli, store: ClickHouseStore
) -> None:
    with_commits(store)
    page = cli("commits", "--repository", "benchmarks", "--json").json()
    assert [one["commit"]["title"] for one in page["commits"]] == ["Measure [bold] things"]
    assert [check["state"] for check in page["commits"][0]["checks"]] == [None, "finished"]
    assert [one["commit"]["title"] for one in cli("commits", "--limit", "1", "--json").json()["commits"]] == ["Tidy"]
    done = cli("commits", "--repository", "a&limit=1")
    assert done.out == "no commits of a&limit=1; there are some of benchmarks, others\n"


def test_a_service_of_this_machine_is_asked_the_same(store: ClickHouseStore) -> None:
    with_commits(store)
    with closing(ApiClient.here(ServiceAddress(1, os.environ["KEXBENCH_API_URL"], "s" * 64))) as api:
        assert len(api.get(CommitPage, "/commits?limit=1").commits) == 1


def test_the_id_of_a_run_is_whole_in_a_narrow_terminal() -> None:
    check = Check(path="bench-specs/both-pools.yaml", reason=Reason.SPEC, run_id="once-0123456789abcdef0123")
    console = Console(file=StringIO(), width=80)
    console.print(commits_table([CommitView.of(a_handled_commit("Measure both pools", checks=(check,)), {})]))
    assert "once-0123456789abcdef0123" in cast(StringIO, console.file).getvalue()


def test_where_there_is_no_commit_it_says_what_to_do(cli: Cli, store: ClickHouseStore) -> None:
    assert "the chart's value repositories" in " ".join(cli("commits").out.split())
    assert cli("commits", "--json").json() == {"commits": [], "repositories": [], "next_before": None}


def test_the_help_has_examples(cli: Cli) -> None:
    assert "kexbench commits --repository benchmarks --limit 5" in cli("commits", "--help").out
