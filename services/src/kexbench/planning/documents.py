"""YAML documents that know the line of every value, and faults that name it.

Scalars stay text, since a version such as `3.10` is not a number. The models convert text to numbers where they need
numbers. Aliases and deep nesting are rejected while the text is read: a few lines of aliases can expand to gigabytes.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from kexbench.domain.libraries import MADE_UP
from kexbench.files import read_document
from kexbench.shipped import shipped_file

SPEC_MAX_CHARACTERS = 1 << 20
"""Limit of a spec that is sent to the API."""
MAX_DOCUMENT_BYTES = 256 * 1024
MAX_DEPTH = 16
MAX_FAULTS = 100
"""At most so many are shown: a list of thousands may have a fault in each entry."""
_MAX_MESSAGE = 1000
"""Characters of a message or a place, which may repeat text of the document."""
_MAX_QUOTED = 60
_MAX_LISTED = 20
"""Longer lists of allowed values are left out where the message suggests a value."""
_SUGGESTION_SCORE = 70
_NO_UNICODE = re.compile(r"[\ud800-\udfff]")
"""Halves of surrogate pairs: only an escape such as "\\ud800" can write them, and no file can hold them."""

Model = TypeVar("Model", bound=BaseModel)

_TYPE_WORDS = {
    "missing": "is required",
    "int_parsing": "must be a whole number",
    "float_parsing": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
}


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong in a document, with its place and the remedy."""

    line: int
    column: int
    place: str
    message: str

    @property
    def text(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message

    def render(self, file: str) -> str:
        return f"{file}:{self.line}:{self.column}: {self.text}"


class DocumentError(Exception):
    """All faults of one document, sorted by line."""

    def __init__(self, file: str, faults: list[Fault]) -> None:
        self.file = file
        self.faults = sorted({_shortened(fault) for fault in faults})
        if more := len(self.faults[MAX_FAULTS:]):
            last = self.faults[MAX_FAULTS]
            self.faults[MAX_FAULTS:] = [Fault(last.line, last.column, "", f"and {more:,} more faults from here on")]
        super().__init__("\n".join(fault.render(file) for fault in self.faults))


def _shortened(fault: Fault) -> Fault:
    return replace(fault, place=_cut(fault.place), message=_cut(fault.message))


def _cut(text: str) -> str:
    """A long text without its middle: the end has the remedy."""
    half = _MAX_MESSAGE // 2
    return text if len(text) <= _MAX_MESSAGE else f"{text[:half]} … {text[-half:]}"


@dataclass(frozen=True)
class Document:
    """A parsed document: its value, and the node tree with positions."""

    file: str
    value: dict[str, Any]
    _root: Node
    _pairs: dict[int, dict[str, tuple[Node, Node]]] = field(default_factory=dict)
    """Key and value nodes by field name, for each mapping that was searched."""

    def fault(self, path: tuple[str | int, ...], message: str, *, at_key: bool = False) -> Fault:
        """A fault at the value of `path`, or at its key. Where the path does not exist, the fault is at the nearest
        value above it."""
        node = self._root
        for position, step in enumerate(path):
            if isinstance(node, MappingNode):
                key, value = self._pairs_of(node).get(str(step), (node, node))
                node = key if at_key and position == len(path) - 1 else value
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
        return _fault(node.start_mark, message, ".".join(str(step) for step in path))

    def _pairs_of(self, node: MappingNode) -> dict[str, tuple[Node, Node]]:
        if id(node) not in self._pairs:
            self._pairs[id(node)] = {key.value: (key, value) for key, value in node.value}
        return self._pairs[id(node)]


class _NotAllowed(yaml.MarkedYAMLError):
    """Valid YAML that documents may not use."""


class _Loader(yaml.SafeLoader):
    """Composes nodes and constructs nothing."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # the stubs leave it out
        if self.check_event(yaml.AliasEvent):
            raise _NotAllowed(problem="aliases are not allowed: repeat the value", problem_mark=mark)
        if self._depth == MAX_DEPTH:
            raise _NotAllowed(problem=f"nested deeper than {MAX_DEPTH} levels", problem_mark=mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def read_text(path: Path) -> str:
    """The text of a file. Raises DocumentError."""
    try:
        return read_document(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise DocumentError(str(path), [Fault(1, 1, "", f"cannot be read: {reason}")]) from None


def read_spec(spec: Path) -> str:
    """The text of a spec or mix: of a file, or of one that comes with kexbench, by its name. Raises DocumentError."""
    if spec.exists() or spec.suffix:
        return read_text(spec)
    if shipped := shipped_file(str(spec)):
        return read_text(shipped)
    advice = "there is neither such a file nor a spec of that name; kexbench specs list shows those with names"
    raise DocumentError(str(spec), [Fault(1, 1, "", advice)])


def parse_document(text: str, file: str) -> Document:
    """Parse one YAML mapping. Raises DocumentError."""
    if len(text.encode(errors="surrogatepass")) > MAX_DOCUMENT_BYTES:
        raise DocumentError(file, [Fault(1, 1, "", f"the file is larger than {MAX_DOCUMENT_BYTES // 1024} KiB")])
    try:
        root = _compose(text)
    except _NotAllowed as error:
        raise DocumentError(file, [_fault(error.problem_mark, error.problem or "")]) from None
    except yaml.MarkedYAMLError as error:
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        if error.context == "while scanning an alias":
            problem += ": quote values that begin with *"
        raise DocumentError(file, [_fault(error.problem_mark, f"not YAML: {problem}")]) from None
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        character = f"U+{ord(text[error.position]):04X}"
        raise DocumentError(file, [Fault(line, column, "", f"not YAML: {character} is not allowed")]) from None
    if not isinstance(root, MappingNode):
        raise DocumentError(file, [Fault(1, 1, "", "the document must be a mapping of fields")])
    faults: list[Fault] = []
    value = _value(root, faults)
    if faults:
        raise DocumentError(file, faults)
    return Document(file, value, root)


def _compose(text: str) -> Node | None:
    """The root of the only document. Raises YAMLError."""
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    except (ValueError, OverflowError):  # the library calls chr() and int() unguarded
        raise yaml.MarkedYAMLError(problem="no such character or number", problem_mark=loader.get_mark()) from None
    finally:
        loader.dispose()


def validate(document: Document, model: type[Model]) -> tuple[Model | None, list[Fault]]:
    """The document as `model`, or None and every fault that the model finds."""
    try:
        return model.model_validate(document.value), []
    except ValidationError as error:
        listed: set[str] = set()
        return None, [_explain(document, model, detail, listed) for detail in error.errors(include_url=False)]


def valid(document: Document, model: type[Model], more: Iterable[Fault] = ()) -> Model:
    """The document as `model`. `more` are faults that no model finds. Raises DocumentError with every fault."""
    value, faults = validate(document, model)
    faults += more
    if value is None or faults:
        raise DocumentError(document.file, faults)
    return value


def same_names(document: Document, place: str) -> list[Fault]:
    """Faults of list entries with a name that is already used, checked even where other parts have faults."""
    faults = []
    names: set[str] = set()
    entries = document.value.get(place)
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and name in names:
            faults.append(document.fault((place, index, "name"), f"'{name}' is given twice"))
        if isinstance(name, str):
            names.add(name)
    return faults


def closest(word: str, choices: list[str]) -> str:
    """` (did you mean 'x'?)` for the choice nearest to a misspelt word, or empty."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 (few documents have a fault)

    match = process.extractOne(word, choices, scorer=fuzz.ratio, score_cutoff=_SUGGESTION_SCORE, processor=str.lower)
    return f" (did you mean '{match[0]}'?)" if match else ""


def _explain(document: Document, model: type[BaseModel], detail: Any, listed: set[str]) -> Fault:
    """`listed` are the lists of fields that earlier faults gave: each is given once."""
    path = tuple(detail["loc"])
    kind = detail["type"]
    if kind == "extra_forbidden":
        fields = _fields_at(model, path[:-1])
        message = f"unknown field{closest(str(path[-1]), fields)}"
        if (allowed := ", ".join(fields)) not in listed:
            message += f"; allowed: {allowed}"
            listed.add(allowed)
        return document.fault(path, message, at_key=True)
    at_key = bool(path) and path[-1] == "[key]"
    if at_key:
        path = path[:-1]
    written = detail["input"]
    if kind in ("enum", "literal_error"):
        expected = detail["ctx"]["expected"]
        choices = [choice.strip(" '") for choice in expected.replace(" or ", ", ").split(",")]
        choices = [choice for choice in choices if choice not in MADE_UP]
        message = f"must be one of {', '.join(choices)}"
        if isinstance(written, str):
            nearest = closest(written, choices)
            allowed = f"the {len(choices)} values" if nearest and len(choices) > _MAX_LISTED else ", ".join(choices)
            message = f"{_quoted(written)} is not one of {allowed}{nearest}"
        return document.fault(path, message, at_key=at_key)
    if kind == "value_error":
        return document.fault(path, str(detail["ctx"]["error"]))
    message = _TYPE_WORDS.get(kind) or re.sub(r"^(Input|String) should", "must", detail["msg"])
    if kind in ("too_short", "too_long"):
        bound = "at least" if kind == "too_short" else "at most"
        limit = detail["ctx"]["min_length" if kind == "too_short" else "max_length"]
        message = f"must have {bound} {limit} {'entry' if limit == 1 else 'entries'}"
    if kind == "missing" and (values := _values_at(model, path)):
        message += f": {' or '.join(values)}"
    if kind != "missing" and isinstance(written, str):
        message += f", not {_quoted(written)}"
    return document.fault(path, message)


def _quoted(text: str) -> str:
    return f"'{text}'" if len(text) <= _MAX_QUOTED else f"'{text[:_MAX_QUOTED]}…'"


def _values_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    """What the field at `path` may be, if it is one of a few words."""
    for name, info in _model_at(model, path[:-1]).model_fields.items():
        if path[-1] in (name, info.alias) and get_origin(info.annotation) is Literal:
            return [str(value) for value in get_args(info.annotation)]
    return []


def _fields_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    """The field names, as in YAML, of the model at `path` inside `model`."""
    return [info.alias or name for name, info in _model_at(model, path).model_fields.items()]


def _model_at(model: type[BaseModel], path: tuple[str | int, ...]) -> type[BaseModel]:
    current = model
    for step in path:
        for name, info in current.model_fields.items():
            if step in (name, info.alias):
                current = next(_models_in(info.annotation), current)
    return current


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type names, however deep, as `dict[str, list[Entry]]` does."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _fault(mark: yaml.Mark | None, message: str, place: str = "") -> Fault:
    return Fault(mark.line + 1, mark.column + 1, place, message) if mark else Fault(1, 1, place, message)


def _value(node: Node, faults: list[Fault]) -> Any:
    if isinstance(node, ScalarNode):
        if _NO_UNICODE.search(node.value):
            faults.append(_fault(node.start_mark, "half a surrogate pair is not a character"))
        return node.value
    if isinstance(node, SequenceNode):
        return [_value(child, faults) for child in node.value]
    result: dict[str, Any] = {}
    for key, child in node.value:
        if not isinstance(key, ScalarNode):
            faults.append(_fault(key.start_mark, "a field's name must be plain text"))
            continue
        name = _value(key, faults)
        if name in result:
            faults.append(_fault(key.start_mark, "the field is given twice", name))
        else:
            result[name] = _value(child, faults)
    return result
