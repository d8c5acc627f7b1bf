"""The configuration that each web server gets for a case, and what a killed runner leaves."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kexbench.domain.cases import Case
from kexbench.runner import haproxy, httpd, nginx
from kexbench.runner.web_server import clear_leftovers
from tests.golden import GOLDEN, assert_texts
from tests.runner.real import a_case

HYBRID = {"server": "nginx", "ecdsa_percent": 10}
CASES = {
    "static RSA": a_case("TLSv1.2", "RSA"),
    "custom DH parameters": a_case("TLSv1.2", "DHE-RSA", group="dh-1024"),
    "a curve that OpenSSL names otherwise": a_case("TLSv1.2", "ECDHE-RSA", group="secp192r1"),
    "TLS 1.2, resumed by session id": a_case("TLSv1.2", "ECDHE-ECDSA", group="P-256", resumption="session-id"),
    "TLS 1.2, resumed by ticket": a_case("TLSv1.2", "ECDHE-ECDSA", group="P-256", resumption="ticket"),
    "TLS 1.3": a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519MLKEM768"),
    "TLS 1.3, resumed": a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", resumption="psk-dhe"),
    "static RSA beside ECDSA": a_case("TLSv1.2", "RSA", **HYBRID),
    "custom DH parameters beside ECDSA": a_case("TLSv1.2", "DHE-RSA", group="dh-1024", **HYBRID),
    "ECDHE-RSA beside ECDSA, which share the group": a_case("TLSv1.3", "ECDHE-RSA", group="X25519", **HYBRID),
    "DHE-RSA beside ECDSA in TLS 1.3": a_case("TLSv1.3", "DHE-RSA", group="ffdhe2048", **HYBRID),
}


@pytest.mark.parametrize(
    ("server", "configuration"),
    [("nginx", nginx.configuration), ("httpd", httpd.configuration), ("haproxy", haproxy.configuration)],
)
def test_a_server_is_given_what_the_case_is_and_no_more(server: str, configuration: Callable[[Case, int], str]) -> None:
    texts = {name: configuration(case, 4433) for name, case in CASES.items()}
    assert_texts(GOLDEN / f"{server}.txt", texts)


def test_what_a_killed_runner_left_is_deleted_and_the_rest_stays(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.touch()
    (tmp_path / "servers" / "nginx-1" / "content").mkdir(parents=True)
    clear_leftovers(log)
    assert list(tmp_path.iterdir()) == [log]
    clear_leftovers(log)
