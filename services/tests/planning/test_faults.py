"""What people read when a spec is wrong: every fault at once, each with its place and a way out."""

from pathlib import Path

import pytest

from kexbench.planning.documents import DocumentError
from tests.builders import SPEC, a_plan
from tests.golden import assert_golden

FAULTS = sorted((Path(__file__).parent / "faults").glob("*.yaml"))


def faults_of(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        a_plan(text)
    return str(caught.value).splitlines()


def test_there_are_wrong_specs_to_read() -> None:
    assert len(FAULTS) >= 8


@pytest.mark.parametrize("spec", FAULTS, ids=lambda path: path.stem)
def test_the_faults_of_a_wrong_spec_read_as_they_should(spec: Path) -> None:
    assert_golden(spec.with_suffix(".txt"), "\n".join(faults_of(spec.read_text())) + "\n")


@pytest.mark.parametrize("spec", FAULTS, ids=lambda path: path.stem)
def test_every_fault_is_on_a_line_of_its_own_in_the_order_of_lines(spec: Path) -> None:
    places = [line.split(":") for line in faults_of(spec.read_text())]
    assert {place[0] for place in places} == {"spec.yaml"}
    numbers = [(int(place[1]), int(place[2])) for place in places]
    assert numbers == sorted(numbers)


def test_a_spec_that_takes_too_long_is_reported_where_it_set_the_limit() -> None:
    (fault,) = faults_of(SPEC.replace("20m", "1s"))
    line = next(number for number, line in enumerate(SPEC.splitlines(), start=1) if "maxDuration" in line)
    assert fault.startswith(f"spec.yaml:{line}:{SPEC.splitlines()[line - 1].index('20m') + 1}: measure.maxDuration")
    assert "raise maxDuration" in fault


def test_a_spec_that_takes_too_long_without_setting_a_limit_is_refused_as_well() -> None:
    text = SPEC.replace("{ invocations: 6, batches: 4, maxDuration: 20m }", "{ invocations: 1000, batches: 1000 }")
    (fault,) = faults_of(text)
    assert "longer than the 60 allowed" in fault


def test_a_thousand_faults_are_counted_and_a_hundred_shown() -> None:
    found = faults_of(SPEC + "".join(f"unknown{number}: 1\n" for number in range(1000)))
    assert len(found) == 101
    assert found[0].startswith("spec.yaml:10:1: unknown0: unknown field")
    assert found[-1] == "spec.yaml:110:1: and 900 more faults from here on"


def test_a_huge_value_is_quoted_only_in_part() -> None:
    (fault,) = faults_of(SPEC.replace("name: example", f"name: {'A' * 10_000}"))
    assert "'AAAA" in fault
    assert len(fault) < 300


def test_the_fields_of_a_matrix_are_listed_once() -> None:
    entry = "{ protocol: [TLSv1.3], zzz: [1] }"
    faults = faults_of(f"{SPEC[: SPEC.index('matrix:')]}matrix: [{entry}, {entry}]\n")
    assert ["allowed: protocol" in fault for fault in faults if "unknown field" in fault] == [True, False]


def test_a_huge_version_is_repeated_only_in_part() -> None:
    (fault,) = faults_of(SPEC.replace("fake: [1.0, 1.1]", f"openssl: [{'A' * 100_000}]"))
    assert "unknown version 'AAAA" in fault
    assert fault.endswith("crate/3.5.5"), "the remedy stays"
    assert len(fault) < 1200


def test_an_age_of_many_hours_is_refused_where_it_was_asked_for() -> None:
    measure = "measure: { invocations: 6, batches: 4, maxDuration: 9999h, age: 10000000 }"
    (fault,) = faults_of(SPEC[: SPEC.index("measure:")] + measure + "\n")
    assert "measure.age: 10,000,000 connections of TLS 1.2 RSA" in fault
    assert fault.endswith("an age may take 1: lower age, or give this case a spec of its own")
