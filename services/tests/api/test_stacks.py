"""Libraries side by side, from rows of a real store: which versions stand for them, and what is ranked."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from kexbench.domain.hosts import HostFacts
from kexbench.domain.kits import KitManifest
from kexbench.domain.runs import Purpose
from kexbench.domain.samples import Metric, Outcome, OutcomeKind, Sample
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import assert_problem
from tests.builders import HOST, NOON, SPEC, a_kit, a_run, an_invocation

OTHER_CPU = HOST.model_copy(update={"cpu_model": "Other CPU"})
FULL = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"
RSA = "tlsv1.3_ecdhe-rsa_rsa-2048_x25519_aes-128-gcm"
RESUMED, DATA = f"{FULL}_psk-dhe", f"{FULL}_transfer-16384"
OLD_TLS = "tlsv1.2_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"
CASES = (FULL, RSA, RESUMED, DATA, OLD_TLS)
MATRIX = """\
matrix:
  - { protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA, ECDHE-RSA], group: [X25519] }
  - { protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], group: [X25519], resumption: [psk-dhe] }
  - { protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], group: [X25519], transferBytes: [16384] }
  - { protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], group: [X25519], threads: [2] }
  - { protocol: [TLSv1.2], keyExchange: [ECDHE-ECDSA], group: [X25519] }
