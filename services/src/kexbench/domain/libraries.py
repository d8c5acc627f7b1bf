"""The libraries that are measured, one row each: what a library is called, and how it is found, packaged and built.

Whoever needs to know something of a library reads its row. What else belongs to one is found by its name: the recipe
that builds it in `kits/build_NAME.py`, and the worker's backend in `backend_NAME.c` and `backend_NAME.mk`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where a build tree or an installation has the library."""

    main_header: str
    version: re.Pattern[str]
    """In the main header."""
    built_headers: tuple[str, ...] = ()
    built_libraries: tuple[str, ...] = ()
    """Folders of a build tree. Those of an installation are the same for all libraries."""
    names: tuple[str, ...]
    """Of the library's own files, in link order."""
    relinked_too: tuple[str, ...] = ()
    """What a relink links from objects besides, since a handshake's time goes there too."""
    static_alone: bool = False
    """Whether the static library will do without a shared one, which names the other libraries that it leans on."""


@dataclass(frozen=True, kw_only=True)
class Packages:
    """Its packages in distributions. Debian's runtime package is found among the dependencies of the development
    package, since its name changes with the ABI."""

    debian: str
    debian_runtime: re.Pattern[str]
    debian_source: str
    debian_fips: str | None = None
    fedora: str


@dataclass(frozen=True, kw_only=True)
class LibraryRow:
    title: str
    """As people write it."""
    licence: str
    """An SPDX expression."""
    older_licence: tuple[int, str] | None = None
    """The licence of versions before this major one."""
    made_up: bool = False
    """Lives in virtual time, and has settings where others have variants."""
    layout: Layout | None = None
    packages: Packages | None = None
    version_files: Mapping[str, re.Pattern[str] | Callable[[str], str | None]] = field(default_factory=dict)
    """By file of its sources, the most telling first, what finds their version in the file's text. The built library
    reports the same, with `-dev` between two releases, so two commits may be of one version."""
    components: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """By component that it stands on the packages that this is in, as Debian and the builds here name them."""

    def licence_of(self, version: str) -> str:
        if self.older_licence and int(version.partition(".")[0]) < self.older_licence[0]:
            return self.older_licence[1]
        return self.licence


_ASSIGNMENT = re.compile(r'^([A-Z_]+)="?([^"\s]*)"?\s*$', re.MULTILINE)
_OPENSSL_HEADER = re.compile(r'OPENSSL_VERSION_TEXT\s+"OpenSSL (\S+)')


def _openssl_since_3(text: str) -> str | None:
    """As Configure puts it together: 3.6.0, 3.6.0-dev, 3.5.0-alpha1, 3.1.2+quic."""
    found = dict(_ASSIGNMENT.findall(text))
    if not all(found.get(name) for name in ("MAJOR", "MINOR", "PATCH")):
        return None
    tag, metadata = found.get("PRE_RELEASE_TAG"), found.get("BUILD_METADATA")
    number = f"{found['MAJOR']}.{found['MINOR']}.{found['PATCH']}"
    return number + (f"-{tag}" if tag else "") + (f"+{metadata}" if metadata else "")


Library = Literal["openssl", "gnutls", "fake"]
"""The names of the rows, written out for a type checker to know them."""
LIBRARIES: Mapping[str, LibraryRow] = {
    "openssl": LibraryRow(
        title="OpenSSL",
        licence="Apache-2.0",
        older_licence=(3, "OpenSSL"),
        layout=Layout(
            main_header="openssl/opensslv.h",
            version=_OPENSSL_HEADER,
            built_libraries=(".",),
            names=("libssl", "libcrypto"),
            static_alone=True,
        ),
        packages=Packages(
            debian="libssl-dev",
            debian_runtime=re.compile(r"libssl\d"),
            debian_source="openssl",
            debian_fips="openssl-provider-fips",
            fedora="openssl-devel",
        ),
        version_files={"VERSION.dat": _openssl_since_3, "include/openssl/opensslv.h": _OPENSSL_HEADER},
    ),
    "gnutls": LibraryRow(
        title="GnuTLS",
        licence="LGPL-2.1-or-later",
        layout=Layout(
            main_header="gnutls/gnutls.h",
            version=re.compile(r'GNUTLS_VERSION\s+"(\S+)"'),
            built_headers=("lib/includes",),
            built_libraries=("lib/.libs",),
            names=("libgnutls",),
            # The other libraries stay shared: their archives hold the same helpers as its own, and every object is
            # linked, so these would be defined twice.
            relinked_too=("libhogweed", "libnettle", "libgmp"),
        ),
        packages=Packages(
            debian="libgnutls28-dev",
            debian_runtime=re.compile(r"libgnutls\d"),
            debian_source="gnutls28",
            fedora="gnutls-devel",
        ),
        version_files={"configure.ac": re.compile(r"^AC_INIT\(\[?GnuTLS\]?,\s*\[?([0-9][^\],\s)]*)", re.MULTILINE)},
        components={
            "nettle": re.compile(r"nettle|libnettle\d+(?:t64)?"),
            "gmp": re.compile(r"gmp|libgmp\d+(?:t64)?"),
        },
    ),
    "fake": LibraryRow(title="fake", licence="Apache-2.0", made_up=True),
}
LAYOUTS = {name: row.layout for name, row in LIBRARIES.items() if row.layout}
"""Of the libraries that can be found on a machine."""
PACKAGES = {name: row.packages for name, row in LIBRARIES.items() if row.packages}
"""Of the libraries that distributions have."""
VERSION_FILES = {name: row.version_files for name, row in LIBRARIES.items() if row.version_files}
"""Of the libraries that are built from their sources."""
MADE_UP = frozenset(name for name, row in LIBRARIES.items() if row.made_up)
