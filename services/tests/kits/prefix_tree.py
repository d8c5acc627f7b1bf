"""A tiny OpenSSL of one's own: built in a folder, as an installation or a build tree, shared or static."""

import subprocess
from pathlib import Path

COMMAND = "ccache gcc-12 -fPIC -pthread -m64 -Wall -O3 -ffile-prefix-map=/home/me=. -DNDEBUG"

_SSL = "const char *CRYPTO_text(int);\nconst char *OpenSSL_version(int what) { return CRYPTO_text(what); }\n"


def write_tree(
    folder: Path, *, version: str = "9.8.7", headers: str = "include", libraries: str = "lib", static: bool = False
) -> Path:
    """`headers` and `libraries` are where in the folder they lie; an empty one leaves them out."""
    if headers:
        place = folder / headers / "openssl"
        place.mkdir(parents=True, exist_ok=True)
        (place / "opensslv.h").write_text(f'# define OPENSSL_VERSION_TEXT "OpenSSL {version} 1 Jan 2026"\n')
    if libraries:
        (folder / libraries).mkdir(parents=True, exist_ok=True)
        _library(folder / libraries, "crypto", _crypto(version), static)
        _library(folder / libraries, "ssl", _SSL, static)
    return folder


def _crypto(version: str) -> str:
    texts = f'what ? "compiler: {COMMAND}" : "OpenSSL {version} today"'
    return f"const char *CRYPTO_text(int what) {{ return {texts}; }}\n"


def _library(folder: Path, name: str, text: str, static: bool) -> None:
    source, compiled = folder / f"{name}.c", folder / f"{name}.o"
    source.write_text(text)
    subprocess.run(["cc", "-O1", "-fPIC", "-c", "-o", compiled, source], check=True)
    if static:
        subprocess.run(["ar", "rcs", folder / f"lib{name}.a", compiled], check=True)
    else:
        soname = f"lib{name}.so.9"
        subprocess.run(["cc", "-shared", f"-Wl,-soname,{soname}", "-o", folder / soname, compiled], check=True)
        (folder / f"lib{name}.so").unlink(missing_ok=True)
        (folder / f"lib{name}.so").symlink_to(soname)
    source.unlink()
    compiled.unlink()
