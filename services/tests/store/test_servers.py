"""Servers of several kinds: behind TLS with an authority of their own, and one replica of several."""

import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
import trustme
from clickhouse_connect.driver.exceptions import DatabaseError

from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from kexbench.store.port import StoreAway, StoreError
from kexbench.store.rights import grants
from kexbench.wiring import Installation
from tests.store.conftest import small_server
from tests.stores import raw

REPLICATED = EngineClauses("ReplicatedReplacingMergeTree")


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def address(authority: trustme.CA, tmp_path: Path) -> Iterator[str]:
    certificate = tmp_path / "certificate.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(certificate))
    with small_server("--tls", certificate, tmp_path / "server", *grants("kexbench")) as port:
        yield f"https://kexbench:s3cret@127.0.0.1:{port}"


def test_a_server_whose_certificate_is_of_a_private_authority_is_used(
    address: str, authority: trustme.CA, tmp_path: Path
) -> None:
    file = tmp_path / "authority of ours.pem"
    authority.cert_pem.write_to_path(str(file))
    with closing(Installation(Settings(store_url=address, store_ca_file=file)).open_store()) as store:
        assert store.engine().startswith("ClickHouse")


@pytest.mark.parametrize("names_another", [False, True])
def test_a_certificate_of_nobody_that_is_trusted_is_said_with_the_remedy(
    address: str, names_another: bool, tmp_path: Path
) -> None:
    file = tmp_path / "another.pem"
    trustme.CA().cert_pem.write_to_path(str(file))
    settings = Settings(store_url=address, store_ca_file=file if names_another else None)
    with pytest.raises(StoreError, match=r"^the certificate of the ClickHouse server is not trusted$") as refused:
        Installation(settings).open_store()
    assert "KEXBENCH_STORE_CA_FILE" in refused.value.remedy
    assert "s3cret" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize("setting", ["store_ca_file", "store_password_file"])
def test_a_file_that_is_missing_is_named_with_the_settings(setting: str, tmp_path: Path) -> None:
    settings = Settings.model_validate({"store_url": "https://db:8443", setting: tmp_path / "missing.pem"})
    with pytest.raises(StoreError, match=r"missing\.pem: No such file or directory$") as refused:
        Installation(settings).open_store()
    assert f"KEXBENCH_{setting.upper()}" in refused.value.remedy


def test_an_address_without_tls_is_not_used_where_tls_is_asked_for(tmp_path: Path) -> None:
    """Whatever the port: the client of the database would decide by it."""
    with small_server(tmp_path, *grants("kexbench")) as port, pytest.raises(StoreAway):
        Installation(Settings(store_url=f"https://kexbench:s3cret@127.0.0.1:{port}")).open_store()


def test_tables_are_replicated_only_in_a_replicated_database(tmp_path: Path) -> None:
    with small_server(tmp_path, *grants("kexbench")) as port:
        for clauses in (REPLICATED, EngineClauses(), REPLICATED):
            with closing(ClickHouseStore(f"http://127.0.0.1:{port}", "kexbench", clauses)) as store:
                if not clauses.is_replicated:
                    store.migrate()
                    continue
                with pytest.raises(StoreError, match="the database kexbench is not replicated") as refused:
                    store.migrate()
                assert "CREATE DATABASE kexbench ENGINE = Replicated(" in refused.value.remedy


@pytest.mark.parametrize("code", [242, 285, 286, 319, 999])
def test_a_write_that_too_few_replicas_confirm_is_repeated_later(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = Mock(data_insert=Mock(side_effect=DatabaseError("s3cret", code=code)))
    monkeypatch.setattr(ClickHouseStore, "_client", refusing)
    store = ClickHouseStore("http://127.0.0.1:1", "kexbench", REPLICATED)
    with pytest.raises(StoreAway, match=rf"^too few replicas of the ClickHouse server answer \(error {code}\)"):
        raw(store).insert("runs", [{"run_id": "r"}])


def test_most_replicas_confirm_each_statement_of_a_replicated_store_and_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with small_server(tmp_path, *grants("kexbench")) as port:
        for clauses, quorum in ((REPLICATED, "auto"), (EngineClauses(), "0")):
            store = ClickHouseStore(f"http://127.0.0.1:{port}", "default", clauses)
            with closing(store):
                assert raw(store).query("SELECT toString(getSetting('insert_quorum')) AS quorum") == [
                    {"quorum": quorum}
                ]
