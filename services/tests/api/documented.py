"""What the whole OpenAPI document says of an address, for every test that asks one."""

import re
from functools import cache
from typing import Any, cast

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.store.port import Store

METHODS = ("get", "put", "post", "delete", "patch")


@cache
def document() -> dict[str, Any]:
    return create_app(cast(Store, None), LocalGatekeeper(""), None).whole_document()


def documented_statuses(method: str, path: str) -> set[int] | None:
    """None where the document does not have this method of this address."""
    for operations in _served_at(path):
        if method.lower() in operations:
            return {int(status) for status in operations[method.lower()]["responses"]}
    return None


def documented_methods(path: str) -> set[str]:
    """`/alerts/advance` is posted to, and may be read as the alert of this name."""
    return {method.upper() for operations in _served_at(path) for method in METHODS if method in operations}


def _served_at(path: str) -> list[dict[str, Any]]:
    return [operations for pattern, operations in _addresses() if pattern.fullmatch(path)]


@cache
def _addresses() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """Those with fewest parameters first: `/alerts/scorecard` is no alert."""
    paths = sorted(document()["paths"].items(), key=lambda item: str(item[0]).count("{"))
    return [(re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path)), operations) for path, operations in paths]
