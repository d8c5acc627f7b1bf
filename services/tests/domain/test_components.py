"""What a library stands on: read from its kit's packages, and what of it is not alike in two kits."""

import pytest

from kexbench.domain.components import changed_components, components_of
from kexbench.domain.differences import Difference
from kexbench.domain.kits import Package
from tests.builders import a_kit

BOOKWORM = {
    "libgnutls30": "3.7.9-2+deb12u5",
    "libnettle8": "3.8.1-2",
    "libhogweed6": "3.8.1-2",
    "libgmp10": "2:6.2.1+dfsg1-1.1",
    "libc6": "2.36-9+deb12u10",
    "zlib1g": "1:1.2.13.dfsg-1",
}
TRIXIE = {
    "libgnutls30t64": "3.8.9-3+deb13u1",
    "libnettle8t64": "3.10.1-1",
    "libhogweed6t64": "3.10.1-1",
    "libgmp10": "2:6.3.0+dfsg-3",
    "libc6": "2.41-12",
    "zlib1g": "1:1.3.dfsg+really1.3.1-1+b1",
}


def test_a_distributions_packages_tell_what_its_library_stands_on() -> None:
    assert components_of(BOOKWORM.items(), "distribution") == {
        "nettle": "3.8.1",
        "gmp": "6.2.1",
        "libc": "2.36",
        "zlib": "1.2.13",
    }
    assert components_of(TRIXIE.items(), "distribution")["zlib"] == "1.3.1"


def test_a_build_of_ones_own_knows_its_compiler_and_what_it_was_built_with() -> None:
    packages = [("nettle", "3.10.1"), ("gmp", "6.2.1"), ("libgmp10", "2:6.2.1+dfsg1-1.1"), ("libc6", "2.36-9+deb12u10")]
    assert components_of(packages, "gcc 12.2.0") == {
        "nettle": "3.10.1",
        "gmp": "6.2.1",
        "libc": "2.36",
        "compiler": "gcc 12.2.0",
    }


@pytest.mark.parametrize("compiler", ["distribution", "unknown", "none"])
def test_a_compiler_that_nobody_knows_is_not_named(compiler: str) -> None:
    assert components_of([], compiler) == {}


def test_a_step_names_each_component_that_changed_in_one_order() -> None:
    before, after = (components_of(packages.items(), "distribution") for packages in (BOOKWORM, TRIXIE))
    changes = changed_components(before, after)
    assert [change.words for change in changes] == [
        "nettle 3.8.1 → 3.10.1",
        "gmp 6.2.1 → 6.3.0",
        "libc 2.36 → 2.41",
        "zlib 1.2.13 → 1.3.1",
    ]
    assert changed_components(before, before) == ()


def test_what_only_one_of_the_two_is_known_to_have_is_no_change() -> None:
    assert changed_components({"zlib": "1.3"}, {}) == ()
    assert changed_components({"compiler": "gcc 12.2.0"}, {"compiler": "gcc 14.2.0"}) == (
        Difference(what="compiler", before="gcc 12.2.0", after="gcc 14.2.0"),
    )


def test_a_kit_tells_its_own() -> None:
    kit = a_kit("gnutls@system", version="3.7.9", packages=[Package(name="libnettle8", version="3.8.1-2", sha256=None)])
    assert kit.components == {"nettle": "3.8.1"}
