"""References, profiles and the manifest, whose id must be the same everywhere and change with anything."""

from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kexbench.domain.kits import BuildProfile, KitManifest, Licence, Package, SubjectRef
from kexbench.domain.variants import Variant
from tests.golden import assert_golden

GOLDEN = Path(__file__).parents[3] / "bench-specs/schema/examples/kit-manifest.json"


def example() -> dict[str, Any]:
    """The fields of the golden example: a kit of the fake backend."""
    loader = "lib/ld-linux-x86-64.so.2"
    return {
        "library": "fake",
        "version": "1.0",
        "source": "1.0+step=1.02",
        "build_profile": BuildProfile(
            provider="fake", linkage="shared", compiler="none", flags="none", libc="glibc", architecture="x86_64"
        ),
        "worker": (loader, "--inhibit-cache", "--library-path", "lib", "bin/worker"),
        "arguments": ("--fake", "version=1.0,step=1.02"),
        "environment": {
            "LC_ALL": "C",
            "OPENSSL_CONF": "/dev/null",
            "OPENSSL_MODULES": "{kit}/ossl-modules",
            "OPENSSL_ENGINES": "{kit}/lib/engines",
            "GNUTLS_SYSTEM_PRIORITY_FILE": "/dev/null",
        },
        "packages": (Package(name="libc6", version="2.41-12", sha256="1" * 64),),
        "worker_compiler": "cc (Debian 14.2.0-19) 14.2.0",
        "worker_flags": "-ffile-prefix-map={scratch}=kit -ffile-prefix-map={worker}=worker",
        "worker_source_sha256": "2" * 64,
        "files": {"bin/worker": "3" * 64, loader: "4" * 64, "lib/libc.so.6": "5" * 64, "lib/heap.so": "8" * 64},
        "heap_counter": "lib/heap.so",
        "configure": (),
        "fips": False,
        "licence": None,
    }


def changed(field: str) -> Any:
    """Another valid value for one field."""
    others: dict[str, Any] = {
        "library": "gnutls",
        "version": "1.1",
        "build_profile": example()["build_profile"].model_copy(update={"flags": "-O3"}),
        "worker": ("bin/worker",),
        "arguments": (),
        "environment": {},
        "packages": (),
        "worker_source_sha256": "6" * 64,
        "files": {"bin/worker": "7" * 64, "lib/heap.so": "8" * 64},
        "heap_counter": None,
        "fips": True,
        "configure": ("no-shared", "no-asm"),
        "licence": Licence(library="Apache-2.0"),
    }
    return others.get(field, f"{example()[field]}x")


def test_the_golden_manifest_is_what_the_model_writes() -> None:
    assert_golden(GOLDEN, KitManifest.sealed(**example()).model_dump_json(indent=2) + "\n")


def test_the_golden_manifest_is_read_back_unchanged() -> None:
    assert KitManifest.model_validate_json(GOLDEN.read_text()) == KitManifest.sealed(**example())


@pytest.mark.parametrize("field", example())
def test_the_id_changes_with_every_field(field: str) -> None:
    other = KitManifest.sealed(**{**example(), field: changed(field)})
    assert other.kit_id != KitManifest.sealed(**example()).kit_id


def test_the_id_does_not_depend_on_the_order_of_fields_or_files() -> None:
    fields = example()
    backwards = {name: fields[name] for name in reversed(fields)}
    backwards["files"] = dict(reversed(fields["files"].items()))
    assert KitManifest.sealed(**backwards).kit_id == KitManifest.sealed(**fields).kit_id


def test_a_manifest_changed_after_sealing_is_refused() -> None:
    manifest = KitManifest.sealed(**example()).model_dump(mode="json")
    manifest["files"]["bin/worker"] = "9" * 64
    with pytest.raises(ValidationError, match="kit_id"):
        KitManifest.model_validate(manifest)


@pytest.mark.parametrize("path", ["/etc/passwd", "../kit", "lib/../../x", "", "lib/\nx"])
def test_a_file_outside_the_kit_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="inside a kit"):
        KitManifest.sealed(**{**example(), "files": {path: "3" * 64}})


def test_launching_starts_inside_the_kit_with_its_environment_alone() -> None:
    launch = KitManifest.sealed(**example()).launch(
        PurePosixPath("/kits/one"), PurePosixPath("/material"), "--cpu", "1"
    )
    assert launch.folder == "/kits/one"
    assert launch.arguments == (
        "/kits/one/lib/ld-linux-x86-64.so.2", "--inhibit-cache", "--library-path", "lib", "bin/worker",
        "--material", "/material", "--fake", "version=1.0,step=1.02", "--cpu", "1",
    )  # fmt: skip
    assert launch.environment["OPENSSL_MODULES"] == "/kits/one/ossl-modules"
    with pytest.raises(ValueError, match="absolute"):
        KitManifest.sealed(**example()).launch(PurePosixPath("kits/one"), PurePosixPath("/material"))


def test_counting_the_heap_preloads_the_kits_own_counter() -> None:
    kit = KitManifest.sealed(**example())
    plain, counting = (
        kit.launch(PurePosixPath("/kits/one"), PurePosixPath("/material"), count_heap=wanted)
        for wanted in (False, True)
    )
    assert counting.environment == {**plain.environment, "LD_PRELOAD": "lib/heap.so"}
    assert (counting.arguments, counting.folder) == (plain.arguments, plain.folder)


def test_a_heap_counter_must_be_one_of_the_kits_files() -> None:
    with pytest.raises(ValidationError, match="not among the kit's files"):
        KitManifest.sealed(**{**example(), "heap_counter": "lib/other.so"})


