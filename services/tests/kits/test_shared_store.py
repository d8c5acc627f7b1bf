"""A kit store takes in kits that are what they say, hands them out, and knows which ones count."""

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
from kexbench.kits import shared_store as shared_stores
from kexbench.kits import store as stores
from kexbench.kits.attempts import file_name
from kexbench.kits.shared_store import FRESH, OrderedKit, OtherKit, SharedKitStore
from kexbench.kits.transport import DamagedKit, pack, unpack
from tests.builders import a_plan

from .laid_out import lay_out

HERE, THERE = platform.machine(), "riscv64"
OURS, THEIRS = "2" * 64, "9" * 64
MOVING = "openssl@debian/trixie"


@pytest.fixture
def shared_store(tmp_path: Path) -> SharedKitStore:
    return SharedKitStore(tmp_path / "kit-store", OURS)


def archive_of(tmp_path: Path, reference: str = "fake@1.0", *, architecture: str = HERE) -> tuple[bytes, KitManifest]:
    kit = tmp_path / f"made-{reference.replace('/', '-')}-{architecture}"
    manifest = lay_out(kit, reference=reference, architecture=architecture)
    pack(kit, kit.with_suffix(".tar"))
    return kit.with_suffix(".tar").read_bytes(), manifest


ORDERED = OrderedKit(SubjectRef.parse("fake@1.0"), HERE, "ingredients")


def take(shared_store: SharedKitStore, kit_id: str, archive: bytes, ordered: OrderedKit = ORDERED) -> KitManifest:
    with shared_store.arrival(kit_id, ordered) as arrival:
        for start in range(0, len(archive), 1000):
            arrival.write(archive[start : start + 1000])
        return arrival.take()


def add(
    shared_store: SharedKitStore,
    reference: str,
    *,
    architecture: str = HERE,
    worker: str = OURS,
    age: timedelta = timedelta(),
) -> KitManifest:
    """A kit in the kit store, which its reference came to mean so long ago."""
    built = Path(mkdtemp(dir=shared_store.kit_store.root / ".incoming"))
    kit = lay_out(built, reference=reference, architecture=architecture, worker_sha256=worker)
    ref = SubjectRef.parse(reference)
    shared_store.kit_store.place(built, kit)
    shared_store.kit_store.means(ref, architecture, kit.kit_id, "ingredients")
    remembered = time.time() - age.total_seconds()
    os.utime(shared_store.kit_store.root / "refs" / f"{file_name(ref, architecture)}.json", (remembered, remembered))
    return kit


def plan_of(*references: str, peers: Sequence[str] = (), sentinel: str | None = None) -> Plan:
    subjects, others = (
        tuple(PlannedSubject(library=ref.library, source=ref.source) for ref in map(SubjectRef.parse, named))
        for named in (references, peers)
    )
    return a_plan().model_copy(update={"subjects": subjects, "peers": others, "sentinel": sentinel})


def leftovers(shared_store: SharedKitStore) -> list[Path]:
    return list((shared_store.kit_store.root / ".incoming").iterdir())


def test_a_kit_that_arrives_is_in_the_kit_store_and_sound(shared_store: SharedKitStore, tmp_path: Path) -> None:
    archive, manifest = archive_of(tmp_path)
    assert take(shared_store, manifest.kit_id, archive) == manifest
    assert shared_store.kit_store.list() == (manifest,)
    assert shared_store.kit_store.verify(manifest.kit_id) == ()
    assert leftovers(shared_store) == []


def test_an_arrival_that_is_not_taken_is_gone(shared_store: SharedKitStore, tmp_path: Path) -> None:
    archive, manifest = archive_of(tmp_path)
    with shared_store.arrival(manifest.kit_id, ORDERED) as arrival:
        arrival.write(archive)
        assert len(leftovers(shared_store)) == 1
    assert leftovers(shared_store) == []
    assert shared_store.kit_store.list() == ()


def test_an_upload_that_was_killed_is_cleared_away_by_the_next_shared_store(
    shared_store: SharedKitStore, tmp_path: Path
) -> None:
    with shared_store.arrival("0" * 16, ORDERED) as killed:
        killed.write(b"half of it")
        assert len(leftovers(shared_store)) == 1
        assert leftovers(SharedKitStore(shared_store.kit_store.root, OURS)) == []


