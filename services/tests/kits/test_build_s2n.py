"""s2n-tls from a made-up crate: its version, the AWS-LC below it, and what its build is made of."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits.build_awslc import AwslcRecipe
from kexbench.kits.build_s2n import AWSLC, S2nRecipe
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, SourceProvider
from kexbench.kits.target import target_for
from kexbench.kits.tree import find_tree

from .sources import write_archive

HERE = target_for()
CARGO = '[package]\nedition = "2021"\nname = "s2n-tls-sys"\nversion = "0.3.47"\n'
FEATURES = "s2n-tls-sys-0.3.47/lib/tests/features"
SOURCES = {
    "s2n-tls-sys-0.3.47/Cargo.toml": CARGO,
    "s2n-tls-sys-0.3.47/build.rs": "-Wa,-mbranches-within-32B-boundaries\n",
    "s2n-tls-sys-0.3.47/lib/api/s2n.h": "int s2n(void);\n",
    "s2n-tls-sys-0.3.47/lib/utils/s2n_prelude.h": "#define PRELUDE 1\n",
    "s2n-tls-sys-0.3.47/lib/tls/s2n.c": (
        '#include "api/s2n.h"\n#include <openssl/base.h>\n'
        "#if !PRELUDE || !S2N_BUILD_RELEASE || !S2N_HAS || defined(S2N_LACKS)\n#error\n#endif\n"
        "int s2n(void) { return 47; }\n"
    ),
    f"{FEATURES}/GLOBAL.flags": "-Werror-implicit-function-declaration\n",
    f"{FEATURES}/S2N_COMPILER_SUPPORTS_BRANCH_ALIGN.c": "int main(void) { return 0; }\n",
    f"{FEATURES}/S2N_COMPILER_SUPPORTS_BRANCH_ALIGN.flags": "-Wa,-mbranches-within-32B-boundaries\n",
    f"{FEATURES}/S2N_HAS.c": "#include <openssl/base.h>\nint main(void) { return 0; }\n",
    f"{FEATURES}/S2N_HAS.flags": "-Werror\n",
    f"{FEATURES}/S2N_LACKS.c": "int main(void) { int unused; return 0; }\n",
    f"{FEATURES}/S2N_LACKS.flags": "-Werror\n",
}
AWSLC_SOURCES = {
    "aws-lc-sys-0.47.0/aws-lc/include/openssl/base.h": '#define AWSLC_VERSION_NUMBER_STRING "5.12.0"\n',
}


@pytest.fixture
def cargo_home(tmp_path: Path) -> Path:
    """What cargo keeps of both crates, fetched."""
    home = tmp_path / "cargo"
    fetched(home, "aws-lc-sys", AWSLC.origin.removeprefix("crate/"), AWSLC_SOURCES)
    fetched(home, "s2n-tls-sys", "0.3.47", SOURCES)
    return home


def fetched(home: Path, crate: str, version: str, members: dict[str, str]) -> None:
    index = home / "registry/index/registry/.cache" / crate[:2] / crate[2:4] / crate
    packed = home / "registry/cache/registry" / f"{crate}-{version}.crate.gz"
    index.parent.mkdir(parents=True)
    packed.parent.mkdir(parents=True, exist_ok=True)
    record = {"vers": version, "cksum": write_archive(packed, members)}
    packed.rename(packed.with_suffix(""))
    index.write_text(f"header\0{version}\0{json.dumps(record)}\0")


def an_attempt(folder: Path) -> Attempt:
    return Attempt(folder, folder / "log", print)


class BuiltAwslc(AwslcRecipe):
    """An AWS-LC that is there at once: its sources' headers, and a library without objects."""

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        folder = installed / INSTALLED
        (folder / "lib").mkdir(parents=True)
        (folder / "lib/libcrypto.a").write_text("!<arch>\n")
        (source / "include").rename(folder / "include")


def provider(cargo_home: Path, folder: Path, awslc: AwslcRecipe | None = None) -> SourceProvider:
    origin, cache = CrateOrigin(cargo_home), folder / "cache"
    recipe = S2nRecipe(1, SourceProvider(origin, {"awslc": awslc or BuiltAwslc(1)}, cache))
    return SourceProvider(origin, {"s2n": recipe}, cache)


