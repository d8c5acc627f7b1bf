"""The kit store that an API serves to pods: kits are uploaded as archives, checked, and downloaded as archives.

<root>/.incoming/   uploads in progress
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
from kexbench.domain.libraries import CRATES
from kexbench.domain.plans import SENTINEL, Plan
from kexbench.kits.sentinel import why_freeze
from kexbench.kits.store import KitStore
from kexbench.kits.transport import KIT_MAX_BYTES, DamagedKit, pack, unpack

FRESH = timedelta(hours=24)
"""How long a reference that may move to another version keeps its kit."""
_FIXED_ORIGIN = re.compile(r"tarball:.*|git:.*#[0-9a-f]{40}|crate/.*|toolchain/.*")
"""An origin that names a hash or a release always means the same sources."""


class OtherKit(Exception):
    """The uploaded kit is not the one that was ordered. The text names both."""


@dataclass(frozen=True)
class OrderedKit:
    """What an uploaded kit must be. After the upload, the reference means this kit."""

    reference: SubjectRef
    architecture: str
    ingredients: str


@dataclass
class Arrival:
    """An upload of one kit's archive, in pieces. Its methods raise DamagedKit."""

    kit_id: str
    ordered: OrderedKit
    place: Path
    file: BinaryIO
    kit_store: KitStore
    packed: Path
    size: int = 0

    def write(self, piece: bytes) -> None:
        self.size += self.file.write(piece)
        if self.size > KIT_MAX_BYTES:
            raise DamagedKit(f"kit {self.kit_id} is larger than {KIT_MAX_BYTES >> 20} MiB")

    def take(self) -> KitManifest:
        """Check the upload and place it in the kit store as the kit of the ordered reference. Also raises OtherKit."""
        self.file.flush()
        ordered = self.ordered
        manifest = unpack(self.place / "archive", self.kit_id, self.place / "kit")
        if (manifest.ref, manifest.build_profile.architecture) != (ordered.reference, ordered.architecture):
            raise OtherKit(
                f"kit {self.kit_id} is {manifest.ref} for {manifest.build_profile.architecture}, "
                f"expected {ordered.reference} for {ordered.architecture}"
            )
        if self.kit_store.place(self.place / "kit", manifest):
            self.packed.unlink(missing_ok=True)  # an archive of a damaged copy
        self.kit_store.means(ordered.reference, ordered.architecture, self.kit_id, ordered.ingredients)
        return manifest


class SharedKitStore:
    """A kit store in the folder `root` that serves pods. Only kits with the harness `worker_sha256` count.
    One process writes to it at a time. Opening it deletes uploads that a killed process left, unless it is `shared`
    with processes that may be receiving some: then the one that begins to write deletes them."""

    def __init__(self, root: Path, worker_sha256: str, *, shared: bool = False) -> None:
        self.kit_store = KitStore(root)
        self._worker_sha256 = worker_sha256
        self._packing = Lock()
        if not shared:
            self.begin()

    def begin(self) -> None:
        """Prepare it for writing."""
        root = self.kit_store.root
        shutil.rmtree(root / ".incoming", ignore_errors=True)
        for name in (".incoming", ".packed", "refs"):
            (root / name).mkdir(parents=True, exist_ok=True)

    def archive(self, kit_id: str) -> Path:
        """The kit as one file. Raises KeyError if there is no such kit."""
        folder = self.kit_store.folder(kit_id)
        packed = self._packed(kit_id)
        with self._packing:  # the pods of a run request a kit at the same time
            if not packed.exists():
                pack(folder, packed)
        return packed

    @contextmanager
    def arrival(self, kit_id: str, ordered: OrderedKit) -> Iterator[Arrival]:
        """An upload. It is deleted at the end of the context unless it was taken."""
        place = self.kit_store.root / ".incoming" / f"{kit_id}-{secrets.token_hex(4)}"
        place.mkdir()
        try:
            with (place / "archive").open("wb") as file:
                yield Arrival(kit_id, ordered, place, file, self.kit_store, self._packed(kit_id))
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def kits_of(self, plan: Plan, architecture: str) -> dict[str, KitManifest | None]:
        """The current kit of every reference of a plan, by the reference; None if it has to be built."""
        named = (*plan.subjects, *plan.peers)
        kits = {subject.reference: self._fresh(SubjectRef.parse(subject.reference), architecture) for subject in named}
        if plan.sentinel and plan.sentinel not in kits:  # a sentinel that is also a subject gets its current kit
            sentinel = SubjectRef.parse(plan.sentinel)
            kits[plan.sentinel] = self._frozen(sentinel, architecture) or self._fresh(sentinel, architecture)
        return kits

    def frozen_for(self, plan: Plan, kits: dict[str, KitManifest]) -> dict[str, KitManifest]:
        """A run's kits, including the sentinel's. A new sentinel is frozen if the old one can't be kept."""
        own = {subject.reference: kits[subject.reference] for subject in (*plan.subjects, *plan.peers)}
        if not plan.sentinel:
            return own
        reference, fresh = SubjectRef.parse(plan.sentinel), kits[plan.sentinel]
        kit = self._frozen(reference, fresh.build_profile.architecture)
        if kit is None:
            self.kit_store.freeze(reference, fresh)
        return {SENTINEL: kit or fresh, **own}

    def _fresh(self, reference: SubjectRef, architecture: str) -> KitManifest | None:
        kit, recorded = self.kit_store.find(reference, architecture), self.kit_store.meant_at(reference, architecture)
        if kit is None or recorded is None or kit.worker_source_sha256 != self._worker_sha256:
            return None
        stale = _moves(reference) and datetime.now(UTC) - recorded > FRESH
        return None if stale else kit

    def _frozen(self, reference: SubjectRef, architecture: str) -> KitManifest | None:
        """The sentinel's kit, if it can be kept."""
        frozen = self.kit_store.frozen(architecture)
        kit = self.kit_store.get(frozen.kit_id) if frozen else None
        return kit if why_freeze(reference, frozen, kit, self._worker_sha256) is None else None

    def _packed(self, kit_id: str) -> Path:
        return self.kit_store.root / ".packed" / f"{kit_id}.tar"


def _moves(reference: SubjectRef) -> bool:
    """Whether a reference may mean another version later, of the library or of what it stands on."""
    crate = CRATES.get(reference.library)
    if crate and crate.newest_below:
        return True
    return reference.told_version is None and not _FIXED_ORIGIN.fullmatch(reference.origin)
