"""The licences of a kit are those of its library's version and of what is bundled, and never guessed."""

import pytest

from kexbench.domain.kits import Library, Package
from kexbench.kits.licences import licence_of


@pytest.mark.parametrize(
    ("library", "version", "expected"),
    [
        ("openssl", "1.1.1w", "OpenSSL"),
        ("openssl", "3.0.0-alpha1", "Apache-2.0"),
        ("openssl", "4.0.3", "Apache-2.0"),
        ("gnutls", "3.8.9", "LGPL-2.1-or-later"),
        ("fake", "1.0", "Apache-2.0"),
    ],
)
def test_a_library_has_the_licence_of_its_version(library: Library, version: str, expected: str) -> None:
    assert licence_of(library, version, (), ()).library == expected


def test_bundled_files_and_packages_of_sources_have_theirs_and_unknown_ones_none() -> None:
    files = ("bin/worker", "lib/libgmp.so.10", "lib/ld-linux-x86-64.so.2", "lib/libcrypto.so.3", "lib/heap.so")
    nettle = Package(name="nettle", version="3.10.1", sha256=None)
    assert licence_of("gnutls", "3.8.9", files, (nettle,)).bundled == {
        "lib/ld-linux-x86-64.so.2": "LGPL-2.1-or-later",
        "lib/libgmp.so.10": "LGPL-3.0-or-later OR GPL-2.0-or-later",
        "nettle": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    }
