"""`kexbench interop`: every subject as a client meets every subject as a server, of made-up libraries."""

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.thorough

CASE = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519mlkem768_aes-128-gcm"
ONE, TWO, OTHER, BARE = "fake@1.0", "fake@1.1", "fake@2.0+mismatch_after=4", "fake@3.0+unsupported=1"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """One home for all, so that kits are made once."""
    return Cli(tmp_path_factory.mktemp("interop"))


@pytest.mark.long
def test_libraries_that_understand_each_other_are_ok_both_ways(cli: Cli) -> None:
    done = cli("interop", ONE, TWO, "--case", CASE, "--json")
    assert done.status == 0, done.err
    assert sorted((row["case_id"], row["client"], row["server"], row["result"]) for row in done.json()) == [
        (CASE, one, other, "ok") for one in (ONE, TWO) for other in (ONE, TWO)
    ]


@pytest.mark.long
def test_what_goes_wrong_is_reported_with_its_reason_for_the_pairs_that_it_went_wrong_in(cli: Cli) -> None:
    done = cli("interop", ONE, OTHER, BARE, "--case", CASE, "--json")
    assert done.status == 3, done.err
    found = {(row["client"], row["server"]): (row["result"], row["reason"]) for row in done.json()}
    assert len(found) == 9
    for pair, (result, reason) in found.items():
        if BARE in pair:
            assert (result, reason) == ("unsupported", "the fake library was told to support nothing")
        elif OTHER in pair:
            assert result == "mismatch"
            assert "another-group" in reason
        else:
            assert (result, reason) == ("ok", None)


@pytest.mark.long
def test_the_table_has_clients_down_and_servers_across_and_what_is_not_supported_is_no_fault(cli: Cli) -> None:
    done = cli("interop", ONE, BARE, "--case", CASE)
    assert done.status == 0, done.err
    lines = [line.split() for line in done.out.splitlines()]
    assert [ONE, "ok", "unsupported"] in lines
    assert [BARE, "unsupported", "unsupported"] in lines


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((ONE,), "at least two different subjects"),
        ((ONE, ONE), "at least two different subjects"),
        ((ONE, "nss@system"), "unknown library 'nss'"),
        ((ONE, TWO, "--case", "*nothing*"), "no case matches *nothing*"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error_that_says_why(arguments: tuple[str, ...], says: str, cli: Cli) -> None:
    done = cli("interop", *arguments)
    assert done.status == 2
    assert says in " ".join(done.err.replace("│", " ").split())
