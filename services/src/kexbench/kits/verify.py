"""Checks a kit again: do its files match the manifest, and does its worker behave as before?"""

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from kexbench.domain.kit_changes import compare_probes
from kexbench.domain.probes import KitProbe
from kexbench.kits.errors import StepFailed
from kexbench.kits.probe import PROBE_NAME, Prober, prove, read_probe, write_probe
from kexbench.kits.store import KitStore
from kexbench.kits.target import target_for

Verdict = Literal["sound", "probed first", "not probed", "changed", "damaged"]


@dataclass(frozen=True)
class KitCheck:
    """The result for one kit. `lines` list what is damaged or changed, or why the kit was not probed."""

    folder: str
    verdict: Verdict
    lines: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return self.verdict in ("changed", "damaged")


def kit_ids(kit_store: KitStore) -> tuple[str, ...]:
    """The ids of all kits in the kit store, from their folder names, so also of those with an unreadable manifest."""
    folders = sorted(path for path in kit_store.root.glob("[!.]*-*") if path.is_dir())
    return tuple(folder.name.rpartition("-")[2] for folder in folders)


def verify_kit(kit_store: KitStore, kit_id: str, prober: Prober, worker_source_sha256: str) -> KitCheck:
    """Check one kit, and write its probe if it has none. Raises KeyError if it isn't in the kit store.

    A kit of other worker sources may speak another protocol. If so, it is not probed, and this is no failure.
    """
    folder, damage, kit = kit_store.folder(kit_id), kit_store.verify(kit_id), kit_store.get(kit_id)
    if damage or kit is None:
        return KitCheck(folder.name, "damaged", damage)
    try:
        before = read_probe(folder)
    except ValueError as error:
        return KitCheck(folder.name, "damaged", (f"{error}; delete it, then verify the kit again",))
    try:
        with TemporaryDirectory() as scratch:
            log, target = Path(scratch) / "log", target_for(kit.build_profile.architecture)
            now = prove(folder, kit, prober, log, target)
    except StepFailed as error:
        if kit.worker_source_sha256 != worker_source_sha256:
            return KitCheck(folder.name, "not probed", (f"its worker has another version; add {kit.ref} again",))
        return KitCheck(folder.name, "damaged", (error.reason,))
    return _compared(kit_store, folder, before, now)


def _compared(kit_store: KitStore, folder: Path, before: KitProbe | None, now: KitProbe) -> KitCheck:
    """Compare a new probe with the stored one, and replace the stored one if it tried other features."""
    if before is None:
        _keep(kit_store, folder, now)
        return KitCheck(folder.name, "probed first")
    changes = compare_probes(before, now)
    if not changes and _tried(before) != _tried(now):
        _keep(kit_store, folder, now)
        return KitCheck(folder.name, "sound", ("the set of probed features has changed, so its probe was renewed",))
    return KitCheck(folder.name, "changed" if changes else "sound", changes.lines())


def _tried(probe: KitProbe) -> set[tuple[str, str]]:
    return {(feature.dimension, feature.case_id) for feature in probe.features}


def _keep(kit_store: KitStore, folder: Path, probe: KitProbe) -> None:
    """Write the probe next to the kit, then move it, so that no reader ever sees half a file."""
    partial = kit_store.root / f".{folder.name}.{os.getpid()}"
    write_probe(partial, probe)
    partial.replace(folder / PROBE_NAME)
