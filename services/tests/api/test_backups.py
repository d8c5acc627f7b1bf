"""A backup that is made while others store results holds one moment, and a restored store gives the same answers."""

import json
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from bench.questions import Asked
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, sign_role_token
from kexbench.domain.backups import MANIFEST
from kexbench.domain.samples import Metric
from kexbench.execution.backing_up import Document, backup
from kexbench.execution.folder import RunFolder
from kexbench.execution.from_backup import opened, restore_backup
from kexbench.runner.results import DamagedFile
from kexbench.settings import Settings
from kexbench.store import migrate
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.columns import sample_columns
from kexbench.store.migrate import load_migrations
from kexbench.store.port import Selection, StoreError
from kexbench.wiring import Installation
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.api.test_golden_answers import answers_of
from tests.api.test_golden_answers import asked as asked  # noqa: PLC0414 (a fixture)
from tests.builders import HOST, a_run, an_alert_event, an_event, an_invocation, newest_runs
from tests.exported import exported_rows
from tests.store.conftest import server_dsn as server_dsn  # noqa: PLC0414 (a fixture)
from tests.stores import clauses_of, made, raw

_numbers = count()
StoreAt = Callable[[str], ClickHouseStore]
NEWEST = len(load_migrations())


@pytest.fixture
def new_store() -> Iterator[StoreAt]:
    """An empty database at an address, not migrated."""
    stores: list[ClickHouseStore] = []

    def new_store(dsn: str) -> ClickHouseStore:
        stores.append(ClickHouseStore(dsn, made(dsn, f"restored_{next(_numbers)}"), clauses_of(dsn)))
        return stores[-1]

    yield new_store
    for store in stores:
        store.close()


def written(store: ClickHouseStore, path: Path, *folders: RunFolder, documents: tuple[Document, ...] = ()) -> Path:
    with path.open("wb") as file:
        file.writelines(backup(store, documents, lambda: folders, path.parent))
    return path


def restored(path: Path, store: ClickHouseStore, home: Path) -> ClickHouseStore:
    with opened(path) as backed_up:
        restore_backup(store, home, backed_up)
    return store


def contents(store: ClickHouseStore) -> dict[str, list[dict[str, Any]]]:
    """All rows, as they count."""
    store.content_version()
    return {
        table: sorted(raw(store).query(f"SELECT * FROM {table} FINAL"), key=str)  # noqa: S608 (of a list)
        for table in [*store.tables_to_back_up(), "summaries", "schema_migrations"]
    }


@pytest.fixture
def filled(empty_store: ClickHouseStore) -> ClickHouseStore:
    """With a run of three invocations and an alert."""
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_event(an_event(run))
    for number in range(3):
        costs = {"fake@1.0": [10 + number, 12, 14], "fake@1.1": [11 + number, 13, 12]}
        empty_store.add_invocation(run, an_invocation(run, number, cpu_ns=costs))
    empty_store.add_alert_event(an_alert_event())
    return empty_store


