"""`kexbench compare`: a verdict for each case and an exit status for scripts, of made-up libraries."""

from pathlib import Path
from typing import Any

import pytest

from kexbench.cli import compare
from tests.cli.conftest import SPEC, Cli

PLAIN, RESUMED = (
    "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm",
    "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm_psk-dhe",
)
ONE, SLOWER, EQUAL = "fake@1.0", "fake@1.1+seed=7+step=1.02", "fake@1.1+seed=7"
FEW = ("--case", "*_ecdhe-ecdsa_*", "--invocations", "6")


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """One home for all, so that kits are made once."""
    return Cli(tmp_path_factory.mktemp("compare"))


def rows(cli: Cli, *arguments: str, status: int) -> dict[str, dict[str, Any]]:
    done = cli("compare", *arguments, "--json")
    assert done.status == status, done.err
    return {row["case_id"]: row for row in done.json()}


def test_a_build_that_costs_more_is_reported_by_the_exit_status(cli: Cli) -> None:
    found = rows(cli, ONE, SLOWER, *FEW, status=3)
    assert found.keys() == {PLAIN, RESUMED}
    for row in found.values():
        assert (row["verdict"], row["invocations"]) == ("more", 6)
        assert row["ratios"].keys() == {"cpu_ns", "client_cpu_ns", "server_cpu_ns"}
        assert row["components"] == [], "both stand on the same"
        for ratio in row["ratios"].values():
            assert ratio["ratio"] == pytest.approx(1.02, abs=0.004)
            assert ratio["paired"]
    (run_id,) = {row["run_id"] for row in found.values()}
    assert [run["run_id"] for run in cli("runs", "list", "--json").json()["runs"]] == [run_id]
    assert cli("runs", "show", run_id, "--json").json()["measure"]["jobs"] == 6


@pytest.mark.long
def test_equal_builds_are_the_same_in_a_row_for_each_case(cli: Cli) -> None:
    done = cli("compare", ONE, EQUAL, *FEW)
    assert done.status == 0, done.err
    assert "different build profile" not in done.out
    assert f"CPU time of {EQUAL} (1.1) compared with {ONE} (1.0)" in done.out
    assert done.out.count("no change") == 6, "of two cases both sides together, the client and the server"
    assert "ECDSA P-256, X25519, resumed with PSK and key share" in done.out
    assert "over 6 invocations" in done.out
    assert "run 20" in done.err


@pytest.mark.long
def test_what_neither_could_measure_is_neither_better_nor_worse(cli: Cli) -> None:
    broken = "fake@2.0+unsupported=1"
    done = cli("compare", broken, "fake@2.1+unsupported=1", "--case", RESUMED, "--invocations", "3")
    assert done.status == 1
    assert "no result" in done.out
    assert "unsupported: the fake library was told to support nothing" in done.out


