"""What notifications say (in golden files), to whom, and that text of others in them stays text."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kexbench.domain.alerts import Alert, AlertAction, AlertEvent, AlertKind, Cause, alert_of
from kexbench.domain.notifications import AT_ONCE, BY_DAY, ChannelRule, Happening, Notification, Wording
from kexbench.domain.profiles import Culprit
from kexbench.domain.screenings import Screening
from kexbench.notify.letters import SHOWN_MAX, letter_of, trial_letter
from kexbench.notify.words import ROWS_MAX, improvement_wording, wording_of
from kexbench.notify.writing import improvements_of, notifications_of
from tests.builders import NOON, a_cause, a_finding, a_notification, a_screening, an_alert_event
from tests.golden import GOLDEN, assert_texts

PAGES = "https://kexbench.example"
UPGRADE = Cause(kind=AlertKind.UPGRADE, library="openssl", before="3.5.3", after="3.5.4")
STALE = a_cause("no pool large is there any more", kind=AlertKind.STALE)
HOSTILE = "@everyone | `code` <img src=x onerror=y> [a](javascript:b) #1 !2 \\| \n/close\n\u202e<!-- x -->"
HASH = Culprit(
    case_id="tlsv1.3_x",
    title="TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519",
    side="server",
    function="hash_once_more",
    amounts=(0, 3144),
    calls=(0, 1),
    side_amounts=(1_729_648, 1_732_792),
    run_id="once-0123",
)
TEAM, OTHER = ChannelRule(name="crypto-team"), ChannelRule(name="other")


def wording(action: AlertAction = AlertAction.RAISED, *, cause: Cause = UPGRADE, **said: Any) -> Wording:
    """Of an alert that this happened to last."""
    events = [an_alert_event(cause=cause)]
    if action is AlertAction.RAISED:
        events = [an_alert_event(cause=cause, **said)]
    else:
        events.append(an_alert_event(action, 1, cause=cause, **said))
    return wording_of(events[-1], alert_of(events, NOON))


def test_the_texts_of_notifications() -> None:
    cells = a_finding().cells + a_finding(case_id="tlsv1.3_x", ratio=1.0751).cells
    two_cases = a_finding().model_copy(update={"cells": cells, "sentence": "the sentence of the upgrade"})
    stale = a_finding().model_copy(update={"cells": (), "sentence": "the sentence of the stale spec"})
    several = stale.model_copy(update={"spec_names": ("b", "c", "d", "e")})
    many = tuple(
        cell.model_copy(update={"pool": f"pool-{number % 2}"})
        for number in range(20)
        for cell in a_finding(case_id=f"c{number}", ratio=1 + number / 100).cells
    )
    texts = {
        "raised": wording(finding=two_cases),
        "raised with many cells on two pools": wording(finding=a_finding().model_copy(update={"cells": many})),
        "grew": wording(AlertAction.GREW),
        "fixed in a version": wording(AlertAction.FIXED, fixed_in="3.5.5"),
        "fixed": wording(AlertAction.FIXED),
        "acknowledged": wording(AlertAction.ACKNOWLEDGED),
        "confirmed": wording(AlertAction.CONFIRMED),
        "ignored until a day": wording(AlertAction.IGNORED, until=NOON + timedelta(days=2)),
        "a false positive": wording(AlertAction.WRONG),
        "reopened": wording(AlertAction.REOPENED),
        "assigned": wording(AlertAction.ASSIGNED, assignee="bob"),
        "unassigned": wording(AlertAction.ASSIGNED),
        "due": wording(AlertAction.DUE, due=date(2026, 2, 1)),
        "no longer due": wording(AlertAction.DUE),
        "noted": wording(AlertAction.NOTED, note="seen on ARM too"),
        "stale": wording(cause=STALE, finding=stale),
        "more is stale": wording(AlertAction.GREW, cause=STALE, finding=several),
        "measured again": wording(AlertAction.FIXED, cause=STALE),
        "explained": wording(AlertAction.EXPLAINED, culprits=(HASH, HASH.model_copy(update={"calls": (1.0, 2.0)}))),
        "explained without more instructions": wording(AlertAction.EXPLAINED),
        "improved": improvement_wording(improved(a_screening("one"), 1).upgrades[0]),
    }
    assert_texts(GOLDEN / "notifications.txt", {name: f"{text.title}\n\n{text.text}" for name, text in texts.items()})
    assert texts["raised with many cells on two pools"].text.count("\n- ") == ROWS_MAX + 1


def test_an_alert_links_to_its_page_and_to_its_upgrade() -> None:
    assert [link.path for link in wording().links] == [f"/alerts/{UPGRADE.alert_id}", "/upgrades/openssl/3.5.3/3.5.4"]
    assert [link.path for link in wording(cause=STALE).links] == [f"/alerts/{STALE.alert_id}"]


def test_the_link_of_an_alert_names_the_subjects_that_were_compared() -> None:
    """A version alone may be that of several: a distribution's package and a build of the same release."""
    ends = ("openssl@3.5.3~debian/trixie~1f3c", "openssl@3.5.4~system~9a0b")
    found = wording(finding=a_finding().model_copy(update={"subjects": ends}))
    assert found.links[-1].path == (
        "/upgrades/openssl/openssl%403.5.3~debian%2Ftrixie~1f3c/openssl%403.5.4~system~9a0b"
    )


