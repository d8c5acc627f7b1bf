"""Transfers kits between machines: one reproducible archive for each kit, fully checked on arrival."""

import shutil
import tarfile
from pathlib import Path

from kexbench.domain.kits import KitManifest
from kexbench.kits.extraction import UnsafeMember, extract
from kexbench.kits.recipe import MANIFEST_NAME, hash_files

KIT_MAX_BYTES = 1 << 30


class DamagedKit(Exception):
    """The received archive is not the requested kit. The text says why."""


def pack(kit: Path, archive: Path) -> None:
    """Pack the kit in the folder `kit`. The archive appears when it is complete. It may have only one writer."""
    partial = archive.with_name(f".{archive.name}")
    # Dereferenced, so that hard links in one copy of a kit don't change its archive.
    with tarfile.open(partial, "w", format=tarfile.PAX_FORMAT, dereference=True) as packed:
        for path in sorted(kit.rglob("*")):
            packed.add(path, path.relative_to(kit).as_posix(), recursive=False, filter=_plain)
    partial.replace(archive)


def unpack(archive: Path, kit_id: str, kit: Path) -> KitManifest:
    """Unpack a kit into the new folder `kit`. Raises DamagedKit and deletes the folder.

    A kit's id is a hash of its manifest, which contains a hash of every file. So only the kit with this id passes,
    with or without a probe.
    """
    try:
        with tarfile.open(archive, "r:") as packed:  # uncompressed, so its size limits the output
            _check_members(packed.getmembers(), kit_id)
            extract(packed, kit)
        manifest = KitManifest.model_validate_json((kit / MANIFEST_NAME).read_bytes())
        if manifest.kit_id != kit_id:
            raise DamagedKit(f"received kit {manifest.kit_id}, expected {kit_id}")
        if hash_files(kit) != manifest.files:
            raise DamagedKit(f"the files of kit {kit_id} do not match its manifest")
        _make_read_only(kit)
    except (OSError, ValueError, tarfile.TarError, UnsafeMember) as error:
        shutil.rmtree(kit, ignore_errors=True)
        raise DamagedKit(f"kit {kit_id} can't be unpacked: {error}") from error
    except DamagedKit:
        shutil.rmtree(kit, ignore_errors=True)
        raise
    return manifest


def _check_members(members: list[tarfile.TarInfo], kit_id: str) -> None:
    """Raises DamagedKit for members that no kit has. `extract` checks where members lead to."""
    if sum(member.size for member in members) > KIT_MAX_BYTES:
        raise DamagedKit(f"kit {kit_id} is larger than {KIT_MAX_BYTES >> 20} MiB")
    if special := next((member.name for member in members if not (member.isfile() or member.isdir())), None):
        raise DamagedKit(f"kit {kit_id} contains {special}, which is neither a file nor a folder")


def _make_read_only(kit: Path) -> None:
    """Make the files read-only, as in new kits, so that nobody changes them by mistake."""
    for path in kit.rglob("*"):
        if path.is_file():
            path.chmod(path.stat().st_mode & 0o555)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member without owner and time. Of its mode, only the executable bit counts."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member
