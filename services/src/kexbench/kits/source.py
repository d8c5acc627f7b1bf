"""Libraries built from their sources: where sources come from is an origin's, how they are built a recipe's.

What a build installs is kept in the cache under everything that decides it, so that a change of the worker links
anew and compiles no library again. A build that fails leaves its log alone.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import BuildProfile, Package, SubjectRef
from kexbench.domain.library_commits import LibraryCommit
from kexbench.kits.builds import BuildCache
from kexbench.kits.errors import StepFailed
from kexbench.kits.prefix import materials_of
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials, Resolution
from kexbench.kits.relink import relinked_profile
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage, find_tree

INSTALLED = "kexbench"
"""The prefix that libraries are configured for: a folder that exists nowhere, so that none is read at run time."""


@dataclass(frozen=True)
class Sources:
    """What a reference names now. `identity` is the SHA-256 of an archive or the hash of a commit; `unpack` lays the
    sources out inside a new folder and returns their root."""

    version: str
    identity: str
    packages: tuple[Package, ...]
    unpack: Callable[[Path, Attempt], Path]
    commit: LibraryCommit | None = None


class Origin(Protocol):
    """Where sources come from."""

    name: str

    def describe(self) -> str:
        """One line for people: what it has and how to write a reference to it."""
        ...

    def provides(self, ref: SubjectRef) -> bool: ...

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        """As a provider's."""
        return ()

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        """Find out what the reference means without unpacking it. Raises StepFailed."""
        ...


class Recipe(Protocol):
    """How one library is built, always alike: a step between two versions shall be the library's."""

    linkage: Linkage
    revision: int
    """Raised when it builds otherwise from the same words, so that no older build passes as one of now."""

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        """What its configuration is told; `flags` are the subject's own, behind the usual ones."""
        ...

    def distinctions(self, target: Target) -> tuple[str, ...]:
        """Words that earlier revisions did not have and that change what is measured. They are part of the build
        profile, so that results from before stand apart."""
        return ()

    def ingredients(self, attempt: Attempt) -> tuple[Package, ...]:
        """What else goes into it, such as another library that is built first."""
        return ()

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        """Build the unpacked sources and install headers and libraries into the folder `installed`."""
        ...


class SourceProvider:
    """A provider of everything that an origin has, built by the library's recipe. `cache` keeps what was built."""

    def __init__(self, origin: Origin, recipes: Mapping[str, Recipe], cache: Path) -> None:
        self._origin = origin
        self._recipes = recipes
        self._builds = BuildCache(cache / "builds")

    def describe(self) -> str:
        return self._origin.describe()

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in self._recipes and self._origin.provides(ref)

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        return self._origin.versions(ref, attempt, refresh=refresh)

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        recipe = self._recipes[ref.library]
        sources = self._origin.locate(ref, attempt, refresh=refresh)
        flags = ref.variant.flags
        ingredients = recipe.ingredients(attempt)
        distinctions = recipe.distinctions(attempt.target)
        own = [*distinctions, *sorted(flags), *(f"{package.name}-{package.version}" for package in ingredients)]
        profile = BuildProfile(
            provider=self._origin.name,
            linkage=recipe.linkage,
            compiler=compiler_name(attempt.target.compiler, attempt),
            flags=" ".join(own) or "none",
            libc="glibc",
            architecture=attempt.target.machine,
        )
        words = recipe.words(sources.version, flags, attempt.target)
        packages = (*sources.packages, *ingredients)
        decisive = [
            *(ref.library, recipe.revision, sources.identity, words, profile.id),
            [package.model_dump() for package in packages],
        ]
        return Resolution(
            ref=ref,
            version=sources.version,
            profile=profile if ref.variant.relink is None else relinked_profile(profile),
            fingerprint=content_hash(decisive, length=64),
            packages=packages,
            configure=words,
            commit=sources.commit,
        )

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        ref = resolution.ref
        here = attempt.scratch / "built"  # by this name, the cache's leaves no trace in the kit
        here.symlink_to(self._built(resolution, attempt))
        tree = find_tree(ref.library, here / INSTALLED)
        if tree.version != resolution.version:
            raise StepFailed(
                "compile", f"what was built says it is {tree.version}, not {resolution.version}", "report it: a bug"
            )
        return replace(materials_of(ref, tree, attempt), development=resolution.packages)

    def _built(self, resolution: Resolution, attempt: Attempt) -> Path:
        """The folder with what the build installed, made now unless it was made before."""
        ref = resolution.ref
        name = f"{ref.library}-{resolution.version}-{resolution.fingerprint[:16]}"

        def build(installed: Path) -> None:
            sources = self._origin.locate(ref, attempt, refresh=False)
            if not set(sources.packages) <= set(resolution.packages):
                raise StepFailed("fetch", f"{ref.origin} became something else meanwhile", "try again")
            unpacked = attempt.scratch / "source"
            unpacked.mkdir()
            root = sources.unpack(unpacked, attempt)
            attempt.note(f"building {ref.library} {resolution.version}, which takes minutes")
            self._recipes[ref.library].build(root, resolution.configure, installed, attempt)
            shutil.rmtree(unpacked)

        return self._builds.built(name, build, attempt)


def compiler_name(compiler: str, attempt: Attempt) -> str:
    """Such as `gcc 12.2.0`, whatever the compiler is called on this machine."""
    text = attempt.run([compiler, "--version"], stage="resolve", timeout_s=30)
    number = attempt.run([compiler, "-dumpfullversion", "-dumpversion"], stage="resolve", timeout_s=30).strip()
    return f"{'clang' if 'clang' in text else 'gcc'} {number}"
