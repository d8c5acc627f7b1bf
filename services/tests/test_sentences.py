"""No decision reads a sentence: the check of it finds what it is to find."""

import pytest

from checks.sentences import in_python, in_typescript


@pytest.mark.parametrize(
    "line",
    [
        "breaks = newer in view.detail",
        "quiet = event.detail.startswith('building')",
        "if not any(want in detail for want in wants): pass",
        "found = re.search(r'exit code 6', error.reason)",
        "found = _FAULT.fullmatch(one.sentence)",
        "known = 'no such file' in str(error)",
    ],
)
def test_a_decision_that_reads_a_sentence_is_found(line: str) -> None:
    assert list(in_python(f"first = 1\n{line}\n")) == [2]


@pytest.mark.parametrize(
    "line",
    [
        "same = event.reason is RunReason.SUBMITTED",
        "text = f'{state}: {event.detail}'",
        "words = event.detail or 'nothing'",
        "found = re.search(UNBUILDABLE, task.message)",
        "known = name in names",
    ],
)
def test_values_and_what_other_programs_say_may_be_read(line: str) -> None:
    assert list(in_python(line)) == []


def test_the_text_of_an_error_is_a_sentence_whatever_its_name() -> None:
    caught = "try:\n    run()\nexcept OSError as fault:\n    full = 'No space' in str(fault)\n"
    assert list(in_python(caught)) == [4]
    assert list(in_python("known = 'bench' in str(folder)")) == []


def test_pages_are_looked_at_as_well() -> None:
    assert list(in_typescript("const a = 1;\nif (run.detail.includes('newer')) stop();")) == [2]
    assert list(in_typescript("const ends = WITH_SOURCE.exec(cause.detail);")) == [1]
    assert list(in_typescript("if (run.detail!.startsWith('newer')) stop();")) == [1]
    assert list(in_typescript("return <p>{run.detail}</p>;")) == []
