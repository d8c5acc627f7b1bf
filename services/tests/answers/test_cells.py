"""Which number a cell is compared with, and what travels along."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import cast

import pytest

from kexbench.answers.cells import Cell, shown_cells
from kexbench.answers.change import Change
from kexbench.answers.comparing import (
    DIFFERENT_HARNESS,
    DIFFERENT_INVOCATIONS,
    DIFFERENT_PROFILE,
    THE_SENTINEL,
    THROUGH,
    best_runs,
)
from kexbench.answers.subjects import cases_in_order, end_of, subjects_in_order
from kexbench.domain.cases import Case, Cipher, KeyExchange, Protocol
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric, Negotiated, OutcomeKind
from kexbench.domain.subjects import Subject
from kexbench.domain.versions import version_key
from kexbench.store.evidence import Digest, Evidence, RunCase
from kexbench.store.port import AppearanceRow, Key, NegotiatedRow, OutcomeRow, SampleRow, Selection, Store, Value
from tests.builders import NOON, RSA, a_plan

CASE = a_plan().case(RSA)


KIND = HostKind("local", "CPU")
DAY = timedelta(days=1)


def appearance(
    subject: str, run: str, *, case: Case = CASE, at: datetime = NOON, units: Iterable[str] = "abc"
) -> AppearanceRow:
    return AppearanceRow(case, subject, KIND, run, at, frozenset(units))


@dataclass(frozen=True)
class Rows:
    """Of the store's port what cells are read through, over rows of one host kind: each cell's newest run in `shown`,
    and all runs in `stored`."""

    shown: Sequence[SampleRow]
    stored: Sequence[SampleRow] = ()
    frozen: Sequence[SampleRow] = ()
    chosen: Sequence[NegotiatedRow] = ()
    harness: Mapping[str, int] = field(default_factory=dict)
    missing: Sequence[OutcomeRow] = ()

    def evidence(self) -> Evidence:
        cases = {row.case.case_id for row in self.shown} | {row.case.case_id for row in self.missing}
        return Evidence(digests={RunCase("run", case_id): Digest(0, ()) for case_id in cases})

    def kept(
        self, keys: Collection[Key], _: object, compute: Callable[[list[Key]], Mapping[Key, Value]]
    ) -> dict[Key, Value]:
        return dict(compute(list(keys)))

    def kept_value(self, _: object, __: object, compute: Callable[[], Value]) -> Value:
        return compute()

    def outcomes(self, _: Selection) -> list[OutcomeRow]:
        return list(self.missing)

    def disturbed(self, _: Selection) -> list[OutcomeRow]:
        return []

    def withdrawn(self, _: Selection) -> list[OutcomeRow]:
        return []

    def set_aside(self, _: Selection) -> list[OutcomeRow]:
        return []

    def appearances(self, selection: Selection) -> list[AppearanceRow]:
        units: dict[tuple[Case, str, str], list[SampleRow]] = {}
        for row in self.samples(selection):
            units.setdefault((row.case, row.subject.name, row.run_id), []).append(row)
        return [
            appearance(
                name, run_id, case=case, at=max(row.measured_at for row in rows), units={row.unit for row in rows}
            )
            for (case, name, run_id), rows in units.items()
        ]

    def samples(self, selection: Selection) -> list[SampleRow]:
        return [
            row
            for row in (*self.shown, *(self.stored if selection.runs or selection.subjects else ()))
            if (not selection.runs or row.run_id in selection.runs)
            and (not selection.subjects or row.subject.name in selection.subjects)
        ]

    def samples_by_metric(self, selection: Selection, metrics: Collection[Metric]) -> dict[Metric, list[SampleRow]]:
        rows = self.sentinels(selection) if selection.sentinel else self.samples(selection)
        return dict.fromkeys(metrics, rows)

    def sentinels(self, selection: Selection) -> list[SampleRow]:
        return [row for row in self.frozen if row.run_id in selection.runs]

    def negotiated(self, run_ids: Collection[str]) -> list[NegotiatedRow]:
        return [row for row in self.chosen if row.run_id in run_ids]

    def harness_versions(self, run_ids: Collection[str]) -> dict[str, int]:
        return {run_id: self.harness[run_id] for run_id in run_ids if run_id in self.harness}

    def components(self, _: Collection[str]) -> dict[str, dict[str, str]]:
        return {}

    def qualifying_runs(self, _: Selection) -> set[str]:
        return set()


def cells(
    samples: list[SampleRow],
    outcomes: list[OutcomeRow],
    frozen: Sequence[SampleRow] = (),
    chosen: Sequence[NegotiatedRow] = (),
    stored: Sequence[SampleRow] = (),
    harness: Mapping[str, int] | None = None,
) -> list[Cell]:
    rows = Rows(samples, stored, frozen, chosen, harness or {}, outcomes)
    here = Selection(Metric.CPU_NS, KIND.pool, KIND.cpu_model)
    return list(shown_cells(cast(Store, rows), here).cells)


def a_subject(version: str, *, library: str = "openssl", profile: str = "p", source: str = "system") -> Subject:
    return Subject(library, version, version_key(version), source, profile, f"label of {profile}", f"kit {version}")


def samples(
    subject: Subject,
    value: float,
    *,
    run: str = "run",
    units: str = "abcdef",
    at: datetime = NOON,
    case: Case = CASE,
) -> list[SampleRow]:
    return [
        SampleRow(case, subject, run, at, unit, value + number, [value + number] * 3, host_kind=KIND)
        for number, unit in enumerate(units)
    ]


def an_outcome_row(subject: Subject, *, run: str = "run", at: datetime = NOON) -> OutcomeRow:
    return OutcomeRow(CASE, subject, run, at, OutcomeKind.CRASHED, "it crashed", None, 2)


def cell_of(found: list[Cell], subject: Subject) -> Cell:
    (cell,) = [cell for cell in found if cell.subject.startswith(f"{subject.library}@{subject.version}~")]
    return cell


def change_of(found: list[Cell], subject: Subject) -> Change:
    change = cell_of(found, subject).change
    assert change is not None
    return change


def test_a_version_is_compared_with_the_one_before_it_in_version_order() -> None:
    versions = ["3.10", "3.9", "4.0", "1.1.1w"]
    found = cells([row for version in versions for row in samples(a_subject(version), 100)], [])
    against = {
        cell.subject.partition("~")[0]: cell.change.before.subject.partition("~")[0] for cell in found if cell.change
    }
    assert against == {
        "openssl@3.9": "openssl@1.1.1w",
        "openssl@3.10": "openssl@3.9",
        "openssl@4.0": "openssl@3.10",
    }


def test_libraries_are_not_compared_with_each_other() -> None:
    rows = samples(a_subject("3.0"), 100) + samples(a_subject("3.8", library="gnutls"), 100)
    assert all(cell.change is None for cell in cells(rows, []))


def test_the_nearest_lower_version_is_the_previous_one_whatever_its_build_profile() -> None:
    old, near, new = a_subject("1.1.1w", profile="p"), a_subject("3.0.19", profile="q"), a_subject("3.5.9", profile="p")
    found = cells(samples(old, 100) + samples(near, 200) + samples(new, 150), [])
    change = change_of(found, new)
    assert (change.before.subject, change.after.subject) == (near.name, new.name)
    assert change.ratio == pytest.approx(0.755, abs=0.01)
    assert change.verdict == "less"
    assert change.warnings == change_of(found, near).warnings == [DIFFERENT_PROFILE]


def test_of_several_builds_of_the_previous_version_the_one_of_the_same_build_profile_counts() -> None:
    builds = {
        (version, profile): a_subject(version, profile=profile) for version in ("3.0", "3.5") for profile in "pqr"
    }
    found = cells([row for subject in builds.values() for row in samples(subject, 100)], [])
    ends = {cell.subject: cell.change.before.subject for cell in found if cell.change}
    assert ends == {builds["3.5", profile].name: builds["3.0", profile].name for profile in "pqr"}


def test_a_version_without_numbers_is_passed_over() -> None:
    old, broken, new = a_subject("3.0"), a_subject("3.4"), a_subject("3.5")
    found = cells(samples(old, 100) + samples(new, 100), [an_outcome_row(broken)])
    assert change_of(found, new).before.subject.startswith("openssl@3.0~")
    assert cell_of(found, broken).change is None


def test_invocations_of_different_runs_are_never_paired_however_they_are_numbered() -> None:
    old, new = a_subject("3.0"), a_subject("3.5")
    rows = samples(old, 100, run="one") + samples(new, 100, run="two")
    change = change_of(cells(rows, [], [*frozen("one", 10), *frozen("two", 10)]), new)
    assert not change.paired


def test_subjects_of_one_run_that_were_never_measured_together_are_marked() -> None:
    old, new = a_subject("3.0"), a_subject("3.5")
    found = cells(samples(old, 100, units="abc") + samples(new, 100, units="xyz"), [])
    assert not change_of(found, new).paired
    assert change_of(found, new).warnings == [DIFFERENT_INVOCATIONS]


def test_interleaved_subjects_of_one_run_are_paired_without_a_warning() -> None:
    old, new = a_subject("3.0"), a_subject("3.5")
    change = change_of(cells(samples(old, 100) + samples(new, 110), []), new)
    assert (change.paired, change.warnings, change.verdict) == (True, [], "more")


def test_too_few_invocations_give_a_number_and_no_change() -> None:
    new = a_subject("3.5")
    found = cells(samples(a_subject("3.0"), 100, units="ab") + samples(new, 100, units="ab"), [])
    assert cell_of(found, new).change is None
    estimate = cell_of(found, new).estimate
    assert estimate is not None
    assert estimate.invocations == 2


@pytest.mark.parametrize(("day", "shown"), [(-1, False), (1, True)])
def test_trouble_of_another_run_is_shown_only_where_it_is_newer_than_the_numbers(day: int, shown: bool) -> None:
    subject = a_subject("3.0")
    (cell,) = cells(samples(subject, 100), [an_outcome_row(subject, run="other", at=NOON + timedelta(days=day))])
    assert (cell.outcome is not None) is shown
    assert cell.estimate is not None
    assert (cell.run_id, cell.measured_at) == ("run", NOON)


def test_trouble_of_the_same_run_stands_beside_its_numbers() -> None:
    subject = a_subject("3.0")
    (cell,) = cells(samples(subject, 100, units="abc"), [an_outcome_row(subject)])
    assert cell.outcome is not None
    assert cell.estimate is not None
    assert (cell.outcome.kind, cell.outcome.invocations) == (OutcomeKind.CRASHED, 2)


def test_subjects_stand_by_library_then_version_and_the_newest_kit_speaks_for_its_name() -> None:
    newest = a_subject("3.9")
    older = Subject(**{**vars(newest), "kit_id": "older kit"})
    rows = [
        *samples(a_subject("3.10"), 1),
        *samples(newest, 1, at=NOON + timedelta(days=1)),
        *samples(older, 1),
        *samples(a_subject("3.8", library="gnutls"), 1),
    ]
    found = subjects_in_order(rows)
    assert [(view.library, view.version) for view in found] == [
        ("gnutls", "3.8"),
        ("openssl", "3.9"),
        ("openssl", "3.10"),
    ]
    assert found[1].kit_id == newest.kit_id


def test_cases_stand_as_a_person_would_sort_them() -> None:
    def case(exchange: KeyExchange, bits: int = 0, group: str = "-", protocol: Protocol = Protocol.TLS_1_2) -> Case:
        curve = "P-256" if exchange is KeyExchange.ECDHE_ECDSA else "-"
        return Case(protocol=protocol, key_exchange=exchange, rsa_bits=bits, group=group, curve=curve)

    in_order = [
        case(KeyExchange.RSA, 1024),
        case(KeyExchange.RSA, 2048),
        case(KeyExchange.DHE_RSA, 2048, "dh-1024"),
        case(KeyExchange.DHE_RSA, 2048, "ffdhe2048"),
        case(KeyExchange.ECDHE_RSA, 2048, "P-256"),
        case(KeyExchange.ECDHE_ECDSA, group="P-256"),
        case(KeyExchange.ECDHE_RSA, 2048, "P-256", Protocol.TLS_1_3),
    ]
    rows = [row for each in reversed(in_order) for row in samples(a_subject("3.0"), 1, case=each)]
    assert cases_in_order(rows) == in_order


def test_variations_of_a_case_stand_behind_it_from_few_to_many() -> None:
    def case(bits: int = 2048, **fields: object) -> Case:
        first = {"protocol": "TLSv1.3", "key_exchange": "ECDHE-RSA", "rsa_bits": bits, "group": "X25519"}
        return Case.model_validate({**first, **fields})

    in_order = [
        case(),
        case(threads=2),
        case(threads=16),
        case(resumption="psk"),
        case(resumption="psk-dhe"),
        case(resumption="psk-dhe", early_data_bytes=1024),
        case(resumption="psk-dhe", early_data_bytes=1024, anti_replay=True),
        case(resumption="psk-dhe", early_data_bytes=16000),
        case(chain_length=3),
        case(chain_length=10),
        case(cpu_features="x86-64-v2"),
        case(4096),
        Case.model_validate({"protocol": "default", "key_exchange": "default-RSA", "rsa_bits": 1024, "cipher": "-"}),
    ]
    rows = [row for each in reversed(in_order) for row in samples(a_subject("3.0"), 1, case=each)]
    assert cases_in_order(rows) == in_order


def frozen(run: str, value: float, kit_id: str = "frozen") -> list[SampleRow]:
    return samples(replace(a_subject("1.0", library="gnutls"), kit_id=kit_id), value, run=run)


def test_a_cell_is_set_beside_the_sentinel_of_its_own_invocations() -> None:
    subject = a_subject("3.0")
    (cell,) = cells(samples(subject, 200), [], frozen("run", 100))
    assert cell.to_sentinel is not None
    assert 1.9 < cell.to_sentinel.ratio < 2
    (alone,) = cells(samples(subject, 200), [], frozen("other", 100))
    assert alone.to_sentinel is None


def test_two_runs_are_compared_through_their_sentinel_so_that_a_slower_machine_is_no_regression() -> None:
    old, new = a_subject("3.0"), a_subject("3.1")
    rows = samples(old, 1000, run="one") + samples(new, 1100, run="two")
    slowed = [*frozen("one", 10_000), *frozen("two", 11_000)]
    change = change_of(cells(rows, [], slowed), new)
    assert change.warnings == [THROUGH.format(subject=THE_SENTINEL)]
    assert change.ratio == pytest.approx(1, abs=0.001)
    other_kit = [*frozen("one", 10_000), *frozen("two", 11_000, kit_id="newer")]
    apart = cell_of(cells(rows, [], other_kit), new)
    assert (apart.change, apart.apart_from) == (None, end_of(old))


def test_two_runs_without_a_sentinel_are_compared_through_a_subject_that_both_have() -> None:
    old, new = a_subject("3.0"), a_subject("3.1")
    rows = samples(old, 1000, run="one") + samples(new, 1100, run="two")

    def beside(run: str, value: float, units: str = "abcdef") -> list[SampleRow]:
        return samples(a_subject("3.8.9", library="gnutls"), value, run=run, units=units)

    slowed = beside("two", 550.0)
    change = change_of(cells(rows, [], stored=[*slowed, *beside("one", 500.0)]), new)
    assert change.ratio == pytest.approx(1, abs=0.001)
    assert change.warnings == ["measured in different runs, compared through gnutls 3.8.9"]
    for nothing in (slowed, [*slowed, *beside("one", 500.0, units="ab")]):
        apart = cell_of(cells(rows, [], stored=nothing), new)
        assert (apart.change, apart.apart_from) == (None, end_of(old))
        assert apart.estimate is not None


def test_default_settings_that_chose_something_else_are_marked() -> None:
    case = Case(
        protocol=Protocol.DEFAULT, key_exchange=KeyExchange("default-RSA"), cipher=Cipher.DEFAULT, rsa_bits=2048
    )
    old, new = a_subject("3.0"), a_subject("3.5", source="debian/trixie")
    usual = Negotiated(
        protocol="TLSv1.3",
        cipher="AES-256-GCM",
        group="X25519",
        signature="rsa_pss_rsae_sha256",
        peer_key="RSA",
        peer_key_bits=2048,
        resumed=False,
    )
    hybrid = usual.model_copy(update={"group": "X25519MLKEM768"})
    chosen = [
        NegotiatedRow("run", case.case_id, "openssl@system", usual),
        NegotiatedRow("run", case.case_id, "openssl@debian/trixie", hybrid),
    ]
    found = cells(samples(old, 100, case=case) + samples(new, 100, case=case), [], chosen=chosen)
    assert change_of(found, new).warnings == ["negotiated differently: group X25519MLKEM768 instead of X25519"]
    assert change_of(found, new).verdict == "unlike", "nothing is claimed of other work"
    assert cell_of(found, new).negotiated == hybrid


@pytest.mark.parametrize(
    ("settings", "counted", "ours", "theirs", "words"),
    [
        ({"resumption": "psk"}, "key_shares", 1, 0, ["negotiated differently: client key shares 1 instead of 0"]),
        ({"resumption": "psk"}, "key_shares", 1, None, []),
        (None, "tickets", 2, 0, ["negotiated differently: tickets 2 instead of 0"]),
        ({"resumption": "psk-dhe"}, "tickets", 2, 0, []),
    ],
)
def test_work_that_the_library_chose_is_marked_where_it_differs(
    settings: dict[str, str] | None, counted: str, ours: int, theirs: int | None, words: list[str]
) -> None:
    """Work that nobody knows of, and that of cases that leave no choice, is no difference."""
    default = {"protocol": "default", "key_exchange": "default-ECDSA", "cipher": "-", "curve": "P-256"}
    ecdhe = {"protocol": "TLSv1.3", "key_exchange": "ECDHE-ECDSA", "group": "X25519", "curve": "P-256"}
    case = Case.model_validate({**ecdhe, **settings} if settings else default)
    old, new = a_subject("3.0"), a_subject("3.5", source="debian/trixie")
    negotiated = Negotiated(
        protocol="TLSv1.3",
        cipher="AES-128-GCM",
        group="-",
        signature="-",
        peer_key=None,
        peer_key_bits=0,
        resumed=settings is not None,
    )
    chosen = [
        NegotiatedRow("run", case.case_id, "openssl@system", negotiated.model_copy(update={counted: theirs})),
        NegotiatedRow("run", case.case_id, "openssl@debian/trixie", negotiated.model_copy(update={counted: ours})),
    ]
    found = cells(samples(old, 100, case=case) + samples(new, 100, case=case), [], chosen=chosen)
    assert change_of(found, new).warnings == words


def test_neighbours_of_different_runs_are_compared_by_a_run_that_has_both() -> None:
    old, new = a_subject("3.0"), a_subject("3.1")
    rows = samples(old, 100, run="one") + samples(new, 200, run="two")
    both = [*samples(old, 100, run="both"), *samples(new, 103, run="both")]
    found = cells(rows, [], stored=both)
    change = change_of(found, new)
    assert change.ratio == pytest.approx(1.03, abs=0.001)
    assert (change.paired, change.warnings) == (True, [])
    estimate = cell_of(found, new).estimate
    assert estimate is not None
    assert estimate.value == 202.5


def test_runs_of_another_harness_are_marked() -> None:
    old, new = a_subject("3.0"), a_subject("3.1")
    rows = samples(old, 100, run="one") + samples(new, 200, run="two")
    bridged = [*frozen("one", 10), *frozen("two", 10)]
    change = change_of(cells(rows, [], bridged, harness={"one": 1, "two": 2}), new)
    assert change.warnings == [THROUGH.format(subject=THE_SENTINEL), DIFFERENT_HARNESS]


def test_the_newest_run_that_interleaved_two_subjects_speaks_for_both() -> None:
    old, new = a_subject("3.0"), a_subject("3.1")

    def best(*rows: AppearanceRow) -> tuple[str, str] | None:
        return best_runs(*([row for row in rows if row.subject == name] for name in (new.name, old.name)))

    both = [appearance(old.name, "both"), appearance(new.name, "both")]
    blocks = [
        appearance(old.name, "blocks", at=NOON + 1 * DAY, units="abc"),
        appearance(new.name, "blocks", at=NOON + 1 * DAY, units="xyz"),
    ]
    few = [
        appearance(old.name, "few", at=NOON + 2 * DAY, units="ab"),
        appearance(new.name, "few", at=NOON + 2 * DAY, units="ab"),
    ]
    alone = [appearance(old.name, "old", at=NOON + 3 * DAY), appearance(new.name, "new", at=NOON + 4 * DAY)]
    assert best(*both, *blocks, *few, *alone) == ("both", "both")
    assert best(*blocks, *few, *alone) == ("blocks", "blocks")
    assert best(*few, *alone) == ("new", "old")
    assert best(*few) == ("few", "few")
    assert best(
        *both, appearance(old.name, "later", at=NOON + 9 * DAY), appearance(new.name, "later", at=NOON + 9 * DAY)
    ) == ("later", "later")
    assert best(alone[0]) is best() is None
