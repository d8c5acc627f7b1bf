"""The loop of whole connections that shares no code with the worker: built for a kit, and started as its worker is."""

import subprocess
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import Field, ValidationError

from bench.machine import BenchError, pin
from kexbench.domain.cases import NOTHING, Case, Cipher, KeyExchange, Protocol
from kexbench.domain.dimensions import ContextUse, Tickets
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.material import MaterialFiles
from kexbench.kits import Workshop
from kexbench.kits.attempts import asking
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.participant import Setting
from kexbench.runner.records import Batch

PROGRAM = "plain_connection"


class Part(StrEnum):
    """A part of a connection, of both sides together (PROTOCOL.md, "What is timed")."""

    OBJECTS = "objects"
    HANDSHAKE = "handshake"
    TRANSFER = "transfer"
    FINISH = "finish"
    CONNECTION = "whole connection"


class LoopTurn(Frozen):
    """What the loop answers: the CPU time of each part and side over all connections of a turn."""

    connections: int = Field(ge=1)
    preemptions: int = Field(ge=0)
    thread_cpu_ns: int
    elapsed_ns: int
    first_handshake_ns: int
    client_objects_ns: int
    server_objects_ns: int
    client_handshake_ns: int
    server_handshake_ns: int
    client_transfer_ns: int
    server_transfer_ns: int
    client_finish_ns: int
    server_finish_ns: int

    def part_ns(self, part: Part) -> float:
        """Of one connection."""
        totals = {
            Part.OBJECTS: self.client_objects_ns + self.server_objects_ns,
            Part.HANDSHAKE: self.client_handshake_ns + self.server_handshake_ns,
            Part.TRANSFER: self.client_transfer_ns + self.server_transfer_ns,
            Part.FINISH: self.client_finish_ns + self.server_finish_ns,
        }
        total = sum(totals.values()) if part is Part.CONNECTION else totals[part]
        return total / self.connections


def worker_part_ns(batch: Batch, part: Part) -> float:
    """The same of a worker's batch. Raises BenchError if the batch does not have the part."""
    sides = {
        Part.OBJECTS: (batch.client_objects_cpu_ns, batch.server_objects_cpu_ns),
        Part.HANDSHAKE: (batch.client_cpu_ns, batch.server_cpu_ns),
        Part.TRANSFER: (batch.client_transfer_cpu_ns, batch.server_transfer_cpu_ns),
        Part.FINISH: (batch.client_finish_cpu_ns, batch.server_finish_cpu_ns),
        Part.CONNECTION: (batch.client_connection_cpu_ns, batch.server_connection_cpu_ns),
    }
    client_ns, server_ns = sides[part]
    if client_ns is None or server_ns is None:
        raise BenchError(f"the worker's batch has no {part}")
    return (client_ns + server_ns) / batch.handshakes


def build_loop(workshop: Workshop, reference: str, source: Path, folder: Path, program: str = PROGRAM) -> Path:
    """An independent loop in `folder`, linked with the library that the kit of `reference` has. `source` is the folder
    with the worker's sources. Raises KitError."""
    ref = SubjectRef.parse(reference)
    provider = next(provider for provider in workshop.providers if provider.provides(ref))
    with asking(ref, lambda _: None) as attempt:
        materials = provider.fetch(provider.resolve(ref, attempt, refresh=False), attempt)
        flags = {"CFLAGS_LIBRARY": materials.compile_flags, "LDFLAGS_LIBRARY": materials.link_flags}
        variables = [f"{name}={' '.join(words)}" for name, words in flags.items()]
        make = ["make", "-C", str(source.resolve()), f"CC={attempt.target.compiler}", f"BUILD={folder}", *variables]
        attempt.run([*make, program.replace("_", "-")], stage="compile", timeout_s=60)
    return folder / program


def loop_words(case: Case, files: MaterialFiles, folder: Path) -> list[str]:
    """The loop's arguments for a case, with files from the material folder. Raises BenchError for a case that the loop
    can't do."""
    kept = {"chain_length", "verification", "trust_anchors", "tickets", "transfer_bytes", "context"}
    kept |= {"reload_every", "server_names"}
    plain = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519")
    if case.cipher is not Cipher.AES_128_GCM or case.model_dump(exclude=kept) != plain.model_dump(exclude=kept):
        raise BenchError(f"{PROGRAM} can't do the case {case.case_id}")
    anchors = files.trust_anchors_file
    words = [str(folder / files.certificate), str(folder / files.key), NOTHING]
    if case.verification:
        words[-1] = str(folder / anchors)
    if case.tickets is Tickets.DEFAULT:
        words.append("tickets")
    if case.transfer_bytes:
        words.append(f"transfer={case.transfer_bytes}")
    if case.context is ContextUse.CONNECTION:
        words.append("own-context")
    if case.reload_every:
        words.append(f"reload={case.reload_every}")
    if case.server_names > 1:
        words.append(f"names={case.server_names}")
    return words


def loop_command(manifest: KitManifest, kit: Path, program: Path, words: list[str]) -> list[str]:
    """The command line that starts the loop with the kit's own loader and libraries, in the kit's folder."""
    loader, *options, _worker = manifest.worker
    return [str(kit / loader), *options, str(program), *words]


class ConnectionLoop:
    """The loop as a live process, pinned like a worker. Leaving the context manager ends it."""

    def __init__(self, program: Path, kit: JobInputKit, setting: Setting) -> None:
        material = setting.job_input.material_folder
        launch = kit.manifest.launch(kit.folder, material)
        self._process = subprocess.Popen(
            loop_command(kit.manifest, kit.folder, program, loop_words(setting.case, setting.files, material)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=launch.environment,
            cwd=launch.folder,
        )
        pin(self._process.pid, setting.cpus.measuring)

    def turn(self, min_ns: int) -> LoopTurn:
        """Connections for at least so much wall time. Raises BenchError if the loop has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{min_ns}\n")
            self._process.stdin.flush()
            return LoopTurn.model_validate_json(self._process.stdout.readline())
        except (BrokenPipeError, ValidationError):
            raise BenchError(f"{PROGRAM} ended: its standard error says why") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
