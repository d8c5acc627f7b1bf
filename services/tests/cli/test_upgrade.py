"""`kexbench upgrade`: a planted step from measuring to the report, its words and exit statuses."""

import re
from io import StringIO

import pytest
import typer
from rich.console import Console

from kexbench.answers.comparison import Comparison
from kexbench.cli.change_tables import (
    CORES_LEGEND,
    DISTURBED_SIDES,
    change_lines,
    change_tables,
    cores,
    legend,
    missing_lines,
    verdict_text,
)
from kexbench.cli.options import share
from kexbench.domain.differences import Difference
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Ratio
from kexbench.domain.numbers import signed_words
from kexbench.domain.upgrades import MissingCell, SideMove, UpgradeCell
from tests.cli.conftest import Cli
from tests.conftest import FakeKit

NOISE = "noise=0.006"
ONE, SLOWER, EQUAL = f"1.0+{NOISE}", f"1.1+{NOISE}+seed=7+step=1.02", f"1.2+{NOISE}+seed=9+step=1.02"
BROKEN = "2.0+unsupported=1"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory, fake_kit: FakeKit) -> Cli:
    """In whose home three versions were measured beside each other, the second of which costs 2% more."""
    cli = Cli(tmp_path_factory.mktemp("upgrade"))
    done = cli("run", cli.spec("history", ONE, SLOWER, EQUAL, BROKEN, invocations=10))
    assert done.status == 0, done.err
    return cli


def test_a_planted_step_is_shown_at_its_version_with_sides_and_cores(cli: Cli) -> None:
    done = cli("upgrade", "fake", "1.0", "1.1")
    assert done.status == 0, done.err
    first, *rest = done.out.splitlines()
    assert first.startswith("fake 1.0 → 1.1: "), first
    assert "2.0%" in first
    below = "\n".join(rest)
    assert below.count("slower") == 6, "both sides, the client and the server of two cases"
    assert "3.01 → 3.07" in below, "the server's objects take a microsecond, its handshake 300"
    assert "10,000 connections a second" in below


def test_the_json_is_the_report_and_a_regression_can_fail_a_script(cli: Cli) -> None:
    done = cli("upgrade", "fake", "1.0", "1.1", "--json", "--fail-on-regression")
    assert done.status == 3, done.err
    report = Comparison.model_validate(done.json())
    assert [cell.verdict for cell in report.cells] == ["more", "more"]
    for cell in report.cells:
        assert cell.paired
        for move in (cell.move, cell.client, cell.server):
            assert move is not None
            assert move.ratio == pytest.approx(1.02, abs=0.004)
    assert cli("upgrade", "fake", "1.1", "1.2", "--fail-on-regression").status == 0
    lenient = cli("upgrade", "fake", "1.0", "1.1", "--relevant", "5%", "--fail-on-regression")
    assert (lenient.status, lenient.out.count("no change")) == (0, 6)


@pytest.mark.parametrize("options", [("--pool", "local"), ("--relevant", "1%"), ("--fail-on-regression",)])
def test_an_option_that_judges_an_upgrade_needs_one(options: tuple[str, ...], cli: Cli) -> None:
    """A script would take the list for an upgrade without a regression."""
    done = cli("upgrade", "fake", *options)
    assert done.status == 2
    assert "name two versions" in done.err


def test_what_cannot_be_compared_is_no_success_for_a_script(cli: Cli) -> None:
    done = cli("upgrade", "fake", "1.0", "1.1", "--pool", "elsewhere", "--fail-on-regression")
    assert done.status == 1
    assert "nothing could be compared" in done.err
    unknown = cli("upgrade", "fake", "1.0", "2.0")
    assert unknown.status == 1
    assert "there are no results of fake 2.0; stored versions: 1.2, 1.1, 1.0" in unknown.err


def test_alone_it_lists_the_upgrades_that_are_known(cli: Cli) -> None:
    lines = [line.split() for line in cli("upgrade").out.splitlines()]
    assert [line[:4] for line in lines if line[:1] == ["fake"]] == [
        ["fake", "1.1", "1.2", "2"], ["fake", "1.0", "1.1", "2"]
    ]  # fmt: skip
    listed = cli("upgrade", "fake", "--json").json()["upgrades"]
    assert [one["after"]["source"] for one in listed] == [EQUAL, SLOWER]
    assert cli("upgrade", "gnutls").out.startswith("no two versions of gnutls ")


def test_half_an_upgrade_and_an_unknown_library_are_refused(cli: Cli) -> None:
    assert "name two versions" in cli("upgrade", "fake", "1.0").err
    assert cli("upgrade", "fake", "1.0", "1.1", "--relevant", "1").status == 2
    unknown = cli("upgrade", "nss", "1.0", "1.1")
    assert unknown.status == 2
    assert "'openssl', 'gnutls'" in unknown.err


