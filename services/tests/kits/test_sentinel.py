"""The sentinel stays the kit it was, until there is a reason that it names."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.kits import KitError, KitStore

from .conftest import Kitchen
from .prefix_tree import write_tree

FAKE = SubjectRef.parse("fake@1.0")


@pytest.fixture
def own(tmp_path: Path) -> SubjectRef:
    """A reference whose source can be built again."""
    return SubjectRef.parse(f"openssl@prefix:{write_tree(tmp_path / 'own')}")


def tree_of(ref: SubjectRef) -> Path:
    return Path(ref.origin.removeprefix("prefix:"))


def sentinel(kitchen: Kitchen, ref: SubjectRef, *, freeze_again: bool = False) -> KitManifest:
    kitchen.said.clear()
    return kitchen.kit_store.sentinel(ref, kitchen.said.append, freeze_again=freeze_again)


def test_the_first_time_a_kit_is_made_and_frozen(kitchen: Kitchen) -> None:
    assert kitchen.kit_store.frozen() is None
    kit = sentinel(kitchen, FAKE)
    assert kitchen.said[0] == "freezing a sentinel: there is none yet"
    frozen = kitchen.kit_store.frozen()
    assert frozen is not None
    assert (frozen.reference, frozen.kit_id) == ("fake@1.0", kit.kit_id)
    assert kitchen.kit_store.list() == (kit,)
    assert kitchen.leftovers() == []


def test_it_stays_the_same_kit_when_its_source_has_moved_on(kitchen: Kitchen, own: SubjectRef) -> None:
    frozen = sentinel(kitchen, own)
    write_tree(tree_of(own), version="9.8.8")
    newer = kitchen.kit_store.add(own)
    assert newer.version == "9.8.8"
    assert sentinel(kitchen, own) == frozen
    assert kitchen.said == []


def test_it_stays_when_its_source_is_gone(kitchen: Kitchen, own: SubjectRef) -> None:
    frozen = sentinel(kitchen, own)
    tree_of(own).rename(tree_of(own).with_name("gone"))
    assert sentinel(kitchen, own) == frozen


def test_asked_to_it_freezes_what_the_source_is_now(kitchen: Kitchen, own: SubjectRef) -> None:
    sentinel(kitchen, own)
    write_tree(tree_of(own), version="9.8.8")
    assert sentinel(kitchen, own, freeze_again=True).version == "9.8.8"
    assert sentinel(kitchen, own).version == "9.8.8"


def test_another_reference_is_another_sentinel(kitchen: Kitchen) -> None:
    sentinel(kitchen, FAKE)
    assert sentinel(kitchen, SubjectRef.parse("fake@1.1")).version == "1.1"
    assert kitchen.said[0] == "freezing a sentinel: its reference changed from fake@1.0 to fake@1.1"


def test_a_change_of_the_harness_is_a_new_sentinel(kitchen: Kitchen) -> None:
    old = sentinel(kitchen, FAKE)
    source = kitchen.worker / "worker.c"
    source.write_text(source.read_text() + "/* changed */\n")
    assert sentinel(kitchen, FAKE) != old
    assert kitchen.said[0] == "freezing a sentinel: the worker's sources have changed"


def test_a_damaged_kit_is_made_again(kitchen: Kitchen) -> None:
    kit = sentinel(kitchen, FAKE)
    worker = kitchen.kit_store.folder(kit.kit_id) / "bin/worker"
    worker.chmod(0o755)
    worker.write_bytes(worker.read_bytes() + b"?")
    assert sentinel(kitchen, FAKE) == kit
    assert kitchen.said[0] == f"freezing a sentinel: its kit {kit.kit_id} is missing or damaged"
    assert kitchen.kit_store.verify(kit.kit_id) == ()


@pytest.mark.parametrize("torn", ["", '{"reference": "fake@1.0", "kit_id"', "[]"])
def test_a_file_that_cannot_be_read_is_written_again(torn: str, kitchen: Kitchen) -> None:
    kit = sentinel(kitchen, FAKE)
    (kitchen.kit_store.root / "sentinel.json").write_text(torn)
    assert sentinel(kitchen, FAKE) == kit
    frozen = kitchen.kit_store.frozen()
    assert frozen is not None
    assert frozen.kit_id == kit.kit_id


def test_what_cannot_be_made_leaves_the_sentinel_as_it_was(kitchen: Kitchen) -> None:
    sentinel(kitchen, FAKE)
    before = kitchen.kit_store.frozen()
    with pytest.raises(KitError, match="no folder"):
        sentinel(kitchen, SubjectRef.parse("openssl@prefix:/nowhere"))
    assert kitchen.kit_store.frozen() == before


def test_asked_at_the_same_time_all_get_one_sentinel(kitchen: Kitchen) -> None:
    with ThreadPoolExecutor(4) as pool:
        kits = set(pool.map(lambda _: kitchen.kit_store.sentinel(FAKE).kit_id, range(4)))
    assert len(kits) == 1


def test_a_kit_store_without_workshop_knows_the_sentinel_and_freezes_none(kitchen: Kitchen) -> None:
    kit = sentinel(kitchen, FAKE)
    reader = KitStore(kitchen.kit_store.root)
    frozen = reader.frozen()
    assert frozen is not None
    assert frozen.kit_id == kit.kit_id
    with pytest.raises(KitError, match="read-only"):
        reader.sentinel(FAKE)


def test_without_worker_sources_the_error_says_where_they_should_be(kitchen: Kitchen) -> None:
    (kitchen.worker / "Makefile").unlink()
    with pytest.raises(KitError, match="workers/handshake"):
        sentinel(kitchen, FAKE)
