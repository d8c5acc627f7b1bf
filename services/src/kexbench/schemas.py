"""The generated files of bench-specs/schema: JSON Schemas of every format and the OpenAPI document."""

import json
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter

from kexbench.api.app import create_app
from kexbench.domain.kits import KitManifest
from kexbench.domain.plans import Plan
from kexbench.domain.runs import Run, RunEvent
from kexbench.domain.samples import Invocation
from kexbench.planning.spec import Catalogue, Spec
from kexbench.runner.records import WorkerRecord
from kexbench.runner.ticket import Ticket
from kexbench.store.port import Store

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MODELS: dict[str, type[BaseModel]] = {
    "benchmark": Spec,
    "catalogue": Catalogue,
    "plan": Plan,
    "ticket": Ticket,
    "invocation": Invocation,
    "run": Run,
    "run-event": RunEvent,
    "kit-manifest": KitManifest,
}


def generated_files() -> dict[str, str]:
    """File names and their whole text."""
    found = {f"{name}.schema.json": _schema(TypeAdapter(model)) for name, model in _MODELS.items()}
    found["worker-record.schema.json"] = _schema(WorkerRecord)
    found["openapi.json"] = _text(create_app(cast(Store, None), "", None).openapi())
    return found


def _schema(adapter: TypeAdapter[Any]) -> str:
    return _text({"$schema": _DIALECT, **adapter.json_schema(by_alias=True)})


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
