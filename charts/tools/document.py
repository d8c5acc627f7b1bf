"""Writes values.schema.json, the table of values in README.md and the copy of the catalogue, all from their sources.

    python charts/tools/document.py CHART CATALOGUE

In values.yaml, the comment above a value is `# -- DESCRIPTION`, and `# @schema {…}` if the type of its default is not
precise enough. All values are required, because Helm fills in defaults before it validates. A `null` can therefore not
remove a value, such as a container's limits.
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

_QUANTITY = r"^[0-9]+(\.[0-9]+)?(m|[kMGTPE]|[KMGTPE]i)?$"
_DOCUMENTS = {
    "pool": ("pools", "PoolEntry"),
    "channel": ("channels", "ChannelEntry"),
    "view": ("views", "View"),
    "happening": ("channels", "Happening"),
    "repository": ("repositories", "RepositoryEntry"),
    "forge": ("repositories", "ForgeEntry"),
}
"""The schemas in bench-specs/schema that describe the fields of these definitions."""
_DEFINITIONS: dict[str, Any] = {
    "cidr": {"type": "string", "pattern": r"^[0-9a-fA-F.:]+/[0-9]{1,3}$"},
    "pool": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "architecture", "nodeSelector", "cpus", "memory"],
        "properties": {
            "name": {"type": "string", "pattern": r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"},
            "architecture": {"enum": ["x86_64", "aarch64"]},
            "nodeSelector": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}},
            "tolerations": {"type": "array", "items": {"type": "object"}},
            "cpus": {"type": "integer", "minimum": 1},
            "memory": {"type": "string", "pattern": "^[1-9][0-9]*(Ki|Mi|Gi|Ti)$"},
            "notes": {"type": "string"},
        },
    },
    "channel": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "urlFile"],
        "properties": {
            "name": {"type": "string", "pattern": "^[a-z0-9-]{1,63}$"},
            "urlFile": {
                "type": "string",
                "pattern": "^/",
                "description": "file with the address for apprise, in one of channelSecrets",
            },
            "events": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"$ref": "#/$defs/happening"}},
            "digest": {"enum": ["none", "daily"]},
            "digestHour": {"type": "integer", "minimum": 0, "maximum": 23},
            "mostPerHour": {"type": "integer", "minimum": 1, "maximum": 1000},
        },
    },
    "port": {"type": "integer", "minimum": 1, "maximum": 65535},
    "repository": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "url"],
        "properties": {
            "name": {"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"},
            "url": {"type": "string", "description": "an address that git can clone"},
            "branches": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "plannedBranches": {"type": "array", "items": {"type": "string"}},
            "pullRequests": {"enum": ["ignore", "plan", "measure"]},
            "specs": {"type": "string", "description": "folder of specs"},
            "catalogue": {"type": "string"},
            "username": {"type": "string"},
            "passwordFile": {"$ref": "#/$defs/repositorySecret"},
            "forge": {"$ref": "#/$defs/forge"},
            "webhookSecretFile": {"$ref": "#/$defs/repositorySecret"},
        },
    },
    "repositorySecret": {"type": "string", "pattern": "^/", "description": "a file in one of repositorySecrets"},
    "forge": {
        "type": "object",
        "additionalProperties": False,
        "required": ["kind", "repository", "tokenFile"],
        "properties": {
            "kind": {"enum": ["github", "gitlab", "gitea"]},
            "url": {"type": "string"},
            "repository": {"type": "string"},
            "tokenFile": {"$ref": "#/$defs/repositorySecret"},
        },
    },
    "quantity": {"type": ["string", "integer"], "pattern": _QUANTITY},
}
_TYPES: dict[str, str] = {"bool": "boolean", "int": "integer", "str": "string", "seq": "array", "map": "object"}
_BEGIN, _END = "<!-- values: generated from values.yaml -->\n", "<!-- /values -->\n"


def _definitions(schemas: Path) -> dict[str, Any]:
    """All definitions. Descriptions and defaults of fields come from the documents' schemas in the folder `schemas`."""
    definitions = dict(_DEFINITIONS)
    for name, (document, entry) in _DOCUMENTS.items():
        source = json.loads((schemas / f"{document}.schema.json").read_text())["$defs"][entry]
        properties = definitions.setdefault(name, source).get("properties", {})
        for field, own in properties.items():
            described = source["properties"][field]
            properties[field] = {key: described[key] for key in ("description", "default") if key in described} | own
    return definitions


