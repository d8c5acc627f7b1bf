"""The built pages beside the API: files as they are, page addresses to index.html, nothing from elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, ClientOf, assert_problem


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    pages = tmp_path / "pages"
    (pages / "assets").mkdir(parents=True)
    (pages / "index.html").write_text("<title>kexbench</title>")
    (pages / "assets" / "app.js").write_text("let app")
    (tmp_path / "secret.txt").write_text("outside")
    (pages / "link.txt").symlink_to(tmp_path / "secret.txt")
    return pages


@pytest.fixture
def browser(empty_store: ClickHouseStore, client_of: ClientOf, pages: Path) -> Iterator[httpx2.Client]:
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), pages)) as client:
        yield client


def test_the_first_page_and_its_files_are_served(browser: httpx2.Client) -> None:
    assert browser.get("/").text == "<title>kexbench</title>"
    script = browser.get("/assets/app.js")
    assert script.text == "let app"
    assert "javascript" in script.headers["content-type"]
    policy = script.headers["content-security-policy"].split("; ")
    assert {"frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} <= set(policy)


@pytest.mark.parametrize(
    "address",
    [
        "/runs",
        "/runs/20260101-120000-0a0b0c0d",
        "/series/a_b/c",
        "/assets/none",
        "/apiary",
        "/upgrades/openssl/3.0.19/3.5.4",
        "/upgrades/openssl/debian%2Fbookworm/git:https:%2F%2Fexample.org%2Fopenssl.git%23master",
    ],
)
def test_an_address_of_a_page_gets_the_first_page(browser: httpx2.Client, address: str) -> None:
    response = browser.get(address)
    assert (response.status_code, response.text) == (200, "<title>kexbench</title>")
    assert response.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "address", ["/api", "/api/", "/api/v1", "/api/v1/nothing", "/api/v2/runs", "/api/v1/runs/none"]
)
def test_an_address_of_the_api_is_never_a_page(browser: httpx2.Client, address: str) -> None:
    assert_problem(browser.get(address), 404)


@pytest.mark.parametrize("address", ["/assets/gone.js", "/favicon.ico", "/assets/app.js.map"])
def test_a_file_that_is_gone_is_no_page(browser: httpx2.Client, address: str) -> None:
    assert_problem(browser.get(address), 404)


@pytest.mark.parametrize(
    "address",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/%2e%2e%5csecret.txt",
        "//secret.txt",
        "/link.txt",
        "/%00",
        pytest.param("/" + "a" * 5000, id="long"),
    ],
)
def test_nothing_outside_the_pages_is_served(browser: httpx2.Client, address: str) -> None:
    response = browser.get(address)
    assert "outside" not in response.text
    assert response.status_code in (200, 404, 414)


EMBEDDERS = ("https://example.org", "http://wiki.example.org:8080")


def ancestors(answer: httpx2.Response) -> str:
    """Who may show an answer in a frame."""
    (only,) = [part for part in answer.headers["content-security-policy"].split("; ") if part.startswith("frame-anc")]
    return only.removeprefix("frame-ancestors ")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("origins", [(), EMBEDDERS])
def test_named_websites_alone_may_show_the_pages_made_for_it(
    method: str, origins: tuple[str, ...], pages: Path, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    app = create_app(empty_store, LocalGatekeeper(SECRET), pages, embed_origins=origins)
    with client_of(app) as client:
        for address in ("/embed/trends", "/embed/trends?case=a&split=cpu", "/embed/none"):
            assert ancestors(client.request(method, address)) == (" ".join(origins) or "'none'")
        others = ("/", "/embed", "/embedded", "/trends?x=/embed/", "/runs/embed/trends", "/assets/app.js")
        escaped = ("/embed%2Ftrends", "/%65mbed/trends")
        for address in (*others, *escaped, "/api/v1/health", "/api/v1/embed/trends", "//embed/trends"):
            assert ancestors(client.request(method, address)) == "'none'"


def test_a_page_in_a_frame_is_restricted_as_others_are(
    pages: Path, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    app = create_app(empty_store, LocalGatekeeper(SECRET), pages, embed_origins=EMBEDDERS)
    with client_of(app) as client:
        framed, other = (client.get(each).headers for each in ("/embed/trends", "/trends"))
    allowed = framed["content-security-policy"].replace(" ".join(EMBEDDERS), "'none'")
    assert allowed == other["content-security-policy"]
    assert "x-frame-options" not in framed


def test_without_pages_there_is_only_the_api(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None)) as client:
        assert_problem(client.get("/"), 404)
        assert client.get("/api/v1/health").status_code == 200


def test_a_page_cannot_be_written_to(browser: httpx2.Client) -> None:
    assert_problem(browser.post("/runs"), 405)


def test_assets_are_compressed_and_never_asked_for_again(browser: httpx2.Client, tmp_path: Path) -> None:
    text = "let app = 1;\n" * 1000
    (tmp_path / "pages" / "assets" / "large-0a1b2c3d.js").write_text(text)
    asset = browser.get("/assets/large-0a1b2c3d.js")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (asset.headers["content-encoding"], asset.text) == ("gzip", text)
    plain = browser.get("/assets/large-0a1b2c3d.js", headers={"Accept-Encoding": "identity"})
    assert ("content-encoding" in plain.headers, plain.text) == (False, text)


@pytest.mark.parametrize("address", ["/", "/runs"])
def test_the_first_page_is_asked_for_again_each_time(browser: httpx2.Client, address: str) -> None:
    assert browser.get(address).headers["cache-control"] == "no-cache"
