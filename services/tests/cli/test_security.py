"""`kexbench security`: the table of each model as people read it, and as JSON."""

from kexbench.domain.security import SecurityModel
from tests.cli.conftest import Cli
from tests.golden import GOLDEN, assert_texts


def printed(cli: Cli, *arguments: str) -> str:
    done = cli("security", *arguments)
    assert done.status == 0, done.err
    return "\n".join(line.rstrip() for line in done.out.splitlines())


def test_the_tables_of_all_models(cli: Cli) -> None:
    assert_texts(GOLDEN / "security.txt", {model: printed(cli, "--model", model) for model in SecurityModel})


def test_json_has_the_same_sizes(cli: Cli) -> None:
    answer = cli("security", "--model", "ecrypt", "--json").json()
    assert answer["model"] == "ecrypt"
    assert {level["level_bits"]: level["rsa_bits"] for level in answer["levels"]}[96] == 1776


def test_an_unknown_model_is_named_with_the_known_ones(cli: Cli) -> None:
    done = cli("security", "--model", "nsa")
    assert done.status == 2
    assert "cnsa-2" in done.err
