"""The measured libraries, one row each: the name of a library, and how it is found, packaged and built.

All facts about a library are in its row. Two other parts have its name: the recipe that builds it,
`kits/build_NAME.py`, and the worker's backend, `backend_NAME.c` and `backend_NAME.mk`. AWS-LC and BoringSSL share
OpenSSL's.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal

from kexbench.domain.dimensions import Protocol, Server
from kexbench.domain.versions import version_key


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where the library is in a build tree or an installation."""

    main_header: str
    version: re.Pattern[str]
    """Matches the version in the main header."""
    built_headers: tuple[str, ...] = ()
    built_libraries: tuple[str, ...] = ()
    """Folders of a build tree. Those of an installation are the same for all libraries."""
    names: tuple[str, ...]
    """Names of the library's own files, in link order."""
    relinked_too: tuple[str, ...] = ()
    """Other libraries that a relink links from objects, since handshakes spend time in them too."""
    static_alone: bool = False
    """Whether the static library suffices. Otherwise the shared one is needed, which names its dependencies."""


@dataclass(frozen=True, kw_only=True)
class Packages:
    """The library's packages in distributions. The name of Debian's runtime package changes with the ABI, so it is
    looked up in the dependencies of the development package."""

    debian: str
    debian_runtime: re.Pattern[str]
    debian_source: str
    debian_fips: str | None = None
    debian_headers: Mapping[str, str] = field(default_factory=dict)
    """Further folders of headers that the worker needs, each with its package."""
    fedora: str


class VersionOfCrate(Enum):
    """How a crate's version has the library's."""

    NONE = auto()
    BEHIND_PLUS = auto()
    SAME = auto()


@dataclass(frozen=True, kw_only=True)
class Crate:
    """The crate in Rust's registry with the library's sources."""

    name: str
    folder: str
    """Where in the crate the library's sources are; `.` for the crate itself."""
    version: VersionOfCrate = VersionOfCrate.NONE
    """References name the library's version if the crate's has it, and otherwise the crate's."""
    newest_below: bool = False
    """Whether it is built with the newest release of what it stands on, so that one version gives several kits."""

    @property
    def tells_version(self) -> bool:
        """Whether the crate's version alone says the library's, without its sources."""
        return self.version is not VersionOfCrate.NONE


@dataclass(frozen=True, kw_only=True)
class LibraryRow:
    title: str
    """The name as people write it."""
    licence: str
    """An SPDX expression."""
    older_licence: tuple[str, str] | None = None
    """The licence of versions before this one."""
    only_protocol: Protocol | None = None
    """None for libraries that speak TLS."""
    anti_replay: bool = True
    """Whether its servers can take early data and refuse replays."""
    runs_in_valgrind: bool = True
    """Whether callgrind can count its instructions."""
    ancestry: str | None = None
    """The code that its cryptography descends from. Libraries of one ancestry have functions of the same names."""
    made_up: bool = False
    """Runs in virtual time, and has settings in place of variants."""
    layout: Layout | None = None
    packages: Packages | None = None
    crate: Crate | None = None
    version_files: Mapping[str, re.Pattern[str] | Callable[[str], str | None]] = field(default_factory=dict)
    """Source files, the most reliable first, and how to find the version in each. The built library reports the same
    version, with `-dev` between two releases, so several commits may have one version."""
    components: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """The packages of each component, as Debian and the builds here name them."""

    @property
    def uncountable(self) -> str | None:
        """Why its instructions can't be counted, or None if they can."""
        if self.runs_in_valgrind:
            return None
        return f"{self.title} does not run in valgrind, so its instructions cannot be counted"

    def licence_of(self, version: str) -> str:
        if self.older_licence and version_key(version) < version_key(self.older_licence[0]):
            return self.older_licence[1]
        return self.licence


_ASSIGNMENT = re.compile(r'^([A-Z_]+)="?([^"\s]*)"?\s*$', re.MULTILINE)
_OPENSSL_HEADER = re.compile(r'OPENSSL_VERSION_TEXT\s+"OpenSSL (\S+)')


