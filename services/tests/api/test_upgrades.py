"""Upgrades from rows of a real store: which are known, which runs speak for them, and what their report says."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from kexbench.answers.comparing import DIFFERENT_HARNESS, DIFFERENT_RUN, THE_SENTINEL, THROUGH
from kexbench.answers.numbers import cells_of_steps
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.instruments import Instrument
from kexbench.domain.kits import KitManifest, Package
from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric, Negotiated, Sample
from kexbench.domain.upgrades import SIDES_OF
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError, Fault
from kexbench.runner.callgrind import read_counts
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.asking import upgrade_params, upgrade_report
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.builders import ECDSA, HOST, NOON, RSA, SPEC, a_kit, a_profile, a_run, an_invocation, an_outcome

ONE, TWO, THREE = "fake@1.0", "fake@1.1", "fake@1.2"
VERSIONS = SPEC.replace("[1.0, 1.1]", "[1.0, 1.1, 1.2]").replace("invocations: 6", "invocations: 10")
FROZEN = a_kit("openssl@system", version="3.0.2")
OTHER_CPU = HOST.model_copy(update={"cpu_model": "Other CPU"})
CATALOGUE = """\
apiVersion: kexbench.dev/v1
kind: Catalogue
libraries:
  fake:
    - { source: "1.0", version: "1.0", defaults: [old news] }
    - { source: "1.1", version: "1.1", security: [CVE-1, CVE-2] }
    - { source: "1.2", version: "1.2", defaults: [one key share more], security: [CVE-3] }
    - { source: "1.3", version: "1.3", defaults: [news to come] }
