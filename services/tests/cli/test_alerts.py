"""`kexbench alerts` as a person uses it, and what it prints."""

import getpass

import pytest

from kexbench.domain.alerts import AlertAction
from tests.builders import a_cause, an_alert_event
from tests.cli.conftest import Cli
from tests.cli.queueing import in_the_store, serving

pytestmark = pytest.mark.thorough

ALERT, OTHER = a_cause().alert_id, a_cause("1.2").alert_id
RAISED = """
from kexbench.domain.alerts import AlertEvent

for event in sys.argv[1:]:
    store.add_alert_event(AlertEvent.model_validate_json(event))
"""


def stored(cli: Cli) -> None:
    """An alert that is open and one that is fixed."""
    other = a_cause("1.2")
    fixed = an_alert_event(AlertAction.FIXED, 1, cause=other, fixed_in="1.3", author="kexbench")
    events = [an_alert_event(author="kexbench"), an_alert_event(cause=other, minutes=60), fixed]
    in_the_store(cli, RAISED, *(event.model_dump_json() for event in events))


def test_an_alert_is_handled_from_its_raising_to_its_end(cli: Cli) -> None:
    me = getpass.getuser()
    stored(cli)
    with serving(cli) as served:
        table = cli("alerts").out.splitlines()
        assert table[1].split()[:3] == [OTHER[:8], "2026-01-01", "fixed"]
        assert table[2].split() == ["fixed", "in", "1.3"]
        assert " ".join(table[3].split()) == f"{ALERT[:8]} 2026-01-01 open fake 1.1 costs 5% more than 1.0"
        (one,) = cli("alerts", "--status", "unsettled", "--library", "fake", "--json").json()["alerts"]
        assert one["alert_id"] == ALERT
        assert "there are 1 fixed, 1 open" in cli("alerts", "list", "--status", "wrong").out

        shown = cli("alerts", "show", ALERT[:8])
        assert shown.out.startswith(f"{ALERT}  open\nfake 1.1 costs 5% more than 1.0\n")
        assert "+5.0%  +4.0% to +6.0%" in shown.out
        assert shown.out.splitlines()[-1] == "  0  2026-01-01 12:00  kexbench raised it"

        short = ALERT[:6]
        assert cli("alerts", "acknowledge", short, "--note", "I ask upstream").out.startswith(
            f"{ALERT}  acknowledged\n"
        )
        assert cli("alerts", "assign", short, "bob", "--json").json()["alert"]["assignee"] == "bob"
        done = cli("alerts", "due", short, "2027-01-31")
        assert done.out.startswith(f"{ALERT}  acknowledged, assigned to bob, due 2027-01-31\n")

        body = {"action": "noted", "note": "see 12345", "saw": 3}
        served.ask("POST", f"/alerts/{ALERT}/events", body)
        late = cli("alerts", "confirm", short, "--saw", "3")
        assert late.status == 1
        assert "meanwhile alice added a note: see 12345" in late.err
        assert "remedy: read it again; to repeat the change, send 4 as the last event seen" in late.err
        assert cli("alerts", "confirm", short, "--saw", "4").status == 0

        ignored = cli("alerts", "ignore", short, "the price of constant time", "--until", "2100-01-31")
        assert ignored.out.startswith(f"{ALERT}  ignored, reopens on 2100-01-31, assigned to bob")
        refused = cli("alerts", "acknowledge", short)
        assert (refused.status, refused.out) == (1, "")
        assert f"alert {ALERT} is ignored: it cannot be acknowledged" in refused.err
        assert cli("alerts", "reopen", short).status == 0
        assert cli("alerts", "note", short, "[bold]not markup[/bold]").status == 0
        ended = cli("alerts", "wrong", short, "throttled").out.splitlines()
        assert ended[0].startswith(f"{ALERT}  wrong")
        assert ended[-2].endswith(f"{me} added a note: [bold]not markup[/bold]")
        assert ended[-1].endswith(f"{me} marked it as a false positive: throttled")


@pytest.mark.long
def test_where_nothing_serves_the_store_is_read_and_written_all_the_same(cli: Cli) -> None:
    none = cli("alerts").out
    assert "kexbench alerts dry-run SPEC" in none
    stored(cli)
    assert cli("alerts", "wrong", ALERT, "throttled").status == 0
    assert [one["status"] for one in cli("alerts", "--json").json()["alerts"]] == ["fixed", "wrong"]
    unknown = cli("alerts", "show", "0123456789abcdef")
    assert unknown.status == 1
    assert "there is no alert 0123456789abcdef" in unknown.err


@pytest.mark.parametrize(
    "arguments",
    [("ignore", ALERT), ("due", ALERT, "soon"), ("--status", "closed"), ("acknowledge",), ("close", ALERT)],
    ids=" ".join,
)
def test_a_wrong_command_line_is_status_2(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli("alerts", *arguments).status == 2


def test_help_shows_the_verbs(cli: Cli) -> None:
    shown = cli("alerts", "--help")
    assert shown.status == 0
    assert "acknowledge" in shown.out
