"""The worker's side of a kit: its sources as an identity, its compilation, and the proof that it lives."""

import hashlib
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials

_SOURCE_SUFFIXES = (".c", ".h", ".mk")
_NOT_BUILT_IN = ("tests", "build")


@dataclass(frozen=True)
class Compiled:
    """What make made, and the flags with folders as placeholders."""

    worker: Path
    heap_counter: Path
    flags: str


@dataclass(frozen=True)
class WorkerSource:
    """The folder with the worker's sources."""

    folder: Path

    def sha256(self) -> str:
        """Identity of all that is compiled: a change of the harness makes new kits.

        Raises StepFailed when the folder holds no worker.
        """
        if not (self.folder / "Makefile").is_file():
            raise StepFailed("resolve", f"no worker sources in {self.folder}", "point to the folder workers/handshake")
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            relative = path.relative_to(self.folder)
            if any(part in _NOT_BUILT_IN or part.startswith(".") for part in relative.parts):
                continue
            if path.is_file() and (path.name == "Makefile" or path.suffix in _SOURCE_SUFFIXES):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{relative.as_posix()}\0{content}\n".encode())
        return digest.hexdigest()

    def compiler_text(self, attempt: Attempt) -> str:
        """The compiler's own first line, such as `gcc (Debian 12.2.0-14) 12.2.0`."""
        output = attempt.run([attempt.target.compiler, "--version"], stage="compile", timeout_s=30)
        return output.partition("\n")[0].strip()

    def compile(self, ref: SubjectRef, attempt: Attempt, materials: Materials) -> Compiled:
        """The linked worker and the heap counter, in the attempt's scratch folder."""
        build = attempt.scratch / "build"
        if any(character.isspace() for character in str(build)):
            raise StepFailed(
                "compile",
                f"make can't build in a folder with a blank in its name: {build}",
                "keep the kits in a folder without blanks",
            )
        # Folders leave no trace in the binary, so that the same inputs give the same kit anywhere.
        source = self.folder.resolve()
        mapped = (f"-ffile-prefix-map={attempt.scratch}=kit", f"-ffile-prefix-map={source}=worker")
        compile_flags = (*materials.compile_flags, *mapped)
        words = materials.library_words or ()
        own = [f"LIBS_{ref.library}={_for_make(words)}"] if words else []
        attempt.run(
            [
                "make",
                "-C",
                str(source),
                f"BACKEND={ref.library}",
                f"BUILD={build}",
                f"CC={attempt.target.compiler}",
                f"CFLAGS_LIBRARY={_for_make(compile_flags)}",
                f"LDFLAGS_LIBRARY={_for_make(materials.link_flags)}",
                *own,
            ],
            stage="compile",
            timeout_s=600,
        )
        for name in ("worker", "heap.so"):
            if not (build / name).is_file():
                raise StepFailed("compile", f"make succeeded, but there is no {name}")
        flags = shlex.join((*compile_flags, *materials.link_flags, *words))
        flags = flags.replace(str(attempt.scratch), "{scratch}").replace(str(source), "{worker}")
        return Compiled(build / "worker", build / "heap.so", flags)


def self_test(kit: Path, manifest: KitManifest, attempt: Attempt) -> None:
    """Starts the kit's worker as a runner would and lets it stop; then once more with its heap counted.
    A worker for another architecture is started beneath an emulator, one for this machine must not be.

    Raises StepFailed when it isn't what it should be.
    """
    hello = _conversation(kit, manifest, attempt, count_heap=False)
    machine = manifest.build_profile.architecture
    expected = {"library": manifest.library, "version": manifest.version, "architecture": machine}
    for name, value in expected.items():
        if hello.get(name) != value:
            raise StepFailed(
                "self-test",
                f"the worker reports {name} {hello.get(name)!r}, but {value!r} was resolved",
                "headers and libraries of different versions are installed" if name == "version" else "",
            )
    if hello.get("emulated") and not attempt.target.is_foreign:
        raise StepFailed("self-test", "this machine is emulated itself", "make kits on a machine where they can run")
    _conversation(kit, manifest, attempt, count_heap=True)
    # The loader goes on without what it can't preload, and says so.
    if "LD_PRELOAD" in attempt.last_output:
        raise StepFailed("self-test", "the heap counter can't be loaded with the kit's C library")


def _conversation(kit: Path, manifest: KitManifest, attempt: Attempt, *, count_heap: bool) -> dict[str, Any]:
    """The worker's hello, after it has said bye too."""
    material = attempt.scratch / "material"
    material.mkdir(exist_ok=True)
    launch = manifest.launch(kit, material, count_heap=count_heap)
    output = attempt.run(
        attempt.target.command(launch.arguments),
        stage="self-test",
        timeout_s=30,
        environment=launch.environment,
        folder=kit,
        stdin="stop\n",
        exact_environment=True,
    )
    records = [_record(line) for line in output.splitlines() if line.strip()]
    if [record.get("type") for record in records] != ["hello", "bye"]:
        raise StepFailed("self-test", f"the worker said {output.strip()[:200]!r} instead of hello and bye")
    return records[0]


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _for_make(flags: tuple[str, ...]) -> str:
    """Flags as make hands them to the shell, which sees them once more."""
    return shlex.join(flags).replace("$", "$$")
