"""The reference of the documents that people write: every field with its values, its default and its description, from
the schemas."""

import json
import re
from collections.abc import Iterator
from typing import Any

from kexbench.schemas import SITE, served_schemas
from sitemaker.tables import code, prose, table

TITLES = {
    "spec": "Fields of a spec",
    "catalogue": "Fields of the catalogue",
    "pools": "Fields of the pools",
    "repositories": "Fields of the watched repositories",
    "channels": "Fields of the channels",
    "views": "Fields of the named views",
    "mix": "Fields of a traffic mix",
}
MOST_VALUES = 60


def schema_pages() -> dict[str, str]:
    """The Markdown of each page, by its path on the site."""
    return {
        f"reference/fields/{path.removeprefix('schema/').removesuffix('.json')}.md": _page(path, schema)
        for path, schema in served_schemas().items()
    }


def _page(path: str, schema: dict[str, Any]) -> str:
    name = path.removeprefix("schema/").removesuffix(".json")
    top = (
        f"# {TITLES[name]}\n\n{prose(schema.get('description', ''))}\n\n"
        f"The [JSON Schema]({SITE}/{path}) of this page completes and checks such a file in an editor with a YAML "
        f"language server. Its first line is then:\n\n```yaml\n# yaml-language-server: $schema={SITE}/{path}\n```\n\n"
    )
    parts = dict(_parts(schema, schema))
    return top + "".join(
        (f"## {code(place)}\n\n{prose(part['about'])}\n\n" if place else "") + _fields(part, schema)
        for place, part in parts.items()
    )


def _parts(part: dict[str, Any], schema: dict[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects that a document consists of, with their places: `measure`, `reference.tables[]`."""
    yield place, part
    for name, field in part.get("properties", {}).items():
        for child, is_list in _objects(field, schema):
            yield from _parts(child, schema, f"{place}.{name}".lstrip(".") + ("[]" if is_list else ""))


def _objects(field: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """The objects with fields of their own that a field may hold, and whether it holds a list of them."""
    field = _resolved(field, schema)
    if "properties" in field:
        yield field, False
    elif isinstance(field.get("items"), dict):
        for child, _ in _objects(field["items"], schema):
            yield child, True
    elif isinstance(field.get("additionalProperties"), dict):
        yield from _objects(field["additionalProperties"], schema)
    choices = [_resolved(choice, schema) for choice in field.get("anyOf", ())]
    has_list = any("items" in choice for choice in choices)
    for choice in choices:
        if not (has_list and "properties" in choice):  # one that stands alone is a list of one
            yield from _objects(choice, schema)


def _resolved(field: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    reference = field.get("$ref")
    if not reference:
        return field
    part = schema["$defs"][reference.rpartition("/")[2]]
    return {**part, "about": part.get("description", ""), **field}


def _fields(part: dict[str, Any], schema: dict[str, Any]) -> str:
    required = part.get("required", ())
    return table(
        ("field", "meaning", "values", "default"),
        [
            (
                code(name),
                prose(field["description"]),
                values_of(field, schema),
                "required" if name in required else _default(_resolved(field, schema)),
            )
            for name, field in part["properties"].items()
        ],
    )


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    if value in (None, "", [], {}) or isinstance(value, dict):
        return ""
    shown = value[0] if isinstance(value, list) and len(value) == 1 else value
    return code(shown if isinstance(shown, str) else json.dumps(shown))


def values_of(field: dict[str, Any], schema: dict[str, Any]) -> str:
    """What a field may hold, in words."""
    field = _resolved(field, schema)
    if "const" in field:
        return code(field["const"])
    if "enum" in field:
        return ", ".join(dict.fromkeys(code(value) for value in field["enum"][:MOST_VALUES]))
    if field.get("type") == "object":
        return "object" if "properties" in field else f"by name: {values_of(field['additionalProperties'], schema)}"
    if "anyOf" in field:
        words = dict.fromkeys(values_of(choice, schema) for choice in field["anyOf"])
        lists = [word for word in words if word.startswith("list of ")]
        return lists[0] if lists else ", or ".join(words)
    if field.get("type") == "array":
        items = values_of(field["items"], schema)
        items = re.sub("^(object|whole number|number)", r"\1s", items)
        return f"list, {items}" if items.startswith("by name") else f"list of {items}"
    return _scalar(field)


def _scalar(field: dict[str, Any]) -> str:
    kinds = field.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]  # the other one is what it may be written as too
    word = {"boolean": "`true`, `false`", "integer": "whole number", "number": "number"}.get(kind, "text")
    least, most = field.get("minimum", field.get("exclusiveMinimum")), field.get("maximum")
    if least is not None and most is not None:
        return (
            f"{word}, {least:,} to {most:,}"
            if isinstance(most, int) and most < 10**6
            else f"{word}, {least} to {most:g}"
        )
    if least is not None:
        return f"{word} above {least}" if "exclusiveMinimum" in field else f"{word}, {least} or more"
    pattern = field.get("pattern", "")
    if word == "text" and "%" in pattern:
        return "percentage"
    if word == "text" and re.search(r"\[smh\]", pattern):
        return "duration, such as `90s`, `20m`, `2h` or `8d`"
    return word
