"""kubectl as tests have it."""

from collections.abc import Callable

Kubectl = Callable[..., str]
"""`kubectl("get", "nodes")` is what it prints; `given` goes to its standard input as JSON. Raises KubectlError."""


class KubectlError(Exception):
    """What kubectl said."""
