"""A depot takes in kits that are what they say, hands them out, and knows which ones count."""

import os
import platform
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from tempfile import mkdtemp
from threading import Barrier

import pytest

from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.plans import SENTINEL, Plan, PlannedSubject
from kexbench.kits import depot as depots
from kexbench.kits import shelf as shelves
from kexbench.kits.attempts import file_name
from kexbench.kits.depot import FRESH, Depot, OrderedKit, OtherKit
from kexbench.kits.transport import DamagedKit, pack, unpack
from tests.builders import a_plan

from .laid_out import lay_out

HERE, THERE = platform.machine(), "riscv64"
OURS, THEIRS = "2" * 64, "9" * 64
MOVING = "openssl@debian/trixie"


@pytest.fixture
def depot(tmp_path: Path) -> Depot:
    return Depot(tmp_path / "shelf", OURS)


def archive_of(tmp_path: Path, reference: str = "fake@1.0", *, architecture: str = HERE) -> tuple[bytes, KitManifest]:
    kit = tmp_path / f"made-{reference.replace('/', '-')}-{architecture}"
    manifest = lay_out(kit, reference=reference, architecture=architecture)
    pack(kit, kit.with_suffix(".tar"))
    return kit.with_suffix(".tar").read_bytes(), manifest


ORDERED = OrderedKit(SubjectRef.parse("fake@1.0"), HERE, "ingredients")


def take(depot: Depot, kit_id: str, archive: bytes, ordered: OrderedKit = ORDERED) -> KitManifest:
    with depot.arrival(kit_id, ordered) as arrival:
        for start in range(0, len(archive), 1000):
            arrival.write(archive[start : start + 1000])
        return arrival.take()


def add(
    depot: Depot, reference: str, *, architecture: str = HERE, worker: str = OURS, age: timedelta = timedelta()
) -> KitManifest:
    """A kit on the shelf, which its reference came to mean so long ago."""
    built = Path(mkdtemp(dir=depot.shelf.root / ".incoming"))
    kit = lay_out(built, reference=reference, architecture=architecture, worker_sha256=worker)
    ref = SubjectRef.parse(reference)
    depot.shelf.place(built, kit)
    depot.shelf.means(ref, architecture, kit.kit_id, "ingredients")
    remembered = time.time() - age.total_seconds()
    os.utime(depot.shelf.root / "refs" / f"{file_name(ref, architecture)}.json", (remembered, remembered))
    return kit


def plan_of(*references: str, peers: Sequence[str] = (), sentinel: str | None = None) -> Plan:
    subjects, others = (
        tuple(PlannedSubject(library=ref.library, source=ref.source) for ref in map(SubjectRef.parse, named))
        for named in (references, peers)
    )
    return a_plan().model_copy(update={"subjects": subjects, "peers": others, "sentinel": sentinel})


def leftovers(depot: Depot) -> list[Path]:
    return list((depot.shelf.root / ".incoming").iterdir())


def test_a_kit_that_arrives_is_on_the_shelf_and_sound(depot: Depot, tmp_path: Path) -> None:
    archive, manifest = archive_of(tmp_path)
    assert take(depot, manifest.kit_id, archive) == manifest
    assert depot.shelf.list() == (manifest,)
    assert depot.shelf.verify(manifest.kit_id) == ()
    assert leftovers(depot) == []


def test_an_arrival_that_is_not_taken_is_gone(depot: Depot, tmp_path: Path) -> None:
    archive, manifest = archive_of(tmp_path)
    with depot.arrival(manifest.kit_id, ORDERED) as arrival:
        arrival.write(archive)
        assert len(leftovers(depot)) == 1
    assert leftovers(depot) == []
    assert depot.shelf.list() == ()


def test_an_upload_that_was_killed_is_cleared_away_by_the_next_depot(depot: Depot, tmp_path: Path) -> None:
    with depot.arrival("0" * 16, ORDERED) as killed:
        killed.write(b"half of it")
        assert len(leftovers(depot)) == 1
        assert leftovers(Depot(depot.shelf.root, OURS)) == []


@pytest.mark.parametrize("cut", [0, 600, 2000])
def test_a_damaged_arrival_leaves_the_shelf_as_it_was(depot: Depot, tmp_path: Path, cut: int) -> None:
    known = add(depot, "fake@1.1")
    archive, manifest = archive_of(tmp_path)
    with pytest.raises(DamagedKit):
        take(depot, manifest.kit_id, archive[:cut])
    assert depot.shelf.list() == (known,)
    assert leftovers(depot) == []


