"""Kits appear whole or not at all, are made once, and betray any change."""

import os
import platform
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import pytest

from kexbench import locks
from kexbench.domain.kits import SubjectRef
from kexbench.kits import KitError, KitStore, attempts
from kexbench.kits.process import Children

from .conftest import Kitchen, kitchen_in


def test_a_kit_is_added_found_listed_and_sound(kitchen: Kitchen) -> None:
    kit = kitchen.add("fake@1.0+step=1.02")
    assert kit.version == "1.0"
    assert kit.arguments == ("--fake", "version=1.0,step=1.02")
    assert kitchen.kit_store.find(SubjectRef.parse("fake@1.0+step=1.02")) == kit
    assert kitchen.kit_store.get(kit.kit_id) == kit
    assert kitchen.kit_store.list() == (kit,)
    assert kitchen.kit_store.verify(kit.kit_id) == ()
    assert kitchen.leftovers() == []


def test_adding_again_compiles_nothing_and_says_so(kitchen: Kitchen) -> None:
    first = kitchen.add("fake@1.0")
    assert any("compiling" in line for line in kitchen.said)
    assert kitchen.add("fake@1.0") == first
    assert not any("compiling" in line for line in kitchen.said)
    assert any("unchanged" in line for line in kitchen.said)


def test_a_kit_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    kits = [kitchen_in(tmp_path / name).add("fake@1.0") for name in ("here", "there")]
    assert kits[0] == kits[1]


def test_a_change_of_the_harness_makes_a_new_kit_and_keeps_the_old(kitchen: Kitchen) -> None:
    old = kitchen.add("fake@1.0")
    source = kitchen.worker / "worker.c"
    source.write_text(source.read_text() + "/* changed */\n")
    new = kitchen.add("fake@1.0")
    assert new.kit_id != old.kit_id
    assert kitchen.kit_store.find(SubjectRef.parse("fake@1.0")) == new
    assert {kit.kit_id for kit in kitchen.kit_store.list()} == {old.kit_id, new.kit_id}


def test_kits_are_listed_in_the_order_of_versions(kitchen: Kitchen) -> None:
    for version in ("1.10", "1.9", "1.9-beta1"):
        kitchen.add(f"fake@{version}")
    assert [kit.version for kit in kitchen.kit_store.list()] == ["1.9-beta1", "1.9", "1.10"]


def test_files_of_a_kit_are_read_only(kitchen: Kitchen) -> None:
    kit = kitchen.add("fake@1.0")
    files = [path for path in kitchen.kit_store.folder(kit.kit_id).rglob("*") if path.is_file()]
    assert len(files) == len(kit.files) + 1
    assert all(path.stat().st_mode & 0o222 == 0 for path in files)


def test_a_flipped_byte_is_noticed(kitchen: Kitchen) -> None:
    kit = kitchen.add("fake@1.0")
    worker = kitchen.kit_store.folder(kit.kit_id) / "bin/worker"
    content = bytearray(worker.read_bytes())
    content[1000] ^= 1
    worker.chmod(0o755)
    worker.write_bytes(content)
    assert kitchen.kit_store.verify(kit.kit_id) == ("bin/worker was changed",)


def test_added_and_missing_files_are_noticed_and_a_missing_one_is_made_again(kitchen: Kitchen) -> None:
    kit = kitchen.add("fake@1.0")
    folder = kitchen.kit_store.folder(kit.kit_id)
    (folder / "lib/libc.so.6").unlink()
    (folder / "lib/extra.so").write_text("")
    assert kitchen.kit_store.verify(kit.kit_id) == ("lib/libc.so.6 is missing", "lib/extra.so was added")
    assert kitchen.add("fake@1.0") == kit
    assert kitchen.kit_store.verify(kit.kit_id) == ()
    assert kitchen.leftovers() == []


def test_an_edited_manifest_is_no_kit(kitchen: Kitchen) -> None:
    kit = kitchen.add("fake@1.0")
    manifest = kitchen.kit_store.folder(kit.kit_id) / "kit.json"
    manifest.chmod(0o644)
    manifest.write_text(manifest.read_text().replace('"version": "1.0"', '"version": "1.1"'))
    assert kitchen.kit_store.list() == ()
    assert kitchen.kit_store.verify(kit.kit_id) == ("kit.json is unreadable or was changed",)


def test_a_failing_compilation_leaves_a_log_and_no_kit(kitchen: Kitchen) -> None:
    (kitchen.worker / "worker.c").write_text("int main(void) { return missing; }\n")
    with pytest.raises(KitError) as caught:
        kitchen.add("fake@1.0")
    assert caught.value.stage == "compile"
    assert "missing" in caught.value.reason
    assert caught.value.log_path is not None
    assert "BACKEND=fake" in caught.value.log_path.read_text()
    assert kitchen.kit_store.list() == ()
    assert kitchen.leftovers() == []


def test_a_worker_of_another_version_is_refused_by_the_self_test(kitchen: Kitchen) -> None:
    source = kitchen.worker / "worker.c"
    source.write_text(source.read_text().replace('"version=%63[^,]"', '"version=%1[^,]"'))
    with pytest.raises(KitError, match=r"reports version '2', expected '2\.5'"):
        kitchen.add("fake@2.5")
    assert kitchen.kit_store.list() == ()


