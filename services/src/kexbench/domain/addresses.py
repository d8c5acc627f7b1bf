"""Addresses of servers. Pure."""

from urllib.parse import urlsplit


def is_http_address(url: str) -> bool:
    """Whether a URL is http or https with a host, and its port, if any, is a number. A query is allowed, a fragment is
    not. Check here before parsing an address: errors of parsers quote parts of it, possibly a password."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is not a number
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.fragment
