"""The OpenAPI document: what people and their programs ask, and the whole with what kexbench's own processes ask."""

import re
from collections.abc import Iterable
from typing import Any

from kexbench.api.problems import MEDIA_TYPE

INTERNAL = frozenset(
    {
        *("put_run", "post_event", "put_attempt", "post_invocation", "post_invocations", "stored_invocations"),
        *("stored_by_job", "job_order", "material", "kit", "put_kit", "open_runs", "open_run", "known_kits"),
        *("start_run", "advance_bisections", "put_line", "line_trouble", "advance_alerts", "run_schedule"),
        *("repository_heads", "run_committed", "handled_commit", "followed", "note_followed", "run_followed"),
        *("rings", "next_notification", "note_what_was_sent", "backup"),
    }
)
"""What runners, pods, the dispatcher, the watcher, the notifier and `kexbench backup` ask. They are of the service's
own release, and send formats that have schemas of their own."""
_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_REFERENCE = re.compile(r"#/components/schemas/([\w.-]+)")


def with_problems(document: dict[str, Any]) -> dict[str, Any]:
    """Problems have their own media type; FastAPI supports only one for each route."""
    for operation in _operations(document):
        for response in operation["responses"].values():
            content = response.get("content", {})
            if content.get("application/json", {}).get("schema") == _PROBLEM:
                content[MEDIA_TYPE] = content.pop("application/json")
    return document


def for_people(document: dict[str, Any]) -> dict[str, Any]:
    """Without what is internal, and without the schemas that nothing else needs."""
    paths = {
        path: kept
        for path, operations in document["paths"].items()
        if (kept := {method: each for method, each in operations.items() if each["operationId"] not in INTERNAL})
    }
    schemas = document["components"]["schemas"]
    needed: set[str] = set()
    wanted = _named(paths)
    while wanted:
        needed |= wanted
        wanted = {name for known in wanted for name in _named(schemas[known])} - needed
    components = {**document["components"], "schemas": {name: schemas[name] for name in schemas if name in needed}}
    return {**document, "paths": paths, "components": components}


def _operations(document: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return (operation for path in document["paths"].values() for operation in path.values())


def _named(part: object) -> set[str]:
    return set(_REFERENCE.findall(str(part)))
