"""nginx for one invocation: its configuration, and how it is started, without a master process."""

from pathlib import Path
from types import MappingProxyType

from kexbench.domain.cases import Case
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

_CONFIGURATION = """\
daemon off;
master_process off;
error_log stderr;
pid nginx.pid;
events {{
  worker_connections 256;
}}
http {{
  access_log off;
  client_body_temp_path temporary;
  server {{
    listen {address}:{port} ssl backlog={backlog};
    root content;
    ssl_certificate certificate.pem;
    ssl_certificate_key key.pem;
    ssl_protocols {protocol};
    ssl_ciphers {ciphers};
{lines}
  }}
}}
"""


def configuration(case: Case, port: int) -> str:
    """The text of nginx.conf. All paths are relative to its folder."""
    lines = []
    if case.dh_parameters_name:
        lines.append("ssl_dhparam dh.pem;")
    if case.ecdsa_case:
        lines += ["ssl_certificate ecdsa-certificate.pem;", "ssl_certificate_key ecdsa-key.pem;"]
    if groups := group_words(case):
        lines.append(f"ssl_ecdh_curve {groups};")
    by_id, by_ticket = resumes_by_id(case), resumes_by_ticket(case)
    cache = "shared:sessions:1m" if by_id else "none" if by_ticket else "off"
    lines += [f"ssl_session_cache {cache};", f"ssl_session_tickets {'on' if by_ticket else 'off'};"]
    if case.protocol is Protocol.TLS_1_3:
        lines.append(f"ssl_conf_command NumTickets {int(by_ticket)};")
    return _CONFIGURATION.format(
        address=ADDRESS,
        port=port,
        backlog=BACKLOG,
        protocol=case.protocol,
        ciphers=CIPHERS,
        lines="\n".join(f"    {line}" for line in lines),
    )


class Nginx(WebServer):
    """A running nginx, which inherits its socket as a running nginx hands its own to a newer one."""

    server = Server.NGINX
    configuration_file = "nginx.conf"
    arguments = ("-p", "{folder}", "-c", configuration_file, "-e", "stderr")
    environment = MappingProxyType({"NGINX": "{descriptor};"})

    def configuration(self, case: Case, port: int) -> str:
        return configuration(case, port)

    def prepare(self, folder: Path, case: Case) -> None:
        """It needs nothing more."""