def test_an_arrival_of_more_than_the_limit_is_refused_while_it_arrives(
    depot: Depot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(depots, "KIT_MAX_BYTES", 1500)
    with depot.arrival("0" * 16, ORDERED) as arrival:
        arrival.write(bytes(1500))
        with pytest.raises(DamagedKit, match="is larger than"):
            arrival.write(b"1")
    assert leftovers(depot) == []


def test_taken_twice_is_once(depot: Depot, tmp_path: Path) -> None:
    archive, manifest = archive_of(tmp_path)
    take(depot, manifest.kit_id, archive)
    first = depot.shelf.folder(manifest.kit_id).stat().st_ino
    assert take(depot, manifest.kit_id, archive) == manifest
    assert depot.shelf.list() == (manifest,)
    assert depot.shelf.folder(manifest.kit_id).stat().st_ino == first
    assert leftovers(depot) == []


def test_a_damaged_kit_on_the_shelf_and_what_was_packed_of_it_are_replaced(depot: Depot, tmp_path: Path) -> None:
    archive, manifest = archive_of(tmp_path)
    take(depot, manifest.kit_id, archive)
    worker = depot.shelf.folder(manifest.kit_id) / "bin/worker"
    worker.chmod(0o755)
    worker.write_bytes(b"changed")
    with pytest.raises(DamagedKit):
        unpack(depot.archive(manifest.kit_id), manifest.kit_id, tmp_path / "arrived")
    take(depot, manifest.kit_id, archive)
    assert depot.shelf.verify(manifest.kit_id) == ()
    assert unpack(depot.archive(manifest.kit_id), manifest.kit_id, tmp_path / "arrived") == manifest


def test_a_damaged_kit_that_a_kill_left_aside_is_never_taken_for_the_kit(
    depot: Depot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, manifest = archive_of(tmp_path)
    take(depot, manifest.kit_id, archive)
    (depot.shelf.folder(manifest.kit_id) / "lib").mkdir()
    (depot.shelf.folder(manifest.kit_id) / "lib/extra.so").write_bytes(b"")

    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shelves, "sync", killed)
        patched.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            take(depot, manifest.kit_id, archive)
    assert depot.shelf.list() == ()
    assert depot.shelf.get(manifest.kit_id) is None
    take(depot, manifest.kit_id, archive)
    assert depot.shelf.verify(manifest.kit_id) == ()


def test_a_kit_leaves_as_it_came_and_is_packed_once(depot: Depot, tmp_path: Path) -> None:
    archive, manifest = archive_of(tmp_path)
    take(depot, manifest.kit_id, archive)
    packed = depot.archive(manifest.kit_id)
    assert packed.read_bytes() == archive
    before = packed.stat().st_ino
    assert depot.archive(manifest.kit_id).stat().st_ino == before


def test_asked_for_by_several_at_once_a_kit_is_whole_for_each(
    depot: Depot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, manifest = archive_of(tmp_path)
    take(depot, manifest.kit_id, archive)
    together, packings = Barrier(4), []

    def counted(kit: Path, target: Path) -> None:
        packings.append(kit)
        pack(kit, target)

    def ask(_: int) -> bytes:
        together.wait()
        return depot.archive(manifest.kit_id).read_bytes()

    monkeypatch.setattr(depots, "pack", counted)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(4))) == {archive}
    assert len(packings) == 1


def test_a_kit_that_there_is_not_has_no_archive(depot: Depot) -> None:
    with pytest.raises(KeyError, match="no kit 0000000000000000"):
        depot.archive("0" * 16)


def test_of_every_reference_of_a_plan_the_kit_is_told_or_that_it_is_missing(depot: Depot) -> None:
    one, peer = add(depot, "fake@1.0"), add(depot, "fake@3.0")
    found = depot.kits_of(plan_of("fake@1.0", "fake@2.0", peers=["fake@3.0"]), HERE)
    assert found == {"fake@1.0": one, "fake@2.0": None, "fake@3.0": peer}


def test_a_kit_for_another_architecture_does_not_count(depot: Depot) -> None:
    there = add(depot, "fake@1.0", architecture=THERE)
    assert depot.kits_of(plan_of("fake@1.0"), HERE) == {"fake@1.0": None}
    assert depot.kits_of(plan_of("fake@1.0"), THERE) == {"fake@1.0": there}


def test_a_kit_of_another_worker_does_not_count(depot: Depot) -> None:
    add(depot, "fake@1.0", worker=THEIRS)
    assert depot.kits_of(plan_of("fake@1.0"), HERE) == {"fake@1.0": None}


@pytest.mark.parametrize("moving", [MOVING, "openssl@git:/src/openssl#master", "openssl@git:/src/openssl#openssl-3.5"])
def test_a_reference_that_moves_is_fresh_for_a_day_and_stale_then(depot: Depot, moving: str) -> None:
    kit = add(depot, moving, age=FRESH - timedelta(minutes=5))
    assert depot.kits_of(plan_of(moving), HERE) == {moving: kit}
    add(depot, moving, age=FRESH + timedelta(minutes=5))
    assert depot.kits_of(plan_of(moving), HERE) == {moving: None}


def test_a_stale_reference_that_means_the_same_kit_again_is_fresh(depot: Depot) -> None:
    kit = add(depot, MOVING, age=2 * FRESH)
    depot.shelf.means(SubjectRef.parse(MOVING), HERE, kit.kit_id, "ingredients")
    assert depot.kits_of(plan_of(MOVING), HERE) == {MOVING: kit}


