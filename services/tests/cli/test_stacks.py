"""`kexbench stacks`: from stored results to a table, and what it ends with."""

import pytest

from kexbench.answers.stacks_shapes import Stacks
from tests.cli.conftest import Cli
from tests.conftest import FakeKit

NOISE = "noise=0.006"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory, fake_kit: FakeKit) -> Cli:
    """In whose home two versions were measured beside each other, the second of which costs 5% more."""
    cli = Cli(tmp_path_factory.mktemp("stacks"))
    done = cli("run", cli.spec("history", f"1.0+{NOISE}", f"1.1+{NOISE}+seed=7+step=1.05", invocations=10))
    assert done.status == 0, done.err
    return cli


def test_two_stacks_are_ranked_by_their_verdict(cli: Cli) -> None:
    versions = ("--version", "fake@1.0", "--version", "fake@1.1")
    done = cli("stacks", *versions)
    assert done.status == 0, done.err
    assert "Cheapest for a server: fake 1.0 in 1 of 1 kind of connections." in done.out
    assert "Full handshake" in done.out
    assert "Server CPU time, relative to the previous version" in done.out
    answer = Stacks.model_validate(cli("stacks", *versions, "--json").json())
    (column,) = answer.columns
    assert [cell.standing for cell in column.cells] == ["cheapest", "more"]
    assert column.cells[1].ratio
    assert column.cells[1].ratio.ratio == pytest.approx(1.05, abs=0.01)
    sentence = "No mix of ECDSA P-256 and 40% resumed connections: no handshake that resumes with P-256 was measured."
    assert answer.workload
    assert answer.workload.sentence == sentence
    assert {cost.standing for cost in answer.workload.costs} == {"missing"}


def test_one_library_alone_is_shown_with_the_reason(cli: Cli) -> None:
    done = cli("stacks")
    assert done.status == 1
    assert "not ranked" in done.out
    assert "fake 1.1: no other stack has a number that could be compared: Full handshake, ECDSA P-256" in done.err


def test_a_certificate_that_was_not_measured_is_a_fault_with_a_remedy(cli: Cli) -> None:
    done = cli("stacks", "--certificate", "Ed25519")
    assert done.status == 1
    assert "no full handshake with the certificate Ed25519 was measured there" in done.err
    assert "measured certificates: ECDSA P-256" in done.err


def test_what_no_machine_or_library_has_is_refused_with_what_there_is(cli: Cli) -> None:
    refused = cli("stacks", "--library", "faek")
    assert (refused.status, refused.out) == (2, "")
    assert "there are fake, on" in " ".join(refused.err.replace("│", " ").split())


def test_nothing_measured_names_the_command_that_measures(tmp_path_factory: pytest.TempPathFactory) -> None:
    done = Cli(tmp_path_factory.mktemp("nothing"))("stacks")
    assert (done.status, done.out) == (1, "")
    assert "kexbench run stacks" in done.err
