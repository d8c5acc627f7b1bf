"""What a library stands on: other libraries in its kit, and the compiler it was built with. Pure.

An upgrade of a distribution changes these along with the library, and part of the gain or loss may be theirs. So they
are named beside each step. They are no part of the build profile's id: two releases of a distribution would never
compare then.
"""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.versions import upstream_version

COMPILER = "compiler"
_PACKAGES = {
    **{name: pattern for row in LIBRARIES.values() for name, pattern in row.components.items()},
    "libc": re.compile(r"glibc|libc6"),
    "zlib": re.compile(r"zlib|zlib1g"),
}
"""By component the packages that it is in, as Debian and the builds here name them."""
_NOT_KNOWN = frozenset({"distribution", "unknown", "none", ""})
"""What a build profile says of a compiler that nobody knows. Debian strips its name from libraries."""


class ComponentChange(Frozen):
    """A component that is of another version after a step."""

    component: str = Field(examples=["nettle"])
    before: str = Field(description="its version", examples=["3.8.1"])
    after: str = Field(examples=["3.10.1"])

    @property
    def words(self) -> str:
        """`nettle 3.8.1 → 3.10.1`."""
        return f"{self.component} {self.before} → {self.after}"


def components_of(packages: Iterable[tuple[str, str]], compiler: str) -> dict[str, str]:
    """Versions by component, of a kit's packages (name, version) and its build profile's compiler. What is not known
    is left out. Distributions' revisions and repackings are left out of the versions."""
    named = dict(packages)
    found = {}
    for component, pattern in _PACKAGES.items():
        versions = [upstream_version(version) for name, version in named.items() if pattern.fullmatch(name)]
        if versions:
            found[component] = versions[0]
    return found if compiler in _NOT_KNOWN else {**found, COMPILER: compiler}


def changed_components(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[ComponentChange, ...]:
    """Those that both are known to have, of different versions."""
    return tuple(
        ComponentChange(component=component, before=before[component], after=after[component])
        for component in (*_PACKAGES, COMPILER)
        if component in before and component in after and before[component] != after[component]
    )


def components_words(changes: Iterable[ComponentChange]) -> str:
    """`with nettle 3.8.1 → 3.10.1, gmp 6.2.1 → 6.3.0`; empty where nothing changed."""
    told = ", ".join(change.words for change in changes)
    return f"with {told}" if told else ""
