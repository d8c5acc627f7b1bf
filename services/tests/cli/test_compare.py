"""`kexbench compare`: a verdict for each case and an exit status for scripts, of made-up libraries."""

from pathlib import Path
from typing import Any

import pytest

from kexbench.analysis.pairs import cell_of
from kexbench.analysis.verdict import judge
from kexbench.cli import compare
from kexbench.cli.compose import Done
from kexbench.domain.kits import BuildProfile, SubjectRef
from kexbench.domain.runs import RunState
from kexbench.domain.upgrades import SIDES, SpreadMove
from kexbench.pipeline import RunEnd
from tests.builders import RSA, a_run, an_invocation
from tests.builders import SPEC as A_SPEC
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


def test_a_build_that_costs_more_is_told_by_the_exit_status(cli: Cli) -> None:
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


def test_equal_builds_are_the_same_in_a_row_for_each_case(cli: Cli) -> None:
    done = cli("compare", ONE, EQUAL, *FEW)
    assert done.status == 0, done.err
    assert "different build profile" not in done.out
    assert f"CPU time of {EQUAL} compared with {ONE}" in done.out
    assert done.out.count("no change") == 8, "of two cases the verdict, both sides, the client and the server"
    assert "ECDSA P-256, X25519, resumed with PSK and key share" in done.out
    assert "over 6 invocations" in done.out
    assert "run 20" in done.err


@pytest.mark.thorough
def test_what_could_not_be_measured_is_neither_better_nor_worse(cli: Cli) -> None:
    broken = "fake@2.0+unsupported=1"
    done = cli("compare", ONE, broken, "--case", RESUMED, "--invocations", "3")
    assert done.status == 1
    assert "no result" in done.out
    assert f"{broken}, TLS 1.3 ECDHE-ECDSA" in done.out
    assert "unsupported: the fake library was told to support nothing" in done.out


@pytest.mark.thorough
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
    assert done.status == 1
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
        ((ONE,), "Missing argument"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error_that_says_why(arguments: tuple[str, ...], says: str, cli: Cli) -> None:
    done = cli("compare", *arguments)
    assert done.status == 2
    assert says in " ".join(done.err.replace("│", " ").split())


def test_sides_that_preemption_spoilt_are_told_in_their_case_and_below(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = "fake@1.0", "fake@1.1"
    run = a_run()
    found = [
        an_invocation(run, number, cpu_ns={one: 1000, two: 1100}, preempted_batches=9, without_sides=[two])
        for number in range(6)
    ]
    done = Done(RunEnd(run, RunState.FINISHED, "", None), found)
    case = run.plan.case(RSA)
    pair = SubjectRef.parse(one), SubjectRef.parse(two)
    judged = judge([cell_of(found, case, one, two)])
    disturbed = {RSA: compare._disturbed(case, done, pair)}
    compare._print(judged)
    compare._explain((case,), done, judged, disturbed)
    told = capsys.readouterr().out
    for side in ("client", "server"):
        assert f"  {side:<12}no result\n" in told
    assert f"{two}, {case.label}, client and server apart: disturbed: in 6 invocations: other programs ran" in told
    assert f"{one}, {case.label}" not in told


def test_libraries_that_chose_other_groups_are_not_comparable(capsys: pytest.CaptureFixture[str]) -> None:
    """The pages say so too: whatever the costs are, another group is other work."""
    run = a_run(spec=A_SPEC.replace("[TLSv1.2]", "[default]").replace("[RSA, ECDHE-ECDSA]", "[default-ECDSA]"))
    (case,) = run.plan.cases
    before, after = SubjectRef.parse("fake@1.0"), SubjectRef.parse("fake@1.1")
    invocations = []
    for number in range(6):
        costs = {str(before): 1000 + number, str(after): 2000 + number}
        invocation = an_invocation(run, number, cpu_ns=costs, case_id=case.case_id)
        hybrid = invocation.negotiated[str(after)].model_copy(update={"group": "X25519MLKEM768"})
        invocations.append(invocation.model_copy(update={"negotiated": {**invocation.negotiated, str(after): hybrid}}))
    done = Done(RunEnd(run, RunState.FINISHED, "", None), invocations)
    (cell,) = judge(
        [cell_of(invocations, case, str(before), str(after), unlike=compare._unlike(case, done, (before, after)))]
    )
    compare._print([cell])
    printed = capsys.readouterr().out
    group = invocations[0].negotiated[str(before)].group
    assert f"  not comparable\n  negotiated differently: group X25519MLKEM768 instead of {group}\n" in printed
    row = compare._row(cell, "run", (), SIDES)
    assert (row["verdict"], row["ratios"]["cpu_ns"]) == ("unlike", None)
    assert row["warnings"] == [f"negotiated differently: group X25519MLKEM768 instead of {group}"]


def test_build_profiles_are_named_where_their_labels_differ() -> None:
    system = BuildProfile(provider="system", compiler="gcc", flags="-O2", libc="2.36", architecture="x86_64")
    debian = system.model_copy(update={"provider": "debian"})
    assert compare._profiles_text([system, debian]) == (
        "different build profile: system shared gcc -O2 x86_64 → debian shared gcc -O2 x86_64\n"
    )
    assert compare._profiles_text([system, system.model_copy(update={"libc": "2.41"})]) == ""


def test_an_unresolved_change_is_printed_with_its_resolution(capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run()
    cell = cell_of(
        [an_invocation(run, number, cpu_ns={"fake@1.0": 1000, "fake@1.1": 1000 + 40 * number}) for number in range(6)],
        run.plan.case(RSA),
        "fake@1.0",
        "fake@1.1",
    )
    (judged,) = judge([cell])
    assert (judged.verdict, judged.resolves is None) == ("unresolved", False)
    compare._print([judged])
    told = capsys.readouterr().out
    assert f"{judged.title}  unresolved (resolution {judged.resolves:.1%})\n" in told
    assert "  resolution  " not in told


def test_costs_that_vary_more_than_before_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = "fake@1.0", "fake@1.1"
    run = a_run()
    invocations = [an_invocation(run, number, cpu_ns={one: 1000, two: 1000}) for number in range(6)]
    (cell,) = judge([cell_of(invocations, run.plan.case(RSA), one, two)])
    spread = SpreadMove(before=0.012, after=0.041, q=0.01, verdict="more")
    compare._print([cell, cell.model_copy(update={"spread": spread})])
    told = capsys.readouterr().out
    assert told.count("costs vary more from invocation to invocation: 1.2% → 4.1%") == 1
