"""What searches, backfills, interoperability and qualifications measured stays out of every overview."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.runs import Purpose, Run, Trigger
from kexbench.planning.catalogue import read_catalogue
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.asking import series, upgrade_params, upgrade_report
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.api.test_upgrades import CATALOGUE, ONE, OTHER_CPU, THREE, TWO, measured, names
from tests.builders import ECDSA, HOST, RSA, a_kit

ASIDES: list[dict[str, Any]] = [
    {"trigger": Trigger.BISECTION},
    {"trigger": Trigger.BACKFILL},
    {"purpose": Purpose.FIRST_LOOK},
    {"purpose": Purpose.SEARCH},
    {"purpose": Purpose.INTEROP},
    {"purpose": Purpose.QUALIFICATION},
]


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    app = create_app(
        empty_store, LocalGatekeeper(SECRET), None, catalogue=lambda: read_catalogue(CATALOGUE, "libraries.yaml")
    )
    with client_of(app) as client:
        client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
        yield client


def aside(store: ClickHouseStore, fields: dict[str, Any], **measured_as: Any) -> Run:
    """A later run in which 1.1 costs three times as much, and that alone has 1.2."""
    run = measured(store, "aside", {ONE: 1.0, TWO: 3.0, THREE: 3.0}, day=1, **measured_as)
    changed = run.model_copy(update=fields)
    store.add_run(changed)
    return changed


@pytest.mark.parametrize("fields", ASIDES, ids=lambda fields: str(next(iter(fields.values()))))
def test_what_was_measured_aside_is_in_its_run_and_in_no_overview(
    client: httpx2.Client, empty_store: ClickHouseStore, fields: dict[str, Any]
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02})
    aside(empty_store, fields)
    matrix = client.get("/matrix").json()
    assert [subject["version"] for subject in matrix["subjects"]] == ["1.0", "1.1"]
    assert {cell["run_id"] for cell in matrix["cells"]} == {"one"}
    (line,) = series(client, RSA)
    assert [(point["subject"]["version"], point["run_id"]) for point in line["points"]] == [
        ("1.0", "one"),
        ("1.1", "one"),
    ]
    assert [subject["version"] for subject in client.get("/subjects").json()] == ["1.0", "1.1"]
    (upgrade,) = client.get("/upgrades").json()["upgrades"]
    assert upgrade["after"]["version"] == "1.1"
    own = client.get("/runs/aside").json()
    assert {cell["run_id"] for cell in own["cells"]} == {"aside"}
    assert len({cell["subject"] for cell in own["cells"]}) == 3


def test_overviews_begin_with_a_host_kind_that_they_have_numbers_of(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """A search on other hosts, measured later, leaves the first page as it was."""
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02})
    aside(empty_store, {"trigger": Trigger.BISECTION}, host=OTHER_CPU)
    matrix = client.get("/matrix").json()
    assert matrix["host_kind"]["cpu_model"] == HOST.cpu_model
    assert {cell["run_id"] for cell in matrix["cells"]} == {"one"}
    known = [kind["cpu_model"] for kind in client.get("/filters").json()["host_kinds"]]
    assert known == [HOST.cpu_model, OTHER_CPU.cpu_model]


def test_an_upgrade_that_only_a_search_measured_is_shown_to_who_asks_for_it(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02})
    aside(empty_store, {"trigger": Trigger.BISECTION})
    found = upgrade_report(client, "1.0", "1.2")
    assert {cell["run_ids"][0] for cell in found["cells"]} == {"aside"}


def test_verdicts_on_what_the_history_has_are_the_historys(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """The run aside is newer, has a case more, and finds 1.1 three times as costly."""
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02}, cases=(RSA,))
    aside(empty_store, {"purpose": Purpose.SEARCH})
    named = names(empty_store)
    found = upgrade_report(client, "1.0", "1.1")
    assert [(cell["case_id"], cell["run_ids"]) for cell in found["cells"]] == [(RSA, ["one"])]
    assert found["missing"] == []
    (upgrade,) = client.get("/upgrades").json()["upgrades"]
    assert upgrade["cells"] == len(found["cells"])
    (changed,) = (cell for cell in client.get("/matrix").json()["cells"] if cell["change"])
    assert changed["change"]["ratio"] == pytest.approx(1.02, abs=0.002)
    (library,) = client.get("/overview").json()["libraries"]
    assert {verdict: count for verdict, count in library["upgrade"]["counts"].items() if count} == {"more": 1}
    compared = client.get("/compare", params={"base": "fake@1.0", "other": "fake@1.1"}).json()
    assert [cell["run_ids"] for cell in compared["cells"]] == [["one"]]
    chosen = client.get(
        "/compare", params={"base": "fake@1.0", "other": "fake@1.1", "other_run_id": "aside", "base_run_id": "aside"}
    ).json()
    assert {cell["run_ids"][-1] for cell in chosen["cells"]} == {"aside"}
    batches = client.get("/distribution", params={"subject": named["1.1"], "case_id": RSA}).json()
    assert batches["run_id"] == "one"


def test_a_later_run_of_the_history_takes_the_place_of_all_that_a_search_measured(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    aside(empty_store, {"purpose": Purpose.SEARCH})
    first = upgrade_report(client, "1.0", "1.1")
    assert [(cell["case_id"], cell["run_ids"]) for cell in first["cells"]] == [(RSA, ["aside"]), (ECDSA, ["aside"])]
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02}, cases=(RSA,))
    later = upgrade_report(client, "1.0", "1.1")
    assert [(cell["case_id"], cell["run_ids"]) for cell in later["cells"]] == [(RSA, ["one"])]


def test_what_a_first_look_measured_is_on_every_page_until_another_run_has_results(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = aside(empty_store, {"purpose": Purpose.FIRST_LOOK})
    aside_view = client.get("/filters").json()["aside"]
    (first_look,) = aside_view.pop("newest")
    assert aside_view == {"first_looks": 1, "shows_first_looks": True, "others": 0}
    assert (first_look["run_id"], first_look["spec_name"]) == ("aside", run.plan.spec_name)
    newest = dict.fromkeys(NEWEST_ALONE, ("1.2",))
    assert on_pages(client) == dict.fromkeys(PAGES, ("1.0", "1.1", "1.2")) | newest
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02})
    newest = dict.fromkeys(NEWEST_ALONE, ("1.1",))
    assert on_pages(client) == dict.fromkeys(PAGES, ("1.0", "1.1")) | newest
    aside_view = client.get("/filters").json()["aside"]
    assert aside_view == {"first_looks": 1, "newest": [first_look], "shows_first_looks": False, "others": 0}


def test_questions_that_are_no_first_look_stay_out_of_overviews_that_have_nothing_else(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    aside(empty_store, {"purpose": Purpose.QUALIFICATION})
    assert client.get("/matrix").json()["cells"] == []
    aside_view = client.get("/filters").json()["aside"]
    assert aside_view == {"first_looks": 0, "newest": [], "shows_first_looks": False, "others": 1}


PAGES = ("matrix", "subjects", "overview", "upgrades", "trends", "cpus", "security", "search", "badge")
NEWEST_ALONE = ("overview", "cpus", "badge")


def on_pages(client: httpx2.Client) -> dict[str, tuple[str, ...]]:
    """The versions that each page shows. Some show the newest one alone."""

    def get(path: str, **asked: Any) -> Any:
        response = client.get(path, params=asked)
        assert response.status_code == 200, (path, response.text)
        return response.json()

    matrix, trends, (library,) = get("/matrix"), get("/trends", case_id=RSA), get("/overview")["libraries"]
    version_of = {subject["name"]: subject["version"] for subject in matrix["subjects"]}
    upgrades = get("/upgrades")["upgrades"]
    badge = client.get("http://localhost/badge/fake/1.svg").text
    found = {
        "matrix": [version_of[cell["subject"]] for cell in matrix["cells"] if cell["estimate"]],
        "subjects": [subject["version"] for subject in get("/subjects")],
        "overview": [library["newest"]["version"], library["upgrade"]["after"]["version"]],
        "upgrades": [end["version"] for upgrade in upgrades for end in (upgrade["before"], upgrade["after"])],
        "trends": [
            trends["subjects"][point["subject"]]["version"] for line in trends["lines"] for point in line["points"]
        ],
        "cpus": [row["subject"]["version"] for row in get("/cpus", case_id=RSA)["rows"]],
        "security": [subject["version"] for subject in get("/security")["subjects"]],
        "search": [version for version in ("1.0", "1.1", "1.2") if get("/search", q=f"fake {version}")],
        "badge": [version for version in ("1.0", "1.1", "1.2") if f"→ {version}" in badge],
    }
    return {page: tuple(sorted(set(versions))) for page, versions in found.items()}


def asking(
    store: ClickHouseStore, client_of: ClientOf, tracked: tuple[str, ...], before: str, after: str
) -> httpx2.Response:
    """A report of fake versions, of which 1.1 and 1.2 both say that they are 1.1, with some sources tracked."""
    kits = {TWO: a_kit(TWO), THREE: a_kit(THREE, version="1.1")}
    measured(store, "one", {ONE: 1.0, TWO: 1.02, THREE: 1.1}, kits=kits)
    entries = "".join(f'    - {{ source: "{source}", version: "{source}" }}\n' for source in tracked)
    text = f"apiVersion: kexbench.dev/v1\nkind: Catalogue\nlibraries:\n  fake:\n{entries}"
    catalogue = read_catalogue(text, "libraries.yaml")
    with client_of(create_app(store, LocalGatekeeper(SECRET), None, catalogue=lambda: catalogue)) as client:
        return client.get(f"http://localhost{API_PREFIX}/compare", params=upgrade_params(before, after))


def test_a_version_means_the_tracked_subject_where_others_have_it_too(
    empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    response = asking(empty_store, client_of, ("1.0", "1.1"), before="1.0", after="1.1")
    assert response.status_code == 200, response.text
    assert response.json()["other"]["subject"]["source"] == "1.1"


def test_a_version_that_several_have_of_which_none_is_tracked_offers_them_all(
    empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    response = asking(empty_store, client_of, ("1.0",), before="1.0", after="1.1")
    assert_problem(response, 422, "means 2 subjects")
    candidates = response.json()["candidates"]
    named = names(empty_store)
    assert [(one["asked"], one["subject"], one["version"]) for one in candidates] == [
        ("1.1", named["1.1"], "1.1"),
        ("1.1", named["1.2"], "1.1"),
    ]
