"""Tiny sources that say a version, archives of them, a recipe that builds them in a moment, and a server of files."""

import hashlib
import http.server
import io
import ssl
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kexbench.domain.kits import Package
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage
from kexbench.kits.unbuilt import told_version

from .prefix_tree import write_tree


class TinyRecipe:
    """Installs a library of the version that the sources say."""

    linkage: Linkage = "shared"
    revision = 1

    def __init__(self) -> None:
        self.builds = 0

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        return flags

    def distinctions(self, target: Target) -> tuple[str, ...]:
        return ()

    def ingredients(self, attempt: Attempt) -> tuple[Package, ...]:
        return ()

    def decisive(self, attempt: Attempt) -> tuple[str, ...]:
        return ()

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        self.builds += 1
        version = told_version("openssl", "VERSION.dat", (source / "VERSION.dat").read_text())
        assert version
        write_tree(installed / INSTALLED, version=version)


def version_file(patch: int = 7, tag: str = "") -> str:
    """The VERSION.dat of 9.8.7."""
    return f'MAJOR=9\nMINOR=8\nPATCH={patch}\nPRE_RELEASE_TAG={tag}\nBUILD_METADATA=\nRELEASE_DATE="1 Jan 2026"\n'


def write_archive(path: Path, members: dict[str, str]) -> str:
    """A tar archive, packed as its name says, of members with these texts. Its SHA-256."""
    packing = {".gz": "gz", ".xz": "xz", ".bz2": "bz2"}.get(path.suffix, "")
    with tarfile.open(path, f"w:{packing}") as packed:  # type: ignore[call-overload]
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            packed.addfile(member, io.BytesIO(text.encode()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass
class Served:
    """A server on loopback: `files` by path, `redirects` to addresses, and the paths that were asked for."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving(tls: ssl.SSLContext | None = None, status: int = 404) -> Iterator[Served]:
    """`status` is what it says of files that it lacks."""
    served = Served()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            served.asked.append(path)
            if path in served.redirects:
                self.send_response(302)
                self.send_header("Location", served.redirects[path])
                body = b""
            else:
                self.send_response(200 if path in served.files else status)
                self.send_header("WWW-Authenticate", "Basic realm=x")
                body = served.files.get(path, b"")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        served.address = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