@pytest.mark.parametrize("cut", [0, 600, 2000])
def test_a_damaged_arrival_leaves_the_kit_store_as_it_was(
    shared_store: SharedKitStore, tmp_path: Path, cut: int
) -> None:
    known = add(shared_store, "fake@1.1")
    archive, manifest = archive_of(tmp_path)
    with pytest.raises(DamagedKit):
        take(shared_store, manifest.kit_id, archive[:cut])
    assert shared_store.kit_store.list() == (known,)
    assert leftovers(shared_store) == []


def test_an_arrival_of_more_than_the_limit_is_refused_while_it_arrives(
    shared_store: SharedKitStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_stores, "KIT_MAX_BYTES", 1500)
    with shared_store.arrival("0" * 16, ORDERED) as arrival:
        arrival.write(bytes(1500))
        with pytest.raises(DamagedKit, match="is larger than"):
            arrival.write(b"1")
    assert leftovers(shared_store) == []


def test_taken_twice_is_once(shared_store: SharedKitStore, tmp_path: Path) -> None:
    archive, manifest = archive_of(tmp_path)
    take(shared_store, manifest.kit_id, archive)
    first = shared_store.kit_store.folder(manifest.kit_id).stat().st_ino
    assert take(shared_store, manifest.kit_id, archive) == manifest
    assert shared_store.kit_store.list() == (manifest,)
    assert shared_store.kit_store.folder(manifest.kit_id).stat().st_ino == first
    assert leftovers(shared_store) == []


def test_a_damaged_kit_in_the_kit_store_and_what_was_packed_of_it_are_replaced(
    shared_store: SharedKitStore, tmp_path: Path
) -> None:
    archive, manifest = archive_of(tmp_path)
    take(shared_store, manifest.kit_id, archive)
    worker = shared_store.kit_store.folder(manifest.kit_id) / "bin/worker"
    worker.chmod(0o755)
    worker.write_bytes(b"changed")
    with pytest.raises(DamagedKit):
        unpack(shared_store.archive(manifest.kit_id), manifest.kit_id, tmp_path / "arrived")
    take(shared_store, manifest.kit_id, archive)
    assert shared_store.kit_store.verify(manifest.kit_id) == ()
    assert unpack(shared_store.archive(manifest.kit_id), manifest.kit_id, tmp_path / "arrived") == manifest


def test_a_damaged_kit_that_a_kill_left_aside_is_never_taken_for_the_kit(
    shared_store: SharedKitStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, manifest = archive_of(tmp_path)
    take(shared_store, manifest.kit_id, archive)
    (shared_store.kit_store.folder(manifest.kit_id) / "lib").mkdir()
    (shared_store.kit_store.folder(manifest.kit_id) / "lib/extra.so").write_bytes(b"")

    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stores, "sync", killed)
        patched.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            take(shared_store, manifest.kit_id, archive)
    assert shared_store.kit_store.list() == ()
    assert shared_store.kit_store.get(manifest.kit_id) is None
    take(shared_store, manifest.kit_id, archive)
    assert shared_store.kit_store.verify(manifest.kit_id) == ()


def test_a_kit_leaves_as_it_came_and_is_packed_once(shared_store: SharedKitStore, tmp_path: Path) -> None:
    archive, manifest = archive_of(tmp_path)
    take(shared_store, manifest.kit_id, archive)
    packed = shared_store.archive(manifest.kit_id)
    assert packed.read_bytes() == archive
    before = packed.stat().st_ino
    assert shared_store.archive(manifest.kit_id).stat().st_ino == before


def test_asked_for_by_several_at_once_a_kit_is_whole_for_each(
    shared_store: SharedKitStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, manifest = archive_of(tmp_path)
    take(shared_store, manifest.kit_id, archive)
    together, packings = Barrier(4), []

    def counted(kit: Path, target: Path) -> None:
        packings.append(kit)
        pack(kit, target)

    def ask(_: int) -> bytes:
        together.wait()
        return shared_store.archive(manifest.kit_id).read_bytes()

    monkeypatch.setattr(shared_stores, "pack", counted)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(4))) == {archive}
    assert len(packings) == 1


