"""Stored rows and bookmarks rely on the ids of cases: what is in the golden file is never changed, only added to."""

import json
from pathlib import Path

from kexbench.domain.cases import DIMENSIONS, FIRST_FIELDS, Case

GOLDEN = [json.loads(line) for line in (Path(__file__).parent / "golden" / "cases.ndjson").read_text().splitlines()]
VARIATIONS = [{name: value for name, value in golden["case"].items() if name not in FIRST_FIELDS} for golden in GOLDEN]


def test_cases_are_named_and_stored_as_ever() -> None:
    cases = [Case.model_validate(golden["case"]) for golden in GOLDEN]
    assert [case.case_id for case in cases] == [golden["id"] for golden in GOLDEN]
    assert [case.label for case in cases] == [golden["label"] for golden in GOLDEN]
    assert [case.variation for case in cases] == VARIATIONS


def test_the_golden_cases_are_many_and_vary_in_every_dimension() -> None:
    assert len({golden["id"] for golden in GOLDEN}) == len(GOLDEN) >= 400
    assert {name for variation in VARIATIONS for name in variation} == set(DIMENSIONS)
