"""Sources in archives: of this machine, and at addresses, where a server may give what it likes."""

import random
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kexbench.domain.kits import Package
from kexbench.kits import KitError
from kexbench.kits.source import SourceProvider
from kexbench.kits.tarball import TarballOrigin

from .conftest import Kitchen, kitchen_in
from .sources import Served, TinyRecipe, serving, version_file, write_archive

MEMBERS = {"openssl-9.8.7/VERSION.dat": version_file()}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def kitchen(tmp_path: Path) -> Kitchen:
    return kitchen_with(tmp_path, TarballOrigin(tmp_path / "cache"))


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as running:
        yield running


def kitchen_with(folder: Path, origin: TarballOrigin) -> Kitchen:
    return kitchen_in(folder, (SourceProvider(origin, {"openssl": TinyRecipe()}, folder / "cache"),))


def offered(served: Served, folder: Path) -> str:
    """The SHA-256 of an archive that the server has at /a.tar.gz."""
    sha256 = write_archive(folder / "a.tar.gz", MEMBERS)
    served.files["/a.tar.gz"] = (folder / "a.tar.gz").read_bytes()
    return sha256


def downloads(kitchen: Kitchen) -> list[str]:
    return [path.name for path in (kitchen.cache / "tarballs").iterdir() if path.suffix != ".lock"]


def test_an_archive_of_this_machine_becomes_a_kit(kitchen: Kitchen, tmp_path: Path) -> None:
    sha256 = write_archive(tmp_path / "a.tar.xz", MEMBERS)
    kit = kitchen.add(f"openssl@tarball:{tmp_path}/a.tar.xz#sha256={sha256}+no-asm")
    assert (kit.version, kit.build_profile.provider, kit.configure) == ("9.8.7", "tarball", ("no-asm",))
    assert Package(name="tarball", version="9.8.7", sha256=sha256) in kit.packages


def test_an_archive_of_another_content_is_refused_with_both_hashes(kitchen: Kitchen, tmp_path: Path) -> None:
    actual = write_archive(tmp_path / "a.tar.gz", MEMBERS)
    with pytest.raises(KitError, match=f"{actual}, but the reference says {'0' * 64}"):
        kitchen.add(f"openssl@tarball:{tmp_path}/a.tar.gz#sha256={'0' * 64}")


def test_an_absent_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(KitError, match=r"there is no file /nowhere/a\.tar\.gz"):
        kitchen_in(tmp_path).add(f"openssl@tarball:/nowhere/a.tar.gz#sha256={'0' * 64}")


def test_a_reference_without_a_whole_hash_is_reported_with_how_to_get_one(kitchen: Kitchen, tmp_path: Path) -> None:
    with pytest.raises(KitError, match="lacks the archive's SHA-256") as caught:
        kitchen.add(f"openssl@tarball:{tmp_path}/a.tar.gz#sha256=abc")
    assert "sha256sum" in caught.value.remedy