def test_a_share_is_written_as_a_percentage() -> None:
    assert [share(text) for text in ("0%", "0.5%", "50%")] == [0, 0.005, 0.5]
    for wrong in ("1", "60%", "-1%", "x%", "nan%", ""):
        with pytest.raises(typer.BadParameter, match="is not a percentage"):
            share(wrong)


def a_cell(title: str, **changes: object) -> UpgradeCell:
    fields = {
        "case_id": title.lower(),
        "title": title,
        "host_kind": HostKind("local", "CPU"),
        "verdict": "unresolved",
        "move": Ratio(ratio=1.002, low=0.99, high=1.014),
        "client": None,
        "server": None,
        "q": 0.5,
        "resolves": 0.0123,
        "paired": True,
        "before_ns": 400_000.0,
        "after_ns": 408_000.0,
        "invocations": 10,
        "run_ids": ("one",),
        "warnings": (),
    }
    return UpgradeCell.model_validate(fields | changes)


def test_what_is_missing_or_not_alike_is_named_once_for_many_cases() -> None:
    missing = [
        MissingCell(
            case_id=f"{n}", title=f"case {n}", host_kind=HostKind("local", "CPU"), version="1.1", reason="crashed"
        )
        for n in range(7)
    ]
    cells = (a_cell("A", warnings=("not interleaved", "other")), a_cell("B", warnings=("not interleaved",)))
    assert change_lines(cells) == ["not interleaved: all cases", "other: A"]
    assert missing_lines(missing) == ["1.1: crashed: case 0; case 1; case 2; case 3; case 4; and 2 more"]


def test_the_legend_explains_only_what_the_tables_have() -> None:

    def of(cell: UpgradeCell) -> str:
        return legend([cell])

    assert "Unresolved: " in of(a_cell("A"))
    assert "Unresolved: " not in of(a_cell("A", verdict="same"))
    assert CORES_LEGEND not in of(a_cell("A"))
    assert CORES_LEGEND in of(a_cell("A", server_before_ns=1e5, server_after_ns=2e5))
    assert "95% interval" not in of(a_cell("A", verdict="unlike", move=None))


def test_sides_that_preemption_spoilt_are_marked_in_their_cells_and_below() -> None:
    cells = (a_cell("A", disturbed=7), a_cell("B", client=a_side(1.0, "same"), server=a_side(1.0, "same")))
    console = Console(file=StringIO(), width=80, highlight=False)
    for table in change_tables(cells):
        console.print(table)
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue().count("no result") == 2
    (line,) = change_lines(cells)
    assert line == f"{DISTURBED_SIDES}: A"


def test_what_is_unresolved_says_below_what_and_a_cost_is_a_number_of_cores() -> None:
    assert verdict_text(a_cell("A")) == "unresolved\n(resolution 1.2%)"
    assert verdict_text(a_cell("A", move=None, resolves=None)) == "unresolved:\ntoo few invocations"
    assert verdict_text(a_cell("A", verdict="unlike")) == "not comparable"
    assert cores(408_000) == pytest.approx(4.08)


def a_side(ratio: float, verdict: str) -> SideMove:
    return SideMove.model_validate({"ratio": ratio, "low": ratio - 0.0123, "high": ratio + 0.0145, "verdict": verdict})


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_report_has_each_sides_interval_and_verdict_and_what_came_along_and_nothing_is_cut(width: int) -> None:
    along = Difference(what="nettle", before="3.8.1", after="3.10.1")
    cell = a_cell(
        "TLS 1.2 ECDHE-ECDSA, ECDSA P-256, P-256, resumed with session id",
        verdict="less",
        move=Ratio(ratio=0.9391, low=0.9268, high=0.9536),
        client=a_side(1.0851, "unresolved"),
        server=a_side(0.8912, "less"),
        server_before_ns=301_000.0,
        server_after_ns=268_000.0,
        components=(along,),
    )
    cells = (cell,)
    console = Console(file=StringIO(), width=width, highlight=False)
    for table in change_tables(cells):
        console.print(table)
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    printed = " ".join(" ".join(lines).split())
    assert "…" not in printed
    assert "with nettle 3.8.1 → 3.10.1" in printed
    assert sorted(re.findall(r"[+−][0-9]+\.[0-9]+%", printed)) == sorted(
        signed_words(number - 1, 2)
        for move in (cell.move, cell.client, cell.server)
        if move
        for number in (move.ratio, move.low, move.high)
    )
    for word, times in (("faster", 2), ("unresolved", 1), ("cores", 1)):
        assert printed.split().count(word) == times, word
