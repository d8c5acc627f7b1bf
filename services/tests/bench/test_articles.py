"""docs/articles.md: every article has its figures there, and only they are replaced."""

from pathlib import Path

import pytest

from bench.articles import BLOCKS, Figures, filled, rates, ratios
from kexbench.answers.articles import articles
from kexbench.domain.articles import ARTICLES
from kexbench.domain.runs import RunState
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import ECDSA, NOON, RSA, SPEC, a_run, an_event, an_invocation

PAGE = (Path(__file__).parents[3] / "docs" / "articles.md").read_text(encoding="utf-8")
REFERENCE = f"""\
reference:
  title: an article
  tables:
    - title: rates
      baseline: {RSA}
      rows:
        - {{ caseId: {ECDSA}, rate: 50 }}
        - {{ caseId: {RSA}, rate: 100 }}
  ratios:
    - title: ratios
      side: server
      rows:
        - {{ caseId: {ECDSA}, relativeTo: {RSA}, ratio: 2.7 }}
        - {{ caseId: {RSA}, relativeTo: {ECDSA}, ratio: 1.03 }}
"""


def test_every_article_has_its_figures_on_the_page() -> None:
    assert {name.partition(" ")[0] for name in BLOCKS} == {article.spec_name for article in ARTICLES}
    for name in BLOCKS:
        assert f"<!-- {name} -->" in PAGE
        assert f"<!-- /{name} -->" in PAGE


def test_only_figures_are_replaced() -> None:
    page = "before\n<!-- a -->\nold\n<!-- /a -->\nbetween <!-- b --><!-- /b --> after"
    assert filled(page, {"a": "new", "b": "other"}) == (
        "before\n<!-- a -->\n\nnew\n\n<!-- /a -->\nbetween <!-- b -->\n\nother\n\n<!-- /b --> after"
    )


@pytest.mark.parametrize("page", ["", "<!-- a -->", "<!-- /a -->"])
def test_a_page_without_the_place_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="no block 'a'"):
        filled(page, {"a": "new"})


@pytest.fixture
def figures(empty_store: ClickHouseStore) -> Figures:
    """ECDSA costs half of RSA, so that it is twice as fast."""
    run = a_run(spec=SPEC.replace("name: example", "name: forward-secrecy-2011") + REFERENCE)
    empty_store.add_run(run)
    for number in range(6):
        for case_id, cost in ((RSA, 2_000_000), (ECDSA, 1_000_000)):
            invocation = an_invocation(run, number, case_id=case_id, cpu_ns={"fake@1.0": cost + number})
            empty_store.add_invocation(run, invocation)
    empty_store.add_event(an_event(run, RunState.FINISHED, seconds=99))
    (view,) = (each.run for each in articles(empty_store).articles if each.run)
    return Figures(empty_store, view)


def test_rates_stand_beside_the_published_ones(figures: Figures) -> None:
    title, table, orders = rates(figures)
    header, _, ecdsa, rsa = table.splitlines()
    assert title == "**rates**"
    assert header.endswith("| published | fake 1.0 |")
    assert "50.00/s, 0.50 | 1,000/s, 2.00 [2.00, 2.00]" in ecdsa
    assert "100.00/s, 1.00 | 500/s |" in rsa
    assert "2.00 times as fast as" in orders


def test_a_ratio_says_whether_the_order_is_as_published(figures: Figures) -> None:
    title, table = ratios(figures)
    _, _, faster, slower = table.splitlines()
    assert title == "**ratios**"
    assert "| 2.7 | 2.00 [2.00, 2.00] |" in faster
    assert "| 1.03 | 0.50 [0.50, 0.50], **the other way** |" in slower


def test_it_says_when_and_where(figures: Figures) -> None:
    assert figures.measured().startswith(f"Measured on {NOON:%Y-%m-%d}, ")
