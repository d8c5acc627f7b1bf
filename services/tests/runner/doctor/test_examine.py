"""The doctor as a whole: made-up machines are read and judged; what it sees running is injected."""

from pathlib import Path

from kexbench.runner.doctor.check import Check
from kexbench.runner.doctor.examine import Examination, examine, judge
from kexbench.runner.doctor.machine import read_machine
from kexbench.runner.doctor.path_probe import PathProbe
from kexbench.runner.doctor.watching import Watched
from tests.runner.doctor.machines import ALLOWED, QUIET, MakeTree


def test_a_machine_set_apart_for_measuring_is_good_throughout(tree: MakeTree) -> None:
    checks = judge(read_machine(tree(), ALLOWED), QUIET)
    assert {check.name: check.verdict for check in checks} == dict.fromkeys([check.name for check in checks], "good")
    assert len(checks) == 17


def test_a_machine_that_tells_nothing_is_unknown_and_never_guessed(tmp_path: Path) -> None:
    nothing = Watched(None, QUIET.spin, 250.0, "ENOSYS", PathProbe(None, None, None))
    checks = judge(read_machine(tmp_path, ALLOWED), nothing)
    known = {check.name for check in checks if check.verdict != "unknown"}
    assert known == {"CPUs", "isolation", "interruptions", "CPU clock", "huge pages"}


def test_every_check_gives_one_sentence_that_fits_three_lines(tree: MakeTree, tmp_path: Path) -> None:
    machines = [read_machine(tree(), ALLOWED), read_machine(tmp_path / "empty", ALLOWED), read_machine(tree(), {2})]
    for machine in machines:
        for each in judge(machine, QUIET):
            assert ". " not in each.advice
            assert len(each.advice) <= 3 * 70
            assert len(each.name) + len(each.found) <= 70


def test_the_examination_watches_the_cpu_that_measures_and_reads_the_tree(tree: MakeTree) -> None:
    watched: list[int | None] = []

    def observe(cpu: int | None) -> Watched:
        watched.append(cpu)
        return QUIET

    found = examine(tree({"proc/loadavg": "123.4 0 0"}), observe)
    assert watched == [found.measuring_cpu]
    assert "load 123.4" in next(check.found for check in found.checks if check.name == "other programs")


def test_verdicts_are_counted() -> None:
    found = Examination(1, (Check("a", "warning", "", ""), Check("b", "good", "", ""), Check("c", "warning", "", "")))
    assert (found.count("warning"), found.count("good"), found.count("unknown")) == (2, 1, 0)
