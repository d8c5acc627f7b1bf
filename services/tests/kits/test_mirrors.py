"""The mirror is the one this machine uses; third parties' sources are never taken for it."""

from pathlib import Path

from kexbench.kits.mirrors import DEFAULT_ARCHIVE, DEFAULT_SECURITY, Mirror, host_mirror

DEB822 = """\
# kept
Types: deb
URIs: http://mirror.example/debian/
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://security.example/debian-security
Suites: bookworm-security
Components: main
"""
THIRD_PARTY = "deb [arch=amd64 signed-by=/etc/apt/keyrings/theirs.gpg] https://packages.example/debian bookworm main\n"


def apt_folder(tmp_path: Path, **files: str) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    for name, text in files.items():
        (tmp_path / "sources.list.d" / name.replace("_", ".")).write_text(text)
    return tmp_path


def test_the_mirror_of_deb822_sources_is_used(tmp_path: Path) -> None:
    mirror = host_mirror(apt_folder(tmp_path, aaa_list=THIRD_PARTY, debian_sources=DEB822))
    assert mirror.archive == "http://mirror.example/debian"
    assert mirror.security == "http://security.example/debian-security"


def test_the_mirror_of_one_line_sources_is_used(tmp_path: Path) -> None:
    folder = apt_folder(tmp_path)
    (folder / "sources.list").write_text(
        "# deb http://commented.example/debian trixie main\n"
        "deb-src http://source.example/debian trixie main\n"
        "deb http://mirror.example/debian trixie main contrib\n"
        "deb http://mirror.example/debian-security trixie-security main\n"
    )
    assert host_mirror(folder) == Mirror("http://mirror.example/debian", "http://mirror.example/debian-security")


def test_disabled_sources_are_passed_over(tmp_path: Path) -> None:
    folder = apt_folder(tmp_path, debian_sources=DEB822.replace("Types: deb", "Enabled: no\nTypes: deb"))
    assert host_mirror(folder) == Mirror()


def test_without_debian_sources_debians_own_addresses_are_used(tmp_path: Path) -> None:
    assert host_mirror(apt_folder(tmp_path, other_list=THIRD_PARTY)) == Mirror(DEFAULT_ARCHIVE, DEFAULT_SECURITY)
    assert host_mirror(tmp_path / "absent") == Mirror()


def test_a_stable_suite_comes_with_updates_and_security() -> None:
    assert list(Mirror().source_lines("trixie")) == ["trixie", "trixie-updates", "trixie-security"]
    assert list(Mirror(security=None).source_lines("trixie")) == ["trixie", "trixie-updates"]


def test_experimental_is_completed_by_sid_which_stands_alone() -> None:
    assert list(Mirror().source_lines("experimental")) == ["experimental", "sid"]
    assert list(Mirror().source_lines("sid")) == ["sid"]
