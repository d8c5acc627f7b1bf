"""The generated files of bench-specs/schema: JSON Schemas of what people write, for editors; the OpenAPI document; and
the titles of libraries and kinds of cases and the meanings of metrics, for the pages."""

import json
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from kexbench.analysis.sentences import PLACES
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.domain.dimensions import KINDS
from kexbench.domain.instruments import INSTRUMENTS
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.metrics import Metric
from kexbench.domain.upgrades import SIDES_OF
from kexbench.planning.channels import Channels
from kexbench.planning.mix import Mix
from kexbench.planning.pools import Pools
from kexbench.planning.repositories import Repositories
from kexbench.planning.spec import Catalogue, Spec
from kexbench.planning.views import Views
from kexbench.store.port import Store

SITE = "https://kexbench.example.org"
"""Where the documentation of the newest release is, and with it the schemas."""
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_WRITTEN: dict[str, type[BaseModel]] = {
    "benchmark": Spec,
    "catalogue": Catalogue,
    "pools": Pools,
    "repositories": Repositories,
    "channels": Channels,
    "views": Views,
    "trafficmix": Mix,
}


class _AsWritten(GenerateJsonSchema):
    """Schemas of documents that people write as YAML. kexbench keeps scalars as text, but editors parse `3.5` and
    `2048` as numbers, so both forms are valid. Nothing is null, since `null` is text as well."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 (the generator's own signature)
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        json_schema = super().default_schema(schema)
        if json_schema.get("default") in (None, []):
            json_schema.pop("default", None)
        return json_schema

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        json_schema = super().str_schema(schema)
        return json_schema if "pattern" in json_schema else {**json_schema, "type": ["string", "number"]}

    def bool_schema(self, schema: core_schema.BoolSchema) -> JsonSchemaValue:
        return {**super().bool_schema(schema), "type": ["boolean", "string"], "pattern": "^(true|false|yes|no)$"}

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        return {**super().int_schema(schema), "type": ["integer", "string"], "pattern": "^[0-9]+$"}

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return {**super().float_schema(schema), "type": ["number", "string"], "pattern": "^[0-9.]+$"}


def served_schemas() -> dict[str, dict[str, Any]]:
    """The schemas of documents that people write, by their path on the site, such as `schema/spec.json`. Each has the
    address there as its `$id`, by which an editor completes a document outside a checkout."""
    return {
        path: {
            "$schema": _DIALECT,
            "$id": f"{SITE}/{path}",
            **model.model_json_schema(schema_generator=_AsWritten),
        }
        for path, model in ((f"schema/{model.__name__.lower()}.json", model) for model in _WRITTEN.values())
    }


def generated_files() -> dict[str, str]:
    """The content of each file, by its name."""
    files = {
        f"{name}.schema.json": _text(schema) for name, schema in zip(_WRITTEN, served_schemas().values(), strict=True)
    }
    files["openapi.json"] = _text(create_app(cast(Store, None), LocalGatekeeper(""), None).openapi())
    files["vocabulary.json"] = _text(
        {
            "libraries": {name: row.title for name, row in LIBRARIES.items()},
            "kinds": KINDS,
            "metrics": {metric: metric.row.meaning for metric in Metric},
            "instruments": {
                instrument: {
                    "decides": SIDES_OF[instrument]["both"],
                    "measure": row.measure,
                    "counted_by": row.counted_by,
                    "amounts": row.amounts,
                    "calls": row.calls,
                    "per": {side: part.per for side, part in row.parts.items()},
                    "places": {side: PLACES[side].format(row.amounts) for side in row.parts},
                }
                for instrument, row in INSTRUMENTS.items()
            },
        }
    )
    return files


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