def test_the_kits_packages_name_both_crates_and_the_profile_the_lower_one(cargo_home: Path, tmp_path: Path) -> None:
    ref = SubjectRef.parse("s2n@crate/0.3.47")
    resolution = provider(cargo_home, tmp_path).resolve(ref, an_attempt(tmp_path), refresh=False)
    assert (resolution.version, resolution.profile.linkage) == ("0.3.47", "static")
    named = [(package.name, package.version) for package in resolution.packages]
    assert named == [("crate s2n-tls-sys", "0.3.47"), ("aws-lc-sys", "0.47.0")]
    assert all(package.sha256 for package in resolution.packages)
    assert resolution.profile.flags == "aws-lc-sys-0.47.0"


class OtherAwslc(BuiltAwslc):
    """The same AWS-LC, built in another way."""

    revision = BuiltAwslc.revision + 1


def test_another_recipe_of_the_awslc_below_is_another_build(cargo_home: Path, tmp_path: Path) -> None:
    ref, attempt = SubjectRef.parse("s2n@crate/0.3.47"), an_attempt(tmp_path)
    fingerprints = {
        provider(cargo_home, tmp_path, awslc).resolve(ref, attempt, refresh=False).fingerprint
        for awslc in (BuiltAwslc(1), OtherAwslc(1))
    }
    assert len(fingerprints) == 2


def test_the_build_has_the_features_that_compile_and_says_which(cargo_home: Path, tmp_path: Path) -> None:
    attempt = an_attempt(tmp_path)
    source = provider(cargo_home, tmp_path)
    built = source.built(source.resolve(SubjectRef.parse("s2n@crate/0.3.47"), attempt, refresh=False), attempt)
    tree = find_tree("s2n", built / INSTALLED)
    assert (tree.version, tree.linkage) == ("0.3.47", "static")
    assert [path.name for path in tree.files] == ["libs2n.a", "libcrypto.a"]
    assert {"s2n/api/s2n.h", "s2n/utils/s2n_prelude.h", "s2n/openssl/base.h", "s2n/built.h"} == set(tree.headers)
    header = tree.headers["s2n/built.h"].read_text()
    assert "#define S2N_HAS 1\n" in header
    assert "S2N_LACKS" not in header
    assert attempt.run(["nm", "--defined-only", "libs2n.a"], stage="compile", timeout_s=30, folder=tree.files[0].parent)


def test_branches_are_aligned_where_the_crate_and_the_assembler_do_it(cargo_home: Path, tmp_path: Path) -> None:
    attempt = an_attempt(tmp_path)
    source = provider(cargo_home, tmp_path)
    source.built(source.resolve(SubjectRef.parse("s2n@crate/0.3.47"), attempt, refresh=False), attempt)
    (compiled,) = [line for line in attempt.log.read_text().splitlines() if line.startswith("$ make -f /dev/null")]
    assert "-include lib/utils/s2n_prelude.h -DS2N_BUILD_RELEASE=1 -DNDEBUG=1" in compiled
    assert ("-Wa,-mbranches-within-32B-boundaries" in compiled) == (HERE.machine == "x86_64")


def test_flags_and_another_architecture_are_refused(cargo_home: Path, tmp_path: Path) -> None:
    recipe = S2nRecipe(1, provider(cargo_home, tmp_path))
    with pytest.raises(StepFailed, match="s2n-tls is built without flags, unlike no-asm"):
        recipe.words("0.3.47", ("no-asm",), HERE)
    with pytest.raises(StepFailed, match="s2n-tls can only be built for this machine, not for s390x"):
        recipe.words("0.3.47", (), replace(HERE, machine="s390x", libraries=Path("/usr/s390x-linux-gnu")))


def test_sources_without_c_are_refused(cargo_home: Path, tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="the sources of s2n-tls have no C files"):
        S2nRecipe(1, provider(cargo_home, tmp_path)).build(tmp_path, (), tmp_path / "installed", an_attempt(tmp_path))