def test_a_kit_that_there_is_not_has_no_archive(shared_store: SharedKitStore) -> None:
    with pytest.raises(KeyError, match="no kit 0000000000000000"):
        shared_store.archive("0" * 16)


def test_of_every_reference_of_a_plan_the_kit_is_named_or_that_it_is_missing(shared_store: SharedKitStore) -> None:
    one, peer = add(shared_store, "fake@1.0"), add(shared_store, "fake@3.0")
    found = shared_store.kits_of(plan_of("fake@1.0", "fake@2.0", peers=["fake@3.0"]), HERE)
    assert found == {"fake@1.0": one, "fake@2.0": None, "fake@3.0": peer}


def test_a_kit_for_another_architecture_does_not_count(shared_store: SharedKitStore) -> None:
    there = add(shared_store, "fake@1.0", architecture=THERE)
    assert shared_store.kits_of(plan_of("fake@1.0"), HERE) == {"fake@1.0": None}
    assert shared_store.kits_of(plan_of("fake@1.0"), THERE) == {"fake@1.0": there}


def test_a_kit_of_another_worker_does_not_count(shared_store: SharedKitStore) -> None:
    add(shared_store, "fake@1.0", worker=THEIRS)
    assert shared_store.kits_of(plan_of("fake@1.0"), HERE) == {"fake@1.0": None}


@pytest.mark.parametrize(
    "moving",
    [MOVING, "openssl@git:/src/openssl#master", "openssl@git:/src/openssl#openssl-3.5", "rustls@crate/0.23.46"],
)
def test_a_reference_that_moves_is_fresh_for_a_day_and_stale_then(shared_store: SharedKitStore, moving: str) -> None:
    kit = add(shared_store, moving, age=FRESH - timedelta(minutes=5))
    assert shared_store.kits_of(plan_of(moving), HERE) == {moving: kit}
    add(shared_store, moving, age=FRESH + timedelta(minutes=5))
    assert shared_store.kits_of(plan_of(moving), HERE) == {moving: None}


def test_a_stale_reference_that_means_the_same_kit_again_is_fresh(shared_store: SharedKitStore) -> None:
    kit = add(shared_store, MOVING, age=2 * FRESH)
    shared_store.kit_store.means(SubjectRef.parse(MOVING), HERE, kit.kit_id, "ingredients")
    assert shared_store.kits_of(plan_of(MOVING), HERE) == {MOVING: kit}


@pytest.mark.parametrize(
    "reference",
    ["openssl@crate/3.5.0", f"openssl@tarball:/src/o.tar.gz#sha256={'a' * 64}", f"openssl@git:/src/o#{'b' * 40}"],
)
def test_a_stated_version_never_goes_stale(shared_store: SharedKitStore, reference: str) -> None:
    kit = add(shared_store, reference, age=100 * FRESH)
    assert shared_store.kits_of(plan_of(reference), HERE) == {reference: kit}


def test_the_kit_store_says_what_a_reference_was_made_of(shared_store: SharedKitStore) -> None:
    assert shared_store.kit_store.made_of(SubjectRef.parse("fake@1.0"), HERE) is None
    assert shared_store.kit_store.meant_at(SubjectRef.parse("fake@1.0"), HERE) is None
    add(shared_store, "fake@1.0")
    assert shared_store.kit_store.made_of(SubjectRef.parse("fake@1.0"), HERE) == "ingredients"
    assert shared_store.kit_store.made_of(SubjectRef.parse("fake@1.0"), THERE) is None


def start(shared_store: SharedKitStore, plan: Plan, architecture: str = HERE) -> dict[str, KitManifest]:
    """The kits that a run of the plan would begin with."""
    found = {name: kit for name, kit in shared_store.kits_of(plan, architecture).items() if kit is not None}
    return shared_store.frozen_for(plan, found)


