"""The reference of the API, from the OpenAPI document: each route with its parameters and answers, and each object."""

import json
from collections import defaultdict
from typing import Any

from kexbench.schemas import generated_files
from sitemaker.tables import code, prose, table

SCHEMAS = "api-objects.md"


def api_pages() -> dict[str, str]:
    """The Markdown of each page, by its path on the site."""
    document = json.loads(generated_files()["openapi.json"])
    return {"reference/api.md": _routes(document), f"reference/{SCHEMAS}": _objects(document)}


def _routes(document: dict[str, Any]) -> str:
    routes = [(verb.upper(), path, route) for path, verbs in document["paths"].items() for verb, route in verbs.items()]
    meanings: dict[str, dict[str, None]] = defaultdict(dict)
    by_tag: dict[str, list[str]] = defaultdict(list)
    common = set.intersection(*(set(route["responses"]) for _, _, route in routes))
    for verb, path, route in routes:
        for status, answer in route["responses"].items():
            if int(status) >= 300:
                meanings[status][answer["description"]] = None
        by_tag[route["tags"][-1]].append(_route(verb, path, route, common))
    errors = table(
        ("status", "meaning"), [(status, prose(". ".join(texts))) for status, texts in sorted(meanings.items())]
    )
    return (
        "# API\n\n"
        "`kexbench serve` answers these routes. Reading needs no token. Routes marked *token* need an access "
        "token in the header `Authorization: Bearer …`. The service has the OpenAPI document at "
        "`/api/v1/openapi.json`.\n\n"
        f"An error is a `Problem` of the type `application/problem+json`, with one of these statuses. Every route may "
        f"answer {', '.join(sorted(common))}; each names the others that it has.\n\n{errors}"
        + "".join(f"## {tag.capitalize()}\n\n{''.join(texts)}" for tag, texts in by_tag.items())
    )


def _route(verb: str, path: str, route: dict[str, Any], common: set[str]) -> str:
    parameters = table(
        ("parameter", "meaning", "in", "values", "default"),
        [
            (
                code(each["name"]) + (" (required)" if each["required"] else ""),
                prose(each.get("description", "")),
                each["in"],
                _type(each["schema"]),
                _default(each["schema"]),
            )
            for each in route.get("parameters", ())
        ],
    )
    body = "".join(
        f"Body: {_type(content['schema'])}, as {code(kind)}.\n\n"
        for kind, content in route.get("requestBody", {}).get("content", {}).items()
    )
    answers = [
        f"{status} " + (" or ".join(_content(kind, content) for kind, content in answer["content"].items()) or "")
        if answer.get("content")
        else f"{status}, without a body"
        for status, answer in route["responses"].items()
        if int(status) < 300
    ]
    errors = sorted(status for status in set(route["responses"]) - common if int(status) >= 300)
    token = "*Token.* " if route.get("security") else ""
    return (
        f"### {verb} {path}\n\n{token}{prose(route.get('description', route['summary']))}\n\n{parameters}{body}"
        f"Answers: {'; '.join(answers)}." + (f" Also {', '.join(errors)}." if errors else "") + "\n\n"
    )


def _content(kind: str, content: dict[str, Any]) -> str:
    shape = _type(content["schema"]) if content.get("schema") else ""
    return shape if kind == "application/json" and shape else code(kind)


def _default(schema: dict[str, Any]) -> str:
    value = schema.get("default")
    return "" if value in (None, "", []) else code(value if isinstance(value, str) else json.dumps(value))


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}]({SCHEMAS}#{name.lower()})"
    if values := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return ", ".join(map(code, values))
    choices = [each for key in ("anyOf", "oneOf", "allOf") for each in schema.get(key, ())]
    if choices:
        words = dict.fromkeys(_type(each) for each in choices if each.get("type") != "null")
        is_optional = any(each.get("type") == "null" for each in choices)
        return " or ".join([*words, *(["null"] if is_optional else [])])
    if "items" in schema or "prefixItems" in schema:
        return f"list of {', '.join(map(_type, schema.get('prefixItems') or [schema['items']]))}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return str(schema.get("format") or schema.get("type") or "anything")


def _objects(document: dict[str, Any]) -> str:
    return "# Objects of the API\n\nWhat [routes](api.md) take and return.\n\n" + "".join(
        f"## {name}\n\n{prose(schema.get('description', ''))}\n\n" + _fields(schema)
        for name, schema in sorted(document["components"]["schemas"].items())
    )


def _fields(schema: dict[str, Any]) -> str:
    if "properties" not in schema:
        return f"{_type(schema)}\n\n".replace(f"({SCHEMAS}#", "(#")
    required = schema.get("required", ())
    return table(
        ("field", "meaning", "type"),
        [
            (
                code(name) + ("" if name in required else " (optional)"),
                prose(field.get("description", "")),
                _type(field).replace(f"({SCHEMAS}#", "(#"),
            )
            for name, field in schema["properties"].items()
        ],
    )
