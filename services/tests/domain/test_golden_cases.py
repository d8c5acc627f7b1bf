"""Stored rows and bookmarks rely on the ids of cases: a change of these files is a loss of history."""

from hashlib import sha256
from itertools import product
from pathlib import Path

from kexbench.domain.cases import Case
from tests.builders import assert_golden
from tests.domain.spaces import FIRST_POINTS, VARIATIONS, sample

GOLDEN = Path(__file__).parent / "golden"
VARIED = [
    point.model_copy(update=dict(zip(VARIATIONS, values, strict=True)))
    for point in FIRST_POINTS[:: len(FIRST_POINTS) // 4]
    for values in product(*(values[:2] for values in VARIATIONS.values()))
]


def described(case: Case) -> str:
    words = " ".join(f"{name}={value}" for name, value in case.setup_fields().items())
    return f"{case.case_id}\n  {case.label}\n  {words}\n"


def test_a_readable_sample_of_cases_is_named_as_ever() -> None:
    assert_golden(GOLDEN / "cases.txt", "".join(map(described, sample(60))))


def test_thousands_of_cases_are_named_as_ever() -> None:
    cases = [*FIRST_POINTS, *VARIED]
    assert len(cases) > 10_000
    text = "".join(map(described, cases))
    assert_golden(GOLDEN / "all-cases.sha256", sha256(text.encode()).hexdigest() + "\n")