"""


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    app = create_app(
        empty_store, LocalGatekeeper(SECRET), None, catalogue=lambda: read_catalogue(CATALOGUE, "libraries.yaml")
    )
    with client_of(app) as client:
        client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
        yield client


def measured(
    store: ClickHouseStore,
    run_id: str,
    costs: Mapping[str, float],
    *,
    day: int = 0,
    cases: tuple[str, ...] = (RSA, ECDSA),
    count: int = 10,
    spec: str = VERSIONS,
    kits: Mapping[str, KitManifest] | None = None,
    harness: int | None = None,
    **run_fields: Any,
) -> Run:
    """A run in which each subject costs so many times 1 ms, with a little noise of its own."""
    run = a_run(run_id, spec=spec, created_at=NOON + timedelta(days=day), kits=kits, **run_fields)
    if harness is not None:
        run = run.model_copy(update={"plan": run.plan.model_copy(update={"harness_version": harness})})
    store.add_run(run)
    host = run_fields.get("host", HOST)
    found = []
    for place, case_id in enumerate(cases):
        for number in range(count):
            cpu_ns = {
                name: 1e6 * cost * (1 + 0.0003 * ((7 * number + 3 * place + 5 * nth) % 11 - 5))
                for nth, (name, cost) in enumerate(costs.items())
            }
            found.append(an_invocation(run, number, case_id=case_id, cpu_ns=cpu_ns, host=host))
    store.add_invocations(run, found)
    return run


def standing_on(reference: str, nettle: str, gmp: str) -> KitManifest:
    versions = {"libnettle8": nettle, "libgmp10": gmp}
    return a_kit(reference, packages=[Package(name=name, version=one, sha256=None) for name, one in versions.items()])


def report(client: httpx2.Client, before: str = "1.0", after: str = "1.1", **asked: Any) -> dict[str, Any]:
    return upgrade_report(client, before, after, **asked)


def cell(found: dict[str, Any], case_id: str = RSA) -> dict[str, Any]:
    (one,) = [cell for cell in found["cells"] if cell["case_id"] == case_id]
    return one  # type: ignore[no-any-return]


def names(store: ClickHouseStore) -> dict[str, str]:
    return {row.source: row.name for row in store.subjects()}


def test_a_planted_step_is_shown_with_its_cells_sides_and_notes(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 1.02})
    found = report(client)
    assert (found["before"]["version"], found["after"]["version"]) == ("1.0", "1.1")
    assert (found["before"]["library"], found["relevant"], found["missing"]) == ("fake", 0.005, [])
    assert [one["case_id"] for one in found["cells"]] == [RSA, ECDSA]
    for one in found["cells"]:
        assert (one["verdict"], one["paired"], one["invocations"]) == ("more", True, 10)
        assert (one["run_ids"], one["warnings"]) == (["one"], [])
        assert one["move"]["low"] < 1.02 < one["move"]["high"]
        assert one["client"]["ratio"] == pytest.approx(1.02, abs=0.002)
        assert one["server"]["ratio"] == pytest.approx(1.02, abs=0.002)
        assert one["before_ns"] == pytest.approx(1e6, rel=0.002)
        assert one["after_ns"] == pytest.approx(1.02e6, rel=0.002)
    assert found["sentence"].startswith("fake 1.0 → 1.1: ")
    assert found["defaults"] == []
    assert found["security"] == ["1.1: CVE-1", "1.1: CVE-2"]
    longer = report(client, "1.0", "1.2")
    assert longer["defaults"] == ["1.2: one key share more"]
    assert longer["security"] == ["1.1: CVE-1", "1.1: CVE-2", "1.2: CVE-3"]
    backwards = report(client, "1.2", "1.0")
    assert (backwards["defaults"], backwards["security"]) == ([], [])
    assert {one["verdict"] for one in backwards["cells"]} == {"less"}
    assert {one["verdict"] for one in report(client, "1.1", "1.2")["cells"]} == {"same"}
    assert {one["verdict"] for one in report(client, relevant=0.05)["cells"]} == {"same"}


def test_a_step_says_what_else_changed_and_each_side_has_its_own_verdict(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """The fake kits' packages are those of two releases of a distribution."""
    kits = {ONE: standing_on(ONE, "3.8.1-2", "2:6.2.1+dfsg1-1.1"), TWO: standing_on(TWO, "3.10.1-1", "2:6.3.0+dfsg-3")}
    measured(empty_store, "one", {ONE: 1.0, TWO: 0.94, THREE: 0.94}, kits=kits)
    changes = [
        {"what": "nettle", "before": "3.8.1", "after": "3.10.1"},
        {"what": "gmp", "before": "6.2.1", "after": "6.3.0"},
    ]
    found = report(client)
    assert [one["components"] for one in found["cells"]] == [changes, changes]
    assert {one[side]["verdict"] for one in found["cells"] for side in ("client", "server")} == {"less"}
    assert found["sentence"].startswith("fake 1.0 → 1.1 with nettle 3.8.1 → 3.10.1, gmp 6.2.1 → 6.3.0: ")
    assert [one["components"] for one in report(client, "1.1", "1.2")["cells"]] == [[], []]

    run = client.get("/runs/one").json()
    assert run["components"][ONE] == {"nettle": "3.8.1", "gmp": "6.2.1"}
    (change,) = [
        one["change"] for one in run["cells"] if one["case_id"] == RSA and one["change"] and "@1.1~" in one["subject"]
    ]
    assert change["components"] == changes
    for side in ("client", "server"):
        assert change[side]["verdict"] == "less"
        assert change[side]["low"] < 0.94 < change[side]["high"]
    (alone,) = [
        one["change"]
        for one in client.get("/runs/one", params={"metric": "client_cpu_ns"}).json()["cells"]
        if one["case_id"] == RSA and one["change"] and "@1.1~" in one["subject"]
    ]
    assert {name: alone[name] for name in change["client"]} == change["client"]


