"""`kexbench life`: from a run that starts processes and ages contexts to its numbers."""

import pytest

from kexbench.answers.life import Life
from kexbench.cli.life import of_cases
from kexbench.domain.samples import Metric
from tests.builders import EXAMPLES
from tests.cli.conftest import Cli, stock
from tests.conftest import FakeKit

SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: living }
subjects: [{ fake: ["1.0"] }]
matrix: { protocol: [TLSv1.2], keyExchange: [ECDHE-ECDSA] }
measure: { invocations: 3, batches: 2, starts: 2, age: 200, sentinel: false }
"""


@pytest.fixture
def measured(cli: Cli, fake_kit: FakeKit) -> Cli:
    stock(cli, fake_kit, "1.0")
    (cli.folder / "living.yaml").write_text(SPEC)
    return cli


def test_a_run_that_starts_and_ages_says_where_its_numbers_are(measured: Cli) -> None:
    run = measured("run", str(measured.folder / "living.yaml"))
    assert run.status == 0
    assert "kexbench life" in run.err
    assert "kexbench paths" not in run.err
    (case,) = Life.model_validate(measured("life", "--json").json()).cases
    lines = {line.metric: line.cells[0] for section in case.sections for line in section.lines}
    start, young = lines[Metric.START_CPU_NS], lines[Metric.YOUNG_CPU_NS]
    assert start
    assert young
    assert start.estimate
    assert start.estimate.invocations == 3
    assert case.ageing[0]
    assert case.ageing[0].connections == 200
    shown = measured("life", "--case", "*")
    assert shown.status == 0
    assert all(line.title.split()[0] in shown.out for section in case.sections for line in section.lines)


def test_a_case_that_nobody_measured_is_refused_with_those_that_are_there(measured: Cli) -> None:
    assert measured("run", str(measured.folder / "living.yaml")).status == 0
    for words in (("--case", "dtls*"), ("--case", "dtls*", "--json")):
        refused = measured("life", *words)
        assert refused.status == 2
        assert "tlsv1.2_ecdhe-ecdsa" in refused.err.replace("\n", "")


def test_json_has_the_cases_that_were_asked_for(measured: Cli) -> None:
    spec = SPEC.replace("[ECDHE-ECDSA]", "[ECDHE-ECDSA, RSA]").replace("invocations: 3", "invocations: 2")
    (measured.folder / "living.yaml").write_text(spec)
    assert measured("run", str(measured.folder / "living.yaml")).status == 0
    every = Life.model_validate(measured("life", "--json").json())
    assert len(every.cases) == 2
    chosen = Life.model_validate(measured("life", "--json", "--case", "*_rsa_*").json())
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


def test_nothing_measured_names_the_command_that_measures(cli: Cli) -> None:
    done = cli("life")
    assert (done.status, done.out) == (1, "")
    assert "kexbench run life" in done.err
