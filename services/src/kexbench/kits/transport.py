"""A kit on its way between machines: one archive, the same bytes for the same kit, checked whole when it arrives."""

import shutil
import tarfile
from pathlib import Path

from kexbench.domain.kits import KitManifest
from kexbench.kits.extraction import UnsafeMember, extract
from kexbench.kits.recipe import MANIFEST_NAME, hash_files

KIT_MAX_BYTES = 1 << 30


class DamagedKit(Exception):
    """What arrived is not the kit that was asked for; the text says why."""


def pack(kit: Path, archive: Path) -> None:
    """Write the kit in the folder `kit` to a new file, whole once this returns. One at a time may write an archive."""
    partial = archive.with_name(f".{archive.name}")
    # Dereferenced: what is hard-linked in one copy of a kit and not in another is the same file in both archives.
    with tarfile.open(partial, "w", format=tarfile.PAX_FORMAT, dereference=True) as packed:
        for path in sorted(kit.rglob("*")):
            packed.add(path, path.relative_to(kit).as_posix(), recursive=False, filter=_plain)
    partial.replace(archive)


def unpack(archive: Path, kit_id: str, kit: Path) -> KitManifest:
    """Lay out a kit in the new folder `kit`. Raises DamagedKit, after which there is no such folder.

    A kit's id is a hash of its manifest, which holds a hash of every file: so nothing but the kit of this id passes,
    with a probe or without.
    """
    try:
        with tarfile.open(archive, "r:") as packed:  # never compressed, so no more comes out than went in
            _check_members(packed.getmembers(), kit_id)
            extract(packed, kit)
        manifest = KitManifest.model_validate_json((kit / MANIFEST_NAME).read_bytes())
        if manifest.kit_id != kit_id:
            raise DamagedKit(f"kit {manifest.kit_id} arrived in place of {kit_id}")
        if hash_files(kit) != manifest.files:
            raise DamagedKit(f"the files of kit {kit_id} are not those that its manifest names")
        _make_read_only(kit)
    except (OSError, ValueError, tarfile.TarError, UnsafeMember) as error:
        shutil.rmtree(kit, ignore_errors=True)
        raise DamagedKit(f"kit {kit_id} can't be unpacked: {error}") from error
    except DamagedKit:
        shutil.rmtree(kit, ignore_errors=True)
        raise
    return manifest


def _check_members(members: list[tarfile.TarInfo], kit_id: str) -> None:
    """Raises DamagedKit for what no kit holds. Where a member leads to is checked when it is laid out."""
    if sum(member.size for member in members) > KIT_MAX_BYTES:
        raise DamagedKit(f"kit {kit_id} is larger than {KIT_MAX_BYTES >> 20} MiB")
    if odd := next((member.name for member in members if not (member.isfile() or member.isdir())), None):
        raise DamagedKit(f"kit {kit_id} has {odd}, which is neither a file nor a folder")


def _make_read_only(kit: Path) -> None:
    """As kits are made: nobody changes one by mistake."""
    for path in kit.rglob("*"):
        if path.is_file():
            path.chmod(path.stat().st_mode & 0o555)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nothing of the machine: no owner, no time; who may run a file and nothing else of its mode."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member
