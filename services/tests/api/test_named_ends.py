"""Wherever a change is shown, it names its two ends, they are the ends that the reader expects, and comparing these two
by name gives the same numbers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.hosts import HostFacts, kind_of
from kexbench.domain.runs import RunState
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.asking import upgrade_report
from tests.api.conftest import SECRET, ClientOf
from tests.api.documented import document
from tests.builders import ECDSA, HOST, NOON, RSA, SPEC, a_kit, a_run, an_event, an_invocation
from tests.stores import emptied

VERSIONS = ("1.1", "1.2", "1.9", "1.10")
"""In their order."""
BUILDS = ("-O2", "-O3")
OTHER = HOST.model_copy(update={"cpu_model": "Other CPU"})
ALL = SPEC.replace("[1.0, 1.1]", f"[{', '.join(VERSIONS)}]")
INVOCATIONS = 4
Json = dict[str, Any]
END = {"before": "after", "base": "other", "good": "bad"}
"""Fields by which a shape names the ends of its change."""
OF_A_CHANGE = {"ratio", "change", "verdict"}
OTHERWISE = {
    "Ratio": "of two cases, two machines, or a subject and the sentinel; each field says which",
    "HostMoveSince": "of a machine since an earlier run, which it names",
    "HostMoved": "of a machine since an earlier run, which it names",
    "HandshakeView": "of two cases, one of which is the level's RSA case",
    "ReferenceRatio": "published, of two cases",
    "MeasuredRatio": "published and measured, of two cases",
    "MeasuredRow": "published and measured, of two cases",
    "SwapWithCosts": "of two cases, which it names",
    "MixReport": "of the versions in its `version` and `to`",
    "Alert": "of the versions in its `cause`",
    "AlertSummary": "of the versions in its `cause`",
    "Finding": "of its `subjects`",
    "BisectionDetail": "of the versions in its `summary`",
    "Disagreement": "of a node and its peers",
    "FleetFinding": "about one machine, no change",
    "SentinelPoint": "of a node and its peers",
}
"""What is no change between two versions, or names them otherwise."""


@dataclass(frozen=True)
class Measured:
    """A run: the build and the cost of each version, on one machine."""

    host: HostFacts
    cases: tuple[str, ...]
    subjects: Mapping[str, tuple[str, float]]


runs = st.builds(
    Measured,
    host=st.sampled_from((HOST, OTHER)),
    cases=st.sampled_from(((RSA,), (ECDSA,), (RSA, ECDSA))),
    subjects=st.dictionaries(
        st.sampled_from(VERSIONS),
        st.tuples(st.sampled_from(BUILDS), st.sampled_from((1.0, 1.02, 0.8, 1.3))),
        min_size=1,
    ),
)


def fill(store: ClickHouseStore, stored: list[Measured]) -> None:
    for day, each in enumerate(stored):
        kits = {
            f"fake@{version}": a_kit(f"fake@{version}", flags=flags) for version, (flags, _) in each.subjects.items()
        }
        run = a_run(f"run-{day}", spec=ALL, created_at=NOON + timedelta(days=day), kits=kits, host=each.host)
        store.add_run(run)
        invocations = [
            an_invocation(
                run,
                number,
                case_id=case_id,
                host=each.host,
                cpu_ns={
                    f"fake@{version}": 1e6 * cost * (1 + 0.0003 * ((7 * number + 5 * place) % 11))
                    for place, (version, (_, cost)) in enumerate(each.subjects.items())
                },
            )
            for case_id in each.cases
            for number in range(INVOCATIONS)
        ]
        store.add_invocations(run, invocations, each.host)
        store.add_event(an_event(run, RunState.FINISHED))


@dataclass(frozen=True)
class Shown:
    """A change in an answer."""

    shape: str
    change: Json
    case_id: str
    pool: str
    cpu_model: str


@dataclass
class Walk:
    """All changes in an answer, found by the shapes of the API's document. What encloses a change says of which case
    and machine it is."""

    shapes: Mapping[str, Json] = field(default_factory=lambda: document()["components"]["schemas"])

    def changes(self, schema: Json, answer: Any, around: Json) -> Iterator[Shown]:
        if answer is None:
            return
        for option in schema.get("anyOf", []):
            yield from self.changes(option, answer, around)
        if "items" in schema:
            for item in answer:
                yield from self.changes(schema["items"], item, around)
        if "$ref" in schema:
            yield from self.of_shape(schema["$ref"].rpartition("/")[2], answer, around)

    def of_shape(self, name: str, answer: Any, around: Json) -> Iterator[Shown]:
        properties = self.shapes[name].get("properties", {})
        if not isinstance(answer, dict):
            return
        here = around | {key: answer[key] for key in ("case_id", "pool", "cpu_model") if answer.get(key)}
        here |= answer.get("host_kind") or {}
        if isinstance(answer.get("case"), dict):
            here["case_id"] = answer["case"]["id"]
        if {"before", "after"} < properties.keys() and not {"ratio", "move"}.isdisjoint(properties):
            yield Shown(name, answer, here["case_id"], here["pool"], here["cpu_model"])
        for key, of_key in properties.items():
            yield from self.changes(of_key, answer.get(key), here)

    def of(self, client: httpx2.Client, path: str, template: str = "", **query: Any) -> list[Shown]:
        answer = client.get(path, params=query).raise_for_status().json()
        operation = document()["paths"][f"/api/v1{template or path}"]["get"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        return list(self.changes(schema, answer, {}))


def compared(client: httpx2.Client, shown: Shown, **asked: Any) -> Json:
    """What the comparison of the two named ends says of the same case on the same machine."""
    ends = {"base": shown.change["before"]["subject"], "other": shown.change["after"]["subject"]}
    answer = client.get("/compare", params={**ends, **asked}).raise_for_status().json()
    (cell,) = [
        cell
        for cell in answer["cells"]
        if cell["case_id"] == shown.case_id and cell["host_kind"] == {"pool": shown.pool, "cpu_model": shown.cpu_model}
    ]
    return cell  # type: ignore[no-any-return]


def numbers(change: Json) -> Json:
    return {key: change[key] for key in ("ratio", "low", "high")}


def previous(stored: list[Measured], shown: Shown) -> str:
    """The nearest lower version in the same case on the same machine."""
    beside = {
        version
        for each in stored
        for version in each.subjects
        if shown.case_id in each.cases and kind_of(each.host) == shown.cpu_model
    }
    after = VERSIONS.index(shown.change["after"]["version"])
    return max((version for version in beside if VERSIONS.index(version) < after), key=VERSIONS.index)


def test_the_change_to_a_version_is_from_the_nearest_lower_one_though_its_build_profile_differs(
    empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    """1.1 and 1.10 have one build profile, and 1.9 between them another."""
    stored = [Measured(HOST, (RSA,), {"1.1": ("-O2", 0.8), "1.9": ("-O3", 1.3), "1.10": ("-O2", 1.02)})]
    fill(empty_store, stored)
    with a_client(empty_store, client_of) as client:
        assert_named(client, stored)
        (row,) = client.get("/cpus").json()["rows"]
        change = row["change"]
        assert (change["before"]["version"], change["after"]["version"]) == ("1.9", "1.10")
        assert (change["verdict"], change["warnings"]) == ("less", ["different build profile"])
        (state,) = client.get("/overview").json()["libraries"]
        assert state["upgrade"]["before"]["version"] == "1.9"


@pytest.mark.long
@settings(max_examples=12, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stored=st.lists(runs, min_size=1, max_size=3))
def test_every_change_that_is_shown_is_what_comparing_its_named_ends_gives(
    stored: list[Measured], client_of: ClientOf, warm_chdb: str
) -> None:
    """What fails is not made smaller, since each store takes long."""
    for store in emptied(warm_chdb):
        fill(store, stored)
        with a_client(store, client_of) as client:
            assert_named(client, stored)


def a_client(store: ClickHouseStore, client_of: ClientOf) -> httpx2.Client:
    client = client_of(create_app(store, LocalGatekeeper(SECRET), None))
    client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
    return client


def assert_named(client: httpx2.Client, stored: list[Measured]) -> None:
    walk = Walk()
    kinds = {kind_of(each.host) for each in stored}
    in_all: list[Shown] = []
    for kind in kinds:
        here = {"pool": "local", "cpu_model": kind}
        in_all += walk.of(client, "/matrix", **here)
        for case_id in {case_id for each in stored for case_id in each.cases if kind_of(each.host) == kind}:
            in_all += walk.of(client, "/trends", case_id=case_id, **here)
    in_all += walk.of(client, "/trends", case_id=[RSA, ECDSA])
    for case_id in {case_id for each in stored for case_id in each.cases}:
        in_all += walk.of(client, "/cpus", case_id=case_id)
    for shown in in_all:
        cell = compared(client, shown)
        assert numbers(shown.change.get("move") or shown.change) == numbers(cell["move"])
        assert (shown.change["verdict"], shown.change.get("warnings", cell["warnings"])) == (
            cell["verdict"],
            cell["warnings"],
        )
        if shown.shape == "Change":
            assert shown.change["before"]["version"] == previous(stored, shown)
    for number, each in enumerate(stored):
        for shown in walk.of(client, f"/runs/run-{number}", "/runs/{run_id}"):
            cell = compared(client, shown, base_run_id=f"run-{number}", other_run_id=f"run-{number}")
            assert (numbers(shown.change), shown.change["verdict"]) == (numbers(cell["move"]), cell["verdict"])
            for side in ("client", "server"):
                assert shown.change[side] == cell[side]
            assert shown.change["before"]["version"] == previous([each], shown)
    assert_pairs(client, stored)


def assert_pairs(client: httpx2.Client, stored: list[Measured]) -> None:
    """The upgrades of the list, the overview and the badge."""
    listed = client.get("/upgrades").raise_for_status().json()["upgrades"]
    places = {
        version: {(kind_of(each.host), case) for each in stored if version in each.subjects for case in each.cases}
        for version in VERSIONS
    }
    for pair in listed:
        before, after = pair["before"]["version"], pair["after"]["version"]
        between = VERSIONS[VERSIONS.index(before) + 1 : VERSIONS.index(after)]
        own = {
            (kind_of(each.host), case)
            for each in stored
            if after in each.subjects and each.subjects[after][0] in pair["after"]["build_profile_label"]
            for case in each.cases
        }
        assert not any(places[version] & own for version in between), pair
    (state,) = client.get("/overview").raise_for_status().json()["libraries"]
    newest = max(listed, key=lambda pair: VERSIONS.index(pair["after"]["version"]), default=None)
    assert bool(state["upgrade"]) == bool(newest)
    if not state["upgrade"]:
        return
    ends = {end: state["upgrade"][end] for end in ("before", "after")}
    assert ends in [{end: pair[end] for end in ends} for pair in listed]
    report = upgrade_report(client, *(ends[end]["subject"].removeprefix("fake@") for end in ends))
    assert (report["sentence"], report["before"]["name"]) == (state["upgrade"]["sentence"], ends["before"]["subject"])
    badge = client.get(f"http://localhost/badge/fake/{ends['after']['version']}.svg").raise_for_status().text
    (label,) = re.findall(r"<title>(.*?): ", badge)
    assert label in {
        f"{pair['before']['label']} → {pair['after']['version']}"
        for pair in listed
        if pair["after"]["version"] == ends["after"]["version"]
    }


def test_every_shape_with_a_change_names_its_ends_or_is_in_one_that_does() -> None:
    shapes: Mapping[str, Json] = document()["components"]["schemas"]
    users = {
        name: {user for user, shape in shapes.items() if f'/{name}"' in str(shape).replace("'", '"')} for name in shapes
    }

    def names_ends(name: str) -> bool:
        properties = shapes[name].get("properties", {}).keys()
        return any({first, second} <= properties for first, second in END.items()) or name in OTHERWISE

    def is_named(name: str, seen: frozenset[str] = frozenset()) -> bool:
        around = users[name] - seen - {name}
        return names_ends(name) or (bool(around) and all(is_named(user, seen | {name}) for user in around))

    of_changes = {
        name
        for name, shape in shapes.items()
        for key, of_key in shape.get("properties", {}).items()
        if key in OF_A_CHANGE and "$ref" not in str(of_key)
    }
    assert {"Change", "ChangePoint", "ComparedCell", "MovedCell", "SideMove"} <= of_changes
    assert {name for name in of_changes if not is_named(name)} == set()
    assert OTHERWISE.keys() <= shapes.keys()