def test_a_run_that_interleaved_both_speaks_however_much_was_measured_of_one_since(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "both", {ONE: 1.0, TWO: 1.02})
    measured(empty_store, "later", {TWO: 2.0, THREE: 2.02}, day=1, cases=(RSA,))
    measured(empty_store, "broken off", {ONE: 1.0, TWO: 3.0}, day=2, count=2)
    for one in report(client)["cells"]:
        assert (one["run_ids"], one["paired"], one["warnings"]) == (["both"], True, [])
        assert one["move"]["ratio"] == pytest.approx(1.02, abs=0.002)
    assert cell(report(client, "1.1", "1.2"))["run_ids"] == ["later"]
    measured(empty_store, "newest", {ONE: 1.0, TWO: 1.03}, day=3)
    assert cell(report(client))["run_ids"] == ["newest"]


def test_versions_of_different_runs_are_compared_through_the_same_sentinel_in_nanoseconds(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    kits = {SENTINEL: FROZEN}
    measured(empty_store, "one", {ONE: 1.0, SENTINEL: 2.0}, kits=kits)
    measured(empty_store, "two", {TWO: 1.1, SENTINEL: 2.2}, kits=kits, day=1)
    one = cell(report(client))
    assert (one["warnings"][0], one["paired"], one["run_ids"]) == (
        THROUGH.format(subject=THE_SENTINEL),
        False,
        ["one", "two"],
    )
    assert one["move"]["ratio"] == pytest.approx(1, abs=0.002)
    assert one["after_ns"] == pytest.approx(1.1e6, rel=0.002)
    assert one["before_ns"] == pytest.approx(1.1e6, rel=0.002)


def test_versions_of_different_runs_without_a_sentinel_are_marked_and_those_of_another_harness_not_judged(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0})
    measured(empty_store, "two", {TWO: 1.1}, day=1)
    measured(empty_store, "three", {THREE: 1.1}, day=2, harness=1)
    one = cell(report(client))
    assert (one["warnings"], one["verdict"], one["unalike"]) == ([DIFFERENT_RUN], "apart", ["runs"])
    assert (one["before_ns"], one["after_ns"]) == (pytest.approx(1e6, rel=0.01), pytest.approx(1.1e6, rel=0.01))
    assert {cell["verdict"] for cell in report(client)["cells"]} == {"apart"}
    other = cell(report(client, "1.1", "1.2"))
    assert (other["warnings"], other["verdict"]) == ([DIFFERENT_RUN, DIFFERENT_HARNESS], "unlike")


def test_a_cell_that_preemption_left_without_sides_says_so_in_the_report(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """A newer run that has one of the two alone is no part of the comparison, and says nothing of it."""
    run = a_run("one", spec=VERSIONS)
    empty_store.add_run(run)
    for number in range(6):
        disturbed = [TWO] if number < 4 else []
        found = an_invocation(
            run, number, cpu_ns={ONE: 1e6, TWO: 1.1e6}, preempted_batches=len(disturbed), without_sides=disturbed
        )
        empty_store.add_invocation(run, found)
    later = a_run("two", spec=VERSIONS, created_at=NOON + timedelta(days=1))
    empty_store.add_run(later)
    for number in range(6):
        alone = an_invocation(later, number, cpu_ns={TWO: 1.1e6}, preempted_batches=1, without_sides=[TWO])
        empty_store.add_invocation(later, alone)
    one = cell(report(client))
    assert (one["run_ids"], one["verdict"], one["client"], one["server"]) == (["one"], "more", None, None)
    assert one["disturbed"] == 4


@pytest.mark.parametrize(
    ("without_sides", "cores_of"),
    [({}, (3.5e6, 3.5e6)), ({0: ONE, 1: TWO}, (4.5e6, 4.5e6)), ({0: ONE, 1: ONE, 2: ONE, 3: ONE, 5: TWO}, None)],
)
def test_the_cores_of_a_server_are_of_invocations_that_compare_it(
    client: httpx2.Client,
    empty_store: ClickHouseStore,
    without_sides: Mapping[int, str],
    cores_of: tuple[float, float] | None,
) -> None:
    """Both versions cost the same, and each invocation costs 1 ms more than the one before it."""
    run = a_run("one", spec=VERSIONS)
    empty_store.add_run(run)
    for number in range(6):
        lacking = [without_sides[number]] if number in without_sides else []
        invocation = an_invocation(
            run, number, cpu_ns={ONE: 1e6, TWO: 1e6}, preempted_batches=len(lacking), without_sides=lacking
        )
        cost = (number + 1) * 1e6
        whole = [
            Sample(
                subject=name,
                metric=Metric.SERVER_CONNECTION_CPU_NS,
                values=(cost,),
                level=cost if lacking else None,
            )
            for name in (ONE, TWO)
            if name not in lacking
        ]
        empty_store.add_invocation(run, invocation.model_copy(update={"samples": (*invocation.samples, *whole)}))
    one = cell(report(client))
    assert (one["server"] is None) is (cores_of is None)
    assert (one["server_before_ns"], one["server_after_ns"]) == (cores_of or (None, None))


def test_versions_of_different_runs_are_compared_through_a_version_that_both_have(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0, THREE: 2.0})
    measured(empty_store, "two", {TWO: 1.1, THREE: 2.2}, day=1)
    one = cell(report(client))
    assert one["warnings"] == [THROUGH.format(subject="fake 1.2")]
    assert one["move"]["ratio"] == pytest.approx(1, abs=0.002)
    assert (one["verdict"], one["run_ids"]) == ("same", ["one", "two"])
    of_matrix = {found["subject"]: found for found in client.get("/matrix").json()["cells"]}
    (change,) = (
        found["change"] for name, found in of_matrix.items() if name.startswith("fake@1.1~") and found["case_id"] == RSA
    )
    assert change["ratio"] == pytest.approx(1, abs=0.002)
    assert change["warnings"] == one["warnings"]


