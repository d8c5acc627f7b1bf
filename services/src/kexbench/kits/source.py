"""Libraries built from source: an origin finds the sources, a recipe builds them.

The cache keeps installed builds under a hash of everything that determines them, so that a change of the worker
links again but compiles no library again. A failed build leaves only its log.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
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
"""The prefix that libraries are configured for. The folder doesn't exist, so libraries read no files from it."""
FIPS_MODULE = "ossl-modules/fips.so"
"""Where a recipe leaves the FIPS module, if it has one, below that prefix."""


@dataclass(frozen=True)
class Sources:
    """What a reference means now. `identity` is the SHA-256 of an archive or the hash of a commit. `unpack` extracts
    the sources into a new folder and returns their root."""

    version: str
    identity: str
    packages: tuple[Package, ...]
    unpack: Callable[[Path, Attempt], Path]
    commit: LibraryCommit | None = None


class Origin(Protocol):
    """Where sources come from."""

    name: str

    def describe(self) -> str:
        """One line for users: what it offers and how to write a reference to it."""
        ...

    def provides(self, ref: SubjectRef) -> bool: ...

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        """Like `Provider.versions`."""
        return ()

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        """Resolve the reference without unpacking the sources. Raises StepFailed."""
        ...


class Recipe(Protocol):
    """How one library is built: always the same way, so that a change between two versions is the library's."""

    linkage: Linkage
    revision: int
    """Increase it when the same words give a different build, so that older builds are not reused."""

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        """The arguments of its configuration: the usual ones, then `flags`, which are the subject's."""
        ...

    def distinctions(self, target: Target) -> tuple[str, ...]:
        """Arguments that earlier revisions lacked and that change the measured cost. They are part of the build
        profile, so that older results are not compared with new ones."""
        return ()

    def ingredients(self, attempt: Attempt) -> tuple[Package, ...]:
        """Other inputs of the build, such as a library that is built first."""
        return ()

    def decisive(self, attempt: Attempt) -> tuple[str, ...]:
        """What else determines the build, such as the compiler of another language than C, or how a library below it is
        built. Another text gives another build. Raises StepFailed."""
        return ()

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        """Build the unpacked sources and install headers and libraries into the folder `installed`."""
        ...


class SourceProvider:
    """Provides the sources of an origin, built by the library's recipe. `cache` keeps the builds."""

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
            *recipe.decisive(attempt),
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
        here = attempt.scratch / "built"  # a link, so that the cache's path leaves no trace in the kit
        here.symlink_to(self.built(resolution, attempt))
        tree = find_tree(ref.library, here / INSTALLED)
        if tree.version != resolution.version:
            reason = f"the build has version {tree.version}, expected {resolution.version}"
            raise StepFailed("compile", reason, "this is a bug, please report it")
        module = here / INSTALLED / FIPS_MODULE
        return replace(
            materials_of(ref, tree, attempt),
            development=resolution.packages,
            fips_module=module if module.is_file() else None,
        )

    def built(self, resolution: Resolution, attempt: Attempt) -> Path:
        """The folder of the installed build, from the cache or built now. Raises StepFailed."""
        ref = resolution.ref
        name = f"{ref.library}-{resolution.version}-{resolution.fingerprint[:16]}"

        def build(installed: Path) -> None:
            sources = self._origin.locate(ref, attempt, refresh=False)
            if not set(sources.packages) <= set(resolution.packages):
                raise StepFailed("fetch", f"{ref.origin} changed during the build", "try again")
            unpacked = attempt.scratch / "source"
            unpacked.mkdir()
            root = sources.unpack(unpacked, attempt)
            attempt.note(f"building {ref.library} {resolution.version}, this takes some minutes")
            self._recipes[ref.library].build(root, resolution.configure, installed, attempt)
            shutil.rmtree(unpacked)

        return self._builds.built(name, build, attempt)


def refuse_foreign(title: str, target: Target, remedy: str = "build it there") -> None:
    """Raises StepFailed for another architecture than this machine's."""
    if target.is_foreign:
        raise StepFailed("resolve", f"{title} can only be built for this machine, not for {target.machine}", remedy)


def refuse_other_flags(title: str, flags: Iterable[str], known: Collection[str]) -> None:
    """Raises StepFailed for flags that are not among the `known` ones of a library."""
    if wrong := ", ".join(flag for flag in flags if flag not in known):
        has = f"'s flags are {', '.join(known)}" if known else " is built without flags"
        raise StepFailed("resolve", f"{title}{has}, unlike {wrong}")


def need_tools(packages: Mapping[str, str]) -> None:
    """Raises StepFailed for the first program that is missing. `packages` has Debian's package of each."""
    for tool, package in packages.items():
        if shutil.which(tool) is None:
            raise StepFailed("compile", f"{tool} is not installed", f"apt-get install {package}")


def compiler_name(compiler: str, attempt: Attempt) -> str:
    """The compiler's name and version, such as `gcc 12.2.0`, whatever its command is called."""
    text = attempt.run([compiler, "--version"], stage="resolve", timeout_s=30)
    number = attempt.run([compiler, "-dumpfullversion", "-dumpversion"], stage="resolve", timeout_s=30).strip()
    return f"{'clang' if 'clang' in text else 'gcc'} {number}"
