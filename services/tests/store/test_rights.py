"""The rights that docs and the chart give the user of a ClickHouse server, and that statements need."""

import re
from contextlib import closing
from pathlib import Path

import pytest

from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from kexbench.store.port import StoreError
from kexbench.store.rights import SYSTEM_TABLES, grants
from tests.store.clickhouse_double import ALWAYS
from tests.store.conftest import SERVICES, small_server

ROOT = SERVICES.parent
ON_EMBEDDED_STORES = {"detached_parts"}


def test_the_rights_cover_all_statements_of_the_store_and_no_others() -> None:
    """What the tests of the contract send is also checked by the small server, which refuses what is not granted."""
    texts = [file.read_text() for file in (SERVICES / "src/kexbench").rglob("*.py")]
    read = {table for text in texts for table in re.findall(r"\b(?:FROM|JOIN) system\.(\w+)", text)}
    assert read - ON_EMBEDDED_STORES - ALWAYS == set(SYSTEM_TABLES)


def test_the_chart_gives_its_server_these_rights_and_the_documentation_names_them() -> None:
    chart = (ROOT / "charts/kexbench/templates/_helpers.tpl").read_text()
    assert re.findall(r"<query>(GRANT [^<]+)</query>", chart) == grants("{{ .Values.store.database }}")
    document = (ROOT / "docs/operate/clickhouse.md").read_text()
    for grant in grants("kexbench"):
        assert f"{grant} TO kexbench;" in document


def _used(store: ClickHouseStore) -> None:
    store.migrate()
    store.check_readable()


def test_a_server_that_gives_fewer_rights_is_said_with_the_grants(tmp_path: Path) -> None:
    with small_server(tmp_path, grants("fewer")[0]) as port:
        store = ClickHouseStore(f"http://127.0.0.1:{port}", "fewer", EngineClauses())
        with closing(store), pytest.raises(StoreError, match="does not let the user") as refused:
            _used(store)
    assert "GRANT SELECT ON system.parts TO its user" in refused.value.remedy
