"""docs/results/articles.md: every article has its figures there."""

import re

import pytest

from bench.articles import BLOCKS, HEAD, PAGE, Figures, rates, ratios, section
from kexbench.answers.articles import articles
from kexbench.domain.articles import ARTICLES
from kexbench.domain.runs import RunState
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import ECDSA, NOON, RSA, SPEC, a_run, an_event, an_invocation

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


def test_the_page_has_the_figures_of_every_article() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.startswith(HEAD)
    assert re.findall(r"^## (.+)$", page, flags=re.MULTILINE) == [article.title for article in ARTICLES]
    assert list(BLOCKS) == [article.spec_name for article in ARTICLES]


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


def test_a_section_says_when_and_where_and_names_the_spec(figures: Figures, empty_store: ClickHouseStore) -> None:
    (article,) = (each for each in articles(empty_store).articles if each.run)
    title, measured, first, *_ = section(article, figures).split("\n\n")
    assert title == "## The cost of forward secrecy in GnuTLS"
    assert measured.startswith(f"Measured on {NOON:%Y-%m-%d}, ")
    assert measured.endswith("[Spec](../../bench-specs/articles/forward-secrecy-2011.yaml).")
    assert first == "**rates**"
