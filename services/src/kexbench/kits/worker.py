"""The worker of a kit: the hash of its sources, its compilation, and its self-test."""

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
_NOT_BUILT_IN = ("tests", "bench", "build")


@dataclass(frozen=True)
class Compiled:
    """The files that make built, and the flags with placeholders for folders."""

    worker: Path
    heap_counter: Path
    flags: str


@dataclass(frozen=True)
class WorkerSource:
    """The folder with the worker's sources."""

    folder: Path

    def sha256(self) -> str:
        """The hash of all compiled sources: a change of the harness makes new kits.

        Raises StepFailed if the folder contains no worker.
        """
        if not (self.folder / "Makefile").is_file():
            raise StepFailed("resolve", f"no worker sources in {self.folder}", "name the folder workers/handshake")
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
        """The first line of the compiler's version, such as `gcc (Debian 12.2.0-14) 12.2.0`."""
        output = attempt.run([attempt.target.compiler, "--version"], stage="compile", timeout_s=30)
        return output.partition("\n")[0].strip()

    def compile(self, ref: SubjectRef, attempt: Attempt, materials: Materials) -> Compiled:
        """The linked worker and the heap counter, in the attempt's scratch folder."""
        build = attempt.scratch / "build"
        if any(character.isspace() for character in str(build)):
            raise StepFailed(
                "compile",
                f"make can't build in a folder with a space in its path: {build}",
                "set TMPDIR to a folder without spaces in its path",
            )
        # Paths must not get into the binary, so that the same inputs give the same kit on any machine.
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
                raise StepFailed("compile", f"make succeeded but built no {name}")
        flags = shlex.join((*compile_flags, *materials.link_flags, *words))
        flags = flags.replace(str(attempt.scratch), "{scratch}").replace(str(source), "{worker}")
        return Compiled(build / "worker", build / "heap.so", flags)


def self_test(kit: Path, manifest: KitManifest, attempt: Attempt) -> None:
    """Starts and stops the kit's worker as a runner does, then once more with its heap counted.
    A worker for a foreign architecture runs in an emulator; one for this machine must not.

    Raises StepFailed if the worker reports other values than the manifest.
    """
    hello = _conversation(kit, manifest, attempt, count_heap=False)
    machine = manifest.build_profile.architecture
    expected = {"library": manifest.library, "version": manifest.version, "architecture": machine}
    for name, value in expected.items():
        if hello.get(name) != value:
            raise StepFailed(
                "self-test",
                f"the worker reports {name} {hello.get(name)!r}, expected {value!r}",
                "headers and libraries of different versions are installed" if name == "version" else "",
            )
    if hello.get("emulated") and not attempt.target.is_foreign:
        raise StepFailed("self-test", "this machine is emulated", "make kits on a machine that runs them natively")
    _conversation(kit, manifest, attempt, count_heap=True)
    # The loader only warns about a library that it can't preload.
    if "LD_PRELOAD" in attempt.last_output:
        raise StepFailed("self-test", "the kit's C library can't load the heap counter")


def _conversation(kit: Path, manifest: KitManifest, attempt: Attempt, *, count_heap: bool) -> dict[str, Any]:
    """The worker's hello. Raises StepFailed unless a bye follows."""
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
        raise StepFailed("self-test", f"the worker wrote {output.strip()[:200]!r}, expected hello and bye")
    return records[0]


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _for_make(flags: tuple[str, ...]) -> str:
    """Flags quoted for the shell, with `$` escaped for make."""
    return shlex.join(flags).replace("$", "$$")
