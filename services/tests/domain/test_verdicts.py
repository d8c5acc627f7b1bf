"""The sentence that a run's verdict is."""

from kexbench.domain.verdicts import LARGEST, MovedCell, judged
from tests.golden import GOLDEN, assert_texts


def a_cell(change: float) -> MovedCell:
    return MovedCell(
        case="RSA 2048", pool="local", before="a", after="b", ratio=1 + change, low=0.99 + change, high=1.01 + change
    )


def test_the_sentence_of_a_verdict() -> None:
    situations = {
        "one case slower, some unresolved": judged(120, 5, [a_cell(0.031)]),
        "two slower, one faster": judged(120, 0, [a_cell(0.031), a_cell(0.01), a_cell(-0.02)]),
        "nothing moved, some unresolved": judged(120, 5, []),
        "nothing moved in one comparison": judged(1, 0, []),
        "an incomplete run, a thousand faster": judged(1200, 0, [a_cell(-0.02)] * 1000, "no node"),
        "nothing was compared": judged(0, 0, []),
        "nothing could be compared": judged(
            0, 0, [], missing={"unsupported": 18, "too few invocations": 2, "crashed": 1, "hung": 1}
        ),
        "one comparison lost": judged(119, 5, [a_cell(0.031)], missing={"crashed": 1}, lost=1),
        "several without a result": judged(110, 0, [], missing={"unsupported": 8, "not measured": 2}, lost=3),
        "all at once": judged(
            1200, 300, [a_cell(0.031), a_cell(-0.02)], "no node", {"too few invocations": 800, "error": 2}
        ),
    }
    assert_texts(GOLDEN / "verdicts.txt", {name: verdict.sentence for name, verdict in situations.items()})
    assert max(len(verdict.sentence) for verdict in situations.values()) < 140, "a commit status has no more room"


def test_all_that_moved_is_counted_and_the_furthest_is_named() -> None:
    found = judged(200, 0, [a_cell(n / 1000 * (-1) ** n) for n in range(1, LARGEST + 11)])
    assert (found.more, found.less, found.moved) == (15, 15, 30)
    assert [round((cell.ratio - 1) * 1000) for cell in found.largest[:3]] == [30, -29, 28]
    assert len(found.largest) == LARGEST
