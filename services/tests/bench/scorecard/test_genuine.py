"""What is said of upgrades that made something slower."""

from datetime import UTC, datetime

from bench.scorecard.genuine import AFTER, BEFORE, SPEC, Upgraded, sentence, table
from bench.scorecard.service import Lived
from kexbench.alerts.reading import AlertSummary
from kexbench.domain.alerts import alert_of
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.plan import make_plan
from kexbench.planning.rules import read_rule
from tests.bench.scorecard.test_live import upgrade
from tests.builders import an_alert_event

NO_CATALOGUE = "{apiVersion: kexbench.dev/v1, kind: Catalogue, libraries: {}}"
ALERT = AlertSummary.of(alert_of([an_alert_event()], datetime(2026, 1, 2, tzinfo=UTC)))
LIVED = Lived(upgrade("confirmed", 3), 9.4)


def test_the_spec_of_the_releases_measures_both_and_is_watched_over() -> None:
    text = SPEC.format(before=BEFORE, after=AFTER)
    assert read_rule(text, "a.yaml").relevant > 0
    plan = make_plan(text, "a.yaml", read_catalogue(NO_CATALOGUE, "libraries.yaml"))
    assert (len(plan.subjects), len(plan.cases)) == (2, 12)


def test_every_upgrade_is_a_row_with_its_alerts_and_their_words() -> None:
    found = [Upgraded("One", LIVED, (ALERT,)), Upgraded("two", LIVED, ()), Upgraded("three", LIVED, (ALERT, ALERT))]
    both = f"{ALERT.sentence} {ALERT.sentence}"
    assert [[cell.text for cell in row.cells] for row in table(found).rows] == [
        ["One", ALERT.sentence, "8", "3", "1", str(ALERT.cells), "9"],
        ["two", "–", "8", "3", "0", "0", "9"],
        ["three", both, "8", "3", "2", str(2 * ALERT.cells), "9"],
    ]
    assert sentence(found) == "One raised 1 alert; two raised 0 alerts; three raised 2 alerts."
