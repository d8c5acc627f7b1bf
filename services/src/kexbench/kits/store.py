"""The kit store: a folder of finished kits, which appear whole or not at all.

    <root>/<library>-<version>-<kit_id>/   a kit; read-only files, never changed; probe.json may come later
    <root>/refs/<reference>.json           the kit that a reference meant last, and its ingredients;
                                           <reference>,<architecture>.json for a foreign architecture
    <root>/sentinel.json                   the kit that is frozen as the sentinel;
                                           sentinel,<architecture>.json for a foreign architecture
    <root>/logs/<reference>.log            the log of the last failed attempt
    <root>/.scratch/                       running attempts, each with a lock; unlocked folders may be deleted

One process at a time makes kits (`.lock`). Reading needs no lock, and neither does checking whether a kit exists.
"""

import json
import platform
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock

from pydantic import BaseModel, ValidationError

from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.files import move, sync, write_whole
from kexbench.kits.attempts import Making, as_kit_error, attempt, builds_at_once, file_name, making, side_by_side
from kexbench.kits.errors import KitError
from kexbench.kits.probe import PROBE_NAME
from kexbench.kits.process import Children, Progress
from kexbench.kits.recipe import MANIFEST_NAME, Workshop, hash_files
from kexbench.kits.sentinel import Sentinel, read_sentinel, why_freeze
from kexbench.locks import locked


class _RefIndex(Frozen):
    """What a reference meant when it was last added."""

    ref: str
    kit_id: str
    ingredients: str


