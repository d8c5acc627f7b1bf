"""Kits of the fake library in a moment: all of them are one program with other settings."""

import shutil

from kexbench.domain.kits import SubjectRef
from kexbench.kits import WorkerSource
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials
from kexbench.kits.worker import Compiled
from kexbench.locks import locked


class CompiledOnce(WorkerSource):
    """The fake library's worker is compiled once for a kit store, and kept in its folder."""

    def compile(self, ref: SubjectRef, attempt: Attempt, materials: Materials) -> Compiled:
        if ref.library != "fake":
            return super().compile(ref, attempt, materials)
        kept = attempt.scratch.parents[1] / f".compiled-{self.sha256()[:16]}"  # it may be a folder of the system's
        with locked(kept.with_suffix(".lock"), attempt.note, attempt.go_on):
            if not kept.is_dir():
                made = super().compile(ref, attempt, materials)
                partial = attempt.scratch / "partial"
                partial.mkdir()
                shutil.copy2(made.worker, partial / "worker")
                shutil.copy2(made.heap_counter, partial / "heap.so")
                (partial / "flags").write_text(made.flags)
                partial.rename(kept)
        return Compiled(kept / "worker", kept / "heap.so", (kept / "flags").read_text())
