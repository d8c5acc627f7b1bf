"""The sentence of an upgrade, for every way it can end."""

import pytest

from kexbench.analysis.sentences import culprit_sentence, sentence
from kexbench.domain.differences import Difference
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Ratio
from kexbench.domain.profiles import Culprit
from kexbench.domain.upgrades import CellVerdict, Factor, SideMove, UpgradeCell
from tests.analysis.matrices import an_end
from tests.golden import GOLDEN, assert_texts


def a_cell(
    verdict: CellVerdict,
    ratio: float | None = 1.0,
    *,
    server: float | None = None,
    number: int = 0,
    pool: str = "local",
    components: tuple[Difference, ...] = (),
    resolves: float | None = 0.008,
) -> UpgradeCell:
    move = None if ratio is None else Ratio(ratio=ratio, low=ratio - 0.001, high=ratio + 0.001)
    side = None if server is None else SideMove(ratio=server, low=server - 0.001, high=server + 0.001, verdict="more")
    return UpgradeCell(
        case_id=f"case-{number}",
        title=f"case {number}",
        host_kind=HostKind(pool, "Example CPU 9000"),
        verdict=verdict,
        move=move,
        client=None if side is None else SideMove(ratio=1.0, low=0.999, high=1.001, verdict="same"),
        server=side,
        q=None,
        resolves=resolves,
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


def test_the_sentence_of_an_upgrade() -> None:
    three = [*MORE, a_cell("more", 1.021)]
    along = (
        Difference(what="nettle", before="3.8.1", after="3.10.1"),
        Difference(what="gmp", before="6.2.1", after="6.3.0"),
    )
    situations: dict[str, tuple[list[UpgradeCell], list[Factor]]] = {
        "no cells": ([], []),
        "one cell without a number": ([a_cell("unresolved", None)], []),
        "one cell whose runs share no subject": ([a_cell("apart", None)], []),
        "one cell of unlike work": ([a_cell("unlike", None)], []),
        "no change": ([a_cell("same")], []),
        "no change, one unresolved": ([a_cell("same"), a_cell("unresolved", number=1, resolves=0.019)], []),
        "no change on two host kinds": ([a_cell("same"), a_cell("same", pool="other")], []),
        "two of three slower, with a common factor": ([*MORE, a_cell("same")], [RSA]),
        "all slower, two of three with the factor": (three, [RSA]),
        "two factors": (three, [EVERY, RSA]),
        "every case": ([a_cell("more", 1.021, number=number) for number in range(2)], [EVERY]),
        "every case, with changes of different sizes": (three, [EVERY]),
        "a factor that the same cases have with another": (MORE, [RSA.model_copy(update={"alike": ("TLS 1.2",)})]),
        "one case faster": ([a_cell("less", 0.9)], []),
        "slower and faster": ([*MORE, a_cell("less", 0.9)], []),
        "one side alone, two unlike": (
            [a_cell("more", 1.05, server=1.1), a_cell("unlike", None, number=1), a_cell("unlike", None, number=2)],
            [],
        ),
        "components changed as well": (
            [a_cell("less", 0.94, components=along), a_cell("same", 1.0, number=1, components=along)],
            [],
        ),
    }
    ends = an_end("3.0.19"), an_end("3.5.4")
    texts = {name: sentence(*ends, cells, factors) for name, (cells, factors) in situations.items()}
    texts["two builds of one version"] = sentence(an_end("3.5.4"), an_end("3.5.4", "crate/3.5.4"), [])
    assert_texts(GOLDEN / "upgrades.txt", texts)


@pytest.mark.parametrize(
    ("function", "calls", "expected"),
    [
        ("hash", (1.0, 2.0), "hash adds 7.7% to {place}: 2 calls instead of 1."),
        ("hash", (2.0, 1.0), "hash adds 7.7% to {place}: 1 call instead of 2."),
        ("hash", (2.01, 2.04), "hash adds 7.7% to {place}."),
        (
            "functions without a name of libcrypto",
            (26_714.8, 66_549.6),
            "Functions without a name of libcrypto add 7.7% to {place}: 66,550 calls instead of 26,715.",
        ),
    ],
    ids=["twice", "once", "as often", "without a name, often"],
)
def test_the_function_that_most_of_a_change_is_in_has_a_sentence(
    function: str, calls: tuple[float, float], expected: str
) -> None:
    culprit = Culprit(
        case_id="a",
        title="TLS 1.2 RSA, RSA 2048",
        side="server",
        function=function,
        amounts=(1000, 1770),
        calls=calls,
        side_amounts=(10_000, 10_900),
        run_id="r",
    )
    assert culprit_sentence(culprit) == expected.format(place="the server's instructions in TLS 1.2 RSA, RSA 2048")
