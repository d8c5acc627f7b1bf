"""Git repositories that tests make, on this machine and behind an address."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from .sources import version_file


@dataclass(frozen=True)
class Repository:
    """A repository with a working tree."""

    folder: Path

    def git(self, *words: str, stdin: str = "") -> str:
        person = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(
            ["git", *person, *words],
            cwd=self.folder,
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def commit(self, patch: int, tag: str = "") -> str:
        """Commits such a version; its hash."""
        (self.folder / "VERSION.dat").write_text(version_file(patch, tag))
        (self.folder / "news").write_text((self.folder / "news").read_text() + "more\n")
        self.git("add", ".")
        self.git("commit", "-m", f"9.8.{patch}")
        return self.git("rev-parse", "HEAD")


def a_repository(folder: Path) -> Repository:
    """An empty one in a new folder."""
    folder.mkdir()
    made = Repository(folder)
    made.git("init", "--initial-branch=master")
    (made.folder / "news").touch()
    return made


@dataclass
class Published:
    """A repository as plain files behind an address: git calls it dumb, no commit can be asked for by itself."""

    repository: Repository
    address: str = ""
    asked: list[str] = field(default_factory=list)

    def commit(self, patch: int) -> str:
        made = self.repository.commit(patch)
        self.repository.git("update-server-info")
        return made


@contextmanager
def published_at(repository: Repository) -> Iterator[Published]:
    """Served on loopback until the end."""
    running = Published(repository)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            running.asked.append(self.path)

    handler = partial(Handler, directory=str(repository.folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        running.address = f"http://127.0.0.1:{server.server_port}/.git"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield running
        finally:
            server.shutdown()
            thread.join()
