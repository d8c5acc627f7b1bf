"""Published sites: their files have the API's own answers, nothing but what was chosen, and replace only themselves."""

import gzip
import json
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.answers.stacks_shapes import Stacks
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.client import ApiClient, Refused
from kexbench.domain.instruments import Instrument
from kexbench.domain.runs import RunEvent, RunState
from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.publishing.files import PAIRS, file_of
from kexbench.publishing.replacing import CannotPublish, in_place_of
from kexbench.publishing.site import FEED_LINK, MARKER, Choice, Site, publish
from kexbench.store.clickhouse import ClickHouseStore
from tests.api import test_stacks
from tests.api.test_upgrades import FROZEN, ONE, OTHER_CPU, THREE, TWO, VERSIONS, counted, measured
from tests.builders import ECDSA, EXAMPLES, HOST, NOON, RSA, a_kit, a_run, an_alert_event, an_invocation, an_outcome
from tests.serving import serving

OPENSSL = "openssl@system"
BOTH = VERSIONS.replace("matrix:", "  - openssl: system\nmatrix:")
FIRST_PAGE = Path(__file__).parents[2] / "frontend" / "index.html"
ALL = Choice(frozenset(), frozenset())
COUNTED_SIDES = ("client", "server")
OF_ALLOCATIONS = {"instrument": "allocations"}
OF_ATOMICS = {"instrument": "atomics"}


@pytest.fixture
def url(empty_store: ClickHouseStore) -> Iterator[str]:
    with serving(create_app(empty_store, LocalGatekeeper("s" * 64), None)) as url:
        yield url


@pytest.fixture
def api(url: str) -> Iterator[ApiClient]:
    with closing(ApiClient(url, lambda: "a-token-that-nobody-reads", patience_s=None)) as api:
        yield api


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    pages = tmp_path / "pages"
    (pages / "assets").mkdir(parents=True)
    (pages / "index.html").write_text('<html><head><script src="/assets/app.js"></script></head></html>')
    (pages / "assets" / "app.js").write_text("let app")
    return pages


def published(api: ApiClient, pages: Path, folder: Path, choice: Choice = ALL) -> Site:
    return publish(api, pages, folder, choice, lambda done, total: None)


def texts(folder: Path) -> str:
    return "\n".join(text_of(path) for path in folder.rglob("*") if path.is_file())


def text_of(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


@pytest.mark.parametrize(
    "example", json.loads((EXAMPLES / "published-files.json").read_text()), ids=lambda example: example["route"]
)
def test_the_pages_find_an_answer_by_its_question(example: dict[str, str]) -> None:
    assert file_of(example["route"], example["query"], example["ending"]) == example["file"]  # type: ignore[arg-type]


def test_every_file_is_the_answer_to_its_address(
    empty_store: ClickHouseStore, api: ApiClient, url: str, pages: Path, tmp_path: Path
) -> None:
    measured(empty_store, "elsewhere", {ONE: 2.0, TWO: 2.2}, day=-1, host=OTHER_CPU, cases=(RSA,))
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 1.02})
    counted(empty_store, "counting", {ONE: 100.0, TWO: 350.0})
    counted(empty_store, "allocating", {ONE: 64.0, TWO: 128.0}, Instrument.ALLOCATIONS)
    site = published(api, pages, tmp_path / "site")
    names = {row.version: row.name for row in empty_store.subjects()}
    pairs = [(names["1.1"], names["1.2"]), (names["1.0"], names["1.1"])]
    questions = [*_questions(site, pairs), *_explained(*pairs[1])]
    files = {file_of(route, query): (route, query) for route, query in questions}
    for name, (route, query) in files.items():
        answer = httpx2.get(f"{url}{API_PREFIX}/{route}", params=query)
        assert json.loads((tmp_path / "site" / name).read_text()) == _left(route, answer.json(), site), (route, query)
    downloads = {file_of(route, query, ending): (route, query) for route, query, ending in _downloads(site, pairs[1])}
    for name, (route, query) in downloads.items():
        assert text_of(tmp_path / "site" / name) == httpx2.get(f"{url}{API_PREFIX}/{route}", params=query).text, query
    assert json.loads((tmp_path / "site" / PAIRS).read_text()) == [list(pair) for pair in pairs]
    written = {str(path.relative_to(tmp_path / "site")) for path in (tmp_path / "site").rglob("*") if path.is_file()}
    uncounted = {
        file_of("upgrades/why", {"library": "fake", "before": pair[0], "after": pair[1], **instrument})
        for pair, instrument in ((pairs[0], {}), (pairs[0], OF_ALLOCATIONS), *((pair, OF_ATOMICS) for pair in pairs))
    }
    assert {(tmp_path / "site" / name).read_text() for name in uncounted} == {"[]"}
    assert {name for name in written if name.startswith("data/")} == {*files, *downloads, PAIRS, *uncounted}
    assert (site.versions, site.upgrades, site.files) == (3, 2, len(written))


