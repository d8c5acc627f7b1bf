"""HAProxy for one invocation: its configuration, and how it is started, as one process with one thread."""

from pathlib import Path
from types import MappingProxyType

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Protocol, Server
from kexbench.runner.web_server import CIPHERS, CONTENT, WebServer, group_words, resumes_by_id, resumes_by_ticket

_CONFIGURATION = """\
global
  default-path config
  maxconn 256
  nbthread 1
  tune.ssl.cachesize {cached_sessions}
{parameters}
defaults
  mode http
  timeout client 60s
  timeout connect 60s
  timeout server 60s
frontend content
  bind "fd@${{LISTENER}}" ssl crt certificate.pem {words}
  http-request return status 200 content-type application/octet-stream file content/{content} if {{ path /{content} }}
  http-request return status 404
"""
_OPENSSL = """\
openssl_conf = settings
[settings]
ssl_conf = tls
[tls]
system_default = server
[server]
CipherString = {ciphers}
NumTickets = {tickets}
"""
"""What HAProxy leaves to the library: the number of TLS 1.3 tickets, and the security level at which it loads keys."""


def configuration(case: Case, _port: int) -> str:
    """The text of haproxy.cfg. All paths are relative to its folder. The port is the inherited socket's."""
    words = [f"ssl-min-ver {case.protocol} ssl-max-ver {case.protocol} ciphers {CIPHERS}"]
    if not resumes_by_ticket(case):
        words.append("no-tls-tickets")
    if groups := group_words(case):
        words.append(f"curves {groups}")
    return _CONFIGURATION.format(
        cached_sessions=4096 if resumes_by_id(case) else 0,
        parameters="  ssl-dh-param-file dh.pem" if case.dh_parameters_name else "  tune.ssl.default-dh-param 2048",
        words=" ".join(words),
        content=CONTENT,
    )


class Haproxy(WebServer):
    """A running HAProxy, which inherits its socket by number."""

    server = Server.HAPROXY
    configuration_file = "haproxy.cfg"
    arguments = ("-db", "-f", f"{{folder}}/{configuration_file}")
    environment = MappingProxyType({"LISTENER": "{descriptor}", "OPENSSL_CONF": "{folder}/openssl.cnf"})

    def configuration(self, case: Case, port: int) -> str:
        return configuration(case, port)

    def prepare(self, folder: Path, case: Case) -> None:
        (folder / "certificate.pem.key").symlink_to("key.pem")
        tickets = int(case.protocol is Protocol.TLS_1_3 and resumes_by_ticket(case))
        (folder / "openssl.cnf").write_text(_OPENSSL.format(ciphers=CIPHERS, tickets=tickets))
