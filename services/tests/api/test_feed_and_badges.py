"""What other programs show of results: a badge of a version line, and an Atom feed of upgrades and alerts."""

import re
from collections.abc import Iterator
from datetime import datetime
from xml.etree.ElementTree import Element, fromstring

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.domain.alerts import AlertAction
from kexbench.domain.samples import Metric
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Selection
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.api.test_upgrades import ONE, THREE, TWO, VERSIONS, measured
from tests.builders import a_cause, a_finding, a_kit, an_alert_event

ATOM = "{http://www.w3.org/2005/Atom}"
SVG = "{http://www.w3.org/2000/svg}"
URL = "https://kexbench.example.org"


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, pages_url=f"{URL}/")) as client:
        yield client


def parsed(text: str) -> Element:
    return fromstring(text)  # noqa: S314 (the service wrote it)


def words(answer: httpx2.Response) -> str:
    """What a screen reader says of a badge, which its texts say as well."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("image/svg+xml")
    picture = parsed(answer.text)
    said = picture.attrib["aria-label"]
    assert said == ": ".join(text.text or "" for text in picture.iter(f"{SVG}text"))
    assert said == picture.findtext(f"{SVG}title")
    return said


def entries(answer: httpx2.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    return [
        {part.tag.removeprefix(ATOM): part.text or part.attrib.get("href", "") for part in entry}
        for entry in parsed(answer.text).iter(f"{ATOM}entry")
    ]


def test_a_badge_says_the_verdict_on_the_newest_upgrade_of_a_version_line(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    assert words(client.get("/badge/fake/1.svg")) == "fake 1: no upgrade measured yet"
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 0.9})
    assert words(client.get("/badge/fake/1.1.svg")) == "fake 1.0 → 1.1: slower in both cases"
    assert words(client.get("/badge/fake/1.svg")) == "fake 1.1 → 1.2: faster in both cases"
    assert words(client.get("/badge/fake/1.0.svg")) == "fake 1.0: no upgrade measured yet"
    assert_problem(client.get("/badge/no-library/1.svg"), 422)


def test_a_version_line_ends_at_a_dot(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    spec = VERSIONS.replace("[1.0, 1.1, 1.2]", "[1.1, 1.2, 1.10]")
    measured(empty_store, "one", {TWO: 1.0, THREE: 1.0, "fake@1.10": 1.5}, spec=spec)
    assert words(client.get("/badge/fake/1.1.svg")) == "fake 1.1: no upgrade measured yet"
    assert words(client.get("/badge/fake/1.svg")) == "fake 1.2 → 1.10: slower in both cases"
    assert words(client.get("/badge/fake/1.2.svg")) == "fake 1.1 → 1.2: no significant change in 2 cases"


@pytest.mark.parametrize("address", ["/badge/fake/1.1.svg", "/feed.atom"])
def test_what_has_not_changed_is_not_sent_again(
    client: httpx2.Client, empty_store: ClickHouseStore, address: str
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02})
    tag = client.get(address).headers["etag"]
    assert client.get(address, headers={"If-None-Match": tag}).status_code == 304
    measured(empty_store, "two", {ONE: 1.0, TWO: 0.9}, day=1)
    assert client.get(address, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("line", ['1"<script>&', "is-insecure", "1.1_call_0900", "9" * 41, "1%20is%20insecure"])
def test_a_badge_shows_versions_and_no_texts_of_others(client: httpx2.Client, line: str) -> None:
    assert_problem(client.get(f"/badge/fake/{line}.svg"), 422, "line")


def test_a_feed_without_entries_is_a_feed(client: httpx2.Client) -> None:
    answer = client.get("/feed.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    assert entries(answer) == []
    feed = parsed(answer.text)
    assert feed.tag == f"{ATOM}feed"
    assert {part.tag.removeprefix(ATOM) for part in feed} == {"id", "title", "updated", "link", "author"}
    assert (feed.findtext(f"{ATOM}id"), feed.findtext(f"{ATOM}author/{ATOM}name")) == (f"{URL}/feed.atom", "kexbench")


def test_a_feed_has_upgrades_and_alerts_with_the_sentences_of_their_pages(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "confirming", {ONE: 1.0, TWO: 1.05})
    before, after = sorted(row.subject.name for row in empty_store.measured_subjects(Selection(Metric.CPU_NS)))
    alert = an_alert_event(finding=a_finding().model_copy(update={"subjects": (before, after)}), minutes=60)
    empty_store.add_alert_event(alert)
    answer = client.get("/feed.atom")
    alerted, upgraded = entries(answer)
    asked = {"base": before, "other": after}
    report = client.get("/api/v1/compare", params=asked).json()["upgrade"]
    assert (upgraded["title"], upgraded["summary"]) == ("fake 1.0 → 1.1", report["sentence"])
    assert upgraded["id"] == upgraded["link"]
    assert upgraded["id"].startswith(f"{URL}/upgrades/fake/fake%401.0~")
    assert alerted["id"] == f"{URL}/alerts/{alert.alert_id}"
    assert alerted["title"] == "Alert: fake 1.1 is slower than 1.0"
    (listed,) = client.get("/api/v1/alerts").json()["alerts"]
    assert datetime.fromisoformat(alerted["updated"]) == datetime.fromisoformat(listed["changed_at"])
    assert "alice" not in answer.text
    updated = parsed(answer.text).findtext(f"{ATOM}updated") or ""
    assert updated == max(alerted["updated"], upgraded["updated"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00", updated)
    empty_store.add_alert_event(an_alert_event(AlertAction.NOTED, 1, minutes=90, note="<b>seen</b>"))
    later = entries(client.get("/feed.atom"))
    assert later[0]["updated"] > alerted["updated"]
    assert [entry["id"] for entry in later] == [alerted["id"], upgraded["id"]]


def test_text_of_others_stays_text_in_a_feed(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    cause = a_cause().model_copy(update={"after": "<b>&\x00\x1b 1.1"})
    empty_store.add_alert_event(an_alert_event(cause=cause))
    (entry,) = entries(client.get("/feed.atom"))
    assert entry["title"] == "Alert: fake <b>& 1.1 is slower than 1.0"


def test_a_build_of_a_commit_has_a_page_in_the_feed(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    kits = {TWO: a_kit("fake@git:https://git.example.org/fake.git#main", version="1.1")}
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0}, kits=kits)
    (entry,) = entries(client.get("/feed.atom"))
    assert "git%3Ahttps%3A%2F%2Fgit.example.org%2Ffake.git%23main" in entry["id"]
