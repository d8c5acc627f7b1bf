"""Which version sources say they are before anybody built them."""

from pathlib import Path

import pytest

from kexbench.domain.versions import version_key
from kexbench.kits.errors import StepFailed
from kexbench.kits.unbuilt import told_version, unpack, version_in

from .sources import version_file, write_archive

HEADER = '# ifndef X\n#  define OPENSSL_VERSION_TEXT    "OpenSSL {} xx XXX xxxx"\n# endif\n'
OLD = "include/openssl/opensslv.h"


@pytest.mark.parametrize(
    ("library", "path", "text", "version"),
    [
        ("openssl", "VERSION.dat", version_file(), "9.8.7"),
        ("openssl", "VERSION.dat", version_file(8, "dev"), "9.8.8-dev"),
        ("openssl", "VERSION.dat", version_file(0, '"alpha1"'), "9.8.0-alpha1"),
        ("openssl", "VERSION.dat", version_file().replace("METADATA=", "METADATA=quic"), "9.8.7+quic"),
        ("openssl", "VERSION.dat", "MAJOR=3\n", None),
        ("openssl", OLD, HEADER.format("1.1.1w "), "1.1.1w"),
        ("openssl", OLD, HEADER.format("1.1.1x-dev "), "1.1.1x-dev"),
        ("openssl", OLD, "nothing", None),
        ("gnutls", "configure.ac", "AC_PREREQ([2.64])\nAC_INIT([GnuTLS], [3.8.10], [bugs@example.org])\n", "3.8.10"),
        ("gnutls", "configure.ac", "AC_INIT([nettle], [3.9], [x])\n", None),
    ],
)
def test_the_version_is_what_the_built_library_will_report(
    library: str, path: str, text: str, version: str | None
) -> None:
    assert told_version(library, path, text) == version
    assert version is None or version_key(version)


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tar.xz", "a.tar.bz2"])
@pytest.mark.parametrize("root", ["", "./", "openssl-9.8.7/"])
def test_an_archive_has_a_top_folder_or_none_however_it_is_packed(name: str, root: str, tmp_path: Path) -> None:
    members = {f"{root}demos/x/y/VERSION.dat": version_file(1), f"{root}VERSION.dat": version_file()}
    write_archive(tmp_path / name, members)
    assert version_in("openssl", tmp_path / name) == "9.8.7"
    (tmp_path / "out").mkdir()
    assert (unpack(tmp_path / name, tmp_path / "out") / "VERSION.dat").read_text() == version_file()


def test_an_archive_of_something_else_is_reported_with_what_it_lacks(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tar.gz", {"zlib-1.3/README": "x"})
    with pytest.raises(StepFailed, match="contains no sources of openssl") as caught:
        version_in("openssl", tmp_path / "a.tar.gz")
    assert f"VERSION.dat or {OLD}" in caught.value.remedy


@pytest.mark.parametrize("member", ["../outside", "openssl-9.8.7/../../outside"])
def test_a_member_that_would_lie_outside_is_refused(member: str, tmp_path: Path) -> None:
    write_archive(tmp_path / "a.tar.gz", {member: "x"})
    (tmp_path / "out").mkdir()
    with pytest.raises(StepFailed, match="leads outside"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out")
    assert not (tmp_path / "outside").exists()
