"""References as they are typed: relative folders and `~` become absolute, everything else stays."""

from pathlib import Path

import pytest

from kexbench.cli.references import absolute_reference


@pytest.mark.parametrize("text", ["openssl@system", "gnutls@debian/trixie", "fake@1.0", "openssl", "openssl@prefix:/a"])
def test_what_names_no_relative_folder_stays_as_it_is(text: str) -> None:
    assert absolute_reference(text, Path("/home/me")) == text


@pytest.mark.parametrize(
    ("typed", "absolute"),
    [
        ("build", "/home/me/build"),
        ("./a/b/", "/home/me/a/b"),
        (".", "/home/me"),
        ("build+relink=3+burn=5", "/home/me/build+relink=3+burn=5"),
        ("/opt/c++/x", "/opt/c++/x"),
    ],
)
def test_a_folder_is_taken_from_where_the_person_is(typed: str, absolute: str) -> None:
    assert absolute_reference(f"openssl@prefix:{typed}", Path("/home/me")) == f"openssl@prefix:{absolute}"


def test_a_tilde_is_the_persons_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert absolute_reference("gnutls@prefix:~/tls", Path("/")) == "gnutls@prefix:/home/me/tls"


def test_two_dots_lead_where_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "far/inner").mkdir(parents=True)
    (tmp_path / "far/own").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far/inner")
    assert absolute_reference("openssl@prefix:link/../own", tmp_path) == f"openssl@prefix:{tmp_path}/far/own"
    assert absolute_reference("openssl@prefix:link", tmp_path) == f"openssl@prefix:{tmp_path}/link"
