"""The documentation of alerts has the limits of every exact metric, and says which ones are screened by default."""

from pathlib import Path

import pytest

from kexbench.domain.metrics import Metric

PAGE = Path(__file__).parents[3] / "docs/use/alerts.md"
EXACT = [metric for metric in Metric if metric.row.exact]
ONE = 0.5
"""The tolerance of what is counted in whole numbers: one more counts."""


def row_of(metric: Metric) -> tuple[str, bool]:
    """The limits as the page has them, and whether its row is of the metrics that are screened by default."""
    screened, _, others = PAGE.read_text(encoding="utf-8").partition("Exact too, and screened where a spec names them")
    for text in (screened, others):
        for line in text.splitlines():
            if line.startswith("|") and f"`{metric}`" in line.split("|")[1]:
                return line.split("|")[2].strip(), text is screened
    raise AssertionError(f"{metric} is in no table")


@pytest.mark.parametrize("metric", EXACT)
def test_the_page_has_the_limits_that_the_code_has(metric: Metric) -> None:
    exact = metric.row.exact
    assert exact
    limits, is_screened = row_of(metric)
    assert is_screened == metric.row.watched
    if exact.relevant:
        assert limits.startswith(f"{100 * exact.relevant:g}%, and {exact.tolerance:,.0f} ")
    else:
        assert limits == "one" if exact.tolerance == ONE else limits.startswith(f"{exact.tolerance:,.0f} ")
