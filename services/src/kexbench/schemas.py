"""The generated files of bench-specs/schema: JSON Schemas of every format, the OpenAPI document, and the titles that
pages show of libraries and kinds of cases."""

import json
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.domain.dimensions import KINDS
from kexbench.domain.kits import KitManifest
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.plans import Plan
from kexbench.domain.probes import KitProbe
from kexbench.domain.runs import Run, RunEvent
from kexbench.domain.samples import Invocation
from kexbench.planning.channels import Channels
from kexbench.planning.pools import Pools
from kexbench.planning.repositories import Repositories
from kexbench.planning.spec import Catalogue, Spec
from kexbench.runner.records import WorkerRecord
from kexbench.runner.ticket import Ticket
from kexbench.store.port import Store

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MODELS: dict[str, type[BaseModel]] = {
    "benchmark": Spec,
    "catalogue": Catalogue,
    "pools": Pools,
    "repositories": Repositories,
    "channels": Channels,
    "plan": Plan,
    "ticket": Ticket,
    "invocation": Invocation,
    "run": Run,
    "run-event": RunEvent,
    "kit-manifest": KitManifest,
    "kit-probe": KitProbe,
}


class _AsWritten(GenerateJsonSchema):
    """Of documents that people write as YAML. kexbench keeps scalars as text while editors parse `3.5`
    and `2048` as numbers, so both forms are valid here; nothing is null, since `null` is text as well."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 (the generator's own signature)
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        found = super().default_schema(schema)
        if found.get("default") in (None, []):
            found.pop("default", None)
        return found

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        found = super().str_schema(schema)
        return found if "pattern" in found else {**found, "type": ["string", "number"]}

    def bool_schema(self, schema: core_schema.BoolSchema) -> JsonSchemaValue:
        return {**super().bool_schema(schema), "type": ["boolean", "string"], "pattern": "^(true|false|yes|no)$"}

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        return {**super().int_schema(schema), "type": ["integer", "string"], "pattern": "^[0-9]+$"}

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return {**super().float_schema(schema), "type": ["number", "string"], "pattern": "^[0-9.]+$"}


_WRITTEN = ("benchmark", "catalogue", "pools", "repositories", "channels")


def generated_files() -> dict[str, str]:
    """File names and their whole text."""
    found = {
        f"{name}.schema.json": _schema(TypeAdapter(model), _AsWritten if name in _WRITTEN else GenerateJsonSchema)
        for name, model in _MODELS.items()
    }
    found["worker-record.schema.json"] = _schema(WorkerRecord)
    found["openapi.json"] = _text(create_app(cast(Store, None), LocalGatekeeper(""), None).openapi())
    found["vocabulary.json"] = _text(
        {"libraries": {name: row.title for name, row in LIBRARIES.items()}, "kinds": KINDS}
    )
    return found


def _schema(adapter: TypeAdapter[Any], generator: type[GenerateJsonSchema] = GenerateJsonSchema) -> str:
    return _text({"$schema": _DIALECT, **adapter.json_schema(by_alias=True, schema_generator=generator)})


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
