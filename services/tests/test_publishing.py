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
from pathlib import Path
from typing import Any

import httpx
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.client import ApiClient, Refused
from kexbench.domain.runs import RunEvent, RunState
from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.publishing.files import file_of
from kexbench.publishing.replacing import CannotPublish, in_place_of
from kexbench.publishing.site import FEED_LINK, MARKER, Choice, Site, publish
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.test_upgrades import FROZEN, ONE, OTHER_CPU, THREE, TWO, VERSIONS, counted, measured
from tests.builders import ECDSA, EXAMPLES, HOST, NOON, RSA, a_kit, a_run, an_alert_event, an_invocation, an_outcome
from tests.serving import serving

OPENSSL = "openssl@system"
BOTH = VERSIONS.replace("matrix:", "  - openssl: system\nmatrix:")
FIRST_PAGE = Path(__file__).parents[2] / "frontend" / "index.html"
ALL = Choice(frozenset(), frozenset())


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


def test_the_files_are_the_answers_of_the_api(
    empty_store: ClickHouseStore, api: ApiClient, url: str, pages: Path, tmp_path: Path
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 1.02})
    counted(empty_store, "counting", {ONE: 100.0, TWO: 350.0})
    site = published(api, pages, tmp_path / "site")
    host = vars(site.host_kind)
    names = {row.version: row.name for row in empty_store.subjects()}
    pair = {"library": "fake", "before": names["1.0"], "after": names["1.1"]}
    explained = {"case_id": RSA, "side": "server"}
    asked = [
        ("matrix", {"metric": "cpu_ns", **host}),
        ("series", {"metric": "server_cpu_ns", "case_id": RSA, **host}),
        ("upgrades", {"library": "fake"}),
        ("upgrades/report", pair),
        ("upgrades/report", {**pair, **host}),
        ("upgrades/why", pair),
        ("upgrades/why/stacks", {**pair, **explained}),
    ]
    for route, query in asked:
        answer = httpx.get(f"{url}{API_PREFIX}/{route}", params=query).json()
        assert json.loads((tmp_path / "site" / file_of(route, query)).read_text()) == answer, route
    downloads = [
        ("export", {"format": "csv", "metric": "cpu_ns", "case_id": RSA, **host}, "csv.gz"),
        (
            "upgrades/why/profile",
            {"library": "fake", "subject": names["1.1"], "format": "callgrind", **explained},
            "callgrind",
        ),
    ]
    for route, query, ending in downloads:
        answer = httpx.get(f"{url}{API_PREFIX}/{route}", params=query).text
        assert text_of(tmp_path / "site" / file_of(route, query, ending)) == answer, route
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert (site.versions, site.upgrades, site.files) == (3, 2, len(files))


@pytest.mark.thorough
def test_what_pages_put_together_is_what_the_api_says(
    empty_store: ClickHouseStore, api: ApiClient, url: str, pages: Path, tmp_path: Path
) -> None:
    measured(empty_store, "elsewhere", {ONE: 2.0, TWO: 2.2}, day=-1, host=OTHER_CPU)
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 1.02})
    site = published(api, pages, tmp_path / "site")

    def written(route: str, query: dict[str, str]) -> Any:
        return json.loads((tmp_path / "site" / file_of(route, query)).read_text())

    def answered(route: str, query: dict[str, str]) -> Any:
        return httpx.get(f"{url}{API_PREFIX}/{route}", params=query).json()

    kinds = [vars(kind) for kind in site.host_kinds]
    assert len(kinds) == 2
    place = {"case_id": RSA, "metric": "server_cpu_ns"}
    on_cpus = written("cpus", place)
    assert on_cpus["host_kinds"] == kinds
    for kind, relations in zip(kinds, on_cpus["relations"], strict=True):
        rows = [row | relation for row, relation in zip(on_cpus["rows"], relations, strict=True)]
        assert rows == answered("cpus", {**place, **kind})["rows"]
    index, trends = written("trends", {"metric": "cpu_ns"}), answered("trends", {})
    assert {name: index[name] for name in ("choices", "subjects", "releases")} == {
        name: trends[name] for name in ("choices", "subjects", "releases")
    }
    assert index["measured"] == [{"host_kind": kind, "case_ids": [RSA, ECDSA]} for kind in kinds]
    pairs = written("compare", {})["pairs"]
    assert [[name.split("~")[0] for name in pair] for pair in pairs] == [
        ["fake@1.1", "fake@1.2"],
        ["fake@1.0", "fake@1.1"],
    ]
    for base, other in pairs:
        pair = {"base": base, "other": other}
        shown, answer = written("compare", pair), answered("compare", pair)
        for line in (cell["history"] for cell in answer["cells"]):
            for history in line:
                history["values"] = [value and float(f"{value:.4g}") for value in history["values"]]
        assert (shown["cells"], shown["lines"]) == (answer["cells"], answer["lines"])
    names = [path.parent.name for path in (tmp_path / "site" / "data").rglob("*") if path.is_file()]
    cases, metrics = 2, 3
    assert names.count("series") == names.count("export") == len(kinds) * cases * metrics
    assert names.count("cpus") == cases * metrics
    assert (names.count("trends"), names.count("compare")) == (metrics, len(pairs))


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
    trend = json.loads((tmp_path / "recent" / file_of("series", {"case_id": RSA, **place})).read_text())
    assert [[point["version"] for point in line["points"]] for line in trend["lines"]] == [["1.1", "1.2"]]
    samples = file_of("export", {"format": "csv", "case_id": RSA, **place}, "csv.gz")
    assert ",1.0," not in text_of(tmp_path / "recent" / samples)
    newest = json.loads((tmp_path / "recent" / file_of("compare", {})).read_text())["pairs"][0]
    pair = dict(zip(("base", "other"), newest, strict=True))
    compared = json.loads((tmp_path / "recent" / file_of("compare", pair)).read_text())
    assert [line["versions"] for line in compared["lines"]] == [["1.1", "1.2"]]
    on_cpus = json.loads((tmp_path / "recent" / file_of("cpus", {"case_id": RSA, "metric": "cpu_ns"})).read_text())
    assert [row["subject"]["version"] for row in on_cpus["rows"]] == ["1.2"]
    matrix = json.loads((tmp_path / "recent" / file_of("matrix", place)).read_text())
    assert first not in {view["subject"] for view in matrix["subjects"]}


def test_no_site_names_people_channels_or_tokens(
    empty_store: ClickHouseStore, api: ApiClient, pages: Path, tmp_path: Path
) -> None:
    run = measured(empty_store, "one", {ONE: 1.0, TWO: 1.05})
    empty_store.add_event(RunEvent(run_id=run.run_id, at=NOON, state=RunState.QUEUED, detail="requested by alice"))
    empty_store.add_alert_event(an_alert_event(author="alice"))
    failing = a_run("failing", spec=VERSIONS, created_at=NOON + timedelta(days=1))
    empty_store.add_run(failing)
    reason = an_outcome(ONE, OutcomeKind.CRASHED, "the worker ended").model_copy(
        update={"detail": "cannot open /home/alice/key.pem"}
    )
    empty_store.add_invocation(failing, an_invocation(failing, 0, cpu_ns={TWO: 1e6}, outcomes=[reason]))
    published(api, pages, tmp_path / "site")
    written = texts(tmp_path / "site")
    for secret in ("alice", "crypto-team", "a-token-that-nobody-reads", HOST.host_id):
        assert secret not in written
    assert "the worker ended" in written


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
