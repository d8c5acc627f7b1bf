"""A tiny Debian archive in a folder: enough packages to make a kit from, and no network."""

import hashlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from kexbench.kits.target import this_architecture

SUITE = "cosy"
OUR_LIBC = (os.confstr("CS_GNU_LIBC_VERSION") or "glibc 2.0").split()[1]

FIPS_MODULE = b"a module"
SOURCES_TIME = 1_700_000_000


def write_archive(
    folder: Path,
    *,
    openssl: str = "9.8.7-1~deb99u1",
    libc: str = f"{OUR_LIBC}-1",
    fips: str = "",
    empty: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """An archive with libssl-dev, the library it needs, and a C library; versions are Debian's.

    `fips` is the version of the FIPS module's package; empty for a suite without it. `empty` are further packages
    without files, each with what it depends on.
    """
    shutil.rmtree(folder, ignore_errors=True)
    architecture = this_architecture()
    upstream = openssl.partition("-")[0]
    library_folder = f"usr/lib/{architecture.triplet}"
    roots = {name: folder / "roots" / name for name in ("libc6", "libssl9", "libssl-dev")}
    for root in roots.values():
        (root / library_folder).mkdir(parents=True)

    libc_folder = Path(f"/lib/{architecture.triplet}")
    for path in (libc_folder / "libc.so.6", architecture.loader):
        shutil.copy(path, roots["libc6"] / library_folder / path.name)
    source = folder / "libssl.c"
    source.write_text(f'const char *OpenSSL_version(int what) {{ return what ? "" : "OpenSSL {upstream} today"; }}\n')
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wl,-soname,libssl.so.9", "-o", roots["libssl9"] / library_folder / "libssl.so.9.8",
         source], check=True,
    )  # fmt: skip
    (roots["libssl9"] / library_folder / "libssl.so.9").symlink_to("libssl.so.9.8")
    # An absolute link, as older suites have them: it must be read inside the unpacked suite.
    (roots["libssl-dev"] / library_folder / "libssl.so").symlink_to(f"/{library_folder}/libssl.so.9")
    headers = roots["libssl-dev"] / "usr/include"
    (headers / "openssl").mkdir(parents=True)
    (headers / "openssl/opensslv.h").write_text("#include <openssl/configuration.h>\n")
    (headers / architecture.triplet / "openssl").mkdir(parents=True)
    (headers / architecture.triplet / "openssl/configuration.h").write_text("/* of this architecture */\n")

    depends = {"libc6": "", "libssl9": "libc6", "libssl-dev": f"libssl9 (= {openssl})"}
    versions = {"libc6": libc, "libssl9": openssl, "libssl-dev": openssl}
    if fips:
        roots["openssl-provider-fips"] = module = folder / "roots/openssl-provider-fips"
        depends["openssl-provider-fips"], versions["openssl-provider-fips"] = "", fips
        (module / library_folder / "ossl-modules").mkdir(parents=True)
        (module / library_folder / "ossl-modules/fips.so").write_bytes(FIPS_MODULE)
    for name, needs in empty.items():
        roots[name] = folder / "roots" / name
        roots[name].mkdir()
        depends[name], versions[name] = needs, "1-1"
    stanzas = [_package(folder, roots[name], name, versions[name], depends[name]) for name in roots]
    write_index(folder, f"main/binary-{architecture.debian}/Packages", "\n".join(stanzas))
    return folder


def write_source_archive(folder: Path, *, version: str = "9.8.7-1~deb99u1", configure: str = "#!/bin/sh\n") -> Path:
    """An archive with the source package gnutls28 and no binary one; returns upstream's tarball in it.

    The tarball holds `configure` and is the same bytes whatever Debian's revision is.
    """
    shutil.rmtree(folder, ignore_errors=True)
    upstream = version.partition("-")[0]
    source = folder / f"gnutls-{upstream}"
    source.mkdir(parents=True)
    (source / "configure").write_text(configure)
    os.utime(source / "configure", (SOURCES_TIME, SOURCES_TIME))
    os.utime(source, (SOURCES_TIME, SOURCES_TIME))
    pool = folder / "pool"
    pool.mkdir()
    tarball = pool / f"gnutls28_{upstream}.orig.tar.xz"
    with tarfile.open(tarball, "w:xz") as packed:
        packed.add(source, source.name)
    (pool / f"gnutls28_{version}.dsc").write_text("what Debian says of it\n")
    (pool / f"gnutls28_{version}.debian.tar.xz").write_bytes(f"patches of {version}".encode())
    files = [(path.name, path.stat().st_size, _sha256(path)) for path in sorted(pool.iterdir())]
    stanza = f"Package: gnutls28\nBinary: libgnutls9\nVersion: {version}\nFormat: 3.0 (quilt)\nDirectory: pool\n"
    stanza += "Checksums-Sha256:\n" + "".join(f" {digest} {size} {name}\n" for name, size, digest in files)
    write_index(folder, "main/source/Sources", stanza)
    return tarball


def _package(folder: Path, root: Path, name: str, version: str, depends: str) -> str:
    control = f"Package: {name}\nVersion: {version}\nArchitecture: {this_architecture().debian}\n"
    control += "Maintainer: Nobody <nobody@example.org>\nDescription: for a test\n"
    control += f"Depends: {depends}\n" if depends else ""
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(control)
    pool = folder / "pool"
    pool.mkdir(exist_ok=True)
    file = pool / f"{name}_{version}_{this_architecture().debian}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", root, file], check=True, capture_output=True)
    return f"{control}Filename: pool/{file.name}\nSize: {file.stat().st_size}\nSHA256: {_sha256(file)}\n"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_index(folder: Path, name: str, packages: str) -> None:
    index = folder / "dists" / SUITE / name
    index.parent.mkdir(parents=True, exist_ok=True)
    index.write_text(packages)
    (folder / "dists" / SUITE / "Release").write_text(
        f"Suite: {SUITE}\nCodename: {SUITE}\nComponents: main\nArchitectures: {this_architecture().debian}\n"
        f"SHA256:\n {_sha256(index)} {index.stat().st_size} {name}\n"
    )
