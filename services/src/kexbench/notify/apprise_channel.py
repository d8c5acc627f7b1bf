"""A channel that sends with apprise: mail, Slack, webhooks, GitHub issues and so on, depending on its address.

The address is a secret. Of apprise's log, only warnings leave this module, without any part of the address. Only the
host of the address is contacted: redirects are not followed, and messages link no images.
"""

import base64
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from apprise import Apprise, AppriseAsset, NotifyBase, NotifyFormat

from kexbench.logs import silence_requests
from kexbench.notify.port import ChannelError, Letter

KEY_HEADER = "Idempotency-Key"
PATIENCE_S = 10.0
"""Timeout of a connection, and of each answer. The address may change them (`cto`, `rto`)."""
WHOLE_S = 120
"""Timeout of a whole message."""
_LOG = logging.getLogger("apprise")
_LOG.propagate = False
_LOG.setLevel(logging.DEBUG)
"""apprise logs the channel's answer at this level. It goes only into the result."""
silence_requests()
_NAMED_HOSTS = ("json", "jsons", "form", "forms", "xml", "xmls", "mailto", "mailtos")
"""Schemas whose host is a host name. In other addresses, it may be part of a token."""
_WORD_MIN = 4
"""Shorter parts of an address are no secrets, except the password."""


class AppriseChannel:
    """Implements Channel. `address` is an apprise URL, or a file with one, which is read for each message."""

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
            warned, details = (_tame(" ".join(lines), address) for lines in logs)
            raise ChannelError(warned or "it refused the message without a reason", details)

    def _read(self) -> str:
        if isinstance(self._address, str):
            return self._address
        try:
            words = self._address.read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ChannelError(f"the address can't be read: {self._address}: {reason}; correct the file") from None
        if len(words) != 1:
            raise ChannelError(f"{self._address} must contain one address without blanks")
        return words[0]


def _send(address: str, letter: Letter) -> tuple[list[str], list[str]] | None:
    """None if the channel accepted the letter, otherwise apprise's warnings and the channel's answer."""
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
        raise ChannelError("apprise does not support this address: see https://appriseit.com/services/")
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
    """Set the timeouts, and the key as a header of webhooks and mails."""
    query = address.partition("?")[2]
    if "rto=" not in query:
        plugin.socket_read_timeout = PATIENCE_S
    if "cto=" not in query:
        plugin.socket_connect_timeout = PATIENCE_S
    headers = getattr(plugin, "headers", None)
    if isinstance(headers, dict):
        headers[KEY_HEADER] = key


def _tame(text: str, address: str) -> str:
    """The text on one line, without any part of the address that may be a secret."""
    for secret in sorted(set(_secrets(address)), key=len, reverse=True):
        text = text.replace(secret, "…")
    return " ".join(text.split())


def _secrets(address: str) -> Iterator[str]:
    schema, _, tail = address.partition("://")
    location, _, query = tail.partition("?")
    user_info, _, place = location.rpartition("@")
    host, _, path = place.partition("/")
    user, _, password = user_info.partition(":")
    words = [user, *path.split("/"), *(value for pair in query.split("&") for value in pair.split("=", 1)[1:])]
    if schema.lower() not in _NAMED_HOSTS:
        words += host.split(":")
    words += [part for word in words for part in unquote(word).split()]
    secrets = [address, tail, *(word for word in words if len(word) >= _WORD_MIN), password, unquote(password)]
    secrets.append(base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode() if user_info else "")
    for secret in filter(None, secrets):
        yield secret
        yield quote(secret, safe="")
