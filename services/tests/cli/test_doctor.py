"""`kexbench doctor` on the machine that runs the tests, whatever it is like."""

import re

import pytest
import typer
from rich.console import Console

from kexbench.cli import doctor
from kexbench.cli.doctor import examination_table, summary
from kexbench.runner.doctor.check import Check
from kexbench.runner.doctor.examine import Examination
from tests.cli.conftest import Cli, stock
from tests.conftest import FakeKit

MIXED = Examination(
    3,
    (
        Check("turbo", "warning", "on", "The speed varies: " + "turn it off " * 12),
        Check("CPUs", "good", "4 usable", "The workers have CPU 3."),
        Check("huge pages", "unknown", "[odd]", "Nothing is known of them."),
    ),
)


def test_it_judges_this_machine_without_changing_it(cli: Cli) -> None:
    done = cli("doctor", "--json")
    assert (done.status, done.err) == (0, "")
    checks = done.json()["checks"]
    assert len(checks) == 17
    for check in checks:
        assert set(check) == {"name", "verdict", "found", "advice"}
        assert check["verdict"] in ("good", "warning", "unknown")
    assert not (cli.folder / "home").exists()


def test_with_a_kit_a_short_path_proves_the_emulator(cli: Cli, fake_kit: FakeKit) -> None:
    stock(cli, fake_kit, "1.0+noise=0")
    checks = {check["name"]: check for check in cli("doctor", "--json").json()["checks"]}
    found = checks["emulated path"]
    if checks["paths"]["found"].startswith("refused"):
        assert found["found"] == "not tried"
    elif found["found"] != "not carried":  # by a machine that is busy with other tests
        assert re.fullmatch(r"[\d.]+ of 20 ms, [\d.]+% of 2% lost, [\d.]+ of 10 Mbit/s", found["found"])


def test_people_read_it_in_eighty_columns() -> None:
    console = Console(width=80, record=True, highlight=False)
    with console.capture() as capture:
        console.print(examination_table(MIXED))
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("warning turbo: on")
    assert any("huge pages: [odd]" in line for line in lines)
    assert summary(MIXED) == "1 good, 1 to fix, 1 unknown"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_warning_ends_with_status_one_only_when_asked_to(
    as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda **_: MIXED)
    doctor.doctor(strict=False, as_json=as_json)
    with pytest.raises(typer.Exit) as end:
        doctor.doctor(strict=True, as_json=as_json)
    assert end.value.exit_code == 1


def test_what_is_only_unknown_passes_the_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "examine", lambda **_: Examination(3, MIXED.checks[1:]))
    doctor.doctor(strict=True, as_json=True)