@pytest.mark.long
def test_every_answer_is_the_same_after_a_restore_whatever_was_stored_during_the_backup(
    asked: Asked,
    empty_store: ClickHouseStore,
    new_store: StoreAt,
    client_of: ClientOf,
    warm_chdb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = answers_of(empty_store, asked, client_of)
    meanwhile = a_run("meanwhile")
    stored = []

    def store_results() -> None:
        empty_store.add_run(meanwhile)
        for number in range(3):
            empty_store.add_invocation(meanwhile, an_invocation(meanwhile, number, cpu_ns={"fake@1.0": [1.0]}))
            stored.append(number)

    writer = threading.Thread(target=store_results)
    applied = empty_store.applied_migrations

    def when_it_is_still() -> dict[int, str]:
        if not writer.ident:
            writer.start()
        return applied()

    monkeypatch.setattr(empty_store, "applied_migrations", when_it_is_still)
    path = tmp_path / "backup.tar"
    with path.open("wb") as file:
        pieces = backup(empty_store, (), list, tmp_path)
        file.write(next(pieces))
        writer.join()  # its samples are there before theirs are read
        file.writelines(pieces)
    assert stored == [0, 1, 2]
    store = restored(path, new_store(warm_chdb), tmp_path)
    (too_late,) = raw(store).query("SELECT count() AS samples FROM samples WHERE run_id = 'meanwhile'")
    assert too_late["samples"] == 9
    assert answers_of(store, asked, client_of) == answers


@pytest.mark.long
def test_a_store_moves_to_a_server_and_back(
    asked: Asked,
    empty_store: ClickHouseStore,
    new_store: StoreAt,
    client_of: ClientOf,
    warm_chdb: str,
    server_dsn: str,
    tmp_path: Path,
) -> None:
    answers, rows = answers_of(empty_store, asked, client_of), contents(empty_store)
    on_server = restored(written(empty_store, tmp_path / "to.tar"), new_store(server_dsn), tmp_path)
    assert answers_of(on_server, asked, client_of) == answers
    back = restored(written(on_server, tmp_path / "back.tar"), new_store(warm_chdb), tmp_path)
    assert answers_of(back, asked, client_of) == answers
    assert contents(back) == rows


def test_what_a_home_has_beside_its_store_is_backed_up_without_its_secrets(
    filled: ClickHouseStore, new_store: StoreAt, warm_chdb: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    channels = "apiVersion: kexbench.dev/v1\nkind: Channels\nchannels:\n  - { name: team, url: 'jsons://key@host/p' }\n"
    repositories = (
        "apiVersion: kexbench.dev/v1\nkind: Repositories\nrepositories:\n"
        "  - { name: a, url: 'https://ghp_key@example.org/a.git' }\n"
    )
    views = "apiVersion: kexbench.dev/v1\nkind: Views\nviews: []\n"
    for name, text in (("channels", channels), ("repositories", repositories), ("views", views)):
        (home / f"{name}.yaml").write_text(text)
    results = Path()
    for run_id in ("delivered", "waiting"):
        folder = RunFolder(home / "runs" / run_id)
        folder.create(run := a_run(run_id))
        folder.add_event(an_event(run))
        results = folder.results(a_run().plan.jobs[0])
        results.parent.mkdir()
        results.write_bytes(b'{"whole": 1}\n{"half')
        folder.log.write_text("password=ghp_key")
    RunFolder(home / "runs" / "delivered").mark_delivered()
    path = tmp_path / "backup.tar"
    with path.open("wb") as file:
        file.writelines(Installation(Settings(home=home)).backup(filled))
    for secret in (b"ghp_key", b"key@host"):
        assert secret not in path.read_bytes()
    target = tmp_path / "target"
    restored(path, new_store(warm_chdb), target)
    files = {str(each.relative_to(target)): each.read_bytes() for each in target.rglob("*") if each.is_file()}
    assert files.pop("repositories.incomplete.yaml").decode() == repositories.replace("//ghp_key@", "…")
    assert files.pop("channels.incomplete.yaml").decode() == channels.replace("jsons://key@host/p", "…")
    assert files.pop("views.yaml").decode() == views
    waiting = home / "runs" / "waiting"
    assert files.pop(f"runs/waiting/results/{results.name}") == b'{"whole": 1}\n'
    assert files == {f"runs/waiting/{name}": (waiting / name).read_bytes() for name in ("run.json", "events.ndjson")}
    with opened(path) as backed_up:
        left_out = " ".join(backed_up.manifest.left_out)
    assert "the secrets in channels.yaml: complete channels.incomplete.yaml" in left_out


def changed(
    path: Path,
    change: Callable[[dict[str, Any]], None] = lambda _: None,
    members: Mapping[str, bytes | None] = MappingProxyType({}),
) -> Path:
    """A copy whose manifest was changed; `members` are further ones, or those that are left out."""
    target = path.with_name("changed.tar")
    with tarfile.open(path) as reading, tarfile.open(target, "w") as writing:
        contents = {each.name: (reading.extractfile(each) or BytesIO()).read() for each in reading}
        manifest = json.loads(contents.pop(MANIFEST))
        change(manifest)
        contents = {name: text for name, text in contents.items() if name not in members}
        contents |= {name: text for name, text in members.items() if text is not None}
        for name, text in {**contents, MANIFEST: json.dumps(manifest).encode()}.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            writing.addfile(member, BytesIO(text))
    return target


def test_a_damaged_backup_is_refused_before_anything_is_restored(
    filled: ClickHouseStore, new_store: StoreAt, warm_chdb: str, tmp_path: Path
) -> None:
    path = written(filled, tmp_path / "backup.tar")
    whole, samples = path.read_bytes(), "tables/samples/1.parquet"
    with tarfile.open(path) as archive:
        place = archive.getmember(samples).offset_data + 10
    flipped = bytes([whole[place] ^ 1])
    store, home = new_store(warm_chdb), tmp_path / "home"
    for content, said in (
        (whole[:place] + flipped + whole[place + 1 :], f"{samples} is damaged: its SHA-256 is another"),
        (whole[: place + 1], "is not a whole backup"),
        (whole[: whole.rindex(MANIFEST.encode())], "does not end with its manifest"),
        (b"", "is not a backup"),
        (b"no archive" * 100, "is not a backup"),
    ):
        path.write_bytes(content)
        with pytest.raises(DamagedFile, match=said):
            restored(path, store, home)
    path.write_bytes(whole)
    for copy, said in (
        (changed(path, members={samples: None}), "its files are not those of its manifest"),
        (changed(path, members={"runs/more": b""}), "its files are not those of its manifest"),
        (changed(path, members={"../more": b""}), "its files are not those of its manifest"),
    ):
        with pytest.raises(DamagedFile, match=said):
            restored(copy, store, home)
    with pytest.raises(DamagedFile, match="its manifest is not of format 1: format"):
        restored(changed(path, lambda manifest: manifest.update(format=2)), store, home)

    def leading_elsewhere(manifest: dict[str, Any]) -> None:
        manifest["files"][0]["name"] = "runs/../../more"

    with pytest.raises(DamagedFile, match=r"files\.0\.name"):
        restored(changed(path, leading_elsewhere), store, home)
    assert not home.exists()
    assert contents(restored(path, store, home)) == contents(filled)


def test_a_backup_of_a_newer_or_another_schema_is_refused(
    filled: ClickHouseStore, new_store: StoreAt, warm_chdb: str, tmp_path: Path
) -> None:
    path, store = written(filled, tmp_path / "backup.tar"), new_store(warm_chdb)

    def newer(manifest: dict[str, Any]) -> None:
        manifest["migrations"][str(NEWEST + 1)] = "0" * 64
        manifest["kexbench"] = "9.0.0"

    with pytest.raises(StoreError, match=f"has migration {NEWEST + 1} of kexbench 9.0.0, this release knows") as error:
        restored(changed(path, newer), store, tmp_path)
    assert error.value.remedy == "restore it with kexbench 9.0.0 or a newer release; nothing was changed"
    with pytest.raises(StoreError, match="migration 1 differs"):
        restored(changed(path, lambda manifest: manifest["migrations"].update({"1": "0" * 64})), store, tmp_path)
    assert contents(restored(path, store, tmp_path)) == contents(filled)


def test_a_store_or_home_that_has_something_else_is_left_as_it_is(
    filled: ClickHouseStore, new_store: StoreAt, warm_chdb: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    views = tmp_path / "views.yaml"
    views.write_text("apiVersion: kexbench.dev/v1\nkind: Views\nviews: []\n")
    path = written(filled, tmp_path / "backup.tar", documents=(Document("views.yaml", views),))
    store, other = new_store(warm_chdb), a_run("other")
    (home / "views.yaml").write_text("mine")
    with pytest.raises(StoreError, match=r"views\.yaml exists with another content; nothing was changed"):
        restored(path, store, home)
    assert (home / "views.yaml").read_text() == "mine"
    (home / "views.yaml").write_bytes(views.read_bytes())
    store.migrate()
    store.add_run(other)
    before = contents(store)
    with pytest.raises(StoreError, match="the store is not empty: it has rows of runs; nothing was changed"):
        restored(path, store, home)
    assert contents(store) == before
    assert newest_runs(store, 5) == [other]
    empty_and_migrated = new_store(warm_chdb)
    empty_and_migrated.migrate()
    assert contents(restored(path, empty_and_migrated, home)) == contents(filled)


class Dying(ClickHouseStore):
    """Fails at a statement or an insert."""

    left: int

    def _command(self, *given: Any, **named: Any) -> None:
        self._live()
        super()._command(*given, **named)

    def put_back(self, *given: Any) -> None:
        self._live()
        super().put_back(*given)

    def _live(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise InterruptedError


@pytest.mark.parametrize("left", [3, 40, *(pytest.param(each, marks=pytest.mark.thorough) for each in (60, 90))])
def test_an_interrupted_restore_is_recognised_and_only_the_same_backup_completes_it(
    filled: ClickHouseStore, new_store: StoreAt, warm_chdb: str, tmp_path: Path, left: int
) -> None:
    path, store = written(filled, tmp_path / "backup.tar"), new_store(warm_chdb)
    dying = raw(store).opened_as(Dying)
    dying.left = left
    with pytest.raises(InterruptedError):
        restored(path, dying, tmp_path)
    dying.close()
    with pytest.raises(StoreError, match="a restore into this store has not finished") as unfinished:
        store.migrate()
    assert unfinished.value.remedy == "repeat kexbench restore with the same backup, which completes it"
    filled.add_run(a_run("later"))
    with pytest.raises(StoreError, match="another backup's restore into this store has not finished"):
        restored(written(filled, tmp_path / "later.tar"), store, tmp_path)
    restored(path, store, tmp_path)
    store.migrate()
    assert newest_runs(store, 5) == [a_run()]
    expected, found = contents(filled), contents(store)
    expected["runs"] = [row for row in expected["runs"] if row["run_id"] != "later"]
    assert found == expected


class DyingAtTheEnd(ClickHouseStore):
    def _summarise_missing(self) -> None:
        raise InterruptedError


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_backup_of_an_earlier_schema_is_brought_to_this_one(
    new_store: StoreAt, warm_chdb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted: bool
) -> None:
    """A later migration withdraws numbers, also where it was interrupted after the rows were in."""
    earlier, store = new_store(warm_chdb), new_store(warm_chdb)
    (withdraws,) = (migration.version for migration in load_migrations() if migration.name == "withdrawn")
    before = [migration for migration in load_migrations() if migration.version < withdraws]
    run = a_run()
    with monkeypatch.context() as release:
        release.setattr(migrate, "load_migrations", lambda: before)
        for of_later_tables in ("_apply_set_asides", "_summarise_missing"):
            release.setattr(ClickHouseStore, of_later_tables, lambda _: None)
        earlier.migrate()
        assert max(earlier.applied_migrations()) == withdraws - 1
        earlier.add_run(run)
        measured = an_invocation(run, cpu_ns={"fake@1.0": [7.0]})
        held = measured.samples[0].model_copy(update={"metric": Metric.SERVER_HELD_BYTES})
        with_held = measured.model_copy(update={"samples": (*measured.samples, held)})
        earlier.add_invocation(run, measured)
        earlier._insert("samples", sample_columns(run, [with_held], HOST))
        path = written(earlier, tmp_path / "backup.tar")
    with opened(path) as backed_up:
        assert max(backed_up.manifest.migrations) == withdraws - 1
    if interrupted:
        dying = raw(store).opened_as(DyingAtTheEnd)
        with pytest.raises(InterruptedError):
            restored(path, dying, tmp_path)
        assert max(dying.applied_migrations()) == NEWEST
        dying.close()
    restored(path, store, tmp_path)
    store.migrate()
    assert max(store.applied_migrations()) == NEWEST
    (row,) = raw(store).query("SELECT metric, value FROM withdrawn FINAL")
    assert row == {"metric": "server_held_bytes", "value": 7.0}
    assert {row["metric"] for row in raw(store).query("SELECT DISTINCT metric FROM samples FINAL")} == {
        "cpu_ns",
        "client_cpu_ns",
        "server_cpu_ns",
    }


def token_of(role: str) -> str:
    return sign_role_token("alice", role, SECRET, now=datetime.now(UTC))


def test_only_the_owner_of_the_store_may_back_it_up(
    filled: ClickHouseStore, client_of: ClientOf, tmp_path: Path
) -> None:
    app = create_app(filled, LocalGatekeeper(SECRET), None, backup=lambda: backup(filled, (), list, tmp_path))
    with client_of(app) as client:
        assert_problem(client.get(f"{API_PREFIX}/store/backup"), 401)
        refused, answer = (
            client.get(f"{API_PREFIX}/store/backup", headers={"Authorization": f"Bearer {token_of(role)}"})
            for role in ("submitter", "dispatcher")
        )
    assert_problem(refused, 403, "alice is a submitter, which may not do this")
    assert answer.status_code == 200, answer.text
    path = tmp_path / "backup.tar"
    path.write_bytes(answer.content)
    with opened(path) as backed_up:
        rows = {table.table: table.rows for table in backed_up.manifest.tables}
    assert (rows["runs"], rows["invocations"], rows["samples"], rows["alert_events"]) == (1, 3, 18, 1)
    assert len(exported_rows(filled, Selection(Metric.CPU_NS))) == 6