def test_an_alert_that_names_no_subjects_links_its_upgrade_by_the_names_it_was_raised_with() -> None:
    cause = UPGRADE.model_copy(update={"before": "3.0.19 (debian/bookworm)", "after": "3.0.19 (crate/3.0.19)"})
    paths = [link.path for link in wording(cause=cause).links]
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
        found = wording(action, cause=cause, author=HOSTILE, **said, **note)
        assert "\n" not in found.title
        kinds = {token.type for token in rendered(found.markdown)}
        assert not kinds & {"html_inline", "html_block", "link_open", "image", "heading_open"}
        assert "\u202e" not in found.title + found.text + found.markdown


@given(text=st.text(max_size=200))
def test_no_text_breaks_out_of_the_markdown(text: str) -> None:
    found = wording(AlertAction.NOTED, note=f"x{text}")
    kinds = {token.type for token in rendered(found.markdown)}
    assert not kinds & {"html_inline", "html_block", "link_open", "image", "heading_open", "fence"}
    assert found.title.isprintable()


def written(event: AlertEvent, rules: list[ChannelRule]) -> list[Notification]:
    alert: Alert = alert_of([an_alert_event(), event], NOON)
    return notifications_of(event, alert, rules)


def test_the_channels_that_a_spec_names_are_notified_and_all_where_it_names_none() -> None:
    named = an_alert_event()
    unnamed = an_alert_event(finding=a_finding().model_copy(update={"notify": ()}))
    assert [one.channel for one in written(named, [TEAM, OTHER])] == ["crypto-team"]
    assert [one.channel for one in notifications_of(unnamed, alert_of([unnamed], NOON), [TEAM, OTHER])] == [
        "crypto-team",
        "other",
    ]
    assert [one.channel for one in written(named, [OTHER])] == ["crypto-team"], "so that people see what waits for it"


@pytest.mark.parametrize("action", [*AlertAction][1:])
def test_a_channel_is_notified_only_of_what_it_listens_to(action: AlertAction) -> None:
    event = an_alert_event(action, 1)
    assert [one.happening for one in written(event, [TEAM])] == (
        [Happening(action)] if action in ("fixed", "explained") else []
    )
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


def improved(screening: Screening, less: int) -> Screening:
    (upgrade,) = screening.upgrades
    return screening.model_copy(update={"upgrades": (upgrade.model_copy(update={"less": less}),)})


def test_improvements_are_sent_in_digests_alone_once_each() -> None:
    daily = ChannelRule(name="daily", events=BY_DAY, digest_hour=7)
    first, again = improved(a_screening("one"), 1), improved(a_screening("two", minutes=9), 2)
    (found,) = improvements_of(first, [TEAM, daily])
    assert (found.channel, found.together) == ("daily", "fake 1.0 → 1.1")
    assert found.links[0].path == "/upgrades/fake/fake%401.0~1.0~0/fake%401.1~1.1~0"
    assert [one.notification_id for one in improvements_of(again, [daily])] == [found.notification_id]
    assert improvements_of(a_screening(), [daily]) == []


def test_the_texts_of_letters() -> None:
    fixed = a_notification(2).model_copy(update={"happening": Happening.FIXED, "title": "`x` <b>"})
    noted = a_notification(3).model_copy(update={"happening": Happening.NOTED, "links": ()})
    letters = {
        "one notification": letter_of("k" * 16, [a_notification(0)], f"{PAGES}/"),
        "several": letter_of("k", [a_notification(0), a_notification(1), fixed, noted], PAGES),
        "a test": trial_letter("k", "crypto-team"),
    }
    texts = {name: f"{letter.title}\n\n{letter.text}\n\n{letter.markdown}" for name, letter in letters.items()}
    assert_texts(GOLDEN / "letters.txt", texts)
    assert "html_inline" not in {token.type for token in rendered(letters["several"].markdown)}


def test_of_very_many_the_first_are_listed_and_how_many_more_there_are() -> None:
    letter = letter_of("k", [a_notification(number) for number in range(SHOWN_MAX + 7)], PAGES)
    assert letter.text.count("\n- thing") == SHOWN_MAX
    assert f"7 more: {PAGES}/alerts" in letter.text
    assert str(SHOWN_MAX + 7) in letter.title
