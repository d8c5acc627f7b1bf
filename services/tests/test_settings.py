"""Settings that are more than a text, and what is said of a wrong one."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import ValidationError

from kexbench.cli.failing import words_of
from kexbench.settings import Settings


@pytest.mark.parametrize(
    ("text", "origins"),
    [
        ("", ()),
        ("https://example.org", ("https://example.org",)),
        (" https://example.org, http://127.0.0.1:8000 ,", ("https://example.org", "http://127.0.0.1:8000")),
    ],
)
def test_websites_that_may_show_charts_are_listed(text: str, origins: tuple[str, ...]) -> None:
    assert Settings(embed_origins=text).embedding_origins == origins


@pytest.mark.parametrize(
    "origin",
    [
        *("*", "https://*", "https://*.example.org", "https:", "example.org", "ftp://example.org"),
        *(
            "https://example.org/",
            "https://example.org/page",
            "https://example.org:port",
            "https://example.org:99999",
            "https://a@example.org",
        ),
        *("https://example.org; script-src *", "https://example.org 'unsafe-inline'", "'self'", "https://\u212aex.org"),
    ],
)
def test_what_is_no_origin_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch, origin: str) -> None:
    """Whatever a header would make of it."""
    monkeypatch.setenv("KEXBENCH_EMBED_ORIGINS", f"https://example.org,{origin}")
    with pytest.raises(ValidationError) as raised:
        Settings()
    line = "\n".join(words_of(raised.value) or ())
    assert line.startswith(f"KEXBENCH_EMBED_ORIGINS: {origin!r} is not an origin")
    assert "such as https://example.org" in line


@pytest.mark.parametrize("url", ["kexbench.example.org", "/kexbench", "ftp://example.org", "https://", "javascript:1"])
def test_a_public_url_that_no_browser_reaches_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("KEXBENCH_PUBLIC_URL", url)
    with pytest.raises(ValidationError) as raised:
        Settings()
    assert words_of(raised.value) == [
        f"KEXBENCH_PUBLIC_URL: '{url}' is not a URL. Write it like https://kexbench.example.org"
    ]


@pytest.mark.parametrize(
    ("url", "complete"),
    [
        ("http://kexbench@clickhouse:8123", "http://kexbench:p%40ss%2Fword@clickhouse:8123"),
        ("https://kexbench:old@[::1]:8443/x", "https://kexbench:p%40ss%2Fword@[::1]:8443/x"),
        ("http://clickhouse:8123", "http://default:p%40ss%2Fword@clickhouse:8123"),
    ],
)
def test_the_password_of_the_stores_user_comes_from_a_file(tmp_path: Path, url: str, complete: str) -> None:
    (tmp_path / "password").write_text("p@ss/word\n")
    settings = Settings(store_url=url, store_password_file=tmp_path / "password")
    assert settings.store_dsn == complete
    assert not settings.store_is_embedded


def test_the_servers_authority_is_part_of_the_stores_address(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret")
    authority = tmp_path / "ca of us.pem"
    authority.touch()
    settings = Settings(
        store_url="https://kexbench@db:8443/?compress=lz4",
        store_password_file=tmp_path / "password",
        store_ca_file=authority,
    )
    address = urlsplit(settings.store_dsn)
    assert address.netloc == "kexbench:secret@db:8443"
    assert parse_qs(address.query) == {"compress": ["lz4"], "ca_cert": [str(authority)]}


def test_the_scorecard_is_that_of_the_newest_release_that_was_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "docs" / "results" / "scorecards"
    folder.mkdir(parents=True)
    for version in ("0.9.0", "0.10.0", "0.2.3"):
        (folder / f"{version}.csv").touch()
    monkeypatch.setattr("kexbench.settings.ROOT", tmp_path)
    assert Settings().scorecard == folder / "0.10.0.csv"
    monkeypatch.setattr("kexbench.settings.ROOT", tmp_path / "without")
    assert not Settings().scorecard.exists()


def test_a_setting_that_is_no_number_is_named_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEXBENCH_PORT", "http")
    with pytest.raises(ValidationError) as raised:
        Settings()
    line = "\n".join(words_of(raised.value) or ())
    assert line.startswith("KEXBENCH_PORT: 'http': ")


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name != "store_engine"])
def test_an_empty_variable_is_an_unset_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty path would be the current folder."""
    monkeypatch.delenv(f"KEXBENCH_{name.upper()}", raising=False)
    unset = getattr(Settings(), name)
    monkeypatch.setenv(f"KEXBENCH_{name.upper()}", "")
    assert getattr(Settings(), name) == unset


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "needs KEXBENCH_REPLICA_HOST and KEXBENCH_STORE_URL: several APIs share a server"),
        ({"replica_host": "192.0.2.1"}, "needs KEXBENCH_STORE_URL"),
        ({"replica_host": "192.0.2.1", "store_url": "https://store:8443"}, "needs KEXBENCH_ACCESS=cluster"),
    ],
)
def test_several_apis_need_a_server_a_cluster_and_addresses(given: dict[str, str], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Settings.model_validate({"replica_lease": "kexbench:kexbench-api", **given})


@pytest.mark.parametrize(
    ("host", "url"), [("192.0.2.1", "http://192.0.2.1:8350"), ("fd00::1", "http://[fd00::1]:8350")]
)
def test_another_api_is_reached_at_its_address(host: str, url: str) -> None:
    assert Settings(replica_host=host).replica_url == url


def test_a_process_without_a_name_gets_one_that_no_other_has() -> None:
    assert Settings(replica="kexbench-api-1").replica_name == "kexbench-api-1"
    assert Settings().replica_name != Settings().replica_name