Question = tuple[str, dict[str, str]]


def _questions(site: Site, pairs: list[tuple[str, str]]) -> Iterator[Question]:
    """What the pages ask. The first host kind has results of both cases, the other one of the first case."""
    hosts = [vars(kind) for kind in site.host_kinds]
    assert len(hosts) == 2
    yield from (("filters", {}), ("overview", {}), ("upgrades", {}), ("upgrades", {"library": "fake"}), ("compare", {}))
    for metric in ("cpu_ns", "client_cpu_ns", "server_cpu_ns"):
        yield from (("matrix", {"metric": metric, **host}) for host in hosts)
        for case, measured_on in (({"case_id": RSA}, hosts), ({"case_id": ECDSA}, hosts[:1]), ({}, hosts)):
            place = {"metric": metric, **case}
            yield from ((route, place) for route in ("trends", "cpus"))
            yield from (("cpus", {**place, **host}) for host in measured_on)
            if case:
                yield from (("trends", {**place, **host, "levels": "true"}) for host in ({}, *measured_on))
    yield from ((route, host) for route in ("stacks", "paths", "life") for host in ({}, *hosts))
    yield from (("stacks", {**host, "protocol": "TLSv1.2"}) for host in ({}, hosts[0]))
    for base, other in pairs:
        yield "compare", {"base": base, "other": other}
        for host in hosts:
            ends = {f"{end}_{name}": value for end in ("base", "other") for name, value in host.items()}
            yield "compare", {"base": base, "other": other, **ends}


def _explained(before: str, after: str) -> Iterator[Question]:
    for instrument in ({}, OF_ALLOCATIONS):
        pair = {"library": "fake", "before": before, "after": after, **instrument}
        yield "upgrades/why", pair
        yield from (("upgrades/why/stacks", {**pair, "case_id": RSA, "side": side}) for side in COUNTED_SIDES)


def _downloads(site: Site, counted: tuple[str, str]) -> Iterator[tuple[str, dict[str, str], str]]:
    first, second = (vars(kind) for kind in site.host_kinds)
    for case_id, host in ((RSA, first), (ECDSA, first), (RSA, second)):
        for metric in ("cpu_ns", "client_cpu_ns", "server_cpu_ns"):
            yield "export", {"format": "csv", "case_id": case_id, "metric": metric, **host}, "csv.gz"
    for subject, side, instrument in product(counted, COUNTED_SIDES, ({}, OF_ALLOCATIONS)):
        profile = {"library": "fake", "subject": subject, "case_id": RSA, "side": side, **instrument}
        yield "upgrades/why/profile", {**profile, "format": "callgrind"}, "callgrind"
        yield "upgrades/why/profile", {**profile, "format": "speedscope"}, "json"


def _left(route: str, answer: Any, site: Site) -> Any:
    """An answer without what only a service has: other metrics, and runs."""
    if route == "filters":
        metrics = [view for view in answer["metrics"] if view["metric"] in site.metrics]
        return answer | {"metrics": metrics, "aside": answer["aside"] | {"newest": [], "others": 0}}
    if route == "overview":
        return answer | {"specs": {}}
    if route == "compare":
        return answer | {end: answer[end] | {"runs": []} for end in ("base", "other")}
    return answer


def test_a_site_of_one_version_has_no_upgrade_of_another_library(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.1, OPENSSL: 1.0}, spec=BOTH, kits={OPENSSL: FROZEN})
    site = published(api, pages, tmp_path / "site", Choice(frozenset({"openssl"}), frozenset()))
    assert (site.libraries, site.versions, site.upgrades) == (["openssl"], 1, 0)
    assert "fake@" not in texts(tmp_path / "site" / "data")
    compared = json.loads((tmp_path / "site" / file_of("compare", {})).read_text())
    assert (compared["cells"], compared["upgrade"], compared["left_out"]) == ([], None, 0)