@pytest.mark.long
def test_the_cases_of_a_spec_are_taken_and_a_build_that_costs_less_is_no_reason_to_stop(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(SPEC.format(name="own", subjects="9.9", invocations=4))
    found = rows(cli, SLOWER, ONE, "--spec", str(path), "--invocations", "3", status=0)
    assert found.keys() == {
        "tlsv1.2_rsa_rsa-2048_aes-128-gcm",
        "tlsv1.2_ecdhe-ecdsa_ecdsa-p-256_p-256_aes-128-gcm",
    }
    assert {row["verdict"] for row in found.values()} == {"less"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("matrix:", "matrx:", "own.yaml:6:1: matrx: unknown field (did you mean 'matrix'?)"),
        (
            "keyExchange: [RSA, ECDHE-ECDSA]",
            f"keyExchange: [DHE-RSA]\n  rsaBits: {[*range(1024, 8193, 8)]}\n  dhBits: {[*range(1024, 8193)]}",
            "own.yaml:7:3: matrix: 6,430,593 cases, more than the 10,000 a spec may have: shorten the lists",
        ),
    ],
    ids=["misspelt field", "too many cases"],
)
def test_a_bad_spec_is_refused_with_its_place(old: str, new: str, expected: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(SPEC.format(name="own", subjects="9.9", invocations=4).replace(old, new))
    done = cli("compare", ONE, EQUAL, "--spec", str(path))
    assert done.status == 1
    assert expected in done.err


def test_a_spec_that_is_not_there_is_named(cli: Cli) -> None:
    done = cli("compare", ONE, EQUAL, "--spec", "nowhere.yaml")
    assert (done.status, done.err) == (1, "nowhere.yaml:1:1: cannot be read: No such file or directory\n")


def test_a_person_may_compare_repositories_that_no_catalogue_has(cli: Cli) -> None:
    done = cli("compare", "openssl@git:/nowhere#master", "openssl@git:/nowhere#mine", *FEW)
    assert done.status == 5
    assert "openssl@git:/nowhere#master: resolve failed: there is no repository /nowhere" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((ONE, ONE), "+copy=2"),
        ((ONE, "fake"), "has no source"),
        (("system", ONE), "'system' has no library; write it as openssl@system"),
        (("openssl@9.9.9", ONE), "unknown version '9.9.9' of openssl; the catalogue has"),
        ((ONE, EQUAL, "--case", "*nothing*"), "no case matches *nothing*"),
        ((ONE, EQUAL, "--invocations", "2"), "Input should be greater than or equal to 3"),
        ((ONE,), "name a second build"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error_that_says_why(arguments: tuple[str, ...], says: str, cli: Cli) -> None:
    done = cli("compare", *arguments)
    assert done.status == 2
    assert says in " ".join(done.err.replace("│", " ").split())


def test_build_profiles_are_named_where_their_labels_differ() -> None:
    assert compare.profiles_text("system shared gcc -O2 x86_64", "debian shared gcc -O2 x86_64") == (
        "different build profile: system shared gcc -O2 x86_64 → debian shared gcc -O2 x86_64\n"
    )
    assert compare.profiles_text("system shared x86_64", "system shared x86_64") == ""


def test_two_cases_of_one_build_are_compared_by_the_field_that_differs(cli: Cli) -> None:
    other = ("--with", "resumption=psk-dhe")
    done = cli("compare", ONE, "--case", PLAIN, *other, "--invocations", "6", "--json")
    assert done.status in (0, 3), done.err
    (answer,) = done.json()
    (cell,) = answer["cells"]
    assert (cell["case_id"], cell["other_case_id"], cell["paired"]) == (PLAIN, RESUMED, True)
    assert [(each["before"], each["after"]) for each in answer["differences"]] == [("none", "psk-dhe")]
    ratio, (base, other) = cell["move"], cell["estimates"]["both"]
    assert ratio["low"] <= ratio["ratio"] <= ratio["high"]
    measured = other["value"] / base["value"]
    assert ratio["ratio"] == pytest.approx(measured, rel=0.02)


@pytest.mark.long
def test_a_second_build_that_fails_in_the_other_case_is_worse(cli: Cli) -> None:
    broken = "fake@2.0+unsupported=1"
    done = cli("compare", ONE, broken, "--case", PLAIN, "--with", "resumption=psk-dhe", "--invocations", "3")
    assert done.status == 3, done.err
    assert "no result" in done.out


@pytest.mark.long
def test_cases_that_cannot_be_measured_are_named_with_the_reason(cli: Cli) -> None:
    broken = "fake@2.0+unsupported=1"
    done = cli("compare", broken, "--case", PLAIN, "--with", "resumption=psk-dhe", "--invocations", "3")
    assert done.status == 1
    assert "no result" in done.out
    assert "unsupported: the fake library was told to support nothing" in done.out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "name a second build, or with --with what the cases differ in"),
        (("--with", "cipher"), "write FIELD=VALUE"),
        (("--with", "cipher=ROT13"), "cipher: "),
        (("--with", "cipher=[a"), "--with cipher=[a: the value is no YAML"),
        (("--with", "foo=1"), "foo: Extra inputs are not permitted"),
        (("--with", "protocol=TLSv1.3", "--case", PLAIN), "changes nothing"),
        (("--with", "cipher=AES-128-CBC-SHA", "--case", PLAIN), "impossible"),
        (
            ("--with", "cipher=AES-256-GCM", "--count"),
            "leave out --run, --count, --instrument, --relevant and --output",
        ),
    ],
)
def test_what_two_cases_cannot_differ_in_is_refused_before_anything_is_measured(
    cli: Cli, arguments: tuple[str, ...], text: str
) -> None:
    done = cli("compare", ONE, *arguments)
    assert done.status == 2
    assert text in " ".join(done.err.replace("│", " ").split())
