"""`kexbench notify`, and what `kexbench serve` and `kexbench dispatch` do with channels."""

import subprocess
import sys
from datetime import UTC, datetime

import httpx2
import pytest

from kexbench.domain.notifications import SendingState
from kexbench.notify.apprise_channel import KEY_HEADER
from kexbench.notify.letters import trial_letter
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import a_notification, a_sending, an_alert_event
from tests.cli.conftest import TIMEOUT_S, Cli
from tests.cli.test_commits import store
from tests.notify.conftest import SECRET, Webhook, hook

pytestmark = pytest.mark.thorough

__all__ = ["hook", "store"]
WRITE_EVENT = """
import sys
from kexbench.domain.alerts import AlertEvent
from kexbench.settings import Settings
from kexbench.wiring import Installation

store = Installation(Settings()).open_store()
store.add_alert_event(AlertEvent.model_validate_json(sys.argv[1]))
store.close()
"""
"""In a process of its own, as the embedded store wants it."""
HEAD = "apiVersion: kexbench.dev/v1\nkind: Channels\nchannels:\n"


def name_channels(cli: Cli, *entries: str) -> None:
    home = cli.folder / "home"
    home.mkdir(exist_ok=True)
    (home / "channels.yaml").write_text(HEAD + "".join(f"  - {entry}\n" for entry in entries))


@pytest.mark.long
def test_a_test_tells_what_each_channel_said_and_no_address(cli: Cli, hook: Webhook) -> None:
    name_channels(
        cli,
        f"{{name: works, url: '{hook.address()}'}}",
        f"{{name: broken, url: 'json://hook:{SECRET}@127.0.0.1:1/{SECRET}'}}",
        f"{{name: unreadable, urlFile: {cli.folder}/nothing}}",
    )
    tried = cli("notify", "test", "works")
    assert (tried.status, tried.out) == (0, "works: accepted the message\n")
    assert hook.posted[0].body["title"] == trial_letter("", "").title
    tried = cli("notify", "test")
    assert tried.status == 1
    first, second, third = tried.out.splitlines()
    assert first == "works: accepted the message"
    assert second == (
        "broken: did not accept the message: A Connection error occurred sending JSON notification to 127.0.0.1."
    )
    assert third.startswith(f"unreadable: did not accept the message: the address can't be read: {cli.folder}/nothing")
    channels = cli("notify", "test", "broken", "--json").json()["channels"]
    assert [(one["channel"], one["sent"]) for one in channels] == [("broken", False)]
    assert SECRET not in tried.out + tried.err


def test_what_the_other_side_answered_is_shown_to_who_tests(cli: Cli, hook: Webhook) -> None:
    hook.status, hook.answer = 422, b'{"error": "no such room"}'
    name_channels(cli, f"{{name: crypto-team, url: '{hook.address()}'}}")
    tried = cli("notify", "test")
    assert (tried.status, "no such room" in tried.out) == (1, True)


def test_without_channels_or_with_another_name_it_says_what_to_do(cli: Cli) -> None:
    tried = cli("notify", "test")
    assert (tried.status, "name them in channels.yaml" in tried.err) == (1, True)
    name_channels(cli, "{name: crypto-team, urlFile: /nowhere}")
    tried = cli("notify", "test", "crypto")
    assert (tried.status, tried.err) == (2, "there is no channel crypto: there are crypto-team\n")


def test_serve_sends_what_the_store_has_to_tell(cli: Cli, hook: Webhook) -> None:
    name_channels(cli, f"{{name: crypto-team, url: '{hook.address('&format=text')}'}}")
    event = an_alert_event().model_copy(update={"at": datetime.now(UTC)})
    program = [sys.executable, "-c", WRITE_EVENT, event.model_dump_json()]
    subprocess.run(program, env=cli.environment, check=True, timeout=TIMEOUT_S)
    with cli.serving() as (_, url):
        assert hook.arrived.wait(TIMEOUT_S)
        (posted,) = hook.posted
        assert posted.body["title"].startswith("fake 1.1 is slower than 1.0")
        assert f"{url}/alerts/{event.alert_id}" in posted.body["message"]
        notifications = httpx2.get(f"{url}/api/v1/notifications", trust_env=False).json()["notifications"]
        assert [one["notification_id"] for one in notifications] == [posted.headers[KEY_HEADER]]


@pytest.mark.parametrize("command", [("notify", "test"), ("serve", "--port", "0")])
def test_wrong_channels_are_reported_with_their_place_and_no_address(cli: Cli, command: tuple[str, ...]) -> None:
    name_channels(cli, f"{{name: crypto-team, url: 'json://{SECRET}', digestHour: 3}}")
    tried = cli(*command)
    assert tried.status == 1
    assert "channels.yaml:4:" in tried.err
    assert "set digest: daily" in tried.err
    assert SECRET not in tried.out + tried.err


def test_the_list_tells_how_far_each_is(cli: Cli, store: ClickHouseStore) -> None:
    sent, failed = a_notification(0), a_notification(1, channel="gone")
    store.add_notifications([sent, failed])
    store.add_sending(a_sending(sent))
    store.add_sending(a_sending(failed, state=SendingState.FAILED, said="no [bold] route"))
    found = cli("notify", "list")
    assert found.status == 0, found.err
    lines = [" ".join(line.split()) for line in found.out.splitlines()]
    assert lines[1] == "2026-01-01 12:01 gone waiting thing 1"
    assert lines[2] == "channel gone is not configured: add it to the channels"
    assert lines[3] == "2026-01-01 12:00 crypto-team sent thing 0"
    listed = cli("notify", "list", "--limit", "1", "--json").json()
    assert [one["channel"] for one in listed["notifications"]] == ["gone"]


def test_an_empty_list_says_where_channels_are_named(cli: Cli, store: ClickHouseStore) -> None:
    assert "channels.yaml" in cli("notify", "list").out