@pytest.mark.thorough
def test_only_the_chosen_results_are_in_a_site(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path
) -> None:
    measured(empty_store, "old", {ONE: 1.0, TWO: 1.1}, spec=BOTH, kits={OPENSSL: FROZEN})
    measured(empty_store, "new", {TWO: 1.1, THREE: 1.2, OPENSSL: 1.0}, day=9, spec=BOTH, kits={OPENSSL: FROZEN})
    site = published(api, pages, tmp_path / "fake", Choice(frozenset({"fake"}), frozenset()))
    assert (site.libraries, site.versions) == (["fake"], 3)
    assert "openssl" not in texts(tmp_path / "fake" / "data")
    since = NOON + timedelta(days=5)
    site = published(api, pages, tmp_path / "recent", Choice(frozenset({"fake"}), frozenset(), since))
    assert site.versions == 2
    first = next(row.name for row in empty_store.subjects() if row.version == "1.0")
    place = {"metric": "cpu_ns", **vars(site.host_kind)}

    def written(route: str, query: dict[str, str]) -> Any:
        return json.loads((tmp_path / "recent" / file_of(route, query)).read_text())

    trends = written("trends", {"case_id": RSA, "levels": "true", **place})
    assert [subject["version"] for subject in trends["subjects"]] == ["1.1", "1.2"]
    assert [[point["subject"] for point in line["points"]] for line in trends["lines"]] == [[0, 1]]
    samples = file_of("export", {"format": "csv", "case_id": RSA, **place}, "csv.gz")
    assert ",1.0," not in text_of(tmp_path / "recent" / samples)
    newest, earlier = json.loads((tmp_path / "recent" / PAIRS).read_text())
    compared = written("compare", dict(zip(("base", "other"), newest, strict=True)))
    assert [line["versions"] for line in compared["lines"]] == [["1.1", "1.2"]]
    assert [len(history["values"]) for cell in compared["cells"] for history in cell["history"]] == [2, 2]
    assert {subject["name"] for subject in compared["subjects"]} == {*newest, *earlier}
    on_cpus = written("cpus", {"case_id": RSA, "metric": "cpu_ns"})
    assert [row["subject"]["version"] for row in on_cpus["rows"]] == ["1.2"]
    assert first not in {subject["name"] for subject in written("matrix", place)["subjects"]}


def test_no_site_names_people_channels_or_tokens(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path
) -> None:
    run = measured(empty_store, "one", {ONE: 1.0, TWO: 1.05})
    empty_store.add_event(RunEvent(run_id=run.run_id, at=NOON, state=RunState.QUEUED, detail="requested by alice"))
    empty_store.add_alert_event(an_alert_event(author="alice"))
    failing = a_run("failing", spec=VERSIONS, created_at=NOON + timedelta(days=1))
    empty_store.add_run(failing)
    for case_id, crashed, costs in ((RSA, ONE, {TWO: 1e6, THREE: 1e6}), (ECDSA, THREE, {TWO: 1e6})):
        reason = an_outcome(crashed, OutcomeKind.CRASHED, "the worker ended").model_copy(
            update={"detail": "cannot open /home/alice/key.pem"}
        )
        found = an_invocation(failing, 0, case_id=case_id, cpu_ns=costs, outcomes=[reason])
        empty_store.add_invocation(failing, found)
    published(api, pages, tmp_path / "site")
    written = texts(tmp_path / "site")
    for secret in ("alice", "crypto-team", "a-token-that-nobody-reads", HOST.host_id):
        assert secret not in written
    for route in ("matrix", "compare"):
        assert "the worker ended" in texts(tmp_path / "site" / "data" / route)


def test_the_pages_know_the_site_and_work_in_any_folder(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    site = published(api, pages, tmp_path / "site")
    found: dict[str, dict[str, str | None]] = {}

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found[tag] = dict(attrs)

    Parser().feed((tmp_path / "site" / "index.html").read_text())
    badges = {path.relative_to(tmp_path / "site" / "badge") for path in (tmp_path / "site" / "badge").rglob("*.svg")}
    assert {str(path) for path in badges} == {"fake/1.svg", "fake/1.0.svg", "fake/1.1.svg"}
    assert "1.0 → 1.1: no significant change" in (tmp_path / "site" / "badge" / "fake" / "1.svg").read_text()
    assert found["script"] == {"src": "./assets/app.js"}
    assert found["meta"]["name"] == "kexbench-published"
    assert json.loads(found["meta"]["content"] or "")["host_kind"] == vars(site.host_kind)


def test_a_site_links_no_feed(empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    built = FIRST_PAGE.read_text(encoding="utf-8")
    assert FEED_LINK in built
    (pages / "index.html").write_text(built, encoding="utf-8")
    published(api, pages, tmp_path / "site")
    assert "feed.atom" not in (tmp_path / "site" / "index.html").read_text()


def test_a_build_of_a_folder_is_named(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path
) -> None:
    built = a_kit("fake@git:/home/alice/fake#main", version="1.1")
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0}, kits={TWO: built})
    assert published(api, pages, tmp_path / "site").local_sources == ["git:/home/alice/fake#main"]


