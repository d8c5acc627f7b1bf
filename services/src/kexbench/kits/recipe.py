"""From a reference to a finished folder: resolve, fetch, compile, collect, describe, self-test.

Everything happens inside an attempt's scratch folder. The kit store places the result.
"""

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import KIT_PLACEHOLDER, KitManifest, Package, SubjectRef
from kexbench.domain.libraries import BUILT
from kexbench.domain.versions import version_key
from kexbench.kits.attempts import asking
from kexbench.kits.build_go import GoProvider
from kexbench.kits.build_rustls import RustlsProvider
from kexbench.kits.bundled import BundledProvider
from kexbench.kits.closure import collect
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.deb_files import DebFilesProvider
from kexbench.kits.deb_source import DebSourceOrigin
from kexbench.kits.debian import DebianProvider
from kexbench.kits.errors import StepFailed
from kexbench.kits.fake import FakeProvider
from kexbench.kits.fips import MODULES_FOLDER, add_fips_module
from kexbench.kits.git import GitOrigin
from kexbench.kits.licences import licence_of
from kexbench.kits.prefix import PrefixProvider
from kexbench.kits.probe import PROBE_NAME, Prober, prove, write_probe
from kexbench.kits.process import Attempt, Progress
from kexbench.kits.provider import Materials, Provider, Resolution
from kexbench.kits.source import Origin, Recipe, SourceProvider
from kexbench.kits.system import SystemProvider, installed_packages, sorted_packages
from kexbench.kits.tarball import TarballOrigin
from kexbench.kits.target import check_tools
from kexbench.kits.worker import WorkerSource, self_test

MANIFEST_NAME = "kit.json"
RECIPE_VERSION = 3
"""Increase it when kits are assembled differently, so that kits of the older recipe are built again."""

_HEAP_COUNTER = "lib/heap.so"
_ENVIRONMENT = {
    "LC_ALL": "C",
    # The machine's settings must not reach a measurement. Modules come only from the kit.
    "OPENSSL_CONF": "/dev/null",
    "OPENSSL_MODULES": f"{KIT_PLACEHOLDER}/{MODULES_FOLDER}",
    "OPENSSL_ENGINES": f"{KIT_PLACEHOLDER}/lib/engines",
    "GNUTLS_SYSTEM_PRIORITY_FILE": "/dev/null",
}


def default_providers(cache: Path, workers: Path | None = None) -> tuple[Provider, ...]:
    """All providers. `cache` keeps downloads and builds, and must be outside any checkout. `workers` is the folder of
    that name, with the sources of what is bundled and the glue of other languages."""
    jobs = len(os.sched_getaffinity(0))
    recipes: dict[str, Recipe] = {
        name: import_module(f"kexbench.kits.build_{name}").recipe(cache, jobs) for name in BUILT
    }
    origins: tuple[Origin, ...] = (CrateOrigin(), DebSourceOrigin(cache), TarballOrigin(cache), GitOrigin(cache))
    built = (SourceProvider(origin, recipes, cache) for origin in origins)
    ours: tuple[Provider, ...] = ()
    if workers is not None:
        glue = workers / "handshake"
        ours = (
            BundledProvider(workers / "bfe", cache),
            RustlsProvider(glue / "rustls", cache),
            GoProvider(glue / "go", cache),
        )
    packaged = (DebianProvider(cache), DebFilesProvider(cache))
    return SystemProvider(), *packaged, *built, PrefixProvider(), *ours, FakeProvider()


@dataclass(frozen=True)
class Ingredients:
    """Everything that determines a kit, known before the build."""

    resolution: Resolution
    worker_source_sha256: str
    worker_compiler: str

    @property
    def hash(self) -> str:
        """Equal ingredients give the same kit, which need not be built again."""
        resolution = self.resolution
        return content_hash(
            [
                RECIPE_VERSION,
                str(resolution.ref),
                resolution.version,
                resolution.profile.id,
                resolution.fingerprint,
                resolution.arguments,
                resolution.configure,
                self.worker_source_sha256,
                self.worker_compiler,
                _ENVIRONMENT,
                *([resolution.commit.model_dump(mode="json")] if resolution.commit else []),
            ],
            length=32,
        )


