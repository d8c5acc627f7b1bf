"""`kexbench why`: the functions that an upgrade's change is in, of made-up libraries."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from kexbench.cli.why import parts_table
from kexbench.domain.profiles import Explanation, PartDifference
from kexbench.runner.callgrind import read_counts
from tests.cli.conftest import Cli

BEFORE, AFTER = "1.0+noise=0", "1.1+noise=0+step=1.5"
CASE = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """One home for all, so that kits are made once."""
    return Cli(tmp_path_factory.mktemp("why"))


@pytest.mark.long
def test_both_sides_are_explained_and_counted_twice(cli: Cli) -> None:
    done = cli("why", "fake", BEFORE, AFTER, "--json")
    assert done.status == 0, done.err
    client, server, objects = done.json()
    assert [row["side"] for row in (client, server, objects)] == ["client", "server", "objects"]
    assert objects["has_changed"] is False
    for row in (client, server):
        assert row["case_id"] == CASE
        assert row["after"] > row["before"] > 0
        assert [step["name"] for step in row["path"]] == ["step", "compute"]
        assert (row["functions"][0]["name"], row["functions"][0]["calls_after"]) == ("compute", 5)
        assert row["spread"] < 1e-4
        assert row["other_code"] is False
    run_id = client["run_id"]
    shown = cli("runs", "show", run_id, "--json").json()
    assert shown["measure"]["instrument"] == "instructions"
    assert shown["metric"] == "counted_instructions"
    assert shown["summary"]["state"] == "finished"
    levels = {cell["subject"]: cell["estimate"]["value"] for cell in shown["cells"]}
    printed = cli("runs", "show", run_id)
    assert printed.status == 0, printed.err
    assert all(f"{level:,.0f}" in printed.out for level in levels.values())
    assert "CPU-second" not in printed.out


@pytest.mark.long
def test_profiles_are_saved_for_other_programs(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "profiles"
    done = cli("why", "fake", BEFORE, AFTER, "--save", str(folder), "--json")
    assert done.status == 0, done.err
    assert f"12 profiles are in {folder}" in done.err
    counts = {
        (row["side"], version): row[end]
        for row in done.json()
        for version, end in ((BEFORE, "before"), (AFTER, "after"))
    }
    for (side, version), instructions in counts.items():
        with (folder / f"fake-{version}-{side}.callgrind").open() as lines:
            assert read_counts(lines).instructions == pytest.approx(instructions, rel=1e-3)
        speedscope = json.loads((folder / f"fake-{version}-{side}.speedscope.json").read_text())
        assert sum(speedscope["profiles"][0]["weights"]) == pytest.approx(instructions, rel=1e-3)
    assert len(list(folder.iterdir())) == 12


def test_a_folder_that_cannot_be_made_is_named_before_anything_is_counted(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = cli("why", "fake", BEFORE, AFTER, "--save", str(tmp_path / "file" / "profiles"))
    assert done.status == 2
    assert str(tmp_path / "file" / "profiles") in done.err.replace("\n", "")
    assert "run " not in done.err


@pytest.mark.long
def test_two_builds_that_run_the_same_code_have_not_changed(cli: Cli) -> None:
    done = cli("why", "fake", BEFORE, "1.1+noise=0")
    assert done.status == 0, done.err
    assert done.out.count("no change: below the resolution of ") == 3


def test_a_build_is_not_compared_with_itself(cli: Cli) -> None:
    done = cli("why", "fake", BEFORE, BEFORE)
    assert done.status == 2
    assert "append +copy=2 to one" in done.err


@pytest.mark.long
def test_what_cannot_be_counted_is_said_with_its_reason(cli: Cli, tmp_path: Path) -> None:
    done = cli("why", "fake", BEFORE, "1.1+unsupported=1")
    assert done.status == 1
    assert "unsupported: the fake library was told to support nothing" in done.out


@pytest.mark.long
def test_counts_decide_where_asked_and_the_exit_status_says_so(cli: Cli) -> None:
    done = cli("compare", f"fake@{BEFORE}", f"fake@{AFTER}", "--count", "--case", "*x25519_aes-128-gcm", "--json")
    assert done.status == 3, done.err
    for row in done.json():
        assert row["ratios"].keys() == {
            "counted_instructions",
            "client_counted_instructions",
            "server_counted_instructions",
        }
        assert (row["verdict"], row["invocations"]) == ("more", 3)
    same = cli("compare", f"fake@{BEFORE}", "fake@1.1+noise=0", "--count", "--case", "*_ecdhe-ecdsa_*aes-128-gcm")
    assert same.status == 0, same.err
    assert f"Instructions of fake@1.1+noise=0 (1.1) compared with fake@{BEFORE} (1.0)" in same.out
    assert "no change" in same.out


def test_two_libraries_are_shown_by_parts_with_what_matches_of_each() -> None:
    parts = (
        PartDifference(name="Curve25519", matched_before=100, matched_after=300, only_before=800, only_after=100),
        PartDifference(name="hashes", matched_before=300, matched_after=290, only_before=0, only_after=10),
    )
    explanation = Explanation(side="server", before=1200, after=700, functions=(), path=(), parts=parts)
    console = Console(width=120)
    with console.capture() as captured:
        console.print(parts_table("full handshake", explanation, ("openssl", "awslc"), "instructions"))
    lines = captured.get().splitlines()
    assert lines[0].rstrip() == "full handshake"
    assert lines[1].rstrip() == "names match for 33% of openssl's instructions and 84% of awslc's"
    rows = {words[0]: words[1:] for line in lines[2:] if (words := line.split())}
    assert rows["part"] == ["both:", "openssl", "both:", "awslc", "only", "openssl", "only", "awslc", "difference"]
    assert rows["Curve25519"] == ["100", "300", "800", "100", "-500"]
    assert rows["hashes"] == ["300", "290", "0", "10", "+0"]
    assert rows["total"] == ["400", "590", "800", "110", "-500"]


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        (("openssl@system", "gnutls@system"), "OpenSSL and GnuTLS have no common ancestry"),
        (("go@toolchain/1.26.8", "openssl@system"), "Go crypto/tls does not run in valgrind"),
        (("openssl", "3.5.5"), "name a library and two of its versions, or twice LIBRARY@VERSION"),
    ],
)
def test_what_cannot_be_explained_is_refused_before_anything_is_counted(
    cli: Cli, ends: tuple[str, str], reason: str
) -> None:
    done = cli("why", *ends)
    assert done.status == 2
    assert reason in " ".join(done.err.replace("│", " ").split())
    assert "run " not in done.out
