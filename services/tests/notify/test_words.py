"""What people read of alerts: what became slower, by how much, where; and that nobody else speaks through it."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kexbench.domain.alerts import Alert, AlertAction, AlertEvent, AlertKind, Cause, alert_of
from kexbench.domain.judgements import Judgement
from kexbench.domain.notifications import AT_ONCE, BY_DAY, ChannelRule, Happening, Notification
from kexbench.notify.letters import SHOWN_MAX, letter_of, trial_letter
from kexbench.notify.words import ROWS_MAX, Told, subject_of, told_of
from kexbench.notify.writing import improvements_of, notifications_of
from tests.builders import HOST, NOON, a_cause, a_finding, a_judgement, a_notification, an_alert_event

PAGES = "https://kexbench.example"
UPGRADE = Cause(kind=AlertKind.UPGRADE, library="openssl", before="3.5.3", after="3.5.4")
STALE = a_cause("no pool large is there any more", kind=AlertKind.STALE)
HOSTILE = "@everyone | `code` <img src=x onerror=y> [a](javascript:b) #1 !2 \\| \n/close\n\u202e<!-- x -->"
TEAM, OTHER = ChannelRule(name="crypto-team"), ChannelRule(name="other")


def told(action: AlertAction = AlertAction.RAISED, *, cause: Cause = UPGRADE, **said: Any) -> Told:
    """Of an alert that this happened to last."""
    events = [an_alert_event(cause=cause)]
    if action is AlertAction.RAISED:
        events = [an_alert_event(cause=cause, **said)]
    else:
        events.append(an_alert_event(action, 1, cause=cause, **said))
    return told_of(events[-1], alert_of(events, NOON))


def test_an_alert_says_what_became_slower_by_how_much_where_and_what_is_shared() -> None:
    cells = a_finding().cells + a_finding(case_id="tlsv1.3_x", ratio=1.0751).cells
    finding = a_finding().model_copy(update={"cells": cells, "sentence": "5% more with RSA certificates, all sure"})
    found = told(finding=finding)
    assert found.title == "OpenSSL 3.5.4 is slower than 3.5.3: up to +7.5%, on the server's side, 2 cases"
    assert found.text.splitlines() == [
        "With OpenSSL 3.5.4 a TLS handshake costs more CPU time than with 3.5.3. A longer run of its own confirmed it.",
        "",
        "5% more with RSA certificates, all sure",
        "",
        "What costs more: CPU time of client and server together, with its 95% confidence interval:",
        "",
        "- RSA, RSA-2048: +7.5% (+6.5% to +8.5%), on the server's side",
        "- RSA, RSA-2048: +5.0% (+4.0% to +6.0%), on the server's side",
        "",
        f"Measured on {HOST.cpu}, pool local.",
    ]
    assert [link.path for link in found.links] == [
        f"/alerts/{UPGRADE.alert_id}",
        "/upgrades/openssl/3.5.3/3.5.4",
    ]


def test_the_link_of_an_alert_names_the_subjects_that_were_compared() -> None:
    """A version alone may be that of several: a distribution's package and a build of the same release."""
    ends = ("openssl@3.5.3~debian/trixie~1f3c", "openssl@3.5.4~system~9a0b")
    found = told(finding=a_finding().model_copy(update={"subjects": ends}))
    assert found.links[-1].path == (
        "/upgrades/openssl/openssl%403.5.3~debian%2Ftrixie~1f3c/openssl%403.5.4~system~9a0b"
    )


def test_only_the_largest_of_many_cells_are_shown_and_each_cpu_once() -> None:
    cells = tuple(
        cell.model_copy(update={"pool": f"pool-{number % 2}"})
        for number in range(20)
        for cell in a_finding(case_id=f"c{number}", ratio=1 + number / 100).cells
    )
    text = told(finding=a_finding().model_copy(update={"cells": cells})).text
    rows = [line for line in text.splitlines() if line.startswith("- ")]
    assert (len(rows), rows[0], rows[-1]) == (
        ROWS_MAX + 1,
        "- RSA, RSA-2048: +19.0% (+18.0% to +20.0%), on the server's side",
        f"- and {20 - ROWS_MAX} more",
    )
    assert text.endswith(f"Measured on {HOST.cpu}, pool pool-1; {HOST.cpu}, pool pool-0.")


