"""Writes values.schema.json, the table of values in README.md and the copy of the catalogue, all from their sources.

    python charts/tools/document.py CHART CATALOGUE

Above a value in values.yaml stand `# -- what it is` and, where its default's type doesn't say enough,
`# @schema {…}` with what JSON Schema adds. Everything is required, since Helm fills in defaults before it validates:
so a `null` cannot take away, say, a container's limits.
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

_QUANTITY = r"^[0-9]+(\.[0-9]+)?(m|[kMGTPE]|[KMGTPE]i)?$"
_HAPPENINGS = [
    *("raised", "grew", "fixed", "stale", "acknowledged", "confirmed", "ignored", "wrong", "reopened", "assigned"),
    *("noted", "due", "improved"),
]
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
            "cpus": {"type": "integer", "minimum": 1, "description": "whole CPUs of a job's pod"},
            "memory": {"type": "string", "pattern": "^[1-9][0-9]*(Ki|Mi|Gi|Ti)$", "description": "of a job's pod"},
            "notes": {"type": "string"},
        },
    },
    "channel": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "urlFile"],
        "properties": {
            "name": {"type": "string", "pattern": "^[a-z0-9-]{1,63}$", "description": "what specs name it by"},
            "urlFile": {
                "type": "string",
                "pattern": "^/",
                "description": "holds the address for apprise; in one of channelSecrets",
            },
            "events": {
                "type": "array",
                "minItems": 1,
                "uniqueItems": True,
                "items": {"enum": _HAPPENINGS},
                "description": "raised, fixed and stale where left out",
            },
            "digest": {"enum": ["none", "daily"], "description": "daily: all of a day in one message"},
            "digestHour": {"type": "integer", "minimum": 0, "maximum": 23, "description": "in UTC; 7 where left out"},
            "mostPerHour": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "20 where left out"},
        },
    },
    "port": {"type": "integer", "minimum": 1, "maximum": 65535},
    "repository": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "url"],
        "properties": {
            "name": {"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"},
            "url": {"type": "string", "description": "whatever git clones"},
            "branches": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string"},
                "description": "main where left out",
            },
            "plannedBranches": {
                "type": "array",
                "items": {"type": "string"},
                "description": "patterns; what they fit is planned and not measured",
            },
            "pullRequests": {
                "enum": ["ignore", "plan", "measure"],
                "description": "plan where a forge is named, otherwise ignore",
            },
            "specs": {"type": "string", "description": "the folder of specs; bench-specs where left out"},
            "catalogue": {"type": "string", "description": "libraries.yaml among the specs where left out"},
            "username": {"type": "string"},
            "passwordFile": {"type": "string", "pattern": "^/", "description": "in one of repositorySecrets"},
            "forge": {
                "type": "object",
                "additionalProperties": False,
                "required": ["kind", "repository", "tokenFile"],
                "properties": {
                    "kind": {"enum": ["github", "gitlab", "gitea"]},
                    "url": {"type": "string", "description": "of its API; left out for github.com and gitlab.com"},
                    "repository": {"type": "string", "description": "owner/name; at GitLab the project's whole path"},
                    "tokenFile": {"type": "string", "pattern": "^/", "description": "in one of repositorySecrets"},
                },
            },
            "webhookSecretFile": {"type": "string", "pattern": "^/", "description": "in one of repositorySecrets"},
        },
    },
    "quantity": {"type": ["string", "integer"], "pattern": _QUANTITY},
}
_TYPES: dict[str, str] = {"bool": "boolean", "int": "integer", "str": "string", "seq": "array", "map": "object"}
_BEGIN, _END = "<!-- values: generated from values.yaml -->\n", "<!-- /values -->\n"


def _comment(lines: list[str], row: int) -> tuple[str, dict[str, Any]]:
    """What the comment above row `row` says, and what it adds to the schema."""
    first = row
    while first and lines[first - 1].strip().startswith("# "):
        first -= 1
    block = [line.strip().removeprefix("# ") for line in lines[first:row]]
    added = [line.removeprefix("@schema ") for line in block if line.startswith("@schema ")]
    words = " ".join(line for line in block if not line.startswith("@schema "))
    return words.removeprefix("-- ") if words.startswith("-- ") else "", yaml.safe_load(added[0]) if added else {}


def _described(node: yaml.Node, lines: list[str], path: str = "") -> tuple[dict[str, Any], list[tuple[str, str, str]]]:
    """The schema of a mapping, and the table's rows: path, default, what it is."""
    assert isinstance(node, yaml.MappingNode), path
    properties: dict[str, Any] = {}
    rows: list[tuple[str, str, str]] = []
    for key, value in node.value:
        words, extra = _comment(lines, key.start_mark.line)
        here = f"{path}.{key.value}" if path else key.value
        group = isinstance(value, yaml.MappingNode) and bool(value.value) and "additionalProperties" not in extra
        if group:
            schema, below = _described(value, lines, here)
            rows += [(here, "", words), *below] if words else below
        else:
            schema = {} if "$ref" in extra or "enum" in extra else {"type": _TYPES[value.tag.rpartition(":")[2]]}
            rows.append((here, _default(value), words))
        properties[key.value] = ({"description": words} if words else {}) | schema | extra
    return {
        "type": "object",
        "additionalProperties": False,
        "required": sorted(properties),
        "properties": properties,
    }, rows


def _default(node: yaml.Node) -> str:
    text = json.dumps(yaml.safe_load(yaml.serialize(node)))
    return f"`{text}`" if len(text) <= 60 else "see values.yaml"


def schema_and_table(values: str) -> tuple[str, str]:
    """The text of values.schema.json and of the README's table."""
    root = yaml.compose(values)
    assert root is not None, "values.yaml is empty"
    schema, rows = _described(root, values.splitlines())
    schema["properties"]["global"] = {"type": "object", "description": "what Helm hands to a chart within a chart"}
    whole = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Values of the kexbench chart"}
    whole |= schema | {"$defs": _DEFINITIONS}
    table = ["| value | default | what it is |", "|---|---|---|"]
    for name, default, words in rows:
        cells = (f"**`{name}`**" if not default else f"`{name}`", default, words)
        table.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return json.dumps(whole, indent=2) + "\n", "\n".join(table) + "\n"


def generated(chart: Path, catalogue: Path) -> dict[Path, str]:
    """What the generated files of a chart should contain."""
    schema, table = schema_and_table((chart / "values.yaml").read_text())
    before, _, rest = (chart / "README.md").read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
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
