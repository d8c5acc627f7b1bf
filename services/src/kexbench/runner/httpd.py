"""Apache httpd for one invocation: its configuration, and how it is started, as one process."""

from pathlib import Path

from kexbench.domain.cases import CONCURRENCY_MAX, Case
from kexbench.domain.dimensions import Protocol, Server
from kexbench.runner.web_server import (
    ADDRESS,
    BACKLOG,
    CIPHERS,
    WebServer,
    group_words,
    resumes_by_id,
    resumes_by_ticket,
)

THREADS = 2 * CONCURRENCY_MAX
"""A connection has a thread during its handshake, also one that is not closed yet."""
_CONFIGURATION = """\
Listen {address}:{port}
ListenBackLog {backlog}
ServerName localhost
User #0
Group #0
DefaultRuntimeDir .
PidFile httpd.pid
ErrorLog error.log
ServerLimit 1
StartServers 1
ThreadsPerChild {threads}
MaxRequestWorkers {threads}
MaxKeepAliveRequests 0
DocumentRoot content
SSLEngine on
SSLCertificateFile {certificate}
SSLCertificateKeyFile key.pem
SSLProtocol -all +{protocol}
SSLCipherSuite {ciphers}
{lines}
"""
"""Only root changes its user and group, to what it is."""


def configuration(case: Case, port: int) -> str:
    """The text of httpd.conf. All paths are relative to its folder."""
    lines = []
    if case.ecdsa_case:
        lines += ["SSLCertificateFile ecdsa-certificate.pem", "SSLCertificateKeyFile ecdsa-key.pem"]
    if groups := group_words(case):
        lines.append(f"SSLOpenSSLConfCmd Groups {groups}")
    by_id, by_ticket = resumes_by_id(case), resumes_by_ticket(case)
    cache = "shmcb:sessions(1048576)" if by_id else "none"
    lines += [f"SSLSessionCache {cache}", f"SSLSessionTickets {'on' if by_ticket else 'off'}"]
    if case.protocol is Protocol.TLS_1_3:
        lines.append(f"SSLOpenSSLConfCmd NumTickets {int(by_ticket)}")
    return _CONFIGURATION.format(
        address=ADDRESS,
        port=port,
        backlog=BACKLOG,
        threads=THREADS,
        certificate=_WITH_PARAMETERS if case.dh_parameters_name else "certificate.pem",
        protocol=case.protocol,
        ciphers=CIPHERS,
        lines="\n".join(lines),
    )


_WITH_PARAMETERS = "certificate-and-parameters.pem"
"""httpd reads its Diffie-Hellman parameters from the certificate's file."""


class Httpd(WebServer):
    """A running httpd. With -X it serves in its first process. It inherits sockets only from systemd, by a library that
    kits lack."""

    server = Server.HTTPD
    configuration_file = "httpd.conf"
    arguments = ("-X", "-d", "{folder}", "-f", configuration_file)
    inherits_socket = False

    def configuration(self, case: Case, port: int) -> str:
        return configuration(case, port)

    def prepare(self, folder: Path, case: Case) -> None:
        if case.dh_parameters_name:
            parts = (folder / "certificate.pem", folder / "dh.pem")
            (folder / _WITH_PARAMETERS).write_bytes(b"\n".join(part.read_bytes() for part in parts))
