"""What a spec asks for and some of its cases cannot have."""

import pytest

from kexbench.domain.plans import left_out
from tests.builders import SPEC, a_plan

MATRIX = """\
matrix:
  - { protocol: [TLSv1.2], keyExchange: [RSA], context: [shared, connection] }
  - { protocol: [TLSv1.2], keyExchange: [RSA], threads: [2] }
"""


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("starts: 2, age: 200", ["2 of 3 cases cannot be started: ", "2 of 3 cases cannot age: "]),
        ("age: 200, instrument: time", ["2 of 3 cases cannot age: "]),
        ("batches: 4", []),
    ],
)
def test_cases_that_cannot_start_or_age_are_counted(measure: str, words: list[str]) -> None:
    plan = a_plan(f"{SPEC[: SPEC.index('matrix:')]}{MATRIX}measure: {{ invocations: 6, {measure} }}\n")
    lines = list(left_out(plan.measure, plan.cases))
    assert [line.startswith(word) for line, word in zip(lines, words, strict=True)] == [True] * len(words)
