"""What the lock of a store tells other processes."""

import shutil
from pathlib import Path

from kexbench.store.lock import ServiceAddress, StoreLock

OWNER = ServiceAddress(pid=1, url="http://127.0.0.1:8080", secret="s")


def test_an_owner_is_found_by_its_address(tmp_path: Path) -> None:
    lock = StoreLock(tmp_path / "store.lock")
    assert lock.acquire()
    assert StoreLock(tmp_path / "store.lock").read() is None
    lock.publish(OWNER)
    assert StoreLock(tmp_path / "store.lock").read() == OWNER
    lock.release()
    assert StoreLock(tmp_path / "store.lock").read() is None


def test_a_copied_home_does_not_lead_to_the_store_that_it_was_copied_from(tmp_path: Path) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    lock = StoreLock(home / "store.lock")
    assert lock.acquire()
    lock.publish(OWNER)
    shutil.copytree(home, copy)
    copied = StoreLock(copy / "store.lock")
    assert copied.read() is None
    assert copied.acquire()
    copied.release()
    lock.release()
