"""The shelf: a folder of finished kits, which appear whole or not at all.

    <root>/<library>-<version>-<kit_id>/   a kit; read-only files, never changed; probe.json may come later
    <root>/refs/<reference>.json           which kit a reference meant last, and from which ingredients;
                                           <reference>,<architecture>.json for another than this machine's
    <root>/sentinel.json                   which kit is frozen as the sentinel; sentinel,<architecture>.json for
                                           another than this machine's
    <root>/logs/<reference>.log            the last failed attempt of a reference
    <root>/.scratch/                       attempts under way, each with a lock of its own; others may be cleared

One process at a time makes kits (`.lock`). Reading needs no lock, nor does finding that a kit is there already.
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
from kexbench.files import sync, write_whole
from kexbench.kits.attempts import Making, as_kit_error, attempt, builds_at_once, file_name, making, side_by_side
from kexbench.kits.errors import KitError
from kexbench.kits.locks import locked
from kexbench.kits.probe import PROBE_NAME
from kexbench.kits.process import Children, Progress
from kexbench.kits.recipe import MANIFEST_NAME, Workshop, hash_files
from kexbench.kits.sentinel import Sentinel, read_sentinel, why_freeze


class _RefIndex(Frozen):
    """What a reference meant when it was last added."""

    ref: str
    kit_id: str
    ingredients: str


class Shelf:
    """Kits under `root`. Without a workshop the shelf can be read, not added to."""

    def __init__(self, root: Path, workshop: Workshop | None = None) -> None:
        self.root = root.absolute()
        self._workshop = workshop
        self._putting = Lock()

    def add(
        self,
        ref: SubjectRef,
        progress: Progress = lambda _: None,
        *,
        refresh: bool = False,
        architecture: str | None = None,
    ) -> KitManifest:
        """The kit of what `ref` means now; made when there is none of the same ingredients.

        `architecture` is what it shall run on, as the kernel names it; default: this machine's.
        `progress` is told each step. `refresh` looks for newer versions even if that was done recently.
        Raises KitError, after which the shelf is as it was, but for the log of the attempt.
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
        """The kit of each reference, in their order, or why there is none; one that fails stops no other.

        So many are made `at_once`, by default as many as keep the machine busy. Ctrl-C ends them all; those made by
        then stay. Raises KitError where none can be made at all.
        """
        each = tuple(dict.fromkeys(refs))
        if not each:
            return {}
        workers = min(at_once or builds_at_once(), len(each))
        children = Children()

        def told(number: int, text: str) -> None:
            progress(text if len(each) == 1 else f"[{number}/{len(each)}] {each[number - 1]}: {text}")

        def one(number: int) -> KitManifest | KitError:
            tell = partial(told, number)
            try:
                return self._add(
                    each[number - 1], right, tell, children, refresh=refresh, architecture=architecture, at_once=workers
                )
            except KitError as error:
                tell(f"{error.stage} failed")
                return error

        with making(self.root, each[0], progress) as right:
            calls = [partial(one, number) for number in range(1, len(each) + 1)]
            return dict(zip(each, side_by_side(calls, workers, children), strict=True))

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
        """As `add`. It takes the right to make kits only where it has to make one."""
        if self._workshop is None:
            raise KitError(ref, "resolve", "this shelf can only be read", "open it with a workshop")
        machine = architecture or platform.machine()
        with attempt(self.root, ref, machine, progress, children, at_once) as one:
            ingredients = self._workshop.ingredients(ref, one, refresh=refresh)
            kit = self._made_of(ref, machine, ingredients.hash)
            if kit is None:
                right.take(one.go_on)
                kit = self._made_of(ref, machine, ingredients.hash)  # by whoever had the right before
            if kit is not None:
                one.note(f"{ref} is unchanged: {kit.folder_name}")
                return kit
            built, manifest = self._workshop.build(ingredients, one)
            if not self.place(built, manifest):
                one.note("the same kit was made before")
                self._add_probe(built, manifest)
            self.means(ref, machine, manifest.kit_id, ingredients.hash)
            one.note(f"{ref} is {manifest.folder_name}")
            return manifest

    def sentinel(
        self, ref: SubjectRef, progress: Progress = lambda _: None, *, freeze_again: bool = False
    ) -> KitManifest:
        """The kit that `ref` meant when the sentinel was frozen, whatever the source has become since.

        It is frozen when there is none yet, and again when the reference is another one, the harness was changed
        or the kit is gone or damaged, which `progress` is told; or when asked to, then of the newest there is.
        Raises KitError.
        """
        if self._workshop is None:
            raise KitError(ref, "resolve", "this shelf can only be read", "open it with a workshop")
        with as_kit_error(ref, self.root), locked(self.root / ".sentinel.lock", progress):
            frozen = self.frozen()
            kit = self._sound(frozen.kit_id) if frozen else None
            reason = why_freeze(ref, frozen, kit, self._workshop.worker.sha256())
            if kit is not None and reason is None and not freeze_again:
                return kit
            progress(f"freezing a sentinel: {reason or 'as asked'}")
            kit = self.add(ref, progress, refresh=freeze_again)
            self.freeze(ref, kit)
            return kit

    def place(self, built: Path, manifest: KitManifest) -> bool:
        """Put a whole kit from a folder of this file system in its place; False where it was there and is left."""
        target = self.root / manifest.folder_name
        with self._putting:  # of two references that mean the same kit one puts it there
            if target.exists():
                if not _differences(target):
                    return False
                damaged = self.root / f".{manifest.kit_id}.damaged"  # a name that no kit is looked for under
                shutil.rmtree(damaged, ignore_errors=True)
                target.rename(damaged)
                shutil.rmtree(damaged, ignore_errors=True)
            for path in built.rglob("*"):
                sync(path)  # a power cut must not leave a kit whose files are empty
            built.rename(target)
            sync(self.root)
        return True

    def means(self, ref: SubjectRef, architecture: str, kit_id: str, ingredients: str) -> None:
        """Remember which kit a reference means from now on, and what it was made of."""
        entry = _RefIndex(ref=str(ref), kit_id=kit_id, ingredients=ingredients)
        write_whole(self._ref_path(ref, architecture), _document(entry))

    def made_of(self, ref: SubjectRef, architecture: str) -> str | None:
        """The hash of what a reference was made of; None where it means nothing yet."""
        index = self._index(ref, architecture)
        return index.ingredients if index else None

    def meant_at(self, ref: SubjectRef, architecture: str) -> datetime | None:
        """When that was remembered; None where it never was."""
        path = self._ref_path(ref, architecture)
        return datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.is_file() else None

    def freeze(self, ref: SubjectRef, kit: KitManifest) -> None:
        """Make a kit of this shelf the sentinel of its architecture."""
        frozen = Sentinel(reference=str(ref), kit_id=kit.kit_id, frozen_at=datetime.now(UTC))
        write_whole(self._sentinel_path(kit.build_profile.architecture), _document(frozen))

    def frozen(self, architecture: str | None = None) -> Sentinel | None:
        """What is frozen as the sentinel of an architecture, this machine's by default, or None."""
        return read_sentinel(self._sentinel_path(architecture or platform.machine()))

    def list(self) -> tuple[KitManifest, ...]:
        """Every kit, by library, version, source and variant. Folders that hold no kit are passed over."""
        manifests = [manifest for path in self.root.glob(f"*-*/{MANIFEST_NAME}") if (manifest := _read(path))]
        return tuple(sorted(manifests, key=_order))

    def get(self, kit_id: str) -> KitManifest | None:
        """The kit with this id, or None."""
        folder = self._folder(kit_id)
        return _read(folder / MANIFEST_NAME) if folder else None

    def find(self, ref: SubjectRef, architecture: str | None = None) -> KitManifest | None:
        """The kit that `ref` meant when it was last added for an architecture, this machine's by default, or None."""
        machine = architecture or platform.machine()
        index = self._index(ref, machine)
        kit = self.get(index.kit_id) if index else None
        # A shelf may have come from a machine of another architecture, whose own kits have the plain names.
        return kit if kit and kit.build_profile.architecture == machine else None

    def folder(self, kit_id: str) -> Path:
        """Where the kit lies. Raises KeyError when it isn't on the shelf."""
        folder = self._folder(kit_id)
        if folder is None:
            raise KeyError(f"no kit {kit_id} on the shelf {self.root}")
        return folder

    def verify(self, kit_id: str) -> tuple[str, ...]:
        """Every difference between a kit and its manifest, in words; none when it is sound. Raises KeyError."""
        return _differences(self.folder(kit_id))

    def _sentinel_path(self, machine: str) -> Path:
        return self.root / ("sentinel.json" if machine == platform.machine() else f"sentinel,{machine}.json")

    def _add_probe(self, built: Path, manifest: KitManifest) -> None:
        """To a kit that has none, from an equal one."""
        target = self.root / manifest.folder_name / PROBE_NAME
        if not target.exists() and (built / PROBE_NAME).exists():
            (built / PROBE_NAME).rename(target)

    def _made_of(self, ref: SubjectRef, machine: str, ingredients: str) -> KitManifest | None:
        """The sound kit that `ref` means and that was made of these ingredients."""
        index = self._index(ref, machine)
        return self._sound(index.kit_id) if index and index.ingredients == ingredients else None

    def _sound(self, kit_id: str) -> KitManifest | None:
        """The kit if it is on the shelf and unchanged."""
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
    found = hash_files(folder)
    return (
        *(f"{name} is missing" for name in manifest.files if name not in found),
        *(f"{name} was added" for name in found if name not in manifest.files),
        *(f"{name} was changed" for name, digest in found.items() if manifest.files.get(name, digest) != digest),
    )


def _read(path: Path) -> KitManifest | None:
    try:
        return KitManifest.model_validate(json.loads(path.read_bytes()))
    except (OSError, ValueError):
        return None


def _document(content: BaseModel) -> bytes:
    return f"{content.model_dump_json(indent=2)}\n".encode()
