"""What a bisection knows, and how its answer reads."""

import re

import pytest

from kexbench.analysis.bisect import Found, Next, Unsure, next_step
from kexbench.analysis.bisect_answer import answer
from kexbench.analysis.bisect_notes import CaseLogs, Failure, Measurement, Notes
from kexbench.cli.bisect_words import print_answer
from kexbench.domain.bisections import BisectionAnswer, LineCommit
from tests.builders import ECDSA, RSA, a_plan
from tests.golden import GOLDEN, assert_golden, assert_texts

CASES = tuple(case for case in a_plan().cases if case.case_id == RSA)
NAMES = ("v1", "master")
STEP = tuple(0.02 + 0.001 * (number % 3 - 1) for number in range(6))
LIKE_GOOD, LIKE_BAD = (tuple(log / 2 * side for log in STEP) for side in (-1, 1))


def hashed(number: int) -> str:
    return f"{number:02}".ljust(40, "a")


def some_notes(
    places: dict[int, tuple[float, ...]], *, commits: int = 9, failed: tuple[int, ...] = (), built: bool = False
) -> Notes:
    """Of a step of 2%; `places` is what was measured of commits between the ends."""
    return Notes(
        library="fake",
        address="/src/fake",
        commits=tuple(
            LineCommit(
                hash=hashed(number), author="Ada <ada@example.org>", date="2026-01-01", subject=f"Change {number}"
            )
            for number in range(commits)
        ),
        case_ids=(RSA,),
        invocations=6,
        failed={number: Failure(reason="make: it fails", built=built) for number in failed},
        measured=(
            Measurement(commit=None, run_id="run-0", logs={RSA: CaseLogs(steps=STEP, places=())}),
            *(
                Measurement(commit=commit, run_id=f"run-{commit}", logs={RSA: CaseLogs(steps=STEP, places=logs)})
                for commit, logs in places.items()
            ),
        ),
    )


def answered(notes: Notes, found: Next | None) -> BisectionAnswer:
    return answer(notes, CASES, NAMES, 10, found)


def test_a_commit_that_is_found_is_printed_as_git_log_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    notes = some_notes({3: LIKE_GOOD, 4: LIKE_BAD}, failed=(6,))
    found = next_step(notes.search(10))
    assert isinstance(found, Found)
    print_answer(answered(notes, found))
    says = answered(notes, found).says
    assert_golden(GOLDEN / "bisection.txt", capsys.readouterr().out.replace(says, "THE ANSWER"))


def test_of_commits_that_do_not_build_all_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    notes = some_notes({3: LIKE_GOOD, 6: LIKE_BAD}, failed=(4, 5))
    found = next_step(notes.search(10))
    assert isinstance(found, Found)
    print_answer(answered(notes, found))
    said = capsys.readouterr().out
    assert said.count("make: it fails") == 2
    assert [f"    Change {number}\n" in said for number in (3, 4, 5, 6, 7)] == [False, True, True, True, False]


def test_a_search_that_is_spent_names_what_is_left_and_what_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(answered(some_notes({20: LIKE_BAD}, commits=40), Unsure("spent", 1, 20)))
    said = capsys.readouterr().out
    assert said.count("Author:") == 12
    assert "\nand 8 more\n" in said


def shifted(places: tuple[float, ...], log: float) -> tuple[float, ...]:
    return tuple(place + log for place in places)


def test_a_commit_is_named_with_its_share_and_where_the_rest_of_the_step_is() -> None:
    notes = some_notes({3: shifted(LIKE_GOOD, 0.004) * 5, 4: LIKE_BAD * 5})
    found = next_step(notes.search(10))
    assert isinstance(found, Found)
    (step,) = answered(notes, found).steps
    assert step.added == pytest.approx(0.0162, abs=0.0001)


def test_where_no_commit_has_more_than_half_of_the_step_the_parts_are_named() -> None:
    third = 0.02 / 3
    notes = some_notes({5: shifted(LIKE_GOOD, third) * 20, 6: shifted(LIKE_BAD, -third) * 20}, commits=16)
    found = next_step(notes.search(10))
    assert isinstance(found, Unsure)
    assert answered(notes, found).verdict == "cannot say"


def with_steps(notes: Notes, steps: tuple[float, ...]) -> Notes:
    """The same measurements of commits, with another change between the ends."""
    logs = [{RSA: CaseLogs(steps=steps, places=each.logs[RSA].places)} for each in notes.measured]
    pairs = zip(notes.measured, logs, strict=True)
    return notes.model_copy(update={"measured": tuple(each.model_copy(update={"logs": own}) for each, own in pairs)})


def test_every_answer_reads_as_agreed() -> None:
    third = 0.02 / 3
    answers = {
        "one commit is slower": some_notes({3: LIKE_GOOD, 4: LIKE_BAD}),
        "one commit is faster": with_steps(some_notes({3: LIKE_BAD, 4: LIKE_GOOD}), tuple(-log for log in STEP)),
        "some commits cannot be measured": some_notes({3: LIKE_GOOD, 6: LIKE_BAD}, failed=(4, 5)),
        "another part of the change lies before the commit": some_notes(
            {3: shifted(LIKE_GOOD, 0.004) * 5, 4: LIKE_BAD * 5}
        ),
        "no commit has more than half of the change": some_notes(
            {5: shifted(LIKE_GOOD, third) * 20, 6: shifted(LIKE_BAD, -third) * 20}, commits=16
        ),
    }
    texts = {situation: answered(notes, next_step(notes.search(10))).says for situation, notes in answers.items()}
    contradicted = some_notes({2: LIKE_BAD, 5: LIKE_GOOD, 6: LIKE_BAD})
    texts["a commit contradicts the answer"] = answered(contradicted, Found(6, 6, 0.999, against=(2,))).says
    texts["the builds are used up"] = answered(some_notes({20: LIKE_BAD}, commits=40), Unsure("spent", 1, 20)).says
    texts["the ends do not differ"] = answered(with_steps(some_notes({}), tuple(log - 0.02 for log in STEP)), None).says
    rounded = {situation: re.sub(r"9\d\.\d% prob", "99.9% prob", text) for situation, text in texts.items()}
    assert_texts(GOLDEN / "bisections.txt", rounded)


def test_a_case_without_a_step_says_nothing_of_where_it_is() -> None:
    notes = some_notes({})
    flat = CaseLogs(steps=tuple(log - 0.02 for log in STEP), places=())
    both = notes.model_copy(
        update={
            "case_ids": (RSA, ECDSA),
            "measured": (notes.measured[0].model_copy(update={"logs": {**notes.measured[0].logs, ECDSA: flat}}),),
        }
    )
    assert both.changed() == (RSA,)
    assert len(both.search(10).cases) == 1


def test_what_was_built_in_vain_counts_as_a_build() -> None:
    notes = some_notes({4: LIKE_BAD}, failed=(2,), built=True)
    assert notes.builds == 4
    assert notes.search(10).builds == 9