@pytest.mark.thorough
def test_a_site_replaces_itself_and_nothing_else(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    site, other = tmp_path / "site", tmp_path / "other"
    site.mkdir()
    published(api, pages, site)
    earlier = {path.relative_to(site): path.read_bytes() for path in site.rglob("*") if path.is_file()}
    (site / "stale.txt").touch()
    published(api, pages, site)
    assert {path.relative_to(site): path.read_bytes() for path in site.rglob("*") if path.is_file()} == earlier
    other.mkdir()
    (other / "thesis.txt").write_text("precious")
    with pytest.raises(CannotPublish, match="is not a published site"):
        published(api, pages, other)
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


@pytest.mark.thorough
def test_what_fails_half_way_leaves_the_earlier_site(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    site = tmp_path / "site"
    published(api, pages, site)
    earlier = (site / MARKER).read_bytes()

    def broken(path: str) -> Iterator[bytes]:
        raise Refused(503, "the store is away")

    monkeypatch.setattr(api, "stream", broken)
    with pytest.raises(Refused):
        published(api, pages, site)
    assert (site / MARKER).read_bytes() == earlier
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pages", "site"]


@pytest.mark.parametrize("old_is_moved", [False, True])
def test_what_a_killed_process_left_is_put_in_order(tmp_path: Path, old_is_moved: bool) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "page").write_text("earlier")
    killed = multiprocessing.get_context("spawn").Process(target=_killed, args=(site, old_is_moved))
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    assert site.exists() is not old_is_moved
    with pytest.raises(ZeroDivisionError), in_place_of(site):
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert (site / "page").read_text() == "earlier"


def _killed(site: Path, old_is_moved: bool) -> None:
    with in_place_of(site) as new:
        new.mkdir()
        (new / "page").write_text("half")
        if old_is_moved:
            site.rename(new.with_name("old"))
        os.kill(os.getpid(), signal.SIGKILL)


def test_two_do_not_publish_to_the_same_folder(tmp_path: Path) -> None:
    with in_place_of(tmp_path / "site") as new, in_place_of(tmp_path / "other") as other:
        with pytest.raises(CannotPublish, match="another process publishes to"), in_place_of(tmp_path / "site"):
            pass
        new.mkdir()
        other.mkdir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "site"]


def test_nothing_is_written_where_there_is_nothing_to_publish(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path
) -> None:
    with pytest.raises(CannotPublish, match="no results to publish"):
        published(api, pages, tmp_path / "site")
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    with pytest.raises(CannotPublish, match="no results of gnutls"):
        published(api, pages, tmp_path / "site", Choice(frozenset({"gnutls"}), frozenset()))
    with pytest.raises(CannotPublish, match="measured since 2100-01-01"):
        published(api, pages, tmp_path / "site", Choice(frozenset(), frozenset(), NOON.replace(year=2100)))
    with pytest.raises(CannotPublish, match="no built pages"):
        published(api, tmp_path, tmp_path / "site")
    assert not (tmp_path / "site").exists()


@pytest.mark.thorough
def test_a_metric_can_be_added(empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    counted(empty_store, "counting", {ONE: 100.0, TWO: 350.0})
    usual = published(api, pages, tmp_path / "usual")
    assert Metric.COUNTED_INSTRUCTIONS not in usual.metrics
    more = published(api, pages, tmp_path / "more", Choice(frozenset(), frozenset({Metric.COUNTED_INSTRUCTIONS})))
    assert set(more.metrics) == {*usual.metrics, Metric.COUNTED_INSTRUCTIONS}


def test_the_table_of_stacks_begins_with_the_machines_that_have_most_published_stacks(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path
) -> None:
    """Of three libraries on the first machine, one was measured since; of the second machine's two, both."""
    full = test_stacks.FULL
    old = {test_stacks.OPENSSL: 300.0, test_stacks.GNUTLS: 400.0, test_stacks.FAKE: 200.0}
    test_stacks.measured(empty_store, {full: old}, run_id="old")
    test_stacks.measured(empty_store, {full: {test_stacks.FAKE: 200.0}}, run_id="again", day=9)
    new = {test_stacks.NEW_OPENSSL: 300.0, test_stacks.NEW_GNUTLS: 400.0}
    test_stacks.measured(empty_store, {full: new}, run_id="new", day=8, host=OTHER_CPU)
    choice = Choice(frozenset(), frozenset(), NOON + timedelta(days=5), front="stacks")
    site = published(api, pages, tmp_path / "site", choice)
    answers = {
        query.get("cpu_model", "first"): Stacks.model_validate_json(
            (tmp_path / "site" / file_of("stacks", query)).read_text()
        )
        for query in ({}, *map(vars, site.host_kinds))
    }
    ends = {name: [stack.end.label for stack in answer.stacks] for name, answer in answers.items()}
    newest = ["GnuTLS 3.8.12", "OpenSSL 3.6.3"]
    assert ends == {"first": newest, OTHER_CPU.cpu_model: newest, HOST.cpu_model: ["fake 1.1"]}
    assert answers["first"].host_kind
    assert answers["first"].host_kind.cpu_model == OTHER_CPU.cpu_model
