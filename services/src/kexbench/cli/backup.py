"""`kexbench backup` and `kexbench restore`: the store in one file, and from it."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kexbench.cli.console import out, print_json, say
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import on_this_machine, reach_api
from kexbench.files import written_whole
from kexbench.service import own_store
from kexbench.wiring import Installation

if TYPE_CHECKING:
    from kexbench.domain.backups import BackupManifest

_SAY_EVERY_S = 5.0


def backup(
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write, whole or not at all.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Back up the store of this machine, or of the cluster that KEXBENCH_API_URL names, while it is used.

    The file holds every result, alert, bisection, schedule and watched commit; repositories.yaml, channels.yaml and
    views.yaml without the secrets in them; and runs whose results are not stored yet. Uploads wait for some seconds.
    The sums of the file are checked before it gets its name, and a file of that name is replaced. kexbench restore
    reads it, into an embedded store or a ClickHouse server.

    Of a cluster, only the dispatcher's account may do this.

    Examples:

        kexbench backup kexbench.tar
        kexbench backup /backups/kexbench-$(date +%F).tar --json | jq .rows
    """
    if target.is_dir() or not target.parent.is_dir():
        raise typer.BadParameter(f"{target} cannot be written: name a file in a folder that exists")
    try:
        with written_whole(target) as file, reach_api(role="dispatcher") as api:
            progress = _Progress("received", 1e6, "MB")
            size_bytes = 0
            for piece in api.stream("/store/backup"):
                file.write(piece)
                size_bytes += len(piece)
                progress(size_bytes, None)
            file.flush()
            manifest = _checked(Path(file.name))
    except BlockingIOError:
        raise typer.BadParameter(f"another process writes {target}") from None
    _report(manifest, f"backed up to {target}, {size_bytes / 1e6:,.1f} MB", {"file": str(target)}, as_json=as_json)


def restore(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="From kexbench backup.", show_default=False),
    ],
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty store: an embedded one in KEXBENCH_HOME, or the ClickHouse server that
    KEXBENCH_STORE_URL names. It may come from either.

    Nothing that exists is overwritten: a store that has results is refused, and so is a home that has one of the
    backup's files with another content. The sums of the file are checked first. A backup of an earlier release is
    brought to the schema of this one. After an interruption, the same command continues; until it has finished, the
    store does not open. No service may run on this store meanwhile.

    Examples:

        kexbench restore kexbench.tar
        KEXBENCH_HOME=/srv/bench kexbench restore kexbench.tar
        KEXBENCH_STORE_URL=http://kexbench@db:8123 KEXBENCH_STORE_PASSWORD_FILE=password kexbench restore kexbench.tar
    """
    from kexbench.execution.from_backup import opened, restore_backup  # noqa: PLC0415 (other verbs need none of it)

    settings = on_this_machine("kexbench restore fills a store that it reaches itself", "run it next to that store")
    installation = Installation(settings)
    lock = own_store(settings)
    try:
        with opened(source, _Progress("checked", 1e6, "MB")) as backed_up:
            store = installation.store_to_restore()
            try:
                restore_backup(store, settings.home, backed_up, _Progress("stored", 1, "rows"))
            finally:
                store.close()
            manifest = backed_up.manifest
    finally:
        lock.release()
    where = str(settings.home / "store") if settings.store_is_embedded else "the ClickHouse server"
    _report(manifest, f"restored into {where}", {"store": where}, as_json=as_json)


class _Progress:
    """A line now and then."""

    def __init__(self, verb: str, scale: float, unit: str) -> None:
        self._verb, self._scale, self._unit = verb, scale, unit
        self._said_at_s = time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        if time.monotonic() - self._said_at_s >= _SAY_EVERY_S:
            self._said_at_s = time.monotonic()
            of = "" if total is None else f" of {total / self._scale:,.0f}"
            say(f"{self._verb} {done / self._scale:,.0f}{of} {self._unit}")


def _checked(path: Path) -> "BackupManifest":
    from kexbench.execution.from_backup import opened  # noqa: PLC0415 (other verbs need none of it)

    with opened(path) as written:
        return written.manifest


def _report(manifest: "BackupManifest", headline: str, also: dict[str, str], *, as_json: bool) -> None:
    rows = {table.table: table.rows for table in manifest.tables}
    runs = sorted({file.name.split("/")[1] for file in manifest.files if file.name.startswith("runs/")})
    if as_json:
        of_manifest = {"at": manifest.at.isoformat(), "kexbench": manifest.kexbench, "engine": manifest.engine}
        schema = {"migration": max(manifest.migrations), "rows": rows, "undelivered_runs": runs}
        print_json({**also, **of_manifest, **schema, "left_out": list(manifest.left_out)})
        return
    out.print(headline, markup=False, soft_wrap=True)
    made = f"as of {manifest.at:%Y-%m-%d %H:%M:%S} UTC, kexbench {manifest.kexbench}, {manifest.engine}"
    out.print(
        f"  {made}: {rows.get('runs', 0):,} runs, {rows.get('samples', 0):,} samples", markup=False, soft_wrap=True
    )
    if runs:
        out.print(f"  with runs whose results were not stored yet: {', '.join(runs)}", markup=False, soft_wrap=True)
    for left_out in manifest.left_out:
        out.print(f"  without {left_out}", markup=False, soft_wrap=True)
