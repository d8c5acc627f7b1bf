"""The licences of the files of a kit, as SPDX expressions, for those who redistribute kits."""

from collections.abc import Iterable

from kexbench.domain.kits import Library, Licence, Package
from kexbench.domain.libraries import LIBRARIES

_LGPL_2 = "LGPL-2.1-or-later"
_GNU = "LGPL-3.0-or-later OR GPL-2.0-or-later"
_GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
_BUNDLED = {
    **dict.fromkeys(("gmp", "nettle", "hogweed", "idn2", "unistring"), _GNU),
    **dict.fromkeys(("c", "m", "dl", "pthread", "rt", "ld-linux", "tasn1"), _LGPL_2),
    **dict.fromkeys(("gcc_s", "atomic"), _GCC),
    "aws-lc-sys": LIBRARIES["awslc"].licence,
    "crate blst": "Apache-2.0",
    "gnutls": _LGPL_2,
    "p11-kit": "BSD-3-Clause",
    "ffi": "MIT",
    "z": "Zlib",
    "zstd": "BSD-3-Clause OR GPL-2.0-only",
    **dict.fromkeys(("brotlicommon", "brotlidec", "brotlienc"), "MIT"),
}
"""By a library's name without `lib` and version. Unlisted libraries are omitted, not guessed."""


def licence_of(library: Library, version: str, files: Iterable[str], packages: Iterable[Package]) -> Licence:
    """The licences of a kit: of its library, and of the other files and packages in it."""
    names = [*(file for file in files if ".so" in file), *(package.name for package in packages)]
    stems = {name: _stem(name) for name in sorted(set(names))}
    bundled = {name: _BUNDLED[stem] for name, stem in stems.items() if stem in _BUNDLED and stem != library}
    return Licence(library=LIBRARIES[library].licence_of(version), bundled=bundled)


def _stem(name: str) -> str:
    """`gmp` for `lib/libgmp.so.10`, `ld-linux` for `lib/ld-linux-x86-64.so.2`; a package name is unchanged."""
    stem = name.rpartition("/")[2].partition(".so")[0].removeprefix("lib")
    return "ld-linux" if stem.startswith("ld-linux") else stem
