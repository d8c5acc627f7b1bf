"""What apprise is trusted with: an address that nobody else reads, and nothing that it doesn't name."""

import json
import logging
import socket
from email import message_from_bytes
from email.policy import default
from io import StringIO
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest

from kexbench.notify.apprise_channel import KEY_HEADER, AppriseChannel
from kexbench.notify.port import ChannelError, Letter
from tests.notify.conftest import SECRET, Webhook, webhook

LETTER = Letter("0123456789abcdef", "OpenSSL is slower", "by 5%, see https://kexbench.example", "by **5%**")


def refused(address: str | Path) -> ChannelError:
    with pytest.raises(ChannelError) as found:
        AppriseChannel(address).send(LETTER)
    return found.value


def test_a_webhook_gets_json_with_the_key_in_a_header(hook: Webhook) -> None:
    AppriseChannel(hook.address()).send(LETTER)
    (posted,) = hook.posted
    assert posted.path == f"/services/{SECRET}-path"
    assert posted.headers[KEY_HEADER] == LETTER.key
    assert posted.headers["X-Api-Key"] == f"{SECRET}-key"
    assert {"title": LETTER.title, "message": LETTER.markdown}.items() <= posted.body.items()


def test_an_address_in_a_file_is_read_anew_each_time(hook: Webhook, tmp_path: Path) -> None:
    file = tmp_path / "url"
    channel = AppriseChannel(file)
    with pytest.raises(ChannelError, match=f"{file}: No such file"):
        channel.send(LETTER)
    for path in ("first", "second"):
        file.write_text(f"json://{hook.url}/{path}\n")
        channel.send(LETTER)
    assert [posted.path for posted in hook.posted] == ["/first", "/second"]
    file.write_text("two words")
    with pytest.raises(ChannelError, match="one address without blanks"):
        channel.send(LETTER)
    file.write_bytes(b"\xff")
    with pytest.raises(ChannelError, match="not UTF-8 text"):
        channel.send(LETTER)


@pytest.mark.parametrize("schema", ["nonsense", "slack", "json", "github"])
def test_an_address_that_apprise_does_not_know_is_refused_without_being_quoted(schema: str) -> None:
    error = refused(f"{schema}://")
    assert "apprise does not support this address" in str(error)
    error = refused(f"{schema}://127.0.0.1:1/{SECRET}")
    assert SECRET not in f"{error}{error.details}"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(hook: Webhook, status: int) -> None:
    with webhook() as elsewhere:
        hook.status, hook.location = status, f"http://{elsewhere.url}/"
        assert str(status) in str(refused(hook.address()))
        assert (len(hook.posted), elsewhere.posted) == (1, [])


def test_no_secret_of_the_address_is_in_an_error_a_log_or_the_output(
    hook: Webhook, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Even where the other side says it all again."""
    logged = StringIO()
    handler = logging.StreamHandler(logged)
    root = logging.getLogger()
    root.addHandler(handler)
    caplog.set_level(logging.DEBUG)
    hook.status = 403
    for schema in ("json", "form", "xml"):
        address = hook.address(schema=schema)
        hook.answer = json.dumps({"denied": [address, SECRET, "aG9vazpzM2NyM3QtVDBrZW4="]}).encode()
        if schema == "json":
            error = refused(address)
            assert "denied" in error.details
        else:
            error = refused(address.replace(hook.url, "127.0.0.1:1"))
        written = f"{error}{error.details}{logged.getvalue()}{''.join(capfd.readouterr())}"
        for secret in (SECRET, "aG9vazpzM2NyM3QtVDBrZW4", "T0ken"):
            assert secret not in written
        assert error.__cause__ is None
    root.removeHandler(handler)
    assert "urllib3" not in logged.getvalue()


def test_a_failure_inside_a_plug_in_is_a_refusal_in_words(hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object, **__: object) -> None:
        raise ValueError(f"unexpected {SECRET}")

    monkeypatch.setattr("apprise.plugins.custom_json.dumps", explode)
    error = refused(hook.address())
    assert SECRET not in f"{error}{error.details}"


def test_nobody_who_listens_is_said_with_the_host() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    assert "127.0.0.1" in str(refused(f"json://127.0.0.1:{port}/{SECRET}"))


def test_somebody_who_never_answers_is_given_up(hook: Webhook) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"json://127.0.0.1:{silent.getsockname()[1]}/?rto=0.2"
        assert "127.0.0.1" in str(refused(address))


def test_github_opens_an_issue_where_the_address_names_a_repository() -> None:
    """The plug-in speaks to api.github.com alone, so that only its address is looked at here."""
    from apprise import Apprise

    plugin = Apprise.instantiate(f"github://{SECRET}@acme/benchmarks")
    assert plugin is not None
    assert plugin.service_name == "GitHub"


class _Mailbox(StreamRequestHandler):
    """As much of SMTP as takes one mail."""

    taken: list[bytes]

    def handle(self) -> None:
        self.wfile.write(b"220 mailbox\r\n")
        for line in self.rfile:
            word = line.split()[0].upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = []
                while (one := self.rfile.readline()) != b".\r\n":
                    lines.append(one)
                self.taken.append(b"".join(lines))
            if word == b"QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            self.wfile.write(b"250 ok\r\n")


def test_a_mail_arrives_with_both_texts_and_the_key() -> None:
    taken: list[bytes] = []
    handler = type("Handler", (_Mailbox,), {"taken": taken})
    with ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            port = server.server_address[1]
            address = (
                f"mailto://127.0.0.1:{port}?smtp=127.0.0.1&from=kexbench@example.org&to=team@example.org&mode=insecure"
            )
            AppriseChannel(address).send(LETTER)
        finally:
            server.shutdown()
            thread.join()
    mail = message_from_bytes(taken[0], policy=default)
    assert (mail["Subject"], mail["To"]) == (LETTER.title, "team@example.org")
    assert mail[KEY_HEADER] == LETTER.key
    html = mail.get_body(("html",))
    assert html is not None
    assert "<strong>5%</strong>" in html.get_content()
