"""YAML documents whose every value knows its line, and faults that name it.

Scalars stay text: a version such as `3.10` is not a number, and the models turn text into
numbers where they want numbers. Aliases are refused, since a few lines of them expand to gigabytes.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from rapidfuzz import process
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_DOCUMENT_BYTES = 256 * 1024
MAX_DEPTH = 16
_SUGGESTION_SCORE = 70

Model = TypeVar("Model", bound=BaseModel)

_TYPE_WORDS = {
    "missing": "is required",
    "int_parsing": "must be a whole number",
    "string_type": "must be text",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
}


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong in a document, where, and what would put it right."""

    line: int
    column: int
    place: str
    message: str

    def render(self, file: str) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{file}:{self.line}:{self.column}: {place}{self.message}"


class DocumentError(Exception):
    """Everything that is wrong in one document, sorted by line."""

    def __init__(self, file: str, faults: list[Fault]) -> None:
        self.file = file
        self.faults = sorted(set(faults))
        super().__init__("\n".join(fault.render(file) for fault in self.faults))


@dataclass(frozen=True)
class Document:
    """A parsed document: its value, and the node tree that knows positions."""

    file: str
    value: dict[str, Any]
    _root: Node

    def fault(self, path: tuple[str | int, ...], message: str, *, at_key: bool = False) -> Fault:
        """A fault at the value of `path`, or at its key; where the path leaves the document, at the nearest
        value above it."""
        node = self._root
        for position, step in enumerate(path):
            last = position == len(path) - 1
            child = _key(node, step) if at_key and last else _child(node, step)
            if child is not None:
                node = child
        return Fault(
            node.start_mark.line + 1, node.start_mark.column + 1, ".".join(str(step) for step in path), message
        )


def parse_document(text: str, file: str) -> Document:
    """Parse one YAML mapping. Raises DocumentError."""
    if len(text.encode()) > MAX_DOCUMENT_BYTES:
        raise DocumentError(file, [Fault(1, 1, "", f"the file is larger than {MAX_DOCUMENT_BYTES // 1024} KiB")])
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) and event.start_mark:
                mark = event.start_mark
                raise DocumentError(
                    file, [Fault(mark.line + 1, mark.column + 1, "", "aliases are not allowed: repeat the value")]
                )
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        problem = error.problem_mark
        line, column = (problem.line + 1, problem.column + 1) if problem else (1, 1)
        raise DocumentError(file, [Fault(line, column, "", f"not YAML: {error.problem}")]) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise DocumentError(file, [Fault(1, 1, "", f"not YAML: {error}")]) from None
    if not isinstance(root, MappingNode):
        raise DocumentError(file, [Fault(1, 1, "", "the document must be a mapping of fields")])
    faults: list[Fault] = []
    value = _value(root, faults, MAX_DEPTH)
    if faults:
        raise DocumentError(file, faults)
    return Document(file, value, root)


def validate(document: Document, model: type[Model]) -> tuple[Model | None, list[Fault]]:
    """The document as `model`, or None and every fault that the model finds in it."""
    try:
        return model.model_validate(document.value), []
    except ValidationError as error:
        return None, [_explain(document, model, detail) for detail in error.errors(include_url=False)]


def closest(word: str, choices: list[str]) -> str:
    """` (did you mean 'x'?)` for the choice nearest to a misspelt word, or nothing."""
    found = process.extractOne(word, choices, score_cutoff=_SUGGESTION_SCORE, processor=str.lower)
    return f" (did you mean '{found[0]}'?)" if found else ""


def _explain(document: Document, model: type[BaseModel], detail: Any) -> Fault:
    path = tuple(detail["loc"])
    kind = detail["type"]
    if kind == "extra_forbidden":
        fields = _fields_at(model, path[:-1])
        message = f"unknown field{closest(str(path[-1]), fields)}; allowed: {', '.join(fields)}"
        return document.fault(path, message, at_key=True)
    if path and path[-1] == "[key]":
        path = path[:-1]
    if kind in ("enum", "literal_error"):
        expected = detail["ctx"]["expected"]
        choices = [choice.strip(" '") for choice in expected.replace(" or ", ", ").split(",")]
        message = f"'{detail['input']}' is not one of {', '.join(choices)}{closest(str(detail['input']), choices)}"
        return document.fault(path, message)
    if kind == "value_error":
        return document.fault(path, str(detail["ctx"]["error"]))
    message = _TYPE_WORDS.get(
        kind, detail["msg"].replace("Input should", "must", 1).replace("String should", "must", 1)
    )
    if kind != "missing" and isinstance(detail["input"], str):
        message += f", not '{detail['input']}'"
    return document.fault(path, message)


def _fields_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    """The field names, as written in YAML, of the model found at `path` inside `model`."""
    current = model
    for step in path:
        for name, field in current.model_fields.items():
            if step in (name, field.alias):
                candidates = [field.annotation, *getattr(field.annotation, "__args__", ())]
                current = next((c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)), current)
    return [field.alias or name for name, field in current.model_fields.items()]


def _key(node: Node, step: str | int) -> Node | None:
    pairs = node.value if isinstance(node, MappingNode) else []
    return next((key for key, _ in pairs if key.value == step), None)


def _child(node: Node, step: str | int) -> Node | None:
    if isinstance(node, MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
        child: Node = node.value[step]
        return child
    return None


def _value(node: Node, faults: list[Fault], depth: int) -> Any:
    mark = node.start_mark
    if depth == 0:
        faults.append(Fault(mark.line + 1, mark.column + 1, "", f"nested deeper than {MAX_DEPTH} levels"))
        return None
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return [_value(child, faults, depth - 1) for child in node.value]
    result: dict[str, Any] = {}
    for key, child in node.value:
        where = key.start_mark
        if not isinstance(key, ScalarNode):
            faults.append(Fault(where.line + 1, where.column + 1, "", "a field's name must be plain text"))
        elif key.value in result:
            faults.append(Fault(where.line + 1, where.column + 1, key.value, "the field is given twice"))
        else:
            result[key.value] = _value(child, faults, depth - 1)
    return result