"""
OPENSSL, GNUTLS, FAKE, OLD_FAKE = "openssl@system", "gnutls@system", "fake@1.1", "fake@1.0"
AWSLC = "awslc@crate/0.47.0"
NEW_OPENSSL, NEW_GNUTLS = "openssl@debian/sid", "gnutls@debian/sid"
KITS: Mapping[str, KitManifest] = {
    OPENSSL: a_kit(OPENSSL, version="3.5.7"),
    GNUTLS: a_kit(GNUTLS, version="3.8.9"),
    AWSLC: a_kit(AWSLC, version="5.12.0"),
    FAKE: a_kit(FAKE),
    OLD_FAKE: a_kit(OLD_FAKE),
    NEW_OPENSSL: a_kit(NEW_OPENSSL, version="3.6.3"),
    NEW_GNUTLS: a_kit(NEW_GNUTLS, version="3.8.12"),
}
Costs = Mapping[str, float | None]
"""What the server costs in µs, by subject. None: the library does not support it."""
USUAL: Costs = {OPENSSL: 300.0, GNUTLS: 400.0, FAKE: 200.0, OLD_FAKE: 250.0}


def measured(
    store: ClickHouseStore,
    costs: Mapping[str, Costs],
    *,
    run_id: str = "one",
    day: int = 0,
    host: HostFacts = HOST,
    shares: Mapping[str, int] | None = None,
    purpose: Purpose = Purpose.HISTORY,
    invocations: int = 10,
    other_block: str | None = None,
    background_us: Mapping[str, float] | None = None,
    elapsed_us: Mapping[str, tuple[float, float | None]] | None = None,
) -> None:
    """A run with costs by case, in ten invocations with some noise. `shares`: the client's key shares; usually one.
    `other_block`: the subject that has every second invocation for itself."""
    names = list(dict.fromkeys(name for of_case in costs.values() for name in of_case))
    spec = (
        SPEC[: SPEC.index("subjects:")]
        + f"{_subjects(names)}{MATRIX}measure: {{ invocations: {invocations}, batches: 4 }}\n"
    )
    kits = {name: KITS[name] for name in names}
    run = a_run(run_id, spec=spec, created_at=NOON + timedelta(days=day), kits=kits, host=host)
    run = run.model_copy(update={"purpose": purpose})
    store.add_run(run)
    found = []
    for case_id, of_case in costs.items():
        for number in range(invocations):
            cpu_ns = {
                name: cost * 1e3 / 0.75 * (1 + 0.0003 * ((7 * number + 5 * place) % 11 - 5))
                for place, (name, cost) in enumerate(of_case.items())
                if cost is not None and (other_block is None or (name == other_block) == bool(number % 2))
            }
            outcomes = [
                Outcome(subject=name, kind=OutcomeKind.UNSUPPORTED, reason="no such group")
                for name, cost in of_case.items()
                if cost is None
            ]
            invocation = an_invocation(run, number, case_id=case_id, cpu_ns=cpu_ns, outcomes=outcomes, host=host)
            negotiated = {
                name: each.model_copy(update={"key_shares": (shares or {}).get(name, 1)})
                for name, each in invocation.negotiated.items()
            }
            sizes = [
                Sample(subject=name, metric=metric, values=(size,) * 4)
                for name in cpu_ns
                for metric, size in ((Metric.SERVER_BYTES, 700.0), (Metric.SERVER_HELD_BYTES, 4600.0))
            ] + [
                Sample(subject=name, metric=Metric.BACKGROUND_CPU_NS, values=(cost * 1e3,) * 4)
                for name, cost in (background_us or {}).items()
            ]
            for name, (together, alone) in (elapsed_us or {}).items():
                rates = {Metric.ELAPSED_NS: together, Metric.ALONE_NS: alone}
                sizes += [
                    Sample(subject=name, metric=metric, values=(cost * 1e3,) * 4)
                    for metric, cost in rates.items()
                    if cost
                ]
            found.append(
                invocation.model_copy(update={"negotiated": negotiated, "samples": (*invocation.samples, *sizes)})
            )
    store.add_invocations(run, found)


def _subjects(names: list[str]) -> str:
    sources: dict[str, list[str]] = {}
    for name in names:
        library, _, source = name.partition("@")
        sources.setdefault(library, []).append(source)
    return "subjects:\n" + "".join(f"  - {library}: [{', '.join(of)}]\n" for library, of in sources.items())


def asked(client: httpx2.Client, **query: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/stacks", params=query).raise_for_status().json()
    return answer


def column_of(answer: dict[str, Any], case_id: str) -> dict[str, dict[str, Any]]:
    """The cells of a case by library."""
    (column,) = (column for column in answer["columns"] if column["case"]["id"] == case_id)
    return {cell["subject"].partition("@")[0]: cell for cell in column["cells"]}


def standings(answer: dict[str, Any], case_id: str) -> dict[str, str]:
    return {library: cell["standing"] for library, cell in column_of(answer, case_id).items()}


def test_an_empty_store_has_no_stacks(client: httpx2.Client) -> None:
    answer = asked(client)
    assert (answer["host_kind"], answer["stacks"], answer["columns"], answer["workload"]) == (None, [], [], None)


def test_the_newest_version_of_each_library_is_a_row_with_what_a_server_pays(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, dict.fromkeys(CASES, USUAL))
    answer = asked(client)
    assert [stack["end"]["label"] for stack in answer["stacks"]] == ["fake 1.1", "OpenSSL 3.5.7", "GnuTLS 3.8.9"]
    names = [stack["subject"]["name"] for stack in answer["stacks"]]
    assert [cost["subject"] for cost in answer["workload"]["costs"]] == names
    assert all([cell["subject"] for cell in column["cells"]] == names for column in answer["columns"])
    assert [(column["heading"], column["title"]) for column in answer["columns"]] == [
        ("Full handshake", "ECDSA P-256"),
        ("Full handshake", "RSA 2048"),
        ("Resumed", "PSK and key share"),
        ("With data", "16 KiB"),
    ]
    assert (answer["protocol"], answer["protocols"]) == ("TLSv1.3", ["TLSv1.3", "TLSv1.2"])
    cells = column_of(answer, FULL)
    assert {name: cell["standing"] for name, cell in cells.items()} == {
        "fake": "cheapest",
        "openssl": "more",
        "gnutls": "more",
    }
    assert cells["openssl"]["cpu_ns"]["value"] == pytest.approx(300_000, rel=1e-3)
    assert cells["openssl"]["ratio"]["ratio"] == pytest.approx(1.5, rel=1e-3)
    assert cells["fake"]["ratio"]["ratio"] == pytest.approx(2 / 3, rel=1e-3)
    assert cells["fake"]["ratio"]["low"] < cells["fake"]["ratio"]["ratio"] < cells["fake"]["ratio"]["high"]
    assert [cells["fake"][size]["value"] for size in ("held_bytes", "sent_bytes")] == [4600, 700]
    assert cells["gnutls"]["command"] == f"kexbench compare fake@1.1 gnutls@system --case '{FULL}'"
    assert cells["fake"]["command"] == f"kexbench compare openssl@system fake@1.1 --case '{FULL}'"
    assert answer["sentence"] == "Cheapest for a server: fake 1.1 in 4 of 4 kinds of connections."


def test_the_ratio_and_the_verdict_are_those_of_the_comparison(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, dict.fromkeys(CASES, USUAL))
    cells = column_of(asked(client), FULL)
    ends = {"base": cells["fake"]["subject"], "other": cells["openssl"]["subject"]}
    compared = client.get("/compare", params=ends).raise_for_status().json()["cells"]
    (server,) = (cell["server"] for cell in compared if cell["case_id"] == FULL)
    assert server == cells["openssl"]["ratio"] | {"verdict": "more"}


def test_the_newest_version_is_compared_with_its_previous_one(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, dict.fromkeys(CASES, USUAL))
    answer = asked(client)
    previous = {stack["subject"]["library"]: stack["previous"] for stack in answer["stacks"]}
    assert previous["openssl"] is None
    assert previous["fake"]["version"] == "1.0"
    change = column_of(answer, FULL)["fake"]["change"]
    assert (change["before"]["version"], change["after"]["version"], change["verdict"]) == ("1.0", "1.1", "less")
    assert change["ratio"] == pytest.approx(0.8, rel=1e-3)


def test_stacks_that_are_not_told_apart_are_equal(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: {OPENSSL: 200.0, GNUTLS: 400.0, FAKE: 200.1}})
    answer = asked(client)
    assert standings(answer, FULL) == {"fake": "equal", "gnutls": "more", "openssl": "equal"}
    assert answer["sentence"] == "None is the cheapest alone: in 1 kind of connections, several are not told apart."


def test_a_stack_that_did_other_work_is_not_ranked(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: USUAL}, shares={FAKE: 2})
    cells = column_of(asked(client), FULL)
    assert (cells["fake"]["standing"], cells["fake"]["ratio"]) == ("other work", None)
    assert cells["fake"]["reason"] == "negotiated differently: client key shares 2 instead of 1"
    assert cells["fake"]["cpu_ns"]["value"] == pytest.approx(200_000, rel=1e-3)
    assert (cells["openssl"]["standing"], cells["gnutls"]["standing"]) == ("cheapest", "more")


def test_two_stacks_of_one_ancestry_have_the_command_that_explains_their_difference(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, dict.fromkeys(CASES, USUAL))
    assert asked(client)["why"] == []
    measured(empty_store, {FULL: {OPENSSL: 300.0, AWSLC: 200.0, GNUTLS: 400.0}}, run_id="two", day=1)
    assert asked(client)["why"] == ["kexbench why awslc@crate/0.47.0 openssl@system"]


def test_what_has_no_number_says_why(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: USUAL, DATA: {OPENSSL: 500.0, GNUTLS: None, OLD_FAKE: 1.0}})
    cells = column_of(asked(client), DATA)
    shown = {name: (cell["standing"], cell["outcome"], cell["reason"]) for name, cell in cells.items()}
    assert shown["gnutls"] == ("missing", "unsupported", "no such group")
    assert shown["fake"] == ("missing", None, "not measured")
    assert shown["openssl"][0] == "alone"


def test_stacks_of_different_runs_are_not_ranked(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: {OPENSSL: 300.0, GNUTLS: 400.0}}, day=1)
    measured(empty_store, {FULL: {FAKE: 200.0}}, run_id="alone")
    answer = asked(client)
    assert standings(answer, FULL) == {"fake": "not compared", "gnutls": "more", "openssl": "cheapest"}
    assert column_of(answer, FULL)["fake"]["reason"] == "not measured in the same run as GnuTLS 3.8.9"


def test_a_column_is_ranked_by_one_run_and_shows_its_numbers(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """Each was measured beside OpenSSL, but GnuTLS and fake never beside each other in the newer runs."""
    measured(empty_store, {FULL: USUAL}, run_id="all")
    measured(empty_store, {FULL: {OPENSSL: 500.0, GNUTLS: 100.0}}, run_id="two", day=1)
    measured(empty_store, {FULL: {OPENSSL: 600.0, FAKE: 650.0}}, run_id="others", day=2)
    cells = column_of(asked(client), FULL)
    assert {name: (cell["standing"], cell["run_id"]) for name, cell in cells.items()} == {
        "fake": ("cheapest", "all"),
        "gnutls": ("more", "all"),
        "openssl": ("more", "all"),
    }
    assert cells["gnutls"]["cpu_ns"]["value"] == pytest.approx(400_000, rel=1e-3)
    assert cells["gnutls"]["ratio"]["ratio"] == pytest.approx(2.0, rel=1e-3)


def test_two_runs_that_share_a_stack_rank_no_third(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: {OPENSSL: 500.0, GNUTLS: 100.0}}, run_id="two")
    measured(empty_store, {FULL: {OPENSSL: 600.0, FAKE: 650.0}}, run_id="others", day=2)
    cells = column_of(asked(client), FULL)
    assert {name: (cell["standing"], cell["run_id"]) for name, cell in cells.items()} == {
        "fake": ("more", "others"),
        "gnutls": ("not compared", "two"),
        "openssl": ("cheapest", "others"),
    }
    assert cells["gnutls"]["reason"] == "not measured in the same run as fake 1.1"
    assert cells["gnutls"]["command"] == f"kexbench compare fake@1.1 gnutls@system --case '{FULL}'"
    assert cells["gnutls"]["measured_at"] < cells["fake"]["measured_at"]


def test_too_few_invocations_rank_none_and_say_so(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: {OPENSSL: 500.0, GNUTLS: 100.0}}, invocations=2)
    cells = column_of(asked(client), FULL)
    assert {name: cell["standing"] for name, cell in cells.items()} == {"openssl": "not compared", "gnutls": "alone"}
    assert cells["openssl"]["reason"] == "too few invocations have the CPU time of both servers"


def test_every_number_has_a_command_that_measures_it_again(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: USUAL, DATA: {OPENSSL: 1.0, GNUTLS: None}}, shares={FAKE: 2})
    answer = asked(client)
    commands = {
        (column["case"]["id"], cell["subject"].partition("@")[0]): cell["command"]
        for column in answer["columns"]
        for cell in column["cells"]
    }
    assert commands[FULL, "fake"] == f"kexbench compare gnutls@system fake@1.1 --case '{FULL}'"
    assert commands[DATA, "openssl"] == f"kexbench compare openssl@system openssl@system+copy=2 --case '{DATA}'"
    assert commands[DATA, "gnutls"] is None


def test_own_threads_that_cost_next_to_nothing_are_not_the_same_as_not_measured(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {FULL: USUAL}, background_us={OPENSSL: 30.0, FAKE: 0.02})
    cells = column_of(asked(client), FULL)
    told = {
        name: (cell["background_cpu_ns"] and cell["background_cpu_ns"]["value"], cell["has_own_threads"])
        for name, cell in cells.items()
    }
    assert told == {"openssl": (30_000, True), "fake": (20, False), "gnutls": (None, None)}


def test_stacks_of_different_blocks_of_a_run_are_ranked_and_said_not_to_be_interleaved(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {FULL: USUAL}, other_block=GNUTLS)
    cells = column_of(asked(client), FULL)
    assert {name: (cell["standing"], cell["caveats"]) for name, cell in cells.items()} == {
        "fake": ("cheapest", []),
        "openssl": ("more", []),
        "gnutls": ("more", ["not interleaved"]),
    }


def test_named_versions_replace_the_newest(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: USUAL})
    answer = asked(client, version="fake@1.0")
    assert [stack["end"]["label"] for stack in answer["stacks"]] == ["fake 1.0", "GnuTLS 3.8.9", "OpenSSL 3.5.7"]
    both = asked(client, version=["fake@1.0", "fake@1.1"], library="fake")
    assert [stack["end"]["label"] for stack in both["stacks"]] == ["fake 1.0", "fake 1.1"]
    assert_problem(client.get("/stacks", params={"version": "fake@9"}), 404, "9")


def test_the_machine_kind_is_that_of_most_libraries(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: USUAL})
    measured(empty_store, {FULL: {OPENSSL: 100.0}}, run_id="newer", day=1, host=OTHER_CPU)
    assert asked(client)["host_kind"]["cpu_model"] == HOST.cpu_model
    other = asked(client, cpu_model=OTHER_CPU.cpu_model)
    assert [stack["end"]["label"] for stack in other["stacks"]] == ["OpenSSL 3.5.7"]
    assert standings(other, FULL) == {"openssl": "alone"}
    elsewhere = asked(client, cpu_model=OTHER_CPU.cpu_model, version="fake@1.0")  # which was measured on the first one
    assert [stack["end"]["label"] for stack in elsewhere["stacks"]] == ["OpenSSL 3.5.7"]
    assert [cell["subject"] for cell in elsewhere["columns"][0]["cells"]] == [elsewhere["stacks"][0]["subject"]["name"]]


def test_a_protocol_has_a_table_of_its_own(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, dict.fromkeys(CASES, USUAL))
    assert [column["case"]["id"] for column in asked(client, protocol="TLSv1.2")["columns"]] == [OLD_TLS]
    assert client.get("/stacks", params={"protocol": "QUICv1"}).status_code == 422


def test_a_first_look_is_shown_until_a_run_of_the_history(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: USUAL}, purpose=Purpose.FIRST_LOOK)
    assert standings(asked(client), FULL)["fake"] == "cheapest"
    measured(empty_store, {FULL: {OPENSSL: 100.0, GNUTLS: 200.0}}, run_id="history", day=1)
    assert standings(asked(client), FULL) == {"gnutls": "more", "openssl": "cheapest"}


def test_a_mix_costs_the_weighted_mean_of_its_cells(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """60% of 300 and 40% of 100 µs are 220 µs; 60% of 200 and 40% of 150 µs are 180 µs."""
    measured(empty_store, {FULL: USUAL, RESUMED: {OPENSSL: 100.0, GNUTLS: None, FAKE: 150.0}})
    workload = asked(client)["workload"]
    assert (workload["certificate"], workload["resumed_percent"]) == ("ECDSA P-256", 40)
    assert (workload["full"]["id"], workload["resumed"]["id"]) == (FULL, RESUMED)
    costs = {cost["subject"].partition("@")[0]: cost for cost in workload["costs"]}
    for library, cost in (("openssl", 220_000), ("fake", 180_000)):
        assert costs[library]["cpu_ns"]["value"] == pytest.approx(cost, rel=1e-3)
        assert costs[library]["cpu_ns"]["low"] < cost < costs[library]["cpu_ns"]["high"]
    assert (costs["fake"]["standing"], costs["openssl"]["standing"]) == ("cheapest", "more")
    assert costs["openssl"]["ratio"]["ratio"] == pytest.approx(220 / 180, rel=1e-3)
    assert (costs["gnutls"]["standing"], costs["gnutls"]["cpu_ns"]) == ("missing", None)
    assert costs["gnutls"]["reason"] == "Resumed, PSK and key share: no such group"
    assert workload["sentence"].startswith(
        "With ECDSA P-256 and 40% of connections resumed, fake 1.1 is the cheapest for a server: 180"
    )
    assert "18.2% [" in workload["sentence"]
    assert workload["sentence"].endswith("less than OpenSSL 3.5.7.")


def test_with_other_shares_another_stack_is_the_cheapest(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: USUAL, RESUMED: {OPENSSL: 100.0, GNUTLS: 500.0, FAKE: 250.0}})
    for resumed, cheapest in ((0, "fake"), (100, "openssl")):
        workload = asked(client, resumed=resumed)["workload"]
        standing = {cost["subject"].partition("@")[0]: cost["standing"] for cost in workload["costs"]}
        assert [library for library, each in standing.items() if each == "cheapest"] == [cheapest]
        assert (workload["resumed"] is None) == (resumed == 0)


def test_the_certificate_of_a_mix_is_chosen(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, dict.fromkeys(CASES, USUAL))
    assert asked(client, certificate="rsa2048")["workload"]["full"]["id"] == RSA
    problem = client.get("/stacks", params={"certificate": "Ed448"})
    assert_problem(problem, 422, "Ed448")
    assert problem.json()["remedy"] == "measured certificates: ECDSA P-256, RSA 2048"


def test_a_stack_without_a_rank_in_a_part_has_none_in_the_mix(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {FULL: USUAL, RESUMED: USUAL}, shares={FAKE: 2})
    costs = {cost["subject"].partition("@")[0]: cost for cost in asked(client)["workload"]["costs"]}
    assert costs["fake"]["standing"] == "other work"
    assert costs["fake"]["reason"].startswith("Full handshake, ECDSA P-256: negotiated differently")
    assert (costs["openssl"]["standing"], costs["gnutls"]["standing"]) == ("cheapest", "more")


def test_a_mix_has_all_its_parts_from_one_run(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """The newer runs have one part each, on a slower day, so the older one that has both is the mix's."""
    resumed = {OPENSSL: 100.0, GNUTLS: 200.0, FAKE: 150.0}
    measured(empty_store, {FULL: USUAL, RESUMED: resumed}, run_id="both")
    measured(empty_store, {FULL: {name: 3 * (cost or 0) for name, cost in USUAL.items()}}, run_id="full", day=1)
    measured(empty_store, {RESUMED: {name: 3 * cost for name, cost in resumed.items()}}, run_id="resumed", day=2)
    answer = asked(client)
    assert column_of(answer, FULL)["fake"]["run_id"] == "full"
    costs = {cost["subject"].partition("@")[0]: cost for cost in answer["workload"]["costs"]}
    assert costs["fake"]["cpu_ns"]["value"] == pytest.approx(180_000, rel=1e-3)
    assert (costs["fake"]["standing"], costs["openssl"]["standing"]) == ("cheapest", "more")