def test_a_plan_without_a_sentinel_freezes_none(shared_store: SharedKitStore) -> None:
    kit = add(shared_store, "fake@1.0")
    assert start(shared_store, plan_of("fake@1.0")) == {"fake@1.0": kit}
    assert shared_store.kit_store.frozen() is None


def test_the_sentinel_is_to_be_built_where_there_is_none(shared_store: SharedKitStore) -> None:
    assert shared_store.kits_of(plan_of("fake@1.0", sentinel=MOVING), HERE) == {"fake@1.0": None, MOVING: None}


def test_the_sentinel_is_frozen_with_the_first_run_and_stays_while_it_can(shared_store: SharedKitStore) -> None:
    subject, kit = add(shared_store, "fake@1.0"), add(shared_store, MOVING)
    plan = plan_of("fake@1.0", sentinel=MOVING)
    assert start(shared_store, plan) == {SENTINEL: kit, "fake@1.0": subject}
    add(shared_store, MOVING, age=2 * FRESH)
    assert start(shared_store, plan) == {SENTINEL: kit, "fake@1.0": subject}


def test_a_subject_that_the_sentinel_was_made_of_moves_on_without_it(shared_store: SharedKitStore) -> None:
    old = add(shared_store, MOVING)
    plan = plan_of(MOVING, sentinel=MOVING)
    start(shared_store, plan)
    add(shared_store, MOVING, age=2 * FRESH)
    assert shared_store.kits_of(plan, HERE) == {MOVING: None}
    built = shared_store.kit_store.root / "newer"
    newer = lay_out(built, {"bin/worker": b"of a newer version"}, reference=MOVING)
    shared_store.kit_store.place(built, newer)
    shared_store.kit_store.means(SubjectRef.parse(MOVING), HERE, newer.kit_id, "others")
    assert start(shared_store, plan) == {SENTINEL: old, MOVING: newer}


def test_the_sentinel_is_frozen_anew_where_another_is_named(shared_store: SharedKitStore) -> None:
    add(shared_store, MOVING)
    start(shared_store, plan_of(MOVING, sentinel=MOVING))
    other = add(shared_store, "fake@1.0")
    assert start(shared_store, plan_of("fake@1.0", sentinel="fake@1.0"))[SENTINEL] == other
    frozen = shared_store.kit_store.frozen()
    assert frozen is not None
    assert (frozen.reference, frozen.kit_id) == ("fake@1.0", other.kit_id)


def test_the_sentinel_is_frozen_anew_where_the_worker_is_another(shared_store: SharedKitStore) -> None:
    old = add(shared_store, MOVING)
    plan = plan_of(MOVING, sentinel=MOVING)
    start(shared_store, plan)
    later = SharedKitStore(shared_store.kit_store.root, THEIRS)
    assert later.kits_of(plan, HERE) == {MOVING: None}
    new = add(later, MOVING, worker=THEIRS)
    assert new != old
    assert start(later, plan)[SENTINEL] == new


def test_every_architecture_has_a_sentinel_of_its_own(shared_store: SharedKitStore) -> None:
    here, there = add(shared_store, MOVING), add(shared_store, MOVING, architecture=THERE)
    plan = plan_of(MOVING, sentinel=MOVING)
    for _ in range(2):
        assert start(shared_store, plan, HERE)[SENTINEL] == here
        assert start(shared_store, plan, THERE)[SENTINEL] == there
    frozen = shared_store.kit_store.frozen(THERE)
    assert frozen is not None
    assert frozen.kit_id == there.kit_id


@pytest.mark.parametrize(("reference", "architecture"), [("fake@1.1", HERE), ("fake@1.0", "riscv64")])
def test_a_kit_that_was_not_ordered_is_not_taken(
    shared_store: SharedKitStore, tmp_path: Path, reference: str, architecture: str
) -> None:
    archive, manifest = archive_of(tmp_path, reference, architecture=architecture)
    with pytest.raises(OtherKit, match=f"is {reference} for {architecture}, expected fake@1.0 for {HERE}"):
        take(shared_store, manifest.kit_id, archive)
    assert (shared_store.kit_store.list(), leftovers(shared_store)) == ((), [])
    assert shared_store.kit_store.find(SubjectRef.parse(reference), architecture) is None
