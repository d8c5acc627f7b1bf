"""The components of a library: other libraries in its kit, and the compiler that built it. Pure.

An upgrade of a distribution changes these too, and part of a change of cost may be theirs, so each step names them.
They are not part of the build profile's id. Otherwise two releases of a distribution could never be compared.
"""

import re
from collections.abc import Iterable, Mapping

from kexbench.domain.differences import Difference
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.versions import upstream_version

COMPILER = "compiler"
_PACKAGES = {
    **{name: pattern for row in LIBRARIES.values() for name, pattern in row.components.items()},
    "libc": re.compile(r"glibc|libc6"),
    "zlib": re.compile(r"zlib|zlib1g"),
}
"""The packages of each component, as Debian and the builds here name them."""
_NOT_KNOWN = frozenset({"distribution", "unknown", "none", ""})
"""Values of a build profile for an unknown compiler. Debian strips its name from libraries."""


def components_of(packages: Iterable[tuple[str, str]], compiler: str) -> dict[str, str]:
    """Versions by component, from a kit's packages (name, version) and its build profile's compiler. Unknown ones are
    left out. The versions have no revisions or repacking suffixes of distributions."""
    package_versions = dict(packages)
    components = {}
    for component, pattern in _PACKAGES.items():
        versions = [upstream_version(version) for name, version in package_versions.items() if pattern.fullmatch(name)]
        if versions:
            components[component] = versions[0]
    return components if compiler in _NOT_KNOWN else {**components, COMPILER: compiler}


def changed_components(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Difference, ...]:
    """Components that are known on both sides and differ in version."""
    return tuple(
        Difference(what=component, before=before[component], after=after[component])
        for component in (*_PACKAGES, COMPILER)
        if component in before and component in after and before[component] != after[component]
    )


def components_words(changes: Iterable[Difference]) -> str:
    """`with nettle 3.8.1 → 3.10.1, gmp 6.2.1 → 6.3.0`; empty where nothing changed."""
    words = ", ".join(change.words for change in changes)
    return f"with {words}" if words else ""
