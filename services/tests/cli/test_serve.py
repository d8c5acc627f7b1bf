"""`kexbench serve`, by its sockets and by what it prints."""

import socket
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from kexbench.service.connections import MOST_CONNECTIONS
from tests.cli.conftest import TIMEOUT_S, Cli


def test_a_service_answers_while_somebody_holds_as_many_silent_connections_as_there_may_be(cli: Cli) -> None:
    with cli.serving() as (_, url), ExitStack() as opened:
        address = (urlsplit(url).hostname, urlsplit(url).port)
        for _ in range(MOST_CONNECTIONS):
            opened.enter_context(socket.create_connection(address, timeout=TIMEOUT_S))
        assert httpx2.get(f"{url}/api/v1/health", trust_env=False, timeout=TIMEOUT_S).status_code == 200


WITH_IPV6 = pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="this machine has no IPv6")


@pytest.mark.parametrize("options", [(), pytest.param(("--host", "::1"), marks=WITH_IPV6)])
def test_links_name_the_address_where_the_service_listens(options: tuple[str, ...], cli: Cli) -> None:
    with cli.serving(*options) as (_, url):
        feed = httpx2.get(f"{url}/feed.atom", trust_env=False).text
        assert cli("runs", "list").status == 0
    assert f"<id>{url}/feed.atom</id>" in feed


def test_a_service_prints_no_request(cli: Cli) -> None:
    with cli.serving() as (service, url):
        assert httpx2.get(f"{url}/api/v1/health", trust_env=False).status_code == 200
        service.terminate()
        printed = service.communicate(timeout=TIMEOUT_S)
    assert "/api/v1/health" not in "".join(printed)
