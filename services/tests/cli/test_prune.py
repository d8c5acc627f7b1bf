"""`kexbench prune`: what it would remove, what it removed, and with a running service the same."""

import pytest

from tests.cli.conftest import Cli
from tests.cli.queueing import in_the_store, serving

MEASURED = """
from tests.builders import a_run, an_invocation
run = a_run()
store.add_run(run)
for number in range(3):
    costs = {"fake@1.0": [10 + number, 12, 14], "fake@1.1": [11 + number, 13, 12]}
    store.add_invocation(run, an_invocation(run, number, cpu_ns=costs))
"""
VALUES = 3 * 2 * 3 * 3
"""Of invocations, subjects, metrics and batches."""


@pytest.mark.parametrize("given", [(), ("--older-than", "soon"), ("--older-than", "0d")])
def test_an_age_is_required_and_is_a_duration(cli: Cli, given: tuple[str, ...]) -> None:
    assert cli("prune", *given).status == 2


@pytest.mark.long
def test_old_batches_are_counted_and_then_removed(cli: Cli) -> None:
    in_the_store(cli, MEASURED)
    dry = cli("prune", "--older-than", "1d", "--dry-run")
    assert dry.status == 0, dry.err
    assert f"would remove {VALUES} values of 18 samples in 1 run" in dry.out
    assert cli("prune", "--older-than", "9999d", "--json").json()["removed_values"] == 0
    pruned = cli("prune", "--older-than", "1d")
    assert pruned.status == 0, pruned.err
    assert f"removed {VALUES} values and freed" in pruned.out
    assert f"removed {VALUES} of {VALUES} values" in pruned.err
    assert "samples" in pruned.out
    again = cli("prune", "--older-than", "1d", "--json").json()
    assert (again["removed_values"], again["prunable"]["values"]) == (0, 0)
    exported = cli("export").out.splitlines()
    assert exported[0].endswith(",values,batches_removed_at")
    assert len(exported) == 7
    assert not any(line.endswith(",") for line in exported)


@pytest.mark.long
def test_a_running_service_removes_them_itself_by_its_setting_and_on_request(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_store(cli, MEASURED)
    with serving(cli) as served:
        assert cli("prune", "--older-than", "1d", "--dry-run", "--json").json()["prunable"]["values"] == VALUES
        assert served.ask("GET", "/store/prunable?before=2030-01-01T00:00:00Z")["values"] == VALUES
        assert cli("prune", "--older-than", "1d", "--json").json()["removed_values"] == VALUES
    monkeypatch.setenv("KEXBENCH_KEEP_BATCHES_DAYS", "0")
    assert cli("serve").status != 0


def test_a_cluster_removes_them_only_by_its_setting(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEXBENCH_API_URL", "https://kexbench.example.com/?x")
    assert cli("prune", "--older-than", "1d").status == 2
