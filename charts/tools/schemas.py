"""Writes JSON Schemas for kubeconform, strict, of what Kubernetes and the Prometheus operator publish.

    python charts/tools/schemas.py TARGET KUBERNETES_MODULE PROMETHEUS_OPERATOR_MODULE

kubeconform's own schemas are fetched from the network; these come out of Go modules, so their versions are pinned.
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml


def strict(schema: Any) -> Any:
    """The same schema, in which an object with known fields has no others."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items() if key not in {"description", "default"}}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        found["additionalProperties"] = False
    return found


def of_kubernetes(openapi: dict[str, Any]) -> dict[str, Any]:
    """Schemas by file name, of one group and version. References lead within each file."""
    components = {"schemas": strict(openapi.get("components", {}).get("schemas", {}))}
    return {
        file_name(kind["group"], kind["version"], kind["kind"]): {
            "$ref": f"#/components/schemas/{name.replace('~', '~0').replace('/', '~1')}",
            "components": components,
        }
        for name, schema in components["schemas"].items()
        for kind in schema.get("x-kubernetes-group-version-kind", [])[:1]
    }


def of_definition(crd: dict[str, Any]) -> dict[str, Any]:
    """Schemas by file name, of a custom resource definition."""
    spec = crd["spec"]
    return {
        file_name(spec["group"], version["name"], spec["names"]["kind"]): _resource(
            version["schema"]["openAPIV3Schema"]
        )
        for version in spec["versions"]
    }


def _resource(schema: dict[str, Any]) -> Any:
    # A definition says of metadata only that it is an object.
    found = strict(schema)
    found["properties"]["metadata"] = {"type": "object"}
    return found


def file_name(group: str, version: str, kind: str) -> str:
    """As kubeconform's template `{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}` gives it, for which the core's
    group is its version."""
    return f"{kind.lower()}-{group or version}-{version}.json"


def main() -> None:
    target, kubernetes, operator = (Path(argument) for argument in sys.argv[1:])
    target.mkdir(parents=True)
    found: dict[str, Any] = {}
    for path in kubernetes.glob("api/openapi-spec/v3/*__v1_openapi.json"):
        found |= of_kubernetes(json.loads(path.read_text()))
    for name in ("servicemonitors", "podmonitors", "prometheusrules"):
        path = operator / "example" / "prometheus-operator-crd" / f"monitoring.coreos.com_{name}.yaml"
        found |= of_definition(yaml.safe_load(path.read_text()))
    for file, schema in found.items():
        (target / file).write_text(json.dumps(schema))


if __name__ == "__main__":
    main()
