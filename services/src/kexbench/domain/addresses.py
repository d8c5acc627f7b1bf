"""Addresses of servers. Pure."""

from urllib.parse import urlsplit


def is_http_address(url: str) -> bool:
    """Whether it names a host, over http or https, and a port that is a number where it has one. A query is allowed, a
    fragment is not. What takes an address apart quotes parts of it in its errors, a password perhaps, so ask here
    first."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is no number
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.fragment
