"""The sentence of an upgrade, for every way it can end."""

import pytest

from kexbench.analysis.sentences import sentence
from kexbench.domain.components import ComponentChange
from kexbench.domain.upgrades import CellVerdict, Factor, Move, SideMove, UpgradeCell, UpgradeEnd
from tests.analysis.matrices import an_end


def a_cell(
    verdict: CellVerdict,
    ratio: float | None = 1.0,
    *,
    server: float | None = None,
    number: int = 0,
    pool: str = "local",
    components: tuple[ComponentChange, ...] = (),
) -> UpgradeCell:
    move = None if ratio is None else Move(ratio=ratio, low=ratio - 0.001, high=ratio + 0.001)
    side = None if server is None else SideMove(ratio=server, low=server - 0.001, high=server + 0.001, verdict="more")
    return UpgradeCell(
        case_id=f"case-{number}",
        title=f"case {number}",
        pool=pool,
        cpu_model="Example CPU 9000",
        verdict=verdict,
        move=move,
        client=None if side is None else SideMove(ratio=1.0, low=0.999, high=1.001, verdict="same"),
        server=side,
        q=None,
        resolves=None,
        paired=True,
        before_ns=None,
        after_ns=None,
        invocations=10,
        run_ids=("run",),
        warnings=(),
        components=components,
    )


def a_factor(value: str, words: str, ratio: float, moved: int, **fields: object) -> Factor:
    given = {"dimension": "certificate key", "side": "both", "cells": moved, "explained": 0.9, **fields}
    return Factor.model_validate(
        {"value": value, "words": words, "ratio": ratio, "low": ratio - 0.01, "high": ratio + 0.01, "moved": moved}
        | given
    )


RSA = a_factor("RSA", "an RSA certificate", 1.062, 2, side="server")
EVERY = a_factor("every case", "every case", 1.03, 3, dimension="every case")
MORE = [a_cell("more", 1.021, number=1), a_cell("more", 1.084, number=2)]


@pytest.mark.parametrize(
    ("cells", "factors", "told"),
    [
        ([], [], "there is nothing to compare"),
        ([a_cell("unresolved", None)], [], "there is nothing to compare; 1 could not be resolved"),
        (
            [a_cell("apart", None)],
            [],
            "there is nothing to compare; 1 was measured in different runs that share no subject, and was not judged",
        ),
        ([a_cell("unlike", None)], [], "there is nothing to compare; 1 did not do the same in both and is not judged"),
        ([a_cell("same")], [], "nothing moved, of 1 case"),
        ([a_cell("same"), a_cell("unresolved", number=1)], [], "nothing moved, of 2 cases; 1 could not be resolved"),
        ([a_cell("same"), a_cell("same", pool="other")], [], "nothing moved, of 2 measurements"),
        (
            [*MORE, a_cell("same")],
            [RSA],
            (
                "2 of 3 cases cost more, by 2.1% to 8.4%; what they share is an RSA certificate (+6.2% [5.2%, 7.2%] "
                "of the server's CPU time)"
            ),
        ),
        (
            [*MORE, a_cell("more", 1.021)],
            [RSA],
            (
                "3 of 3 cases cost more, by 2.1% to 8.4%; most of it goes with an RSA certificate (+6.2% [5.2%, 7.2%] "
                "of the server's CPU time)"
            ),
        ),
        (
            [*MORE, a_cell("more", 1.021)],
            [EVERY, RSA],
            (
                "3 of 3 cases cost more, by 2.1% to 8.4%; most of it goes with every case (+3.0% [2.0%, 4.0%]) and an "
                "RSA certificate (+6.2% [5.2%, 7.2%] of the server's CPU time)"
            ),
        ),
        (
            [*MORE, a_cell("more", 1.021)],
            [EVERY],
            "3 of 3 cases cost more, by 2.1% to 8.4%; it goes with every case (+3.0% [2.0%, 4.0%])",
        ),
        (
            MORE,
            [RSA.model_copy(update={"alike": ("TLS 1.2",)})],
            (
                "2 of 2 cases cost more, by 2.1% to 8.4%; what they share is an RSA certificate (or TLS 1.2, which the "
                "same cases have) (+6.2% [5.2%, 7.2%] of the server's CPU time)"
            ),
        ),
        ([a_cell("less", 0.9)], [], "1 of 1 case costs less, by 10.0%"),
        (
            [*MORE, a_cell("less", 0.9)],
            [],
            "2 of 3 cases cost more, by 2.1% to 8.4%; 1 costs less, by 10.0%",
        ),
        (
            [a_cell("more", 1.05, server=1.1), a_cell("unlike", None, number=1), a_cell("unlike", None, number=2)],
            [],
            (
                "1 of 1 case costs more, by 5.0%; what moved is the server's CPU time alone; "
                "2 did not do the same in both and are not judged"
            ),
        ),
    ],
)
def test_the_sentence_says_what_became_of_the_costs(cells: list[UpgradeCell], factors: list[Factor], told: str) -> None:
    assert sentence(an_end("3.0.19"), an_end("3.5.4"), cells, factors) == f"OpenSSL 3.0.19 → 3.5.4: {told}."


def test_two_builds_of_one_version_are_told_apart_by_their_source() -> None:
    ends: tuple[UpgradeEnd, UpgradeEnd] = an_end("3.5.4"), an_end("3.5.4", "crate/3.5.4")
    assert sentence(*ends, []).startswith("OpenSSL 3.5.4 (debian/trixie) → 3.5.4 (crate/3.5.4): ")


def test_what_changed_along_with_the_library_stands_before_what_moved() -> None:
    along = (
        ComponentChange(component="nettle", before="3.8.1", after="3.10.1"),
        ComponentChange(component="gmp", before="6.2.1", after="6.3.0"),
    )
    cells = [a_cell("less", 0.94, components=along), a_cell("same", 1.0, number=1, components=along)]
    told = sentence(an_end("3.7.9"), an_end("3.8.9"), cells)
    head, _, rest = told.partition(": ")
    assert head.endswith("3.7.9 → 3.8.9 with nettle 3.8.1 → 3.10.1, gmp 6.2.1 → 6.3.0"), told
    assert rest == "1 of 2 cases costs less, by 6.0%."