def _openssl_since_3(text: str) -> str | None:
    """The version as Configure composes it: 3.6.0, 3.6.0-dev, 3.5.0-alpha1, 3.1.2+quic."""
    fields = dict(_ASSIGNMENT.findall(text))
    if not all(fields.get(name) for name in ("MAJOR", "MINOR", "PATCH")):
        return None
    tag, metadata = fields.get("PRE_RELEASE_TAG"), fields.get("BUILD_METADATA")
    number = f"{fields['MAJOR']}.{fields['MINOR']}.{fields['PATCH']}"
    return number + (f"-{tag}" if tag else "") + (f"+{metadata}" if metadata else "")


_WOLFSSL_HEADER = re.compile(r'LIBWOLFSSL_VERSION_STRING\s+"(\S+)"')
_AWSLC_HEADER = re.compile(r'AWSLC_VERSION_NUMBER_STRING\s+"(\S+)"')

Library = Literal["openssl", "gnutls", "awslc", "boringssl", "s2n", "wolfssl", "rustls", "go", "ngtcp2", "bfe", "fake"]
"""The names of the rows, written out for type checkers."""
LIBRARIES: Mapping[str, LibraryRow] = {
    "openssl": LibraryRow(
        title="OpenSSL",
        licence="Apache-2.0",
        ancestry="SSLeay",
        older_licence=("3.0.0-alpha1", "OpenSSL"),
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
        crate=Crate(name="openssl-src", folder="openssl", version=VersionOfCrate.BEHIND_PLUS),
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
            # The other libraries stay shared. Every object is linked, and their archives have the same helpers as
            # GnuTLS, which would be defined twice.
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
    "awslc": LibraryRow(
        title="AWS-LC",
        ancestry="SSLeay",
        # As the crate declares them; until version 1 with code of OpenSSL under its old licence.
        licence="ISC AND (Apache-2.0 OR ISC) AND Apache-2.0 AND MIT AND BSD-3-Clause "
        "AND (Apache-2.0 OR ISC OR MIT) AND (Apache-2.0 OR ISC OR MIT-0)",
        older_licence=("2.0.0", "ISC AND (Apache-2.0 OR ISC) AND OpenSSL"),
        anti_replay=False,
        layout=Layout(
            main_header="openssl/base.h",
            version=_AWSLC_HEADER,
            names=("libssl", "libcrypto"),
            static_alone=True,
        ),
        crate=Crate(name="aws-lc-sys", folder="aws-lc"),
        version_files={"include/openssl/base.h": _AWSLC_HEADER},
    ),
    "boringssl": LibraryRow(
        title="BoringSSL",
        ancestry="SSLeay",
        # By the files LICENSE of BoringSSL and of its third_party/fiat.
        licence="Apache-2.0 AND MIT",
        older_licence=("5.0.0", "OpenSSL AND ISC AND MIT"),
        anti_replay=False,
        layout=Layout(
            main_header="openssl/boring_sys.h",
            version=re.compile(r'BORING_SYS_VERSION\s+"(\S+)"'),
            names=("libssl", "libcrypto"),
            static_alone=True,
        ),
        crate=Crate(name="boring-sys", folder="deps/boringssl", version=VersionOfCrate.SAME),
    ),
    "s2n": LibraryRow(
        title="s2n-tls",
        # Of its libcrypto, which is AWS-LC's.
        ancestry="SSLeay",
        licence="Apache-2.0",
        anti_replay=False,
        layout=Layout(
            main_header="s2n/built.h",
            version=re.compile(r'S2N_CRATE_VERSION\s+"(\S+)"'),
            names=("libs2n", "libcrypto"),
            static_alone=True,
        ),
        crate=Crate(name="s2n-tls-sys", folder=".", version=VersionOfCrate.SAME),
        components={"awslc": re.compile("aws-lc-sys")},
    ),
    "wolfssl": LibraryRow(
        title="wolfSSL",
        # The release notes of 5.8.2 say so, and the sources' headers.
        licence="GPL-3.0-or-later",
        older_licence=("5.8.2", "GPL-2.0-or-later"),
        anti_replay=False,
        layout=Layout(
            main_header="wolfssl/version.h",
            version=_WOLFSSL_HEADER,
            built_headers=(".",),
            built_libraries=("src/.libs",),
            names=("libwolfssl",),
            static_alone=True,
        ),
        crate=Crate(name="wolfssl-sys", folder="wolfssl-src"),
        version_files={
            "wolfssl/version.h": _WOLFSSL_HEADER,
            "configure.ac": re.compile(r"^AC_INIT\(\[wolfssl\],\s*\[([0-9][^\]\s]*)\]", re.MULTILINE),
        },
    ),
    "rustls": LibraryRow(
        title="rustls",
        licence="Apache-2.0 OR ISC OR MIT",
        crate=Crate(name="rustls", folder=".", version=VersionOfCrate.SAME, newest_below=True),
        components={"awslc": re.compile("aws-lc-sys"), "ring": re.compile("ring")},
    ),
    "go": LibraryRow(
        title="Go crypto/tls",
        licence="BSD-3-Clause",
        anti_replay=False,
        runs_in_valgrind=False,
    ),
    "ngtcp2": LibraryRow(
        title="ngtcp2",
        licence="MIT",
        only_protocol=Protocol.QUIC_V1,
        layout=Layout(
            main_header="ngtcp2/version.h",
            version=re.compile(r'NGTCP2_VERSION\s+"(\S+)"'),
            names=("libngtcp2_crypto_gnutls", "libngtcp2"),
        ),
        packages=Packages(
            debian="libngtcp2-crypto-gnutls-dev",
            debian_runtime=re.compile(r"libngtcp2-crypto-gnutls\d"),
            debian_source="ngtcp2",
            debian_headers={"ngtcp2": "libngtcp2-dev", "gnutls": "libgnutls28-dev"},
            fedora="ngtcp2-crypto-gnutls-devel",
        ),
    ),
    "bfe": LibraryRow(title="Bloom filter encryption", licence="Apache-2.0", only_protocol=Protocol.BFE_0RTT),
    "fake": LibraryRow(title="fake", licence="Apache-2.0", made_up=True),
}
LAYOUTS = {name: row.layout for name, row in LIBRARIES.items() if row.layout}
"""Layouts of the libraries that can be found on a machine."""
PACKAGES = {name: row.packages for name, row in LIBRARIES.items() if row.packages}
"""Packages of the libraries that distributions have."""
CRATES = {name: row.crate for name, row in LIBRARIES.items() if row.crate}
"""Crates with the sources of libraries."""
VERSION_FILES = {name: row.version_files for name, row in LIBRARIES.items() if row.version_files}
"""Version files of the libraries that are built from any sources of theirs."""
BUILT = tuple(name for name in LAYOUTS if name in VERSION_FILES or name in CRATES)
"""Libraries in C that are built from sources."""
MADE_UP = frozenset(name for name, row in LIBRARIES.items() if row.made_up)
SERVED_LIBRARY: Library = "openssl"
"""The only library that web servers are built with."""
_SERVED_BEFORE = {Server.HAPROXY: 4}
"""The major version of that library from which on a web server does not compile."""
REAL = tuple(name for name in LIBRARIES if name not in MADE_UP)


def not_explained(before: str, after: str) -> str | None:
    """Why a difference of two libraries can't be explained by functions, or None if it can."""
    first, second = LIBRARIES[before], LIBRARIES[after]
    if uncountable := first.uncountable or second.uncountable:
        return uncountable
    if before == after or (first.ancestry and first.ancestry == second.ancestry):
        return None
    return f"{first.title} and {second.title} have no common ancestry, so functions of one name are not the same code"


def not_built_with(server: Server, library: Library, version: str) -> str | None:
    """Why a web server can't be built with a version of a library, or None if it can."""
    title = LIBRARIES[SERVED_LIBRARY].title
    if library != SERVED_LIBRARY:
        return f"{server} can't be built with {library}, only with {title}"
    before = _SERVED_BEFORE.get(server)
    if before is not None and int(version.partition(".")[0]) >= before:
        return f"{server} can't be built with {title} {version}, only with versions before {before}.0"
    return None
