"""`kexbench life`: from a run that starts processes and ages contexts to its numbers."""

from dataclasses import dataclass

import pytest

from kexbench.answers.life import Life
from kexbench.cli.life import of_cases
from kexbench.domain.samples import Metric
from tests.builders import EXAMPLES
from tests.cli.conftest import Cli, Result, stock
from tests.conftest import FakeKit

SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: living }
subjects: [{ fake: ["1.0"] }]
matrix: { protocol: [TLSv1.2], keyExchange: [ECDHE-ECDSA, RSA] }
measure: { invocations: 3, batches: 2, starts: 2, age: 200, sentinel: false }
"""


@dataclass(frozen=True)
class Measured:
    cli: Cli
    run: Result


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, fake_kit: FakeKit) -> Measured:
    cli = Cli(tmp_path_factory.mktemp("living"))
    stock(cli, fake_kit, "1.0")
    spec = cli.folder / "living.yaml"
    spec.write_text(SPEC)
    return Measured(cli, cli("run", str(spec)))


def life(cli: Cli, *options: str) -> Life:
    return Life.model_validate(cli("life", "--json", *options).json())


def test_a_run_that_starts_and_ages_says_where_its_numbers_are(measured: Measured) -> None:
    assert measured.run.status == 0
    assert "kexbench life" in measured.run.err
    assert "kexbench paths" not in measured.run.err
    case, _ = life(measured.cli).cases
    lines = {line.metric: line.cells[0] for section in case.sections for line in section.lines}
    start, young = lines[Metric.START_CPU_NS], lines[Metric.YOUNG_CPU_NS]
    assert start
    assert young
    assert start.estimate
    assert start.estimate.invocations == 3
    assert case.ageing[0]
    assert case.ageing[0].connections == 200
    shown = measured.cli("life", "--case", case.case.id)
    assert shown.status == 0
    assert all(line.title.split()[0] in shown.out for section in case.sections for line in section.lines)


def test_a_case_that_nobody_measured_is_refused_with_those_that_are_there(measured: Measured) -> None:
    for words in (("--case", "dtls*"), ("--case", "dtls*", "--json")):
        refused = measured.cli("life", *words)
        assert refused.status == 2
        assert "tlsv1.2_ecdhe-ecdsa" in refused.err.replace("\n", "")


def test_without_options_it_has_each_start_and_age_with_what_its_signs_mean(measured: Measured) -> None:
    shown = measured.cli("life").out
    assert shown.count("fake 1.0") == 4, "starts and slopes of two cases"
    assert "CPU time of a process's start" in shown
    assert "each million connections, by 200 of them" in shown
    assert "fewer than 6 invocations" in shown
    assert "kexbench life --case '*' shows every number" in shown


def test_the_command_for_every_number_keeps_what_was_asked_for(measured: Measured) -> None:
    assert "kexbench life --library fake --case '*' shows" in measured.cli("life", "--library", "fake").out


def test_what_no_machine_or_library_has_is_refused_with_what_there_is(measured: Measured) -> None:
    for words in (("--library", "faek"), ("--pool", "cloud"), ("--cpu", "PDP-11")):
        refused = measured.cli("life", *words)
        assert (refused.status, refused.out) == (2, "")
        assert "there are fake" in " ".join(refused.err.replace("│", " ").split())


def test_a_metric_that_the_spec_did_not_ask_for_is_said_to_have_no_value(measured: Measured) -> None:
    (run,) = measured.cli("runs", "list", "--json").json()["runs"]
    shown = measured.cli("runs", "show", run["run_id"], "--metric", "path_round_trips")
    assert "no case of this run has a value of path_round_trips" in shown.out


def test_json_has_the_cases_that_were_asked_for(measured: Measured) -> None:
    every, chosen = life(measured.cli), life(measured.cli, "--case", "*_rsa_*")
    assert len(every.cases) == 2
    assert [each.case.id for each in chosen.cases] == [each.case.id for each in every.cases if "_rsa_" in each.case.id]
    assert len(chosen.cases) == 1


def test_the_sentence_is_of_the_chosen_cases() -> None:
    answer = Life.model_validate_json((EXAMPLES / "answers" / "life.json").read_text(encoding="utf-8"))
    assert answer.sentence
    others = [each.case.id for each in answer.cases if each.case.id != answer.changes[0].case.id]
    chosen = of_cases(answer, others)
    assert [each.case.id for each in chosen.cases] == others
    assert {each.case.id for each in chosen.changes} <= set(others)
    assert chosen.sentence != answer.sentence


def test_of_allocations_of_one_version_nothing_stands_out(cli: Cli, fake_kit: FakeKit) -> None:
    stock(cli, fake_kit, "1.0")
    spec = cli.folder / "counted.yaml"
    spec.write_text(SPEC.replace("starts: 2, age: 200", "instrument: allocations"))
    assert cli("run", str(spec)).status == 0
    shown = cli("life").out
    assert shown.count("nothing stands out") == 1
    assert "±" not in shown, "a legend of signs that are not there"
    assert "kexbench life --case '*' shows every number" in shown


def test_nothing_measured_names_the_command_that_measures(cli: Cli) -> None:
    done = cli("life")
    assert (done.status, done.out) == (1, "")
    assert "kexbench run life" in done.err