def test_a_mix_of_two_runs_is_not_compared(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {FULL: USUAL}, run_id="full")
    measured(empty_store, {RESUMED: USUAL}, run_id="resumed", day=1)
    workload = asked(client)["workload"]
    assert {(cost["standing"], cost["cpu_ns"], cost["reason"]) for cost in workload["costs"]} == {
        ("not compared", None, "no run measured both the full and the resumed handshake of a stack")
    }
    assert workload["sentence"] == "With ECDSA P-256 and 40% of connections resumed, no two stacks can be compared."


def test_a_stack_whose_parts_are_of_two_runs_is_not_compared_in_the_mix(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    others = {OPENSSL: 300.0, GNUTLS: 400.0}
    measured(empty_store, {FULL: {**others, FAKE: 200.0}, RESUMED: others}, run_id="most")
    measured(empty_store, {RESUMED: {FAKE: 10.0}}, run_id="alone", day=1)
    costs = {cost["subject"].partition("@")[0]: cost for cost in asked(client)["workload"]["costs"]}
    assert (costs["fake"]["standing"], costs["fake"]["cpu_ns"]) == ("not compared", None)
    assert costs["fake"]["reason"] == "not all of it was measured in the same run as GnuTLS 3.8.9"
    assert (costs["openssl"]["standing"], costs["gnutls"]["standing"]) == ("cheapest", "more")


def test_a_mix_costs_what_capacity_says_and_has_the_caveats_of_its_parts(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {FULL: USUAL, RESUMED: USUAL}, other_block=GNUTLS)
    costs = {cost["subject"].partition("@")[0]: cost for cost in asked(client)["workload"]["costs"]}
    parts = f"  - {{ share: 0.6, caseId: {FULL} }}\n  - {{ share: 0.4, caseId: {RESUMED} }}\n"
    head = "apiVersion: kexbench.dev/v1\nkind: TrafficMix\nconnectionsPerSecond: 1\nutilisation: 1\ncost: handshake\n"
    mix = f"{head}parts:\n{parts}"
    for library, name in (("openssl", OPENSSL), ("gnutls", GNUTLS), ("fake", FAKE)):
        report = client.post("/capacity", json={"mix": mix, "version": name}).raise_for_status().json()
        assert costs[library]["cpu_ns"] == report["cpus"][0]["versions"][0]["need"]["cpu_ns"]
    assert {library: cost["caveats"] for library, cost in costs.items()} == {
        "fake": [],
        "openssl": [],
        "gnutls": ["not interleaved"],
    }


def test_threads_have_the_rate_of_the_page_scaling(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """Two threads take 60 µs of wall time for a handshake where one alone takes 100: 1.67 times its rate."""
    threads = f"{FULL}_threads-2"
    measured(empty_store, {FULL: USUAL, threads: USUAL}, elapsed_us={OPENSSL: (60.0, 100.0), FAKE: (50.0, None)})
    cells = column_of(asked(client), threads)
    assert cells["openssl"]["scaling"]["value"] == pytest.approx(100 / 60)
    assert (cells["fake"]["scaling"], cells["gnutls"]["scaling"]) == (None, None)
    assert column_of(asked(client), FULL)["openssl"]["scaling"] is None
