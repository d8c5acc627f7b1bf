"""Trends on other websites, which a service lists or not, and of a published site; and their zoom."""

from pathlib import Path

import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET
from tests.api.test_upgrades import ONE, OTHER_CPU, THREE, TWO, measured
from tests.builders import RSA
from tests.e2e.test_dashboard import is_shown
from tests.e2e.test_published import file_server, published
from tests.serving import serving


@pytest.mark.long
def test_websites_show_charts_of_services_that_list_them_and_of_published_sites(
    empty_store: ClickHouseStore, tmp_path: Path
) -> None:
    measured(empty_store, "elsewhere", {ONE: 2.0}, day=-1, cases=(RSA,), host=OTHER_CPU)
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.05, THREE: 1.05})
    (wiki := tmp_path / "wiki").mkdir()
    (wiki / "wiki.html").write_text("<!doctype html><title>Wiki</title><body>")
    (sites := tmp_path / "sites").mkdir()
    published(empty_store, sites / "results")
    gatekeeper, pages = LocalGatekeeper(SECRET), Settings().pages
    with (
        file_server(wiki) as elsewhere,
        file_server(sites) as site,
        serving(create_app(empty_store, gatekeeper, pages, embed_origins=(elsewhere,))) as url,
        serving(create_app(empty_store, gatekeeper, pages)) as refusing,
    ):
        environment = {
            "KEXBENCH_E2E_ELSEWHERE": elsewhere,
            "KEXBENCH_E2E_REFUSING": refusing,
            "KEXBENCH_E2E_SITE_URL": f"{site}/results/",
        }
        assert is_shown("trends", url, tmp_path, environment)
