"""A real nginx on a free port of loopback, and what its access log says of its connections."""

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kexbench.domain.material import MaterialFiles

END_TIMEOUT_S = 20.0
LOGGED = "$ssl_protocol $ssl_cipher $ssl_curve $ssl_session_reused $status $body_bytes_sent $connection_requests"
CONFIGURATION = """\
user {user};
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  log_format values "{logged}";
  access_log {folder}/access.log values;
  client_body_temp_path {folder}/temporary;
  proxy_temp_path {folder}/temporary;
  fastcgi_temp_path {folder}/temporary;
  uwsgi_temp_path {folder}/temporary;
  scgi_temp_path {folder}/temporary;
  server {{
    listen {address}:{port} ssl;
    root {folder}/content;
    ssl_certificate {material}/{files.certificate};
    ssl_certificate_key {material}/{files.key};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_ecdh_curve X25519:prime256v1:secp384r1;
    ssl_session_cache shared:sessions:1m;
  }}
}}
"""
"""It takes every protocol, group and cipher of the cases, so that what is negotiated is the client's doing."""


@dataclass(frozen=True)
class Logged:
    """A request, as nginx logged it."""

    protocol: str
    cipher: str
    curve: str
    resumed: bool
    status: int
    body_bytes: int
    requests: int


@dataclass(frozen=True)
class Nginx:
    port: int
    folder: Path

    def content(self, name: str, size: int) -> None:
        (self.folder / "content" / name).write_bytes(bytes(size))


def read_log(folder: Path) -> list[Logged]:
    return [
        Logged(protocol, cipher, curve, reused == "r", int(status), int(body), int(requests))
        for protocol, cipher, curve, reused, status, body, requests in (
            line.split(" ") for line in (folder / "access.log").read_text().splitlines()
        )
    ]


@contextmanager
def nginx(folder: Path, material: Path, files: MaterialFiles) -> Iterator[Nginx]:
    """Its log is complete once the context has ended. The socket listens before nginx is started and is handed to it
    (as a running nginx hands its own to a newer one), so that no port is taken by somebody else meanwhile, and no
    client has to wait until nginx is ready."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("there is no nginx: make packages-test installs it")
    for name in ("content", "temporary"):
        (folder / name).mkdir()
    with socket.create_server(("127.0.0.1", 0), backlog=511) as listener:
        address, port = listener.getsockname()
        configuration = CONFIGURATION.format(
            folder=folder,
            material=material,
            files=files,
            address=address,
            port=port,
            logged=LOGGED,
            user=getpass.getuser(),
        )
        (folder / "nginx.conf").write_text(configuration)
        with (folder / "output").open("wb") as output:
            process = subprocess.Popen(
                [program, "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"],
                env={**os.environ, "NGINX": f"{listener.fileno()};"},
                pass_fds=(listener.fileno(),),
                stdout=output,
                stderr=output,
            )
    try:
        yield Nginx(port, folder)
        assert process.poll() is None, (folder / "error.log").read_text()
    finally:
        process.send_signal(3)  # SIGQUIT: it ends in order
        try:
            process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