@dataclass(frozen=True)
class Workshop:
    """What makes kits: the worker's sources, a compiler, and the providers in order of precedence.

    Without a prober, kits pass the self-test only and have no probe.
    """

    worker: WorkerSource
    providers: Sequence[Provider]
    prober: Prober | None = None

    def versions(
        self, ref: SubjectRef, progress: Progress = lambda _: None, *, refresh: bool = False
    ) -> tuple[str, ...]:
        """Every version that the source of `ref` offers now, oldest first; empty if the source has no list.
        This builds nothing and needs no kit store. Raises KitError."""
        with asking(ref, progress) as attempt:
            return self._provider(ref).versions(ref, attempt, refresh=refresh)

    def ingredients(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Ingredients:
        """Resolve the reference. Raises StepFailed, also if no provider accepts it."""
        check_tools(attempt.target)
        resolution = self._provider(ref).resolve(ref, attempt, refresh=refresh)
        try:
            version_key(resolution.version)
        except ValueError as error:
            raise StepFailed("resolve", str(error), "a version starts with a number, as in 3.5.7") from error
        return Ingredients(resolution, self.worker.sha256(), self.worker.compiler_text(attempt))

    def materials(self, resolution: Resolution, attempt: Attempt) -> Materials:
        """The library's files, in the attempt's scratch folder. Raises StepFailed."""
        return self._provider(resolution.ref).fetch(resolution, attempt)

    def build(self, ingredients: Ingredients, attempt: Attempt) -> tuple[Path, KitManifest]:
        """Build a complete, tested kit in the attempt's scratch folder."""
        resolution = ingredients.resolution
        ref = resolution.ref
        materials = self.materials(resolution, attempt)
        attempt.note(f"compiling the worker for {ref.library} {resolution.version}")
        compiled = self.worker.compile(ref, attempt, materials)
        if self.worker.sha256() != ingredients.worker_source_sha256:
            raise StepFailed("compile", "the worker's sources changed while they were compiled", "try again")
        kit = attempt.scratch / "kit"
        kit.mkdir()
        arguments, libraries = collect(compiled.worker, attempt, materials, kit)
        shutil.copyfile(compiled.heap_counter, kit / _HEAP_COUNTER)
        (kit / _HEAP_COUNTER).chmod(0o555)
        if materials.fips_module:
            add_fips_module(materials.fips_module, kit)
        files, packages = hash_files(kit), _packages(libraries, materials, attempt)
        manifest = KitManifest.sealed(
            library=ref.library,
            version=resolution.version,
            source=ref.source,
            build_profile=resolution.profile,
            worker=arguments,
            arguments=(*resolution.arguments, *_burn(ref)),
            environment=_ENVIRONMENT,
            packages=packages,
            worker_compiler=ingredients.worker_compiler,
            worker_flags=compiled.flags,
            worker_source_sha256=ingredients.worker_source_sha256,
            files=files,
            heap_counter=_HEAP_COUNTER,
            configure=resolution.configure,
            fips=materials.fips_module is not None,
            licence=licence_of(ref.library, resolution.version, files, packages),
            commit=resolution.commit,
        )
        attempt.note("testing that the worker starts")
        self_test(kit, manifest, attempt)
        if self.prober:
            attempt.note("probing what the kit supports")
            write_probe(kit / PROBE_NAME, prove(kit, manifest, self.prober, attempt.log, attempt.target))
        (kit / MANIFEST_NAME).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
        (kit / MANIFEST_NAME).chmod(0o444)
        return kit, manifest

    def _provider(self, ref: SubjectRef) -> Provider:
        for provider in self.providers:
            if provider.provides(ref):
                return provider
        raise StepFailed(
            "resolve", f"nothing provides {ref}", "; ".join(provider.describe() for provider in self.providers)
        )


def _burn(ref: SubjectRef) -> tuple[str, ...]:
    """The share is an argument, so that workers with different shares are the same binary."""
    return () if ref.variant.burn is None else ("--burn", str(ref.variant.burn))


def hash_files(kit: Path) -> dict[str, str]:
    """SHA-256 of every file of a kit except its manifest and its probe, by path relative to the kit."""
    return {
        path.relative_to(kit).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(kit.rglob("*"))
        if path.is_file() and path not in (kit / MANIFEST_NAME, kit / PROBE_NAME)
    }


def _packages(libraries: Mapping[str, Path], materials: Materials, attempt: Attempt) -> tuple[Package, ...]:
    """The packages of the kit's files and of the headers."""
    fetched = {
        soname: materials.owners[soname]
        for soname in libraries
        if soname in materials.owners
        and (materials.libraries is not None and libraries[soname].is_relative_to(materials.libraries))
    }
    ours = [path.resolve() for soname, path in libraries.items() if soname not in fetched]
    installed = installed_packages(ours, attempt)
    return tuple(sorted_packages([*fetched.values(), *installed.values(), *materials.development]))