@pytest.mark.parametrize(
    "told",
    ["openssl@crate/3.5.0", f"openssl@tarball:/src/o.tar.gz#sha256={'a' * 64}", f"openssl@git:/src/o#{'b' * 40}"],
)
def test_a_told_version_never_goes_stale(depot: Depot, told: str) -> None:
    kit = add(depot, told, age=100 * FRESH)
    assert depot.kits_of(plan_of(told), HERE) == {told: kit}


def test_the_shelf_says_what_a_reference_was_made_of(depot: Depot) -> None:
    assert depot.shelf.made_of(SubjectRef.parse("fake@1.0"), HERE) is None
    assert depot.shelf.meant_at(SubjectRef.parse("fake@1.0"), HERE) is None
    add(depot, "fake@1.0")
    assert depot.shelf.made_of(SubjectRef.parse("fake@1.0"), HERE) == "ingredients"
    assert depot.shelf.made_of(SubjectRef.parse("fake@1.0"), THERE) is None


def start(depot: Depot, plan: Plan, architecture: str = HERE) -> dict[str, KitManifest]:
    """The kits that a run of the plan would begin with."""
    found = {name: kit for name, kit in depot.kits_of(plan, architecture).items() if kit is not None}
    return depot.frozen_for(plan, found)


def test_a_plan_without_a_sentinel_freezes_none(depot: Depot) -> None:
    kit = add(depot, "fake@1.0")
    assert start(depot, plan_of("fake@1.0")) == {"fake@1.0": kit}
    assert depot.shelf.frozen() is None


def test_the_sentinel_is_to_be_built_where_there_is_none(depot: Depot) -> None:
    assert depot.kits_of(plan_of("fake@1.0", sentinel=MOVING), HERE) == {"fake@1.0": None, MOVING: None}


def test_the_sentinel_is_frozen_with_the_first_run_and_stays_while_it_can(depot: Depot) -> None:
    subject, kit = add(depot, "fake@1.0"), add(depot, MOVING)
    plan = plan_of("fake@1.0", sentinel=MOVING)
    assert start(depot, plan) == {SENTINEL: kit, "fake@1.0": subject}
    add(depot, MOVING, age=2 * FRESH)
    assert start(depot, plan) == {SENTINEL: kit, "fake@1.0": subject}


def test_a_subject_that_the_sentinel_was_made_of_moves_on_without_it(depot: Depot) -> None:
    old = add(depot, MOVING)
    plan = plan_of(MOVING, sentinel=MOVING)
    start(depot, plan)
    add(depot, MOVING, age=2 * FRESH)
    assert depot.kits_of(plan, HERE) == {MOVING: None}
    built = depot.shelf.root / "newer"
    newer = lay_out(built, {"bin/worker": b"of a newer version"}, reference=MOVING)
    depot.shelf.place(built, newer)
    depot.shelf.means(SubjectRef.parse(MOVING), HERE, newer.kit_id, "others")
    assert start(depot, plan) == {SENTINEL: old, MOVING: newer}


def test_the_sentinel_is_frozen_anew_where_another_is_named(depot: Depot) -> None:
    add(depot, MOVING)
    start(depot, plan_of(MOVING, sentinel=MOVING))
    other = add(depot, "fake@1.0")
    assert start(depot, plan_of("fake@1.0", sentinel="fake@1.0"))[SENTINEL] == other
    frozen = depot.shelf.frozen()
    assert frozen is not None
    assert (frozen.reference, frozen.kit_id) == ("fake@1.0", other.kit_id)


def test_the_sentinel_is_frozen_anew_where_the_worker_is_another(depot: Depot) -> None:
    old = add(depot, MOVING)
    plan = plan_of(MOVING, sentinel=MOVING)
    start(depot, plan)
    later = Depot(depot.shelf.root, THEIRS)
    assert later.kits_of(plan, HERE) == {MOVING: None}
    new = add(later, MOVING, worker=THEIRS)
    assert new != old
    assert start(later, plan)[SENTINEL] == new


def test_every_architecture_has_a_sentinel_of_its_own(depot: Depot) -> None:
    here, there = add(depot, MOVING), add(depot, MOVING, architecture=THERE)
    plan = plan_of(MOVING, sentinel=MOVING)
    for _ in range(2):
        assert start(depot, plan, HERE)[SENTINEL] == here
        assert start(depot, plan, THERE)[SENTINEL] == there
    frozen = depot.shelf.frozen(THERE)
    assert frozen is not None
    assert frozen.kit_id == there.kit_id


@pytest.mark.parametrize(("reference", "architecture"), [("fake@1.1", HERE), ("fake@1.0", "riscv64")])
def test_a_kit_that_was_not_ordered_is_not_taken(
    depot: Depot, tmp_path: Path, reference: str, architecture: str
) -> None:
    archive, manifest = archive_of(tmp_path, reference, architecture=architecture)
    with pytest.raises(OtherKit, match=f"is of {reference} for {architecture}, wanted is fake@1.0 for {HERE}"):
        take(depot, manifest.kit_id, archive)
    assert (depot.shelf.list(), leftovers(depot)) == ((), [])
    assert depot.shelf.find(SubjectRef.parse(reference), architecture) is None
