"""Two subjects of a run, in the direction that was asked."""

import pytest

from kexbench.answers.pair import pair_in_run
from kexbench.domain.kits import Package
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import Run, RunState
from kexbench.domain.samples import OutcomeKind
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import ECDSA, RSA, SPEC, a_kit, a_run, an_event, an_invocation, an_outcome

ARCHIVE, OWN = "openssl@debian/bookworm", "openssl@debian/trixie"


def stored(store: ClickHouseStore, *, version: str = "3.0.22") -> Run:
    """A run in which the second costs a tenth more in one case, and crashes in the other."""
    revisions = {ARCHIVE: "3.0.22-1~deb12u2", OWN: "3.0.22-1~deb12u2+kex1"}
    kits = {
        reference: a_kit(
            reference,
            version=version if reference == OWN else "3.0.22",
            packages=[Package(name=name, version=revision, sha256=None) for name in ("libssl3", "libssl-dev")],
        )
        for reference, revision in revisions.items()
    }
    spec = SPEC.replace("fake: [1.0, 1.1]", "openssl: [debian/bookworm, debian/trixie]")
    run = a_run("pair", spec=spec, kits=kits)
    store.add_run(run)
    crashed = [an_outcome(OWN, OutcomeKind.CRASHED, "the worker ended")]
    for number in range(6):
        both = {ARCHIVE: 1000.0 + number, OWN: 1100.0 + number}
        alone = {ARCHIVE: 1000.0}
        store.add_invocations(run, [an_invocation(run, number, cpu_ns=both, case_id=RSA)])
        store.add_invocations(run, [an_invocation(run, number, cpu_ns=alone, outcomes=crashed, case_id=ECDSA)])
    store.add_event(an_event(run, RunState.FINISHED))
    return run


def test_each_direction_has_its_own_verdict_and_every_case_a_cell(empty_store: ClickHouseStore) -> None:
    run = stored(empty_store)
    pair = pair_in_run(empty_store, run.run_id, ARCHIVE, OWN)
    assert [(cell.case_id, cell.verdict, cell.invocations) for cell in pair.cells] == [
        (RSA, "more", 6),
        (ECDSA, "unresolved", 0),
    ]
    assert (pair.verdict.more, pair.verdict.lost, pair.verdict.missing) == (1, 1, {"crashed": 1})
    assert [(cell.before, cell.after) for cell in pair.verdict.largest] == [(ARCHIVE, OWN)]
    back = pair_in_run(empty_store, run.run_id, OWN, ARCHIVE)
    assert (back.verdict.less, back.verdict.lost, back.verdict.missing) == (1, 0, {"crashed": 1})


def test_ends_of_one_version_are_told_apart_by_their_packages(empty_store: ClickHouseStore) -> None:
    pair = pair_in_run(empty_store, stored(empty_store).run_id, ARCHIVE, OWN)
    assert (pair.before.version, pair.after.version) == (
        "3.0.22, libssl3 3.0.22-1~deb12u2",
        "3.0.22, libssl3 3.0.22-1~deb12u2+kex1",
    )


def test_ends_of_two_versions_need_no_packages(empty_store: ClickHouseStore) -> None:
    pair = pair_in_run(empty_store, stored(empty_store, version="3.0.23").run_id, ARCHIVE, OWN)
    assert (pair.before.version, pair.after.version) == ("3.0.22", "3.0.23")


def test_a_subject_that_was_not_measured_is_refused_with_those_that_were(empty_store: ClickHouseStore) -> None:
    run = stored(empty_store)
    with pytest.raises(Refusal, match=f"did not measure openssl@system; it measured {ARCHIVE}"):
        pair_in_run(empty_store, run.run_id, ARCHIVE, "openssl@system")
