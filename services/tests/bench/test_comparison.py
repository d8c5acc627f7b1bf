"""The comparison on stored measurements in which nothing changed; `python -m bench.comparison` has many more draws."""

import pytest

from bench.comparison import WAYS, drawn, interleaved, stored, upgrade_of
from kexbench.analysis.lists import compare_lists


def test_the_stored_measurements_are_what_their_readme_says() -> None:
    for kind in ("ecdsa", "rsa"):
        assert [len(values) for values in stored(kind, 1)] == [30] * 160


@pytest.mark.parametrize("way", WAYS)
def test_a_handshake_is_hardly_ever_a_regression_of_itself(way: str) -> None:
    """Nominally 0.5%, of 130 to 600 tests here."""
    lists = drawn(way, clock=1, size=5, scale=4)
    assert sum(compare_lists(a, b, WAYS[way].paired, strict=False).regression for a, b in lists) / len(lists) < 0.02


def test_a_matrix_of_the_same_handshakes_has_no_cell_that_moved() -> None:
    pool = interleaved(stored("ecdsa", 1))
    judged = upgrade_of([(pool[first : first + 10], "CPU") for first in range(0, 160, 10)])
    assert {cell.verdict for cell in judged} <= {"same", "unresolved"}
