"""The sentence that a run's verdict is."""

import pytest

from kexbench.domain.verdicts import LARGEST, MovedCell, judged


def a_cell(change: float) -> MovedCell:
    return MovedCell(
        case="RSA 2048", pool="local", before="a", after="b", change=change, low=change - 0.01, high=change + 0.01
    )


@pytest.mark.parametrize(
    ("compared", "unresolved", "changes", "trouble", "says"),
    [
        (120, 5, [0.031], "", "of 120 cells, 1 costs more (up to +3.1%); 5 unresolved"),
        (120, 0, [0.031, 0.01, -0.02], "", "of 120 cells, 2 cost more (up to +3.1%) and 1 costs less (up to -2.0%)"),
        (120, 5, [], "", "nothing moved relevantly, of 120 cells; 5 unresolved"),
        (1, 0, [], "", "nothing moved relevantly, of 1 cell"),
        (1200, 0, [-0.02] * 1000, "no node", "of 1,200 cells, 1,000 cost less (up to -2.0%) (incomplete)"),
        (0, 0, [], "", "there is nothing to compare"),
    ],
)
def test_the_verdict_is_one_sentence(
    compared: int, unresolved: int, changes: list[float], trouble: str, says: str
) -> None:
    assert judged(compared, unresolved, [a_cell(change) for change in changes], trouble).sentence == says


def test_all_that_moved_is_counted_and_the_furthest_is_named() -> None:
    found = judged(200, 0, [a_cell(n / 1000 * (-1) ** n) for n in range(1, LARGEST + 11)])
    assert (found.more, found.less, found.moved) == (15, 15, 30)
    assert [round(cell.change * 1000) for cell in found.largest[:3]] == [30, -29, 28]
    assert len(found.largest) == LARGEST
