"""A web server for one invocation: its folder, its socket, and its process, which ends with its context or with the
runner. Each server has a file with its configuration.

It is one process, so that one process's CPU time is the server's and nothing can survive it.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Self

import psutil

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import NOTHING, Resumption, Server
from kexbench.domain.kits import Launch
from kexbench.domain.material import MaterialFiles
from kexbench.runner import become
from kexbench.runner.worker import process_cpu_ns

ADDRESS = "127.0.0.1"
CONTENT = "body.bin"
"""The file that clients download."""
BACKLOG = 511
CIPHERS = "ALL:@SECLEVEL=0"
"""The client offers one cipher suite and one signature scheme, so a server has no choice of them. Security level 0
allows the small keys that some cases ask for."""
_GROUP_WORDS = {"secp192r1": "P-192"}
"""OpenSSL's name of a group where it is not ours."""
_LOG_BYTES = 2000
"""How much of a long log is reported."""
_END_TIMEOUT_S = 1.0
"""A process whose sockets are closed has ended in a moment."""
_START_TIMEOUT_S = 30.0
_POLL_S = 0.005
"""Between two polls of a process that starts. It takes some hundredths of a second."""


def group_words(case: Case) -> str:
    """OpenSSL's names of the groups that the server's clients negotiate, as in `X25519:P-256`; empty for none."""
    groups = [] if case.dh_parameters_name or case.group == NOTHING else [case.group]
    if case.ecdsa_case:
        groups.append(case.ecdsa_case.group)
    return ":".join(_GROUP_WORDS.get(group, group) for group in dict.fromkeys(groups))


def resumes_by_id(case: Case) -> bool:
    """Whether the server keeps sessions, which clients name."""
    return case.resumption is Resumption.SESSION_ID


def resumes_by_ticket(case: Case) -> bool:
    """Whether clients keep sessions, which the server can decrypt."""
    return case.resumption is not Resumption.NONE and not resumes_by_id(case)


class WebServer(ABC):
    """A running web server. A context manager that ends it on exit and removes its folder."""

    server: ClassVar[Server]
    configuration_file: ClassVar[str]
    arguments: ClassVar[tuple[str, ...]]
    """The program's. `{folder}` is its folder."""
    environment: ClassVar[Mapping[str, str]] = {}
    """Variables besides the kit's own. `{descriptor}` is the inherited socket's."""
    inherits_socket: ClassVar[bool] = True
    """Whether it can be handed a socket. The socket listens before the server starts then: no other process can take
    the port meanwhile, and clients need not wait until the server is ready. Only the server has it afterwards, so that
    clients notice its end."""

    @abstractmethod
    def configuration(self, case: Case, port: int) -> str:
        """The text of its configuration. All paths are relative to its folder."""

    @abstractmethod
    def prepare(self, folder: Path, case: Case) -> None:
        """Write files besides the configuration and those that all servers have."""

    def __init__(self, case: Case, launch: Launch, material: Path, files: MaterialFiles, cpu: int | None, log: Path):
        """Start it. `launch` starts the program without arguments. Raises OSError."""
        _scratch(log).mkdir(exist_ok=True)
        self._folder = TemporaryDirectory(prefix=f"{self.server}-", dir=_scratch(log))
        folder = Path(self._folder.name)
        try:
            _fill(folder, case, material, files)
            self.prepare(folder, case)
            with self._socket() as sock:
                self.port: int = sock.getsockname()[1]
                places = {"folder": folder, "descriptor": sock.fileno()}
                environment = {name: value.format(**places) for name, value in self.environment.items()}
                (folder / self.configuration_file).write_text(self.configuration(case, self.port))
                with (folder / "error.log").open("ab") as output:
                    self._process = subprocess.Popen(
                        [
                            *(sys.executable, "-I", "-S", become.__file__, str(os.getpid())),
                            *("" if cpu is None else str(cpu), *launch.arguments),
                            *(word.format(**places) for word in self.arguments),
                        ],
                        cwd=launch.folder,
                        env={**launch.environment, **environment},
                        pass_fds=(sock.fileno(),) if self.inherits_socket else (),
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=output,
                        process_group=0,
                    )
                try:
                    if not self.inherits_socket:
                        self._await_listening()
                except BaseException:
                    self._end()
                    raise
        except BaseException:
            self._clear()
            raise

    def _socket(self) -> socket.socket:
        """The socket to inherit, or one that only reserves a port: it has SO_REUSEADDR and does not listen, so the
        server can listen there, and the kernel gives the port to nobody else."""
        if self.inherits_socket:
            return socket.create_server((ADDRESS, 0), backlog=BACKLOG)
        reserving = socket.socket()
        reserving.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserving.bind((ADDRESS, 0))
        return reserving

    def _await_listening(self) -> None:
        """Returns when the server listens, or has ended. Raises OSError if it does neither."""
        process = psutil.Process(self.pid)
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            with suppress(psutil.Error):  # it has ended
                own = process.net_connections("tcp4")
                if any(each.status == psutil.CONN_LISTEN and each.laddr.port == self.port for each in own):
                    return
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_POLL_S)
                return
        raise OSError(f"it does not listen on port {self.port} after {_START_TIMEOUT_S:g} seconds")

    @property
    def pid(self) -> int:
        return self._process.pid

    def cpu_ns(self) -> int | None:
        """CPU time that it has used, or None if it is gone."""
        return process_cpu_ns(self.pid)

    def end_status(self) -> int | None:
        """The status that it has ended with, negative for a signal, or None if it runs. It waits a moment for a process
        that is about to end, so call it after a failure."""
        try:
            return self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None

    def last_words(self) -> str | None:
        """The end of its error log."""
        text = (Path(self._folder.name) / "error.log").read_text(encoding="utf-8", errors="replace").strip()
        return text[-_LOG_BYTES:] or None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._clear()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _clear(self) -> None:
        self._folder.cleanup()
        with suppress(OSError):  # another subject's server has its folder there
            Path(self._folder.name).parent.rmdir()


def clear_leftovers(log: Path) -> None:
    """Delete what a killed runner left. A run is measured by one runner at a time."""
    shutil.rmtree(_scratch(log), ignore_errors=True)


def _scratch(log: Path) -> Path:
    """The folder of running servers, beside the log of workers."""
    return log.parent / "servers"


def _fill(folder: Path, case: Case, material: Path, files: MaterialFiles) -> None:
    """The content that clients download, and links to keys and certificates."""
    (folder / "content").mkdir()
    with (folder / "content" / CONTENT).open("wb") as body:
        body.truncate(case.transfer_bytes)
    linked = {"certificate.pem": files.certificate, "key.pem": files.key}
    if case.dh_parameters_name:
        linked["dh.pem"] = files.dh_parameters
    if files.ecdsa:
        linked |= {"ecdsa-certificate.pem": files.ecdsa.certificate, "ecdsa-key.pem": files.ecdsa.key}
    for name, file in linked.items():
        (folder / name).symlink_to(material.absolute() / file)