def _comment(lines: list[str], row: int) -> tuple[str, dict[str, Any]]:
    """The description in the comment above a row, and the comment's addition to the schema."""
    first = row
    while first and lines[first - 1].strip().startswith("# "):
        first -= 1
    block = [line.strip().removeprefix("# ") for line in lines[first:row]]
    added = [line.removeprefix("@schema ") for line in block if line.startswith("@schema ")]
    text = " ".join(line for line in block if not line.startswith("@schema "))
    return text.removeprefix("-- ") if text.startswith("-- ") else "", yaml.safe_load(added[0]) if added else {}


def _described(node: yaml.Node, lines: list[str], path: str = "") -> tuple[dict[str, Any], list[tuple[str, str, str]]]:
    """The schema of a mapping, and the table's rows: path, default, description."""
    assert isinstance(node, yaml.MappingNode), path
    properties: dict[str, Any] = {}
    rows: list[tuple[str, str, str]] = []
    for key, value in node.value:
        description, extra = _comment(lines, key.start_mark.line)
        name = f"{path}.{key.value}" if path else key.value
        if isinstance(value, yaml.MappingNode) and value.value and "additionalProperties" not in extra:
            schema, members = _described(value, lines, name)
            rows += [(name, "", description), *members] if description else members
        else:
            schema = {} if "$ref" in extra or "enum" in extra else {"type": _TYPES[value.tag.rpartition(":")[2]]}
            rows.append((name, _default(value), description))
        properties[key.value] = ({"description": description} if description else {}) | schema | extra
    return {
        "type": "object",
        "additionalProperties": False,
        "required": sorted(properties),
        "properties": properties,
    }, rows


def _default(node: yaml.Node) -> str:
    text = json.dumps(yaml.safe_load(yaml.serialize(node)))
    return f"`{text}`" if len(text) <= 60 else "see values.yaml"


def schema_and_table(values: str, schemas: Path) -> tuple[str, str]:
    """The texts of values.schema.json and of the README's table."""
    root = yaml.compose(values)
    assert root is not None, "values.yaml is empty"
    schema, rows = _described(root, values.splitlines())
    schema["properties"]["global"] = {"type": "object", "description": "values that Helm passes to subcharts"}
    document = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Values of the kexbench chart"}
    document |= schema | {"$defs": _definitions(schemas)}
    table = ["| value | default | description |", "|---|---|---|"]
    for name, default, description in rows:
        cells = (f"**`{name}`**" if not default else f"`{name}`", default, description)
        table.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return json.dumps(document, indent=2) + "\n", "\n".join(table) + "\n"


def generated(chart: Path, catalogue: Path) -> dict[Path, str]:
    """The contents of a chart's generated files."""
    schema, table = schema_and_table((chart / "values.yaml").read_text(), catalogue.parent / "schema")
    before, _, following = (chart / "README.md").read_text().partition(_BEGIN)
    _, _, after = following.partition(_END)
    return {
        chart / "values.schema.json": schema,
        chart / "README.md": f"{before}{_BEGIN}{table}{_END}{after}",
        chart / "files" / "libraries.yaml": catalogue.read_text(),
    }


def main() -> None:
    chart, catalogue = (Path(argument) for argument in sys.argv[1:])
    for path, text in generated(chart, catalogue).items():
        path.write_text(text)


if __name__ == "__main__":
    main()
