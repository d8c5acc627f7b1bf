"""What differs between two kits: build, packages, features and defaults; what varies by itself does not count."""

from kexbench.domain.kit_changes import BYTES_TOLERANCE, compare_kits, compare_probes
from kexbench.domain.kits import KitManifest, Package
from kexbench.domain.probes import KitProbe
from kexbench.domain.samples import OutcomeKind
from tests.builders import a_kit, a_probe


def with_setup_cost(probe: KitProbe, cpu_ns: float) -> KitProbe:
    defaults = tuple(found.model_copy(update={"setup_cpu_ns": cpu_ns}) for found in probe.defaults)
    return probe.model_copy(update={"defaults": defaults})


def with_packages(kit: KitManifest, **versions: str) -> KitManifest:
    packages = tuple(Package(name=name, version=version, sha256=None) for name, version in versions.items())
    return kit.model_copy(update={"packages": packages})


def test_a_kit_differs_from_itself_in_nothing() -> None:
    kit = (a_kit("fake@1.0"), a_probe())
    changes = compare_kits(kit, kit)
    assert changes.probe is not None
    assert not changes.probe
    assert (changes.build, changes.packages) == ((), ())


def test_features_are_gained_and_lost_with_the_reason() -> None:
    less = a_probe(without={"X25519MLKEM768": "no such group"})
    gained, lost = compare_probes(less, a_probe()), compare_probes(a_probe(), less)
    assert [found.label for found in gained.gained] == ["X25519MLKEM768"]
    assert gained.lost == ()
    assert lost.lines() == ("lost X25519MLKEM768: no such group",)


def test_another_default_group_is_a_change_of_each_default_handshake() -> None:
    changes = compare_probes(a_probe(), a_probe(group="X25519MLKEM768"))
    assert changes.lines() == (
        "Default settings, RSA 2048: group: X25519 before, X25519MLKEM768 now",
        "Default settings, ECDSA P-256: group: X25519 before, X25519MLKEM768 now",
    )


def test_bytes_count_only_beyond_what_signatures_vary_by() -> None:
    assert not compare_probes(a_probe(), a_probe(client_bytes=400 + BYTES_TOLERANCE))
    assert compare_probes(a_probe(), a_probe(client_bytes=401 + BYTES_TOLERANCE)).defaults[0].after == "405"


def test_set_up_costs_are_a_ratio_and_no_change() -> None:
    found = compare_kits((a_kit("fake@1.0"), a_probe()), (a_kit("fake@1.1"), with_setup_cost(a_probe(), 3_000_000)))
    assert not found.probe
    assert {cost.ratio for cost in found.setup} == {1.5}


def test_a_default_that_stops_working_is_a_change() -> None:
    broken = a_probe().defaults[0].model_copy(update={"result": OutcomeKind.ERROR, "negotiated": None})
    changes = compare_probes(a_probe(), a_probe().model_copy(update={"defaults": (broken,)}))
    assert ("result", "supported", "error") in {(one.what, one.before, one.after) for one in changes.defaults}


def test_what_was_tried_in_one_of_two_probes_only_is_passed_over() -> None:
    shorter = a_probe().model_copy(update={"features": a_probe().features[:4]})
    assert not compare_probes(shorter, a_probe(without={"X25519MLKEM768": "no such group"}))


def test_builds_are_compared_in_version_profile_configuration_and_packages() -> None:
    old = with_packages(a_kit("openssl@system", version="3.0.19"), libc6="2.36", zlib1g="1.2")
    new = with_packages(a_kit("openssl@system", version="3.5.7", flags="-O3"), libc6="2.41", libzstd1="1.5")
    found = compare_kits((old, None), (new.model_copy(update={"configure": ("no-asm",)}), a_probe()))
    assert {(one.what, one.before, one.after) for one in found.build} == {
        ("version", "3.0.19", "3.5.7"),
        ("flags", "none", "-O3"),
        ("configure no-asm", None, "yes"),
    }
    assert {(one.what, one.before, one.after) for one in found.packages} == {
        ("libc6", "2.36", "2.41"),
        ("zlib1g", "1.2", None),
        ("libzstd1", None, "1.5"),
    }


def test_without_a_probe_of_both_nothing_is_said_of_features() -> None:
    found = compare_kits((a_kit("fake@1.0"), None), (a_kit("fake@1.1"), a_probe()))
    assert found.probe is None
    assert found.setup == ()