class KitStore:
    """Kits under `root`. Without a workshop the kit store is read-only."""

    def __init__(self, root: Path, workshop: Workshop | None = None) -> None:
        self.root = root.absolute()
        self._workshop = workshop
        self._placing = Lock()

    def add(
        self,
        ref: SubjectRef,
        progress: Progress = lambda _: None,
        *,
        refresh: bool = False,
        architecture: str | None = None,
    ) -> KitManifest:
        """The kit of what `ref` means now. It is built unless one with the same ingredients exists.

        `architecture` is the kernel's name of the architecture it runs on; default: this machine's.
        `progress` receives each step. `refresh` checks for newer versions even if that was done recently.
        Raises KitError, which leaves the kit store unchanged except for the log of the attempt.
        """
        with making(self.root, ref, progress) as right:
            return self._add(ref, right, progress, Children(), refresh=refresh, architecture=architecture)

    def add_all(
        self,
        refs: Sequence[SubjectRef],
        progress: Progress = lambda _: None,
        *,
        refresh: bool = False,
        at_once: int | None = None,
        architecture: str | None = None,
    ) -> dict[SubjectRef, KitManifest | KitError]:
        """The kit of each reference, or its error, in their order. One failure does not stop the others.

        `at_once` kits are built in parallel, by default as many as keep the machine busy. Ctrl-C ends all builds;
        finished kits stay. Raises KitError if no kit can be built at all.
        """
        unique = tuple(dict.fromkeys(refs))
        if not unique:
            return {}
        workers = min(at_once or builds_at_once(), len(unique))
        children = Children()

        def report(number: int, text: str) -> None:
            progress(text if len(unique) == 1 else f"[{number}/{len(unique)}] {unique[number - 1]}: {text}")

        def add(number: int) -> KitManifest | KitError:
            ref, report_step = unique[number - 1], partial(report, number)
            try:
                return self._add(
                    ref, right, report_step, children, refresh=refresh, architecture=architecture, at_once=workers
                )
            except KitError as error:
                report_step(f"{error.stage} failed")
                return error

        with making(self.root, unique[0], progress) as right:
            calls = [partial(add, number) for number in range(1, len(unique) + 1)]
            return dict(zip(unique, side_by_side(calls, workers, children), strict=True))

    def _add(
        self,
        ref: SubjectRef,
        right: Making,
        progress: Progress,
        children: Children,
        *,
        refresh: bool,
        architecture: str | None,
        at_once: int = 1,
    ) -> KitManifest:
        """Like `add`. It takes the right to make kits only if it has to make one."""
        if self._workshop is None:
            raise KitError(ref, "resolve", "this kit store is read-only", "open it with a workshop")
        machine = architecture or platform.machine()
        with attempt(self.root, ref, machine, progress, children, at_once) as current:
            ingredients = self._workshop.ingredients(ref, current, refresh=refresh)
            kit = self._made_of(ref, machine, ingredients.hash)
            if kit is None:
                right.take(current.go_on)
                kit = self._made_of(ref, machine, ingredients.hash)  # another process may have made it meanwhile
            if kit is not None:
                current.note(f"{ref} is unchanged: {kit.folder_name}")
                return kit
            built, manifest = self._workshop.build(ingredients, current)
            if not self.place(built, manifest):
                current.note("the same kit exists already")
                self._add_probe(built, manifest)
            self.means(ref, machine, manifest.kit_id, ingredients.hash)
            current.note(f"{ref} is {manifest.folder_name}")
            return manifest

    def sentinel(
        self, ref: SubjectRef, progress: Progress = lambda _: None, *, freeze_again: bool = False
    ) -> KitManifest:
        """The kit that `ref` meant when the sentinel was frozen, even if the source has changed since.

        A new sentinel is frozen if there is none, the reference or the harness has changed, or the kit is missing or
        damaged. `progress` receives the reason. `freeze_again` freezes the newest version. Raises KitError.
        """
        if self._workshop is None:
            raise KitError(ref, "resolve", "this kit store is read-only", "open it with a workshop")
        with as_kit_error(ref, self.root), locked(self.root / ".sentinel.lock", progress):
            frozen = self.frozen()
            kit = self._sound(frozen.kit_id) if frozen else None
            reason = why_freeze(ref, frozen, kit, self._workshop.worker.sha256())
            if kit is not None and reason is None and not freeze_again:
                return kit
            progress(f"freezing a sentinel: {reason or 'as requested'}")
            kit = self.add(ref, progress, refresh=freeze_again)
            self.freeze(ref, kit)
            return kit

    def place(self, built: Path, manifest: KitManifest) -> bool:
        """Move a complete kit into the kit store. False if it exists already."""
        target = self.root / manifest.folder_name
        with self._placing:  # two references may mean the same kit
            if target.exists():
                if not _differences(target):
                    return False
                damaged = self.root / f".{manifest.kit_id}.damaged"  # no kit has such a name
                shutil.rmtree(damaged, ignore_errors=True)
                target.rename(damaged)
                shutil.rmtree(damaged, ignore_errors=True)
            for path in built.rglob("*"):
                sync(path)  # a power cut must not leave a kit whose files are empty
            move(built, target)
            sync(self.root)
        return True

    def means(self, ref: SubjectRef, architecture: str, kit_id: str, ingredients: str) -> None:
        """Record which kit a reference means from now on, and its ingredients."""
        entry = _RefIndex(ref=str(ref), kit_id=kit_id, ingredients=ingredients)
        write_whole(self._ref_path(ref, architecture), _document(entry))

    def made_of(self, ref: SubjectRef, architecture: str) -> str | None:
        """The hash of the ingredients of a reference's kit, or None if it has no kit yet."""
        index = self._index(ref, architecture)
        return index.ingredients if index else None

    def meant_at(self, ref: SubjectRef, architecture: str) -> datetime | None:
        """When the kit of a reference was recorded, or None."""
        path = self._ref_path(ref, architecture)
        return datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.is_file() else None

    def freeze(self, ref: SubjectRef, kit: KitManifest) -> None:
        """Make a kit in this kit store the sentinel of its architecture."""
        frozen = Sentinel(reference=str(ref), kit_id=kit.kit_id, frozen_at=datetime.now(UTC))
        write_whole(self._sentinel_path(kit.build_profile.architecture), _document(frozen))

    def frozen(self, architecture: str | None = None) -> Sentinel | None:
        """The sentinel of an architecture, by default this machine's, or None."""
        return read_sentinel(self._sentinel_path(architecture or platform.machine()))

    def list(self) -> tuple[KitManifest, ...]:
        """Every kit, sorted by library, version, source and variant. Folders without a kit are skipped."""
        manifests = [manifest for path in self.root.glob(f"*-*/{MANIFEST_NAME}") if (manifest := _read(path))]
        return tuple(sorted(manifests, key=_order))

    def get(self, kit_id: str) -> KitManifest | None:
        """The kit with this id, or None."""
        folder = self._folder(kit_id)
        return _read(folder / MANIFEST_NAME) if folder else None

    def find(self, ref: SubjectRef, architecture: str | None = None) -> KitManifest | None:
        """The kit that `ref` meant when it was last added for an architecture, by default this machine's, or None."""
        machine = architecture or platform.machine()
        index = self._index(ref, machine)
        kit = self.get(index.kit_id) if index else None
        # A kit store copied from a machine of another architecture has that machine's kits under the plain names.
        return kit if kit and kit.build_profile.architecture == machine else None

    def folder(self, kit_id: str) -> Path:
        """The kit's folder. Raises KeyError if the kit isn't in the kit store."""
        folder = self._folder(kit_id)
        if folder is None:
            raise KeyError(f"no kit {kit_id} in the kit store {self.root}")
        return folder

    def verify(self, kit_id: str) -> tuple[str, ...]:
        """Every difference between a kit and its manifest, as text; empty if the kit is sound. Raises KeyError."""
        return _differences(self.folder(kit_id))

    def _sentinel_path(self, machine: str) -> Path:
        return self.root / ("sentinel.json" if machine == platform.machine() else f"sentinel,{machine}.json")

    def _add_probe(self, built: Path, manifest: KitManifest) -> None:
        """Copy the probe of an equal kit to a kit that has none."""
        target = self.root / manifest.folder_name / PROBE_NAME
        if not target.exists() and (built / PROBE_NAME).exists():
            move(built / PROBE_NAME, target)

    def _made_of(self, ref: SubjectRef, machine: str, ingredients: str) -> KitManifest | None:
        """The kit of `ref`, if it is sound and was made of these ingredients."""
        index = self._index(ref, machine)
        return self._sound(index.kit_id) if index and index.ingredients == ingredients else None

    def _sound(self, kit_id: str) -> KitManifest | None:
        """The kit, if it is in the kit store and undamaged."""
        folder = self._folder(kit_id)
        return None if folder is None or _differences(folder) else _read(folder / MANIFEST_NAME)

    def _folder(self, kit_id: str) -> Path | None:
        if not (kit_id.isalnum() and kit_id.isascii()):
            return None
        return next((path for path in self.root.glob(f"*-{kit_id}") if path.is_dir()), None)

    def _index(self, ref: SubjectRef, machine: str) -> _RefIndex | None:
        try:
            return _RefIndex.model_validate_json(self._ref_path(ref, machine).read_bytes())
        except (OSError, ValidationError):
            return None

    def _ref_path(self, ref: SubjectRef, machine: str) -> Path:
        return self.root / "refs" / f"{file_name(ref, machine)}.json"


def _order(kit: KitManifest) -> tuple[str | int, ...]:
    variant = kit.ref.variant
    return kit.library, kit.version_key, kit.ref.origin, variant.relink or 0, variant.burn or 0, kit.source, kit.kit_id


def _differences(folder: Path) -> tuple[str, ...]:
    manifest = _read(folder / MANIFEST_NAME)
    if manifest is None:
        return (f"{MANIFEST_NAME} is unreadable or was changed",)
    digests = hash_files(folder)
    return (
        *(f"{name} is missing" for name in manifest.files if name not in digests),
        *(f"{name} was added" for name in digests if name not in manifest.files),
        *(f"{name} was changed" for name, digest in digests.items() if manifest.files.get(name, digest) != digest),
    )


def _read(path: Path) -> KitManifest | None:
    try:
        return KitManifest.model_validate(json.loads(path.read_bytes()))
    except (OSError, ValueError):
        return None


def _document(content: BaseModel) -> bytes:
    return f"{content.model_dump_json(indent=2)}\n".encode()
