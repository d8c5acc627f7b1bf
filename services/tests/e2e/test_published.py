"""A published site, read by a real browser from a plain file server."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.client import ApiClient
from kexbench.publishing.site import Choice, publish
from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from tests.api import test_paths
from tests.api.test_upgrades import FROZEN, ONE, OTHER_CPU, THREE, TWO, VERSIONS, counted, measured
from tests.builders import RSA
from tests.e2e.test_dashboard import is_shown
from tests.serving import serving

OPENSSL = "openssl@system"
SPEC = VERSIONS.replace("matrix:", "  - openssl: system\nmatrix:").replace("1.1, 1.2", "1.1")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def file_server(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def published(store: ClickHouseStore, folder: Path) -> None:
    with (
        serving(create_app(store, LocalGatekeeper("s" * 64), None)) as url,
        closing(ApiClient(url, lambda: "none", patience_s=None)) as api,
    ):
        publish(api, Settings().pages, folder, Choice(frozenset(), frozenset()), lambda done, total: None)


@pytest.mark.long
@pytest.mark.browser
def test_a_published_site_is_read_without_a_service(empty_store: ClickHouseStore, tmp_path: Path) -> None:
    measured(empty_store, "elsewhere", {ONE: 2.0}, day=-1, cases=(RSA,), host=OTHER_CPU)
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.05, THREE: 1.05})
    counted(empty_store, "counting", {ONE: 100.0, TWO: 350.0})
    measured(empty_store, "other", {OPENSSL: 1.0}, spec=SPEC, kits={OPENSSL: FROZEN})
    published(empty_store, tmp_path / "results")
    with file_server(tmp_path) as url:
        assert is_shown("published", f"{url}/results/", tmp_path)


@pytest.mark.browser
def test_waits_over_paths_are_read_from_a_published_site(empty_store: ClickHouseStore, tmp_path: Path) -> None:
    for path in ("50ms", "2ms"):
        test_paths.measured(empty_store, path, {ONE: test_paths.SMALL, TWO: test_paths.LARGE}, waits={TWO: 2})
    published(empty_store, tmp_path / "results")
    with file_server(tmp_path) as url:
        assert is_shown("published-waits", f"{url}/results/", tmp_path)