def test_an_archive_that_was_cut_off_leaves_nothing_behind(kitchen: Kitchen, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(200_000).hex()
    write_archive(tmp_path / "whole.tar.gz", {**MEMBERS, "openssl-9.8.7/large": noise})
    half = tmp_path / "half.tar.gz"
    half.write_bytes((tmp_path / "whole.tar.gz").read_bytes()[:100_000])
    sha256 = subprocess.run(["sha256sum", half], capture_output=True, text=True, check=True).stdout[:64]
    with pytest.raises(KitError, match="can't be unpacked"):
        kitchen.add(f"openssl@tarball:{half}#sha256={sha256}")
    assert kitchen.leftovers() == []


def test_a_member_outside_is_refused_before_anything_is_built(kitchen: Kitchen, tmp_path: Path) -> None:
    sha256 = write_archive(tmp_path / "a.tar.gz", {**MEMBERS, "../../outside": "x"})
    with pytest.raises(KitError, match="leads outside"):
        kitchen.add(f"openssl@tarball:{tmp_path}/a.tar.gz#sha256={sha256}")
    assert kitchen.leftovers() == []


def test_a_download_is_kept_and_not_asked_for_again(kitchen: Kitchen, served: Served, tmp_path: Path) -> None:
    sha256 = offered(served, tmp_path)
    reference = f"openssl@tarball:{served.address}/a.tar.gz#sha256={sha256}"
    assert kitchen.add(reference).version == "9.8.7"
    assert f"fetching {served.address}/a.tar.gz" in kitchen.said
    assert downloads(kitchen) == [sha256]
    kitchen.add(reference, refresh=True)
    assert served.asked == ["/a.tar.gz"]


def test_a_download_that_was_damaged_since_is_fetched_again(kitchen: Kitchen, served: Served, tmp_path: Path) -> None:
    sha256 = offered(served, tmp_path)
    reference = f"openssl@tarball:{served.address}/a.tar.gz#sha256={sha256}"
    kitchen.add(reference)
    (kitchen.cache / "tarballs" / sha256).write_bytes(b"?")
    kitchen.add(reference)
    assert served.asked == ["/a.tar.gz"] * 2


def test_another_file_than_promised_is_not_kept(kitchen: Kitchen, served: Served, tmp_path: Path) -> None:
    sha256 = offered(served, tmp_path)
    with pytest.raises(KitError, match=f"{sha256}, but the reference says {'1' * 64}"):
        kitchen.add(f"openssl@tarball:{served.address}/a.tar.gz#sha256={'1' * 64}")
    assert downloads(kitchen) == []


def test_a_file_that_a_server_lacks_is_reported_with_its_address(kitchen: Kitchen, served: Served) -> None:
    with pytest.raises(KitError, match="404") as caught:
        kitchen.add(f"openssl@tarball:{served.address}/b.tar.gz#sha256={'1' * 64}")
    assert f"{served.address}/b.tar.gz" in caught.value.reason


def test_a_server_that_is_not_there_is_reported_with_its_address(kitchen: Kitchen) -> None:
    with serving() as gone:
        address = gone.address
    with pytest.raises(KitError, match=f"{address}/a.tar.gz can't be fetched"):
        kitchen.add(f"openssl@tarball:{address}/a.tar.gz#sha256={'1' * 64}")


def test_a_file_beyond_the_limit_is_not_read_to_its_end(served: Served, tmp_path: Path) -> None:
    kitchen = kitchen_with(tmp_path, TarballOrigin(tmp_path / "cache", most_bytes=1 << 20))
    served.files["/large.tar"] = bytes((1 << 20) + 1)
    with pytest.raises(KitError, match="larger than 1 MiB"):
        kitchen.add(f"openssl@tarball:{served.address}/large.tar#sha256={'1' * 64}")
    assert downloads(kitchen) == []


def test_a_redirect_is_followed_and_a_circle_of_them_is_not(kitchen: Kitchen, served: Served, tmp_path: Path) -> None:
    sha256 = offered(served, tmp_path)
    served.redirects = {"/old.tar.gz": "/a.tar.gz", "/circle.tar.gz": "/circle.tar.gz"}
    assert kitchen.add(f"openssl@tarball:{served.address}/old.tar.gz#sha256={sha256}").version == "9.8.7"
    with pytest.raises(KitError, match="redirects more than 5 times"):
        kitchen.add(f"openssl@tarball:{served.address}/circle.tar.gz#sha256={'1' * 64}")


@pytest.fixture
def served_safely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """Over https, with a certificate that this machine trusts for now."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=loopback",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with serving(tls) as running:
        yield running


def test_a_redirect_from_a_safe_address_to_an_open_one_is_refused(
    kitchen: Kitchen, served: Served, served_safely: Served, tmp_path: Path
) -> None:
    sha256 = offered(served, tmp_path)
    served_safely.redirects["/down.tar.gz"] = f"{served.address}/a.tar.gz"
    with pytest.raises(KitError, match="which is less secure"):
        kitchen.add(f"openssl@tarball:{served_safely.address}/down.tar.gz#sha256={sha256}")
    assert served.asked == []
    served.redirects["/up.tar.gz"] = f"{served_safely.address}/a.tar.gz"
    served_safely.files = served.files
    assert kitchen.add(f"openssl@tarball:{served.address}/up.tar.gz#sha256={sha256}").version == "9.8.7"
