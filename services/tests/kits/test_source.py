"""Building from sources with an origin and a recipe of stand-ins: what is built when, and what a kit tells of it."""

from pathlib import Path

import pytest

from kexbench.domain.kits import Package, SubjectRef
from kexbench.kits import KitError
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import FIPS_MODULE, INSTALLED, SourceProvider, Sources
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

from .conftest import Kitchen, kitchen_in
from .prefix_tree import write_tree


class Shop:
    """An origin whose only sources are of one version."""

    name = "shop"

    def __init__(self) -> None:
        self.identity = "a" * 64
        self.version = "9.8.7"

    def describe(self) -> str:
        return "openssl@shop/9.8.7: nothing real"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.origin.startswith("shop/")

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        return (self.version,)

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        package = Package(name="sources", version=self.version, sha256=self.identity)
        return Sources(self.version, self.identity, (package,), self._unpack)

    def _unpack(self, folder: Path, attempt: Attempt) -> Path:
        (folder / "root").mkdir()
        return folder / "root"


class Bench:
    """A recipe that installs a tiny library, or fails when asked to."""

    linkage: Linkage = "shared"
    revision = 1

    def __init__(self) -> None:
        self.builds = 0
        self.fails = False
        self.ingredient: Package | None = None
        self.distinct: tuple[str, ...] = ()

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        return ("no-shared", *flags)

    def distinctions(self, target: Target) -> tuple[str, ...]:
        return self.distinct

    def ingredients(self, attempt: Attempt) -> tuple[Package, ...]:
        return (self.ingredient,) if self.ingredient else ()

    def decisive(self, attempt: Attempt) -> tuple[str, ...]:
        return ()

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        self.builds += 1
        assert source.is_dir()
        write_tree(installed / INSTALLED)
        if "enable-fips" in words:
            module = installed / INSTALLED / FIPS_MODULE
            module.parent.mkdir()
            module.write_bytes(b"a module")
        if self.fails:
            raise StepFailed("compile", "set to fail", "set it otherwise")


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def kitchen(shop: Shop, bench: Bench, tmp_path: Path) -> Kitchen:
    return kitchen_in(tmp_path, (SourceProvider(shop, {"openssl": bench}, tmp_path / "cache"),))


def test_a_kit_tells_where_its_sources_are_from_and_how_they_were_configured(kitchen: Kitchen) -> None:
    kit = kitchen.add("openssl@shop/9.8.7+no-asm")
    assert kit.version == "9.8.7"
    assert (kit.build_profile.provider, kit.build_profile.linkage) == ("shop", "shared")
    assert kit.build_profile.flags == "no-asm"
    assert kit.build_profile.compiler.split()[0] in ("gcc", "clang")
    assert kit.configure == ("no-shared", "no-asm")
    assert Package(name="sources", version="9.8.7", sha256="a" * 64) in kit.packages


def test_a_fips_module_that_was_built_is_in_the_kit(kitchen: Kitchen) -> None:
    plain, fips = (kitchen.add(f"openssl@shop/9.8.7{flag}") for flag in ("", "+enable-fips"))
    assert (plain.fips, fips.fips) == (False, True)
    assert (kitchen.kit_store.folder(fips.kit_id) / FIPS_MODULE).read_bytes() == b"a module"


def test_a_change_of_the_worker_builds_no_library_again(kitchen: Kitchen, bench: Bench) -> None:
    first = kitchen.add("openssl@shop/9.8.7")
    (kitchen.worker / "worker.c").write_text((kitchen.worker / "worker.c").read_text() + "\n// changed\n")
    second = kitchen.add("openssl@shop/9.8.7")
    assert first.kit_id != second.kit_id
    assert bench.builds == 1


def test_other_flags_and_other_sources_are_other_builds(kitchen: Kitchen, shop: Shop, bench: Bench) -> None:
    kitchen.add("openssl@shop/9.8.7")
    kitchen.add("openssl@shop/9.8.7+no-asm")
    shop.identity = "b" * 64
    kitchen.add("openssl@shop/9.8.7")
    assert bench.builds == 3
    assert len(kitchen.kit_store.list()) == 3


