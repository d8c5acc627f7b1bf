"""A shelf that others are supplied from: kits arrive as archives, are checked, and leave as archives.

<root>/.incoming/   uploads under way
<root>/.packed/     archives of kits; safe to delete
"""

import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.plans import SENTINEL, Plan
from kexbench.kits.sentinel import why_freeze
from kexbench.kits.shelf import Shelf
from kexbench.kits.transport import KIT_MAX_BYTES, DamagedKit, pack, unpack

FRESH = timedelta(hours=24)
"""So long a reference that may come to mean another version is taken to mean what it meant."""
_FIXED_ORIGIN = re.compile(r"tarball:.*|git:.*#[0-9a-f]{40}")
"""Named by a hash: whatever its place has next, it isn't this."""


class OtherKit(Exception):
    """What arrived is a kit, and not the one that was to be built; the text says which it is."""


@dataclass(frozen=True)
class OrderedKit:
    """What a kit that arrives was to be built as; it is what the reference means from then on."""

    reference: SubjectRef
    architecture: str
    ingredients: str


@dataclass
class Arrival:
    """The archive of one kit, piece by piece. Its methods raise DamagedKit."""

    kit_id: str
    wanted: OrderedKit
    place: Path
    file: BinaryIO
    shelf: Shelf
    packed: Path
    size: int = 0

    def write(self, piece: bytes) -> None:
        self.size += self.file.write(piece)
        if self.size > KIT_MAX_BYTES:
            raise DamagedKit(f"kit {self.kit_id} is larger than {KIT_MAX_BYTES >> 20} MiB")

    def take(self) -> KitManifest:
        """Check what arrived and put it on the shelf, as what the wanted reference means. Raises OtherKit, too."""
        self.file.flush()
        wanted = self.wanted
        manifest = unpack(self.place / "archive", self.kit_id, self.place / "kit")
        if (manifest.ref, manifest.build_profile.architecture) != (wanted.reference, wanted.architecture):
            raise OtherKit(
                f"kit {self.kit_id} is of {manifest.ref} for {manifest.build_profile.architecture}, "
                f"wanted is {wanted.reference} for {wanted.architecture}"
            )
        if self.shelf.place(self.place / "kit", manifest):
            self.packed.unlink(missing_ok=True)  # made from a damaged one
        self.shelf.means(wanted.reference, wanted.architecture, self.kit_id, wanted.ingredients)
        return manifest


class Depot:
    """Of a shelf in the folder `root`; `worker_sha256` is the harness whose kits count. A shelf has one depot at a
    time, which clears away the uploads that an earlier one was killed in."""

    def __init__(self, root: Path, worker_sha256: str) -> None:
        self.shelf = Shelf(root)
        self._worker_sha256 = worker_sha256
        self._packing = Lock()
        shutil.rmtree(root / ".incoming", ignore_errors=True)
        for name in (".incoming", ".packed", "refs"):
            (root / name).mkdir(parents=True, exist_ok=True)

    def archive(self, kit_id: str) -> Path:
        """The kit as one file. Raises KeyError where there is no such kit."""
        folder = self.shelf.folder(kit_id)
        packed = self._packed(kit_id)
        with self._packing:  # the pods of a run ask for a kit at the same time
            if not packed.exists():
                pack(folder, packed)
        return packed

    @contextmanager
    def arrival(self, kit_id: str, wanted: OrderedKit) -> Iterator[Arrival]:
        """A kit that is coming in; what is not taken until the context ends is gone."""
        place = self.shelf.root / ".incoming" / f"{kit_id}-{secrets.token_hex(4)}"
        place.mkdir()
        try:
            with (place / "archive").open("wb") as file:
                yield Arrival(kit_id, wanted, place, file, self.shelf, self._packed(kit_id))
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def kits_of(self, plan: Plan, architecture: str) -> dict[str, KitManifest | None]:
        """The kit of every reference of a plan that counts now, by the reference; None where one is to be built."""
        named = (*plan.subjects, *plan.peers)
        found = {subject.reference: self._fresh(SubjectRef.parse(subject.reference), architecture) for subject in named}
        if plan.sentinel and plan.sentinel not in found:  # as a subject it is to be what its reference means now
            wanted = SubjectRef.parse(plan.sentinel)
            found[plan.sentinel] = self._frozen(wanted, architecture) or self._fresh(wanted, architecture)
        return found

    def frozen_for(self, plan: Plan, kits: dict[str, KitManifest]) -> dict[str, KitManifest]:
        """A run's kits, the sentinel's among them, which is frozen now where it can't stay what it was."""
        own = {subject.reference: kits[subject.reference] for subject in (*plan.subjects, *plan.peers)}
        if not plan.sentinel:
            return own
        reference, fresh = SubjectRef.parse(plan.sentinel), kits[plan.sentinel]
        kit = self._frozen(reference, fresh.build_profile.architecture)
        if kit is None:
            self.shelf.freeze(reference, fresh)
        return {SENTINEL: kit or fresh, **own}

    def _fresh(self, reference: SubjectRef, architecture: str) -> KitManifest | None:
        kit, at = self.shelf.find(reference, architecture), self.shelf.meant_at(reference, architecture)
        if kit is None or at is None or kit.worker_source_sha256 != self._worker_sha256:
            return None
        stale = _moves(reference) and datetime.now(UTC) - at > FRESH
        return None if stale else kit

    def _frozen(self, reference: SubjectRef, architecture: str) -> KitManifest | None:
        """The sentinel's kit, as long as it can stay what it is."""
        frozen = self.shelf.frozen(architecture)
        kit = self.shelf.get(frozen.kit_id) if frozen else None
        return kit if why_freeze(reference, frozen, kit, self._worker_sha256) is None else None

    def _packed(self, kit_id: str) -> Path:
        return self.shelf.root / ".packed" / f"{kit_id}.tar"


def _moves(reference: SubjectRef) -> bool:
    """Whether a reference may come to mean another version by itself."""
    return reference.told_version is None and not _FIXED_ORIGIN.fullmatch(reference.origin)
