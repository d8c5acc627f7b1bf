"""`kexbench reproduce`: the commands of one invocation, and the same invocation once more."""

import json
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.thorough

CASE = "tlsv1.2_rsa_rsa-2048_aes-128-gcm"
ONE, TWO = "fake@1.0", "fake@1.1+seed=7+step=1.02"
TIMED = ("cpu_ns", "client_cpu_ns", "server_cpu_ns", "first_ns")


@dataclass(frozen=True)
class Measured:
    cli: Cli
    run_id: str

    def reproduce(self, *arguments: str) -> Any:
        done = self.cli("reproduce", self.run_id, *arguments, "--json")
        assert done.status == 0, done.err
        return done.json()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """A home with one run of six invocations of two cases."""
    cli = Cli(tmp_path_factory.mktemp("reproduce"))
    done = cli("run", cli.spec("noisy", "1.0", "1.1+seed=7+step=1.02"), "--json")
    assert done.status == 0, done.err
    return Measured(cli, done.json()["summary"]["run_id"])


def test_the_same_seeds_give_the_recorded_values_again(measured: Measured) -> None:
    found = measured.reproduce(CASE, "--invocation", "4")
    (recorded,), again = found["recorded"], found["again"]
    assert recorded["invocation"] == again["invocation"] == 4
    first, second = (
        {(each["subject"], each["metric"]): each["values"] for each in one["samples"] if each["metric"] in TIMED}
        for one in (recorded, again)
    )
    assert len(first) == 2 * len(TIMED)
    assert first == second


def test_the_printed_commands_are_those_of_a_shell(measured: Measured) -> None:
    found = measured.reproduce(CASE, "--print")
    assert found["again"] is None
    assert sorted(found["commands"]) == sorted(found["order"]) == [ONE, TWO]
    (recorded,) = found["recorded"]
    for reference, text in found["commands"].items():
        done = subprocess.run(["sh"], input=text, env={}, capture_output=True, text=True, check=True, timeout=60)
        hello, _, *batches, _ = map(json.loads, done.stdout.splitlines())
        assert f"fake@{hello['version']}" == reference.partition("+")[0]
        values = [round(batch["server_cpu_ns"] / batch["handshakes"]) for batch in batches[2:]]
        (sample,) = (
            each for each in recorded["samples"] if (each["subject"], each["metric"]) == (reference, "server_cpu_ns")
        )
        assert values == sample["values"]


def test_printing_alone_writes_nothing(measured: Measured) -> None:
    (runs,) = (measured.cli.folder / "home" / "runs").iterdir()
    before = sorted(path.name for path in runs.rglob("*"))
    done = measured.cli("reproduce", measured.run_id, CASE, "--print")
    assert done.status == 0
    assert f"# invocation 0 of {CASE}, seed {measured.run_id}/" in done.out
    assert done.out.count("env -i ") == 2
    assert "recorded" not in done.out
    assert sorted(path.name for path in runs.rglob("*")) == before


def test_the_new_values_of_the_first_invocation_stand_beside_the_recorded_ones(measured: Measured) -> None:
    done = measured.cli("reproduce", measured.run_id, CASE)
    assert f"# invocation 0 of {CASE}" in done.out
    lines = [line.split() for line in done.out.splitlines()]
    (header,) = (index for index, words in enumerate(lines) if words[:2] == ["subject", "recorded"])
    rows = {words[0]: words[1:] for words in lines[header + 1 :]}
    assert rows.keys() == {ONE, TWO}
    for recorded, unit, now, _, difference in rows.values():
        assert (recorded, unit, difference) == (now, "µs", "+0.0%")
        assert float(recorded) == pytest.approx(404, abs=8)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("{run}", "tlsv1.3_none"), "the run has no case tlsv1.3_none; it has tlsv1.2_rsa_rsa-2048_aes-128-gcm, "),
        (("{run}", CASE, "--invocation", "6"), "has no invocation 6; it has 0 to 5"),
        (("{run}", CASE, "--invocation", "-1"), "greater than or equal to 0"),
        (("20200101-000000-00000000", CASE), "this machine has no run 20200101-000000-00000000; kexbench runs list"),
        (("../runs", CASE), "this machine has no run ../runs"),
    ],
)
def test_what_there_is_not_is_a_usage_error_that_says_what_there_is(
    arguments: tuple[str, ...], says: str, measured: Measured
) -> None:
    done = measured.cli("reproduce", *(text.format(run=measured.run_id) for text in arguments))
    assert done.status == 2
    assert says in " ".join(done.err.replace("│", " ").split())
