"""What kits are made for: the tools of another architecture, who can use them, and kits that never mix in a store."""

import platform
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits import KitError
from kexbench.kits.build_openssl import OpensslRecipe
from kexbench.kits.errors import StepFailed
from kexbench.kits.prefix import PrefixProvider
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Provider
from kexbench.kits.system import SystemProvider
from kexbench.kits.target import Target, target_for

from .conftest import Kitchen

FOREIGN = "aarch64" if platform.machine() != "aarch64" else "riscv64"
ELSEWHERE = Target("aarch64", "aarch64-linux-gnu-gcc", ("qemu-aarch64-static",), Path("/usr/aarch64-linux-gnu/lib"))
ELF_MACHINES = {"aarch64": 183, "riscv64": 243}
FAKE = SubjectRef.parse("fake@1.0")


def needs_tools() -> None:
    try:
        target_for(FOREIGN)
    except StepFailed as error:
        pytest.skip(f"{error.reason}: {error.remedy}")


def test_this_machine_needs_no_starter_and_no_other_c_library() -> None:
    here = target_for()
    assert (here, here.is_foreign, here.cross_prefix) == (Target(platform.machine()), False, "")
    assert here.command(["bin/worker"]) == ["bin/worker"]


def test_programs_for_elsewhere_are_started_by_an_emulator_with_the_loader_of_the_cross_compiler() -> None:
    assert ELSEWHERE.is_foreign
    assert ELSEWHERE.command(["lib/ld.so", "bin/worker"]) == ["qemu-aarch64-static", "lib/ld.so", "bin/worker"]
    assert ELSEWHERE.loader == Path("/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1")


def test_a_machine_without_a_compiler_is_told_everything_at_once(
    kitchen: Kitchen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KitError, match="can't compile: cc and make can't be found") as caught:
        kitchen.kit_store.add(FAKE)
    remedy = "apt-get install gcc make libc6-dev libssl-dev libgnutls28-dev"
    assert remedy in str(caught.value.remedy)


def test_missing_tools_are_named_with_the_packages_to_install(
    kitchen: Kitchen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KitError, match=f"can't make kits for {FOREIGN}: {FOREIGN}-linux-gnu-gcc") as caught:
        kitchen.kit_store.add(FAKE, architecture=FOREIGN)
    assert caught.value.remedy.startswith(f"apt-get install gcc-{FOREIGN}-linux-gnu")
    assert caught.value.remedy.endswith("qemu-user-static")


def test_an_architecture_that_nobody_knows_is_refused_with_those_there_are(kitchen: Kitchen) -> None:
    with pytest.raises(KitError, match="can't be made for sparc yet") as caught:
        kitchen.kit_store.add(FAKE, architecture="sparc")
    assert "aarch64" in caught.value.remedy


def test_openssl_is_configured_for_the_target_with_its_tools() -> None:
    words = OpensslRecipe(1).words("3.5.5", ("no-asm",), ELSEWHERE)
    assert words[:2] == ("linux-aarch64", "--cross-compile-prefix=aarch64-linux-gnu-")
    assert words[-1] == "no-asm"
    native = OpensslRecipe(1).words("3.5.5", (), Target("aarch64"))
    assert native[0] == "linux-aarch64"
    assert not [word for word in native if word.startswith("--cross")]


@pytest.mark.parametrize(
    ("provider", "text"), [(SystemProvider(), "openssl@system"), (PrefixProvider(), "openssl@prefix:/opt/openssl")]
)
def test_what_is_built_for_this_machine_is_refused_for_another(provider: Provider, text: str, tmp_path: Path) -> None:
    attempt = Attempt(tmp_path, tmp_path / "log", lambda _: None, ELSEWHERE)
    with pytest.raises(StepFailed, match="built for this machine, not for aarch64") as caught:
        provider.resolve(SubjectRef.parse(text), attempt, refresh=False)
    assert "openssl@crate/3.5.5" in caught.value.remedy


def test_a_reference_means_one_kit_for_each_architecture(kitchen: Kitchen) -> None:
    needs_tools()
    there = kitchen.kit_store.add(FAKE, architecture=FOREIGN)
    assert there.build_profile.architecture == FOREIGN
    assert kitchen.kit_store.find(FAKE) is None
    here = kitchen.kit_store.add(FAKE)
    assert kitchen.kit_store.find(FAKE) == here
    assert kitchen.kit_store.find(FAKE, FOREIGN) == there
    assert {kit.kit_id for kit in kitchen.kit_store.list()} == {here.kit_id, there.kit_id}
    names = {path.name for path in (kitchen.kit_store.root / "refs").iterdir()}
    assert names == {"fake@1.0.json", f"fake@1.0,{FOREIGN}.json"}
    assert kitchen.kit_store.add(FAKE, kitchen.said.append, architecture=FOREIGN) == there
    assert "unchanged" in kitchen.said[-1]


def test_every_program_and_library_of_a_foreign_kit_is_of_its_architecture(kitchen: Kitchen) -> None:
    needs_tools()
    kit = kitchen.kit_store.add(FAKE, architecture=FOREIGN)
    folder = kitchen.kit_store.folder(kit.kit_id)
    assert f"lib/{target_for(FOREIGN).loader.name}" in kit.files
    assert "lib/libc.so.6" in kit.files
    found = {name: int.from_bytes((folder / name).read_bytes()[18:20], "little") for name in kit.files}
    assert set(found.values()) == {ELF_MACHINES[FOREIGN]}


def test_a_kit_store_from_a_machine_of_another_architecture_offers_none_of_its_kits(
    kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    kitchen.add("fake@1.0")
    monkeypatch.setattr(platform, "machine", lambda: FOREIGN)
    assert kitchen.kit_store.find(FAKE) is None


def test_a_worker_for_this_machine_that_says_it_is_emulated_is_refused_by_the_self_test(kitchen: Kitchen) -> None:
    source = kitchen.worker / "worker.c"
    source.write_text(source.read_text().replace('\\"architecture\\"', '\\"emulated\\":true,\\"architecture\\"'))
    with pytest.raises(KitError, match="this machine is emulated"):
        kitchen.add("fake@1.0")
