"""What is taken for the address of a server."""

import pytest

from kexbench.domain.addresses import is_http_address


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8123", "https://reader:p%40ss@clickhouse/?secure=1", "http://[::1]:1"]
)
def test_an_address_names_a_host(url: str) -> None:
    assert is_http_address(url)


@pytest.mark.parametrize(
    "url", ["", "clickhouse:8123", "ftp://host", "http://", "http://h:no", "http://[::1", "http://h/#x"]
)
def test_anything_else_is_none(url: str) -> None:
    assert not is_http_address(url)
