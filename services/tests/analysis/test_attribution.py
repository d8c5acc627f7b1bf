"""What explains planted moves, and the sentence that people read."""

from collections.abc import Sequence

import pytest

from kexbench.analysis.attribution import attribute
from kexbench.analysis.compared import CellData
from kexbench.analysis.sentences import sentence
from kexbench.analysis.verdict import judge
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import RSA_KEYS, Resumption
from kexbench.domain.upgrades import Factor
from tests.analysis.matrices import Steps, a_matrix, an_end, nothing
from tests.golden import GOLDEN, assert_golden


def factors(cells: Sequence[CellData]) -> tuple[Factor, ...]:
    return attribute(cells, judge(cells))


def attributed(cells: Sequence[CellData]) -> str:
    judged = judge(cells)
    return sentence(an_end("3.0.19"), an_end("3.5.4"), judged, attribute(cells, judged))


def signed_with_rsa(case: Case) -> bool:
    return case.key_exchange.key in RSA_KEYS and case.resumption is Resumption.NONE


def on_server(size: float) -> Steps:
    return lambda case: (size * signed_with_rsa(case), 0.0)


def on_tls_1_3(case: Case) -> tuple[float, float]:
    return (0.05, 0.05) if case.protocol == "TLSv1.3" else (0.0, 0.0)


def on_two(case: Case) -> tuple[float, float]:
    """RSA on the server, and everything a little."""
    return (0.2 if signed_with_rsa(case) else 0.04), 0.04


@pytest.mark.parametrize("seed", range(5))
def test_an_rsa_certificate_is_named_where_all_cells_with_one_moved_on_the_server(seed: int) -> None:
    found = factors(a_matrix(on_server(0.1), seed=seed))
    assert [(factor.dimension, factor.value, factor.side) for factor in found] == [("certificate key", "RSA", "server")]
    assert found[0].low < 1.1 < found[0].high
    assert (found[0].cells, found[0].moved) == (4, 4)
    assert found[0].explained > 0.9
    assert found[0].alike == ()


@pytest.mark.parametrize("seed", range(5))
def test_a_protocol_is_named_where_all_its_cells_moved_on_both_sides(seed: int) -> None:
    found = factors(a_matrix(on_tls_1_3, seed=seed))
    assert [(factor.dimension, factor.value, factor.side) for factor in found] == [("protocol", "TLS 1.3", "both")]


@pytest.mark.parametrize("seed", range(5))
def test_what_every_case_shares_is_every_case(seed: int) -> None:
    found = factors(a_matrix(lambda _: (0.1, 0.0), seed=seed))
    assert [(factor.dimension, factor.side) for factor in found] == [("every case", "server")]


@pytest.mark.parametrize("seed", range(5))
def test_two_causes_are_distinguished(seed: int) -> None:
    found = factors(a_matrix(on_two, seed=seed))
    assert {factor.dimension for factor in found} == {"every case", "certificate key"}


@pytest.mark.parametrize("seed", range(10))
def test_nothing_explains_noise(seed: int) -> None:
    assert factors(a_matrix(nothing, seed=seed)) == ()


@pytest.mark.parametrize("seed", range(5))
def test_one_cell_that_moved_alone_is_explained_by_nothing(seed: int) -> None:
    cells = a_matrix(lambda case: (0.1, 0.1) if case.rsa_bits == 4096 else (0.0, 0.0), seed=seed)
    assert sum(cell.verdict == "more" for cell in judge(cells)) == 1
    assert factors(cells) == ()


def test_what_the_same_cells_have_is_named_beside_it() -> None:
    without = ("TLSv1.2", "RSA")
    cells = [cell for cell in a_matrix(on_tls_1_3) if (cell.case.protocol, cell.case.group) != ("TLSv1.3", "P-256")]
    cells = [cell for cell in cells if (cell.case.protocol, cell.case.key_exchange) != without]
    assert [(factor.value, factor.alike) for factor in factors(cells)] == [("TLS 1.3", ("group X25519",))]


def test_what_moved_cells_have_not_is_named_where_nothing_else_fits() -> None:
    found = factors(a_matrix(lambda case: (0.0, 0.0) if signed_with_rsa(case) else (-0.1, -0.1)))
    assert [factor.value for factor in found] == ["not RSA"]
    assert found[0].ratio == pytest.approx(0.9, abs=0.01)


def test_the_order_of_the_cells_does_not_matter() -> None:
    cells = a_matrix(on_two)
    there, back = factors(cells), factors(cells[::-1])
    assert [factor.value for factor in there] == [factor.value for factor in back]
    assert [factor.ratio for factor in there] == pytest.approx([factor.ratio for factor in back])


def test_the_sentence_names_what_the_moves_share() -> None:
    found = attributed(a_matrix(on_server(0.1), noise=0.001))
    assert_golden(GOLDEN / "attributed-upgrade.txt", f"{found}\n")
