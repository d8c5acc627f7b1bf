"""Addresses of servers. Pure."""

import re
from urllib.parse import urlsplit

_USER = re.compile(r"(?<=://)[^/@\s]*@")
_NAMED = r"[\w-]*(?:token|password|passwd|secret|api[_-]?key)[\w-]*"
_CREDENTIAL = re.compile(
    rf"(?i)(\bbearer\s+|\bauthorization:\s*basic\s+|--{_NAMED}\s+|\b{_NAMED}[\"']?\s*[=:]\s*[\"']?)(?!\s)[^\s&\"']+"
)
_TOKEN = re.compile(r"\b(?:eyJ[\w-]+\.[\w-]+\.[\w-]*|gh[pousr]_\w+|glpat-[\w-]+)")


def is_http_address(url: str) -> bool:
    """Whether a URL is http or https with a host, and its port, if any, is a number. A query is allowed, a fragment is
    not. Check here before parsing an address: errors of parsers quote parts of it, possibly a password."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is not a number
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.fragment


def without_users(text: str) -> str:
    """A text whose addresses have neither user nor password."""
    return _USER.sub("…@", text)


def without_secrets(text: str) -> str:
    """The same, and without values that look like a token or password."""
    return _TOKEN.sub("…", _CREDENTIAL.sub(r"\1…", without_users(text)))