def test_default_settings_that_chose_something_else_are_not_judged(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run(spec=VERSIONS.replace("[TLSv1.2]", "[default]").replace("[RSA, ECDHE-ECDSA]", "[default-RSA]"))
    empty_store.add_run(run)
    (case,) = run.plan.cases
    for number in range(6):
        found = an_invocation(run, number, case_id=case.case_id, cpu_ns={ONE: 1e6 + number, TWO: 1.1e6 + number})
        ours: dict[str, Negotiated] = {
            name: chosen.model_copy(update={"group": "X25519" if name == ONE else "X25519MLKEM768"})
            for name, chosen in found.negotiated.items()
        }
        empty_store.add_invocation(run, found.model_copy(update={"negotiated": ours}))
    one = cell(report(client), case.case_id)
    assert one["verdict"] == "unlike"
    assert one["warnings"] == ["negotiated differently: group X25519MLKEM768 instead of X25519"]


def test_host_kinds_are_never_mixed_and_can_be_asked_for(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "here", {ONE: 1.0, TWO: 1.02}, cases=(RSA,))
    measured(empty_store, "there", {ONE: 1.0, TWO: 1.0}, cases=(RSA,), host=OTHER_CPU, day=1)
    measured(empty_store, "alone", {ONE: 9.0}, host=HOST.model_copy(update={"cpu_model": "Third"}), day=2)
    found = report(client)
    verdicts = {one["host_kind"]["cpu_model"]: one["verdict"] for one in found["cells"]}
    assert verdicts == {"Other CPU": "same", HOST.cpu_model: "more"}
    assert [one["host_kind"]["cpu_model"] for one in found["cells"]] == ["Other CPU", HOST.cpu_model]
    assert found["missing"] == []
    only = report(client, cpu_model=HOST.cpu_model, pool="local")["cells"]
    assert [one["host_kind"]["cpu_model"] for one in only] == [HOST.cpu_model]
    assert report(client, pool="elsewhere")["cells"] == []
    (alone,), (_, together) = only, found["cells"]
    assert alone | {"history": []} == together | {"history": []}, "judged among all, whatever is shown"


def test_of_one_run_alone_nothing_else_is_read(empty_store: ClickHouseStore) -> None:
    measured(empty_store, "old", {ONE: 1.0, TWO: 1.02})
    measured(empty_store, "new", {ONE: 1.0, TWO: 1.0}, day=1)
    named = names(empty_store)
    step = (named["1.0"], named["1.1"])
    found = cells_of_steps(empty_store, [step], run_ids=("old", "old"))[step]
    assert [one.run_ids for one in found] == [("old",)] * 2
    assert {len(one.before["both"]) for one in found} == {10}
    assert all(key.startswith("old/") for one in found for key in one.after["server"])
    assert cells_of_steps(empty_store, [step], run_ids=("none", "none")) == {step: []}


def test_a_case_that_one_version_lacks_is_missing_with_the_reason(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = measured(empty_store, "one", {ONE: 1.0, TWO: 1.0}, cases=(RSA,))
    lacking = an_invocation(run, case_id=ECDSA, cpu_ns={ONE: 1e6}, outcomes=[an_outcome(TWO)])
    empty_store.add_invocation(run, lacking)
    measured(empty_store, "two", {THREE: 1.0}, day=1, cases=(ECDSA,))
    (missing,) = report(client)["missing"]
    assert (missing["case_id"], missing["version"]) == (ECDSA, "1.1")
    assert missing["reason"] == "unsupported: no such group"
    found = report(client, "1.1", "1.2")
    assert found["cells"] == []
    assert [(one["case_id"], one["version"], one["reason"]) for one in found["missing"]] == [
        (RSA, "1.2", "not measured"),
        (ECDSA, "1.1", "unsupported: no such group"),
    ]


def test_versions_are_named_by_version_source_or_unique_name_and_what_is_meant_must_be_clear(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    spec = VERSIONS.replace("[1.0, 1.1, 1.2]", "[1.0+seed=1, 1.0+seed=2, 1.1]")
    measured(empty_store, "one", {"fake@1.0+seed=1": 1.0, "fake@1.0+seed=2": 1.0, TWO: 1.0}, spec=spec)
    named = names(empty_store)
    for before in ("1.0+seed=1", "fake@1.0+seed=1", "1.0 (1.0+seed=1)", named["1.0+seed=1"]):
        assert report(client, before)["before"]["name"] == named["1.0+seed=1"]
    sources = report(client, "1.0+seed=1", "1.0+seed=2")
    assert "(1.0+seed=1) → 1.0 (1.0+seed=2)" in sources["sentence"]

    def asked(**changes: str) -> httpx2.Response:
        ends = {"library": "fake", "before": "1.0+seed=1", "after": "1.1"} | changes
        return client.get("/compare", params=upgrade_params(ends["before"], ends["after"], ends["library"]))

    ambiguous = asked(before="1.0")
    assert_problem(ambiguous, 422, named["1.0+seed=1"], named["1.0+seed=2"])
    assert_problem(asked(after="9.9"), 404, "there are no results of fake 9.9", "1.1, 1.0")
    assert "kexbench run" in asked(after="9.9").json()["remedy"]
    assert_problem(asked(library="gnutls"), 404, "stored versions: none")
    assert asked(after="1.0+seed=1").json()["upgrade"] is None
    assert_problem(asked(library="nss"), 422, "query.base")


def test_neighbours_are_listed_newest_first_and_page_by_page(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    assert client.get("/upgrades").json() == {"upgrades": [], "next_before": None}
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.0})
    measured(empty_store, "two", {TWO: 1.0, THREE: 1.0}, cases=(RSA,), day=1)
    measured(empty_store, "three", {THREE: 1.0}, cases=(RSA,), day=2)
    profiles = {"fake@1.2": a_kit("fake@1.2", flags="-O3")}
    measured(empty_store, "elsewhere", {THREE: 1.0}, kits=profiles, host=OTHER_CPU, day=3)

    def listed(**asked: Any) -> list[tuple[str, str, int]]:
        found = client.get("/upgrades", params=asked).json()["upgrades"]
        return [(one["before"]["version"], one["after"]["version"], one["cells"]) for one in found]

    assert listed() == [("1.1", "1.2", 1), ("1.0", "1.1", 2)]
    assert listed(library="fake") == listed()
    assert listed(library="openssl") == []
    page = client.get("/upgrades", params={"limit": 1}).json()
    assert [one["after"]["version"] for one in page["upgrades"]] == ["1.2"]
    assert [one[1] for one in listed(limit=1, before=page["next_before"])] == ["1.1"]
    measured(empty_store, "profile", {ONE: 1.0, TWO: 1.0, THREE: 1.0}, kits=profiles, cases=(RSA,), day=4)
    ends = [one for one in client.get("/upgrades").json()["upgrades"] if "-O3" in one["after"]["build_profile_label"]]
    assert [one["before"]["version"] for one in ends] == ["1.1"]


def test_a_catalogue_with_faults_is_a_problem_that_names_them(
    empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    def broken() -> Any:
        raise DocumentError("libraries.yaml", [Fault(3, 5, "libraries", "unknown field")])

    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, catalogue=broken)) as client:
        address = f"{API_PREFIX}/compare?base=fake@1&other=fake@2"
        assert_problem(client.get(address), 503, "libraries.yaml:3:5")


def counted(
    store: ClickHouseStore,
    run_id: str,
    hashes: Mapping[str, float],
    instrument: Instrument = Instrument.INSTRUCTIONS,
) -> None:
    """What the server's hash costs by subject; everything else costs the same."""
    run = a_run(run_id, spec=VERSIONS)
    store.add_run(run)
    metric = SIDES_OF[instrument]["both"]
    invocation = an_invocation(
        run,
        profiles={
            name: (a_profile("client", instrument, key=100.0), a_profile("server", instrument, key=900.0, hash=own))
            for name, own in hashes.items()
        },
    )
    samples = tuple(Sample(subject=name, metric=metric, values=(1000 + own,)) for name, own in hashes.items())
    store.add_invocation(run, invocation.model_copy(update={"samples": samples}))


def test_why_an_upgrade_costs_more_is_explained_function_by_function(
    empty_store: ClickHouseStore, client: httpx2.Client
) -> None:
    why = "/upgrades/why?library=fake"
    assert client.get(f"{why}&before=1.0&after=1.1").json() == [], "nothing was counted"
    counted(empty_store, "counting", {ONE: 100.0, TWO: 350.0})
    (case,) = client.get(f"{why}&before=1.0&after=1.1").json()
    assert (case["case_id"], case["run_ids"], case["other_code"]) == (RSA, ["counting"], False)
    client_side, server = case["sides"]
    assert (client_side["before"], client_side["after"], client_side["path"]) == (100, 100, [])
    assert server["path"] == [{"name": "hash", "before": 100, "after": 350}]
    assert [function["name"] for function in server["functions"]] == ["hash", "key"]
    (shorter,) = client.get(f"{why}&before=1.0&after=1.1&functions=1").json()
    assert [len(side["functions"]) for side in shorter["sides"]] == [1, 1]
    assert client.get(f"{why}&before=1.0&after=1.1&case_id={ECDSA}").json() == []
    counted(empty_store, "next", {THREE: 100.0})
    (later,) = client.get(f"{why}&before=1.1&after=1.2").json()
    assert later["run_ids"] == ["counting", "next"], "versions that no run counted together are compared too"
    assert_problem(client.get(f"{why}&before=1.0&after=9.9"), 404, "no results of fake 9.9")


def test_two_libraries_of_one_ancestry_are_explained_by_parts_and_others_are_refused(
    empty_store: ClickHouseStore, client: httpx2.Client
) -> None:
    counts = {
        "openssl@system": a_profile("server", bn_mul_mont=100.0, fe_mul=900.0),
        "awslc@crate/0.47.0": a_profile("server", bn_mul_mont_nohw=80.0, curve25519_x25519_alt=400.0),
    }
    why = "/upgrades/why?library=openssl&before=3.0.19&after=5.12.0&after_library=awslc"
    assert client.get(why).json() == [], "nothing was counted"
    kits = {name: a_kit(name, version=version) for name, version in zip(counts, ("3.0.19", "5.12.0"), strict=True)}
    spec = VERSIONS.replace("fake: [1.0, 1.1, 1.2]", "openssl: [system]\n  - awslc: [crate/0.47.0]")
    run = a_run("stacks", spec=spec, kits=kits)
    empty_store.add_run(run)
    invocation = an_invocation(run, profiles={name: (profile,) for name, profile in counts.items()})
    metric = Metric.COUNTED_INSTRUCTIONS
    samples = tuple(Sample(subject=name, metric=metric, values=(profile.amount,)) for name, profile in counts.items())
    empty_store.add_invocation(run, invocation.model_copy(update={"samples": samples}))
    (case,) = client.get(why).json()
    assert case["other_code"] is True, "they do not tell by which CPU features they chose their code"
    (server,) = case["sides"]
    assert (server["before"], server["after"], server["path"]) == (1000, 480, [])
    columns = ("name", "matched_before", "matched_after", "only_before", "only_after")
    assert [tuple(part[column] for column in columns) for part in server["parts"]] == [
        ("Curve25519", 0, 0, 900, 400),
        ("RSA and big numbers", 100, 80, 0, 0),
    ]
    refused = client.get("/upgrades/why?library=openssl&before=3.0.19&after=5.9.4&after_library=wolfssl")
    assert_problem(refused, 422, "OpenSSL and wolfSSL have no common ancestry")


def test_the_calls_of_both_versions_are_one_tree(empty_store: ClickHouseStore, client: httpx2.Client) -> None:
    stacks = f"/upgrades/why/stacks?library=fake&case_id={RSA}"
    ends = "before=1.0&after=1.1"
    assert_problem(client.get(f"{stacks}&{ends}&side=server"), 404, "no results of fake 1.0")
    counted(empty_store, "counting", {ONE: 100.0, TWO: 350.0})
    root = client.get(f"{stacks}&{ends}&side=server").json()
    assert (root["name"], root["before"], root["after"]) == ("server_turn", 1000, 1250)
    assert [(child["name"], child["before"], child["after"]) for child in root["children"]] == [
        ("key", 900, 900),
        ("hash", 100, 350),
    ]
    assert client.get(f"{stacks}&{ends}&side=client").json()["after"] == 100
    other_case = f"/upgrades/why/stacks?library=fake&case_id={ECDSA}&{ends}&side=server"
    assert_problem(client.get(other_case), 404, f"fake 1.0 and 1.1 were counted in the case {ECDSA}")


def test_the_profile_of_a_version_is_a_file_of_other_programs(
    empty_store: ClickHouseStore, client: httpx2.Client
) -> None:
    counted(empty_store, "counting", {ONE: 100.0, TWO: 350.0})
    profile = f"/upgrades/why/profile?library=fake&case_id={RSA}&side=server"
    callgrind = client.get(f"{profile}&subject=1.1")
    assert callgrind.headers["content-type"].startswith("text/plain")
    assert callgrind.headers["content-disposition"] == 'attachment; filename="fake-1.1-server.callgrind"'
    assert read_counts(callgrind.text.splitlines()).instructions == 1250
    speedscope = client.get(f"{profile}&subject=1.0&format=speedscope")
    assert speedscope.headers["content-type"] == "application/json"
    assert speedscope.headers["content-disposition"] == 'attachment; filename="fake-1.0-server.speedscope.json"'
    assert sum(speedscope.json()["profiles"][0]["weights"]) == 1000
    assert_problem(client.get(f"{profile}&subject=9.9"), 404, "no results of fake 9.9")
    other_case = f"/upgrades/why/profile?library=fake&case_id={ECDSA}&side=server&subject=1.1"
    assert_problem(client.get(other_case), 404, f"fake 1.1 were counted in the case {ECDSA}")
    assert_problem(client.get(f"{profile}&subject=1.1&format=pprof"), 422)