def test_sources_that_change_while_they_are_compiled_make_no_kit(kitchen: Kitchen) -> None:
    makefile = kitchen.worker / "Makefile"
    makefile.write_text(makefile.read_text() + "\techo '/* changed */' >> worker.c\n")
    with pytest.raises(KitError, match="changed while they were compiled"):
        kitchen.add("fake@1.0")


def test_a_worker_that_crashes_is_refused_by_the_self_test(kitchen: Kitchen) -> None:
    (kitchen.worker / "worker.c").write_text("int main(void) { return 7; }\n")
    with pytest.raises(KitError, match="self-test failed"):
        kitchen.add("fake@1.0")


def test_a_heap_counter_that_cannot_be_preloaded_is_refused_by_the_self_test(kitchen: Kitchen) -> None:
    makefile = kitchen.worker / "Makefile"
    makefile.write_text(makefile.read_text() + "\techo no library > $@\n")
    with pytest.raises(KitError, match="can't load the heap counter"):
        kitchen.add("fake@1.0")


@pytest.mark.parametrize(
    ("text", "says"),
    [("openssl@nowhere", "nothing provides"), ("fake@1.0+speed=2", "step="), ("fake@v1", "not a version")],
)
def test_what_nobody_provides_is_refused_with_what_there_is(kitchen: Kitchen, text: str, says: str) -> None:
    with pytest.raises(KitError, match=says):
        kitchen.add(text)


def test_without_worker_sources_the_error_says_where_they_should_be(kitchen: Kitchen) -> None:
    (kitchen.worker / "Makefile").unlink()
    with pytest.raises(KitError, match="workers/handshake"):
        kitchen.add("fake@1.0")


def test_a_kit_store_without_workshop_reads_and_does_not_add(kitchen: Kitchen) -> None:
    kit = kitchen.add("fake@1.0")
    reader = KitStore(kitchen.kit_store.root)
    assert reader.list() == (kit,)
    assert reader.get("0" * 16) is None
    assert reader.get("../refs") is None
    assert KitStore(kitchen.kit_store.root / "absent").list() == ()
    with pytest.raises(KitError, match="read-only"):
        reader.add(kit.ref)
    with pytest.raises(KeyError, match="no kit"):
        reader.folder("0" * 16)


def test_adds_at_the_same_time_make_one_kit_each(kitchen: Kitchen) -> None:
    refs = [SubjectRef.parse(f"fake@1.{minor}") for minor in (0, 1, 0, 1)]
    with ThreadPoolExecutor(4) as pool:
        kits = list(pool.map(kitchen.kit_store.add, refs))
    assert kits[0] == kits[2]
    assert kits[1] == kits[3]
    assert len(kitchen.kit_store.list()) == 2
    assert kitchen.leftovers() == []


def test_a_lock_that_is_made_and_not_yet_taken_is_no_leftover(
    kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process clears leftovers at that very moment."""
    scratch = kitchen.kit_store.root / ".scratch"
    scratch.mkdir(parents=True)
    root, ref = kitchen.kit_store.root, SubjectRef.parse("fake@1.0")

    def beginning() -> None:
        with attempts.making(root, ref, kitchen.said.append):
            pass

    clearing = Thread(target=beginning)

    def paused(descriptor: int) -> bool:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.parent == scratch and not clearing.ident:
            clearing.start()
            clearing.join(0.5)  # without a limit it would wait for this one
        return taken(descriptor)

    taken = locks._taken
    monkeypatch.setattr(locks, "_taken", paused)
    with attempts.attempt(root, ref, platform.machine(), kitchen.said.append, Children()) as current:
        clearing.join()
        assert current.scratch.is_dir()
        assert current.scratch.with_suffix(".lock").exists()
    assert list(scratch.iterdir()) == []


def test_an_add_killed_while_compiling_leaves_no_kit_and_the_next_one_succeeds(
    kitchen: Kitchen, tmp_path: Path
) -> None:
    makefile = kitchen.worker / "Makefile"
    usual = makefile.read_text()
    marker = tmp_path / "compiling"
    slow = usual.replace(
        "\t$(CC)", f"\techo $$$$ > {marker}.part && mv {marker}.part {marker} && exec sleep 20\n\t$(CC)"
    )
    makefile.write_text(slow)
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from kits.conftest import kitchen_in; kitchen_in(Path(sys.argv[1])).add('fake@1.0')"
    )
    tests = str(Path(__file__).parents[1])
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), tests])
    deadline = time.monotonic() + 20
    while not marker.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    os.kill(int(marker.read_text()), signal.SIGKILL)  # the compiler that outlived its parent

    assert kitchen.kit_store.list() == ()
    assert len(list((kitchen.kit_store.root / ".scratch").iterdir())) == 2, "a folder and its lock"
    makefile.write_text(usual)
    kit = kitchen.add("fake@1.0")
    assert kitchen.kit_store.verify(kit.kit_id) == ()
    assert kitchen.leftovers() == []