def test_a_manifest_from_before_heap_counters_keeps_its_id_and_cannot_count() -> None:
    fields = example()
    del fields["heap_counter"], fields["fips"], fields["files"]["lib/heap.so"]
    fields["environment"]["OPENSSL_MODULES"] = "{kit}/lib/ossl-modules"
    old = KitManifest.sealed(**fields)
    assert old.kit_id == "2e9d70448e11fd37"
    written = old.model_dump(mode="json")
    del written["heap_counter"], written["fips"]
    assert KitManifest.model_validate(written) == old
    with pytest.raises(ValueError, match="no heap counter"):
        old.launch(PurePosixPath("/kits/one"), PurePosixPath("/material"), count_heap=True)


def test_suites_share_a_profile_while_system_and_debian_differ() -> None:
    def profile(provider: str) -> BuildProfile:
        return BuildProfile(
            provider=provider, compiler="distribution", flags="distribution", libc="glibc", architecture="x86_64"
        )

    assert profile("debian").id == profile("debian").id != profile("system").id
    assert profile("debian").label == "debian shared x86_64"


@pytest.mark.parametrize(
    "text",
    [
        *("openssl@system", "openssl@debian/trixie", "gnutls@debian/sid", "fake@1.0+step=1.02"),
        *("openssl@prefix:/opt/openssl@3", "gnutls@prefix:/home/me/.local/c++", "openssl@system+relink=3+burn=0"),
        *("openssl@crate/1.1.1w+no-asm", "gnutls@deb-source/sid", f"openssl@tarball:/a/b.tar.gz#sha256={'0' * 64}"),
        *("openssl@deb:/build/debs#bookworm", "gnutls@deb:/b/libgnutls30_3.7.9-2+deb12u6_amd64.deb#sid+burn=3"),
        *("openssl@git:https://example.org:8443/openssl.git#openssl-3.5", "gnutls@git:/src/gnutls#3.8.9+disable-x"),
    ],
)
def test_a_reference_reads_as_it_is_written(text: str) -> None:
    assert str(SubjectRef.parse(text)) == text


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("openssl", "openssl@system"),
        ("nss@system", "openssl, gnutls"),
        ("system", "has no library; write it as openssl@system"),
        ("debian/trixie", "has no library; write it as openssl@debian/trixie"),
        ("gnutls", "has no source; write it as gnutls@system"),
        ("3.5", "has no source; write it like openssl@system"),
        ("openssl@", "not a source"),
        ("openssl@../../etc", "not a source"),
        ("openssl@debian/../sid", "not a source"),
        ("openssl@-x", "not a source"),
        ("openssl@a b", "not a source"),
        ("openssl@prefix:build", "absolute path"),
        ("openssl@prefix:~/build", "absolute path"),
        ("openssl@prefix:/", "absolute path"),
        ("openssl@prefix:/a/../b", "absolute path"),
        ("openssl@prefix:/a//b", "absolute path"),
        ("openssl@prefix:/a/b/", "absolute path"),
        ("openssl@prefix:/a b", "absolute path"),
        ("openssl@prefix:/a\n", "absolute path"),
        ("openssl@prefix:/a;b", "absolute path"),
        (f"openssl@prefix:/{'a' * 300}", "more than 300 characters"),
        ("openssl@tarball:/a.tar.gz", "with its SHA-256"),
        ("openssl@tarball:a.tar.gz#sha256=00", "an absolute path or an address"),
        ("openssl@git:/src", "with a ref"),
        ("openssl@git:/src#-x", "with a ref"),
        ("openssl@git:file:///src#main", "an absolute path or an address"),
        ("openssl@git:/src/../etc#main", "with a ref"),
        ("openssl@deb:/build/debs", "with a suite in small letters, as in deb:/build/debs#bookworm"),
        ("openssl@deb:debs#bookworm", "an absolute path"),
        ("openssl@deb:https://example.org/debs#bookworm", "an absolute path"),
        ("openssl@deb:/build/debs#../sid", "with a suite"),
        ("openssl@system+relink=0", "relink=1 to 99"),
    ],
)
def test_a_wrong_reference_is_refused_in_words(wrong: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        SubjectRef.parse(wrong)


def test_a_source_is_its_origin_and_its_variants() -> None:
    ref = SubjectRef.parse("openssl@prefix:/opt/c++/openssl+relink=3")
    assert (ref.origin, ref.variant) == ("prefix:/opt/c++/openssl", Variant(relink=3))


@pytest.mark.parametrize(
    ("source", "is_local"),
    [
        *(
            (f"{kind}:/own{mark}", True)
            for kind, mark in (("prefix", ""), ("deb", "#sid"), ("git", "#a"), ("tarball", "#a"))
        ),
        *((source, False) for source in ("system", "debian/sid", "git:https://example.org/own#a")),
    ],
)
def test_a_path_of_this_machine_is_always_reached(source: str, is_local: bool) -> None:
    """So an error there is one of the path, and no older kit replaces it."""
    assert SubjectRef.parse(f"openssl@{source}").is_local is is_local


def test_settings_of_the_fake_are_no_variants() -> None:
    ref = SubjectRef.parse("fake@1.0+burn=1")
    assert (ref.origin, ref.variant) == ("1.0+burn=1", Variant())


@given(
    st.text()
    | st.from_regex(r"(system|prefix:(/[.a-z+=1]+)+)(\+[a-z]+=[0-9]*)*", fullmatch=True).map("openssl@".__add__)
)
def test_no_text_makes_a_reference_that_reads_differently(text: str) -> None:
    try:
        ref = SubjectRef.parse(text)
    except ValueError:
        return
    assert str(ref) == text
    assert ".." not in ref.source.split("/")