@pytest.mark.parametrize(
    ("action", "said", "title"),
    [
        (AlertAction.GREW, {}, "OpenSSL 3.5.4 is slower than 3.5.3 elsewhere too: +5.0%, on the server's side, 1 case"),
        (AlertAction.FIXED, {"fixed_in": "3.5.5"}, "OpenSSL 3.5.5 is no slower than 3.5.3 any more"),
        (AlertAction.FIXED, {}, "A later OpenSSL is no slower than 3.5.3 any more"),
        (AlertAction.ACKNOWLEDGED, {}, "alice has seen that OpenSSL 3.5.4 is slower than 3.5.3"),
        (AlertAction.CONFIRMED, {}, "alice confirms that OpenSSL 3.5.4 is slower than 3.5.3"),
        (
            AlertAction.IGNORED,
            {"until": NOON + timedelta(days=2)},
            "alice ignores until 2026-01-03 12:00 UTC that OpenSSL 3.5.4 is slower than 3.5.3",
        ),
        (AlertAction.WRONG, {}, "alice says it is wrong that OpenSSL 3.5.4 is slower than 3.5.3"),
        (AlertAction.REOPENED, {}, "alice opened again that OpenSSL 3.5.4 is slower than 3.5.3"),
        (AlertAction.ASSIGNED, {"assignee": "bob"}, "bob is to look at it: OpenSSL 3.5.4 is slower than 3.5.3"),
        (AlertAction.ASSIGNED, {}, "Nobody is to look at it any more: OpenSSL 3.5.4 is slower than 3.5.3"),
        (AlertAction.DUE, {"due": date(2026, 2, 1)}, "To be settled by 2026-02-01: OpenSSL 3.5.4 is slower than 3.5.3"),
        (AlertAction.DUE, {}, "No day is set any more: OpenSSL 3.5.4 is slower than 3.5.3"),
        (AlertAction.NOTED, {"note": "seen on ARM too"}, "alice notes: OpenSSL 3.5.4 is slower than 3.5.3"),
    ],
)
def test_each_thing_that_happens_has_a_title_of_its_own(action: AlertAction, said: dict[str, Any], title: str) -> None:
    found = told(action, **said)
    assert found.title == title
    if "note" in said or action in (AlertAction.IGNORED, AlertAction.WRONG):
        assert found.text.startswith(f"Note: {said.get('note', 'because')}")


def test_what_is_stale_says_of_what_and_why_and_later_that_it_is_measured_again() -> None:
    finding = a_finding().model_copy(update={"cells": (), "sentence": "example ended last on 2026-01-01"})
    raised = told(cause=STALE, finding=finding)
    assert raised.title == "Nothing new is measured of example"
    assert raised.text == "example ended last on 2026-01-01\n\nWhat broke it: no pool large is there any more"
    assert [link.path for link in raised.links] == [f"/alerts/{STALE.alert_id}"]
    more = finding.model_copy(update={"spec_names": ("b", "c", "d", "e")})
    assert told(AlertAction.GREW, cause=STALE, finding=more).title == (
        "Nothing new is measured of b, c, d and 1 more either"
    )
    assert told(AlertAction.FIXED, cause=STALE).title == "Measured again: example"


def test_an_alert_that_names_no_subjects_links_its_upgrade_by_the_names_it_was_told_with() -> None:
    cause = UPGRADE.model_copy(update={"before": "3.0.19 (debian/bookworm)", "after": "3.0.19 (crate/3.0.19)"})
    paths = [link.path for link in told(cause=cause).links]
    assert paths[1] == "/upgrades/openssl/3.0.19%20%28debian%2Fbookworm%29/3.0.19%20%28crate%2F3.0.19%29"


def rendered(markdown: str) -> list[Token]:
    def every(tokens: list[Token]) -> list[Token]:
        return [one for token in tokens for one in (token, *every(token.children or []))]

    return every(MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown))


@pytest.mark.parametrize("action", [*AlertAction])
def test_text_of_others_is_code_or_has_nothing_in_it_that_works(action: AlertAction) -> None:
    cell = a_finding().cells[0].model_copy(update={"title": HOSTILE, "pool": HOSTILE, "cpu_model": HOSTILE})
    finding = a_finding().model_copy(
        update={"sentence": HOSTILE, "spec_names": (HOSTILE,), "cells": (cell,), "notify": ()}
    )
    for cause in (
        Cause(kind=AlertKind.UPGRADE, library="openssl", before=HOSTILE, after="1"),
        Cause(kind=AlertKind.STALE, library=None, before="", after=HOSTILE),
    ):
        said = {"finding": finding} if action in (AlertAction.RAISED, AlertAction.GREW) else {}
        note = {} if action is AlertAction.RAISED else {"note": HOSTILE}
        found = told(action, cause=cause, author=HOSTILE, **said, **note)
        assert "\n" not in found.title
        kinds = {token.type for token in rendered(found.markdown)}
        assert not kinds & {"html_inline", "html_block", "link_open", "image", "heading_open"}
        assert "\u202e" not in found.title + found.text + found.markdown


@given(text=st.text(max_size=200))
def test_no_text_breaks_out_of_the_markdown(text: str) -> None:
    found = told(AlertAction.NOTED, note=f"x{text}")
    kinds = {token.type for token in rendered(found.markdown)}
    assert not kinds & {"html_inline", "html_block", "link_open", "image", "heading_open", "fence"}
    assert found.title.isprintable()


