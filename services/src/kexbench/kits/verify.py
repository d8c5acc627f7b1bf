"""Looks at a kit again: are its files what the manifest says, and does its worker do what it did?"""

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from kexbench.domain.kit_changes import compare_probes
from kexbench.domain.probes import KitProbe
from kexbench.kits.errors import StepFailed
from kexbench.kits.probe import PROBE_NAME, Prober, prove, read_probe, write_probe
from kexbench.kits.shelf import Shelf
from kexbench.kits.target import target_for

Verdict = Literal["sound", "probed first", "not probed", "changed", "damaged"]


@dataclass(frozen=True)
class KitCheck:
    """What became of one kit. `lines` say what is wrong, what is different, or why it was not probed."""

    folder: str
    verdict: Verdict
    lines: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return self.verdict in ("changed", "damaged")


def kit_ids(shelf: Shelf) -> tuple[str, ...]:
    """Of every kit on the shelf, those with an unreadable manifest too, by the names of their folders."""
    folders = sorted(path for path in shelf.root.glob("[!.]*-*") if path.is_dir())
    return tuple(folder.name.rpartition("-")[2] for folder in folders)


def verify_kit(shelf: Shelf, kit_id: str, prober: Prober, worker_source_sha256: str) -> KitCheck:
    """Check one kit, and write the probe of one that has none. Raises KeyError when it isn't on the shelf.

    A kit of other worker sources than the ones given may speak another protocol: then it is not probed, and no fault.
    """
    folder, damage, kit = shelf.folder(kit_id), shelf.verify(kit_id), shelf.get(kit_id)
    if damage or kit is None:
        return KitCheck(folder.name, "damaged", damage)
    try:
        known = read_probe(folder)
    except ValueError as error:
        return KitCheck(folder.name, "damaged", (f"{error}; delete it, then verify the kit again",))
    try:
        with TemporaryDirectory() as scratch:
            log, target = Path(scratch) / "log", target_for(kit.build_profile.architecture)
            found = prove(folder, kit, prober, log, target)
    except StepFailed as error:
        if kit.worker_source_sha256 != worker_source_sha256:
            return KitCheck(folder.name, "not probed", (f"its worker is of another version; add {kit.ref} again",))
        return KitCheck(folder.name, "damaged", (error.reason,))
    return _compared(shelf, folder, known, found)


def _compared(shelf: Shelf, folder: Path, known: KitProbe | None, found: KitProbe) -> KitCheck:
    """What a new probe says beside the one that is kept, which it replaces where that tried other things."""
    if known is None:
        _keep(shelf, folder, found)
        return KitCheck(folder.name, "probed first")
    changes = compare_probes(known, found)
    if not changes and _tried(known) != _tried(found):
        _keep(shelf, folder, found)
        return KitCheck(folder.name, "sound", ("other things are tried than when it was probed: its probe is new",))
    return KitCheck(folder.name, "changed" if changes else "sound", changes.lines())


def _tried(probe: KitProbe) -> set[tuple[str, str]]:
    return {(found.dimension, found.case_id) for found in probe.features}


def _keep(shelf: Shelf, folder: Path, probe: KitProbe) -> None:
    """Whole or absent: written beside the kit, so that nobody who looks at it meanwhile finds half a file in it."""
    partial = shelf.root / f".{folder.name}.{os.getpid()}"
    write_probe(partial, probe)
    partial.replace(folder / PROBE_NAME)