def test_a_recipe_that_builds_otherwise_builds_again(kitchen: Kitchen, bench: Bench) -> None:
    kitchen.add("openssl@shop/9.8.7")
    bench.revision += 1
    kitchen.add("openssl@shop/9.8.7")
    assert bench.builds == 2


def test_what_else_goes_into_a_build_is_part_of_its_profile_so_that_series_end_where_it_changes(
    kitchen: Kitchen, bench: Bench
) -> None:
    kits = []
    for version in ("3.10.1", "3.10.2"):
        bench.ingredient = Package(name="nettle", version=version, sha256=None)
        kits.append(kitchen.add("openssl@shop/9.8.7+no-asm"))
        assert bench.ingredient in kits[-1].packages
    assert [kit.build_profile.flags for kit in kits] == ["no-asm nettle-3.10.1", "no-asm nettle-3.10.2"]
    assert bench.builds == 2


def test_what_a_recipe_does_otherwise_than_before_is_another_build_profile(kitchen: Kitchen, bench: Bench) -> None:
    before = kitchen.add("openssl@shop/9.8.7")
    bench.distinct = ("enable-fast",)
    after = kitchen.add("openssl@shop/9.8.7+no-asm")
    assert after.build_profile.flags == "enable-fast no-asm"
    assert kitchen.add("openssl@shop/9.8.7").build_profile.id not in (before.build_profile.id, after.build_profile.id)


def test_the_same_sources_give_the_same_kit_wherever_they_are_built(shop: Shop, bench: Bench, tmp_path: Path) -> None:
    kits = []
    for name in ("one", "two"):
        provider = SourceProvider(shop, {"openssl": bench}, tmp_path / name / "cache")
        kits.append(kitchen_in(tmp_path / name, (provider,)).add("openssl@shop/9.8.7"))
    assert kits[0] == kits[1]


def test_a_build_that_fails_leaves_nothing_but_its_log(kitchen: Kitchen, bench: Bench) -> None:
    bench.fails = True
    with pytest.raises(KitError, match="set to fail"):
        kitchen.add("openssl@shop/9.8.7")
    assert kitchen.leftovers() == []
    bench.fails = False
    assert kitchen.add("openssl@shop/9.8.7").version == "9.8.7"


def test_what_a_kill_left_half_copied_is_no_build(kitchen: Kitchen, bench: Bench) -> None:
    kitchen.add("openssl@shop/9.8.7")
    (folder,) = (path for path in (kitchen.cache / "builds").iterdir() if path.is_dir())
    folder.rename(folder.with_name(f".{folder.name}"))
    (folder.with_name(f".{folder.name}") / INSTALLED / "lib/libssl.so").unlink()
    (kitchen.worker / "worker.c").write_text((kitchen.worker / "worker.c").read_text() + "\n// changed\n")
    kitchen.add("openssl@shop/9.8.7")
    assert bench.builds == 2


def test_sources_of_another_version_than_promised_are_refused(kitchen: Kitchen, shop: Shop) -> None:
    shop.version = "9.8.6"
    with pytest.raises(KitError, match=r"has version 9\.8\.7, expected 9\.8\.6"):
        kitchen.add("openssl@shop/9.8.6")


def test_sources_that_moved_on_since_they_were_resolved_are_not_built(
    kitchen: Kitchen, shop: Shop, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    identities = iter("bcde")
    usual = shop.locate

    def restless(ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        shop.identity = next(identities) * 64
        return usual(ref, attempt, refresh=refresh)

    monkeypatch.setattr(shop, "locate", restless)
    with pytest.raises(KitError, match="changed during the build"):
        kitchen.add("openssl@shop/9.8.7")
    assert bench.builds == 0


@pytest.mark.parametrize("reference", ["openssl@system+no-asm", "openssl@debian/trixie+no-asm"])
def test_flags_are_refused_for_what_is_built_already(reference: str, tmp_path: Path) -> None:
    with pytest.raises(KitError, match="is already built and takes no flags: no-asm"):
        kitchen_in(tmp_path).add(reference)
