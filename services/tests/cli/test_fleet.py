"""`kexbench fleet`: the machines of a cluster, those that need attention first."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import ClusterApi, cluster_api, cluster_app
from tests.api.conftest import ClientOf, client_of
from tests.api.test_fleet import a_fleet
from tests.cli.conftest import Cli
from tests.golden import GOLDEN, assert_golden
from tests.serving import serving

__all__ = ["client_of"]


@pytest.fixture
def api(
    empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ClusterApi]:
    """Of the cluster that the command line is set to, as somebody who may set nodes aside."""
    (tmp_path / "token").write_text("triager")
    with serving(cluster_app(empty_store, tmp_path / "api")) as url:
        monkeypatch.setenv("KEXBENCH_API_URL", url)
        monkeypatch.setenv("KEXBENCH_TOKEN_FILE", str(tmp_path / "token"))
        yield cluster_api(empty_store, client_of, tmp_path / "asked")


def test_nodes_are_listed_with_those_first_that_need_attention(cli: Cli, api: ClusterApi) -> None:
    a_fleet(api)
    done = cli("fleet")
    assert done.status == 0, done.err
    assert_golden(GOLDEN / "fleet.txt", f"{done.out}{done.err}")


def test_nodes_are_chosen_by_pool_and_state(cli: Cli, api: ClusterApi) -> None:
    a_fleet(api)
    assert names(cli("fleet", "--json").json()) == ["node-b", "node-c", "node-d", "node-a"]
    assert names(cli("fleet", "--state", "silent", "--state", "set aside", "--json").json()) == ["node-c", "node-d"]
    assert names(cli("fleet", "--pool", "local", "--state", "differs", "--json").json()) == ["node-b"]
    assert cli("fleet", "--pool", "arm", "--json").json()["pools"] == []
    none = cli("fleet", "--state", "warning")
    assert (none.status, none.out, none.err) == (0, "", "no such node: kexbench fleet lists all\n")
    assert cli("fleet", "--state", "broken").status == 2


def test_a_fleet_without_machines_is_no_error(cli: Cli, api: ClusterApi) -> None:
    done = cli("fleet")
    assert (done.status, done.out, done.err) == (0, "", "no machine has measured anything yet\n")


def test_a_node_is_set_aside_and_returned(cli: Cli, api: ClusterApi) -> None:
    a_fleet(api)
    done = cli("fleet", "set-aside", "node-b", "--pool", "local", "--reason", "its fan failed", "--since", "2026-01-11")
    assert (done.status, done.out) == (0, "node-b of pool local is set aside since 2026-01-11 00:00 UTC\n"), done.err
    assert names(cli("fleet", "--state", "set aside", "--json").json()) == ["node-b", "node-d"]
    assert "set aside since 2026-01-11 00:00: its fan failed" in " ".join(
        cli("fleet", "--state", "set aside").out.split()
    )
    assert cli("fleet", "return", "node-b").out == "node-b of pool local counts again\n"
    again = cli("fleet", "return", "node-b")
    assert again.status == 2
    assert "node-b is not set aside" in again.err


def names(fleet: dict[str, list[dict[str, list[dict[str, str]]]]]) -> list[str]:
    return [node["node"] for pool in fleet["pools"] for node in pool["nodes"]]
