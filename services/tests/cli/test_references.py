"""References as they are typed: relative folders and `~` become absolute, everything else stays."""

import hashlib
from pathlib import Path

import pytest
import typer

from kexbench.cli.references import absolute_reference, typed_reference

ADDRESSES = ("openssl@tarball:https://example.org/a.tar.gz", "openssl@git:https://example.org/openssl.git#master")


@pytest.mark.parametrize(
    "text", ["openssl@system", "gnutls@debian/trixie", "fake@1.0", "openssl", "openssl@prefix:/a", *ADDRESSES]
)
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


@pytest.mark.parametrize(
    ("typed", "absolute"),
    [
        ("git:../openssl#master+no-asm", "git:/home/openssl#master+no-asm"),
        ("git:.#HEAD", "git:/home/me#HEAD"),
        ("deb:../debs#trixie+copy=2", "deb:/home/debs#trixie+copy=2"),
        ("tarball:a.tar.gz#sha256=abc+copy=2", "tarball:/home/me/a.tar.gz#sha256=abc+copy=2"),
    ],
)
def test_a_repository_and_an_archive_are_taken_from_where_the_person_is_too(typed: str, absolute: str) -> None:
    assert absolute_reference(f"openssl@{typed}", Path("/home/me")) == f"openssl@{absolute}"


@pytest.mark.parametrize("variants", ["", "+no-asm+relink=2"])
def test_the_hash_of_an_archive_of_this_machine_is_filled_in(variants: str, tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(b"sources")
    sha256 = hashlib.sha256(b"sources").hexdigest()
    completed = absolute_reference(f"openssl@tarball:a.tar.gz{variants}", tmp_path)
    assert completed == f"openssl@tarball:{tmp_path}/a.tar.gz#sha256={sha256}{variants}"


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("tarball:/nowhere/a.tar.gz", "/nowhere/a.tar.gz cannot be read: No such file or directory"),
        ("tarball:https://example.org/a.tar.gz", "an address with its SHA-256"),
        ("git:/src/openssl", "with a ref, as in git:/src/openssl#master"),
        ("git:ssh://example.org/openssl#master", "is not a source"),
    ],
)
def test_what_is_missing_is_said(typed: str, says: str) -> None:
    with pytest.raises(typer.BadParameter, match=says):
        typed_reference(f"openssl@{typed}")
