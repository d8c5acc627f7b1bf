"""A channel that apprise speaks to: mail, Slack, a webhook, GitHub issues and whatever else an address names.

The address is a secret. apprise may log what it likes, of which nothing leaves this file but its warnings, without any
part of the address. Nothing is reached that the address doesn't name: redirects are not followed, pictures not linked.
"""

import base64
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from apprise import Apprise, AppriseAsset, NotifyBase, NotifyFormat

from kexbench.notify.port import ChannelError, Letter

KEY_HEADER = "Idempotency-Key"
PATIENCE_S = 10.0
"""For a connection, and for each answer, unless the address says otherwise (`cto`, `rto`)."""
WHOLE_S = 120
"""For all of one message."""
_LOG = logging.getLogger("apprise")
_LOG.propagate = False
_LOG.setLevel(logging.DEBUG)
"""What the other side answered is said at this level. It goes nowhere but into the result."""
logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)
"""Below, it tells the path of every request."""
_NAMED_HOSTS = ("json", "jsons", "form", "forms", "xml", "xmls", "mailto", "mailtos")
"""Schemas whose host is one, and no part of a token."""
_WORD_MIN = 4
"""Shorter parts of an address but the password are no secrets."""


class AppriseChannel:
    """Implements Channel. `address` is what apprise calls a URL; a file with it is read anew each time."""

    def __init__(self, address: str | Path) -> None:
        self._address = address

    def send(self, letter: Letter) -> None:
        address = self._read()
        try:
            logs = _send(address, letter)
        except ChannelError:
            raise
        except Exception as error:  # of any of a hundred plug-ins
            raise ChannelError(_tame(f"apprise failed: {type(error).__name__}: {error}", address)) from None
        if logs is not None:
            said, details = (_tame(" ".join(words), address) for words in logs)
            raise ChannelError(said or "it did not take the message, and didn't say why", details)

    def _read(self) -> str:
        if isinstance(self._address, str):
            return self._address
        try:
            lines = self._address.read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise ChannelError(f"the address can't be read: {self._address}: {reason}; write it there") from None
        if len(lines) != 1:
            raise ChannelError(f"{self._address} has to hold one address, without blanks")
        return lines[0]


def _send(address: str, letter: Letter) -> tuple[list[str], list[str]] | None:
    """None once it is taken; else what apprise warned of, and what else it said."""
    asset = AppriseAsset(
        app_id="kexbench",
        app_desc="kexbench",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        pgp_autogen=False,
        pem_autogen=False,
        http_redirects=False,
        storage_mode="memory",
        service_timeout=WHOLE_S,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a plug-in's imports
        plugin = Apprise.instantiate(address, asset=asset)
    if plugin is None:
        raise ChannelError("apprise knows no such address: see https://appriseit.com/services/ for its form")
    _prepare(plugin, address, letter.key)
    body_format = plugin.resolve_format(NotifyFormat.MARKDOWN)
    is_text = body_format is NotifyFormat.TEXT
    servers = Apprise(asset=asset)
    servers.add(plugin)
    result = servers.notify(
        title=letter.title,
        body=letter.text if is_text else letter.markdown,
        body_format=NotifyFormat.TEXT if is_text else NotifyFormat.MARKDOWN,
        log_level=logging.DEBUG,
    )
    if result:
        return None
    logs = list(result.logs())
    warned = [entry.message for entry in logs if entry.level not in ("DEBUG", "TRACE", "INFO")]
    return warned, [entry.message for entry in logs if entry.message.startswith("Response Details")]


def _prepare(plugin: NotifyBase, address: str, key: str) -> None:
    """Patience, and the key in a header where there are any: of webhooks and of mails."""
    query = address.partition("?")[2]
    if "rto=" not in query:
        plugin.socket_read_timeout = PATIENCE_S
    if "cto=" not in query:
        plugin.socket_connect_timeout = PATIENCE_S
    headers = getattr(plugin, "headers", None)
    if isinstance(headers, dict):
        headers[KEY_HEADER] = key


def _tame(text: str, address: str) -> str:
    """On one line, and without any part of the address that may be a secret."""
    for secret in sorted(set(_secrets(address)), key=len, reverse=True):
        text = text.replace(secret, "…")
    return " ".join(text.split())


def _secrets(address: str) -> Iterator[str]:
    schema, _, rest = address.partition("://")
    before, _, query = rest.partition("?")
    user_info, _, where = before.rpartition("@")
    host, _, path = where.partition("/")
    user, _, password = user_info.partition(":")
    words = [user, *path.split("/"), *(value for pair in query.split("&") for value in pair.split("=", 1)[1:])]
    if schema.lower() not in _NAMED_HOSTS:
        words += host.split(":")
    words += [part for word in words for part in unquote(word).split()]
    found = [address, rest, *(word for word in words if len(word) >= _WORD_MIN), password, unquote(password)]
    found.append(base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode() if user_info else "")
    for secret in filter(None, found):
        yield secret
        yield quote(secret, safe="")