def written(event: AlertEvent, rules: list[ChannelRule]) -> list[Notification]:
    alert: Alert = alert_of([an_alert_event(), event], NOON)
    return notifications_of(event, alert, rules)


def test_the_channels_that_a_spec_names_are_told_and_all_where_it_names_none() -> None:
    named = an_alert_event()
    unnamed = an_alert_event(finding=a_finding().model_copy(update={"notify": ()}))
    assert [one.channel for one in written(named, [TEAM, OTHER])] == ["crypto-team"]
    assert [one.channel for one in notifications_of(unnamed, alert_of([unnamed], NOON), [TEAM, OTHER])] == [
        "crypto-team",
        "other",
    ]
    assert [one.channel for one in written(named, [OTHER])] == ["crypto-team"], "so that people see what waits for it"


@pytest.mark.parametrize("action", [*AlertAction][1:])
def test_a_channel_is_told_only_of_what_it_listens_to(action: AlertAction) -> None:
    event = an_alert_event(action, 1)
    assert [one.happening for one in written(event, [TEAM])] == ([Happening.FIXED] if action == "fixed" else [])
    listens = TEAM.model_copy(update={"events": (Happening(action),)})
    (found,) = written(event, [listens])
    assert found.notification_id == Notification.id_of(event.alert_id, 1, "crypto-team")
    assert written(event, [listens]) == [found], "the same each time"


def test_what_is_stale_is_a_happening_of_its_own() -> None:
    event = an_alert_event(cause=STALE)
    for events, expected in ((AT_ONCE, ["stale"]), ((Happening.RAISED,), [])):
        rule = TEAM.model_copy(update={"events": events})
        found = notifications_of(event, alert_of([event], NOON), [rule])
        assert [str(one.happening) for one in found] == expected


def improved(judgement: Judgement, less: int) -> Judgement:
    (upgrade,) = judgement.upgrades
    return judgement.model_copy(update={"upgrades": (upgrade.model_copy(update={"less": less}),)})


def test_improvements_are_told_in_digests_alone_once_each() -> None:
    daily = ChannelRule(name="daily", events=BY_DAY, digest_hour=7)
    first, again = improved(a_judgement("one"), 1), improved(a_judgement("two", minutes=9), 2)
    (found,) = improvements_of(first, [TEAM, daily])
    assert (found.channel, found.title) == ("daily", "fake 1.1 is faster than fake 1.0 in 1 of 2 comparisons")
    assert found.links[0].path == "/upgrades/fake/fake%401.0~1.0~0/fake%401.1~1.1~0"
    assert [one.notification_id for one in improvements_of(again, [daily])] == [found.notification_id]
    assert improvements_of(a_judgement(), [daily]) == []


def test_a_letter_has_links_to_the_pages_and_the_key_that_it_is_known_by() -> None:
    told = a_notification(0)
    letter = letter_of("k" * 16, [told], f"{PAGES}/")
    assert letter.text == (
        f"what happened: 0\n\nThe alert: {PAGES}/alerts/{told.alert_id}\n\n"
        "kexbench, message kkkkkkkkkkkkkkkk. Should it come twice, it is the same one."
    )
    assert f"- [The alert](<{PAGES}/alerts/{told.alert_id}>)" in letter.markdown
    assert letter.title == "thing 0"


def test_several_in_one_letter_are_a_list_of_titles_with_a_summary() -> None:
    fixed = a_notification(2).model_copy(update={"happening": Happening.FIXED, "title": "`x` <b>"})
    noted = a_notification(3).model_copy(update={"happening": Happening.NOTED, "links": ()})
    letter = letter_of("k", [a_notification(0), a_notification(1), fixed, noted], PAGES)
    assert letter.title == "kexbench: 2 slower, 1 fixed, 1 other news"
    assert f"- thing 1\n  {PAGES}/alerts/{fixed.alert_id}\n- `x` <b>\n" in letter.text
    assert f"- thing 3\n  {PAGES}/alerts\n" in letter.text
    assert "html_inline" not in {token.type for token in rendered(letter.markdown)}


def test_of_very_many_the_first_are_listed_and_how_many_more_there_are() -> None:
    letter = letter_of("k", [a_notification(number) for number in range(SHOWN_MAX + 7)], PAGES)
    assert letter.text.count("\n- thing") == SHOWN_MAX
    assert f"And 7 more: {PAGES}/alerts" in letter.text
    assert letter.title == f"kexbench: {SHOWN_MAX + 7} slower"


def test_a_test_says_that_it_is_one() -> None:
    assert "nothing happened" in trial_letter("k", "crypto-team").title
    assert subject_of(alert_of([an_alert_event()], NOON)) == "fake 1.1 is slower than 1.0"
