"""Web servers of kits: programs that are built against a kit's library and started with the kit's own libraries.

    <kits>/servers/<server>-<version>-<kit_id>/   the program and its manifest; read-only, whole or absent

They are no part of a kit, so that kits keep their ids and their files.
"""

import hashlib
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from kexbench.domain.dimensions import Server
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import KitManifest, Sha256, SubjectRef
from kexbench.domain.libraries import not_built_with
from kexbench.files import make_folder, move, sync
from kexbench.kits.attempts import attempt, making
from kexbench.kits.errors import StepFailed
from kexbench.kits.haproxy import HaproxyBuild
from kexbench.kits.httpd import HttpdBuild
from kexbench.kits.nginx import NginxBuild
from kexbench.kits.process import Attempt, Children, Progress
from kexbench.kits.recipe import Ingredients, Workshop
from kexbench.kits.server_builds import ServerBuild
from kexbench.kits.store import KitStore

MANIFEST = "server.json"


class ServerManifest(Frozen):
    """What a kit's web server is."""

    format_version: Literal[1] = 1
    server: Server
    version: str
    kit_id: str
    configure: tuple[str, ...]
    sha256: Sha256


def server_builds(cache: Path, jobs: int) -> Mapping[Server, ServerBuild]:
    """What builds each web server. `cache` keeps sources and builds."""
    builds: tuple[type[ServerBuild], ...] = (NginxBuild, HttpdBuild, HaproxyBuild)
    return {build.server: build(cache, jobs) for build in builds}


@dataclass(frozen=True)
class ServerStore:
    """The web servers of the kits in a kit store, and what makes them."""

    kit_store: KitStore
    workshop: Workshop
    builds: Mapping[Server, ServerBuild]

    def find(self, server: Server, kit_id: str) -> Path | None:
        """The program of a kit's web server, or None if there is none or its files were changed."""
        folder = self._folder(server, kit_id)
        program = folder / server
        try:
            manifest = ServerManifest.model_validate_json((folder / MANIFEST).read_bytes())
            digest = hashlib.sha256(program.read_bytes()).hexdigest()
        except (OSError, ValidationError):
            return None
        return program if digest == manifest.sha256 else None

    def of_kit(self, kit_id: str) -> dict[Server, Path]:
        """The programs of all web servers that a kit has."""
        return {server: program for server in self.builds if (program := self.find(server, kit_id))}

    def add(self, server: Server, ref: SubjectRef, kit: KitManifest, progress: Progress = lambda _: None) -> Path:
        """The program of a kit's web server; built unless there is one. `ref` means the kit now. Raises KitError, which
        leaves nothing but a log."""
        if program := self.find(server, kit.kit_id):
            return program
        root, machine, children = self.kit_store.root, platform.machine(), Children()
        with making(root, ref, progress) as right, attempt(root, ref, machine, progress, children) as current:
            right.take(current.go_on)
            if program := self.find(server, kit.kit_id):  # another process may have made it meanwhile
                return program
            if reason := not_built_with(server, kit.library, kit.version):
                raise StepFailed("resolve", reason, "choose another version of OpenSSL")
            if kit.build_profile.architecture != machine:
                raise StepFailed("resolve", f"{server} is built only for this machine", "choose a kit of this machine")
            ingredients = self.workshop.ingredients(ref, current, refresh=False)
            meant = self.kit_store.find(ref)
            if meant != kit or self.kit_store.made_of(ref, machine) != ingredients.hash:
                reason = f"{ref} has changed since kit {kit.kit_id} was made of it, so its headers are gone"
                raise StepFailed("resolve", reason, f"kexbench kits add {ref}")
            build = self.builds[server]
            self._place(self._build(build, ingredients, kit, current), self._folder(server, kit.kit_id))
            current.note(f"{ref} has {server} {build.package.version}")
        return self._folder(server, kit.kit_id) / server

    def _build(self, build: ServerBuild, ingredients: Ingredients, kit: KitManifest, current: Attempt) -> Path:
        """A complete, tested folder in the attempt's scratch folder."""
        resolution = ingredients.resolution
        ref = resolution.ref
        decisive = [str(ref), resolution.version, resolution.fingerprint, resolution.profile.id]
        supply = partial(self.workshop.materials, resolution, current)
        cached = build.cached(ref, [*decisive, ingredients.worker_compiler], supply, current)
        folder = current.scratch / "server"
        folder.mkdir()
        program = folder / build.server
        shutil.copyfile(cached, program)
        program.chmod(0o555)
        self._self_test(build, program, kit, current)
        manifest = ServerManifest(
            server=build.server,
            version=build.package.version,
            kit_id=kit.kit_id,
            configure=build.words,
            sha256=hashlib.sha256(program.read_bytes()).hexdigest(),
        )
        (folder / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
        (folder / MANIFEST).chmod(0o444)
        return folder

    def _self_test(self, build: ServerBuild, program: Path, kit: KitManifest, current: Attempt) -> None:
        """Starts the program as a runner does, to learn which library it is built and running with."""
        launch = kit.launch_program(self.kit_store.folder(kit.kit_id), program, *build.version_words)
        current.run(
            launch.arguments,
            stage="self-test",
            timeout_s=30,
            environment=launch.environment,
            folder=Path(launch.folder),
            exact_environment=True,
        )
        if not build.is_built_with(kit.version, current.last_output, program.read_bytes()):
            reason = f"{build.server} is not built and running with OpenSSL {kit.version}"
            raise StepFailed("self-test", reason, "headers and libraries of different versions are installed")

    def _place(self, built: Path, target: Path) -> None:
        """Move a complete folder to its place; what was there is damaged."""
        make_folder(target.parent)
        if target.exists():
            damaged = target.with_name(f".{target.name}.damaged")
            shutil.rmtree(damaged, ignore_errors=True)
            target.rename(damaged)
            shutil.rmtree(damaged, ignore_errors=True)
        for path in built.iterdir():
            sync(path)
        move(built, target)
        sync(target.parent)

    def _folder(self, server: Server, kit_id: str) -> Path:
        return self.kit_store.root / "servers" / f"{server}-{self.builds[server].package.version}-{kit_id}"
