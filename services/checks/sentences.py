"""Finds decisions that depend on texts for people, whose wording may change at any time.

    python checks/sentences.py FILE_OR_FOLDER...

Fields with such text are `detail`, `reason`, `remedy`, `says` and `sentence`. Code that searches or splits one is
reported with its place, and the exit status is 1. Texts of other programs are in fields with other names, which are not
checked.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

FIELDS = frozenset({"detail", "reason", "remedy", "says", "sentence"})
_SEARCHES = frozenset(
    {"startswith", "endswith", "find", "rfind", "index", "partition", "rpartition", "split", "removeprefix", "count"}
)
_PATTERNS = frozenset({"search", "match", "fullmatch", "findall", "finditer", "split"})
_FIELD = rf"\b(?:{'|'.join(sorted(FIELDS))})\b"
_IN_TYPESCRIPT = re.compile(
    rf"{_FIELD}[?!]?\.(?:includes|startsWith|endsWith|match|matchAll|search|indexOf|split)\(|"
    rf"\.(?:test|exec)\([^)]*{_FIELD}\)"
)


def in_python(text: str) -> Iterator[int]:
    """The lines of such decisions."""
    nodes = list(ast.walk(ast.parse(text)))
    errors = {"error", *(node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name)}

    def is_sentence(node: ast.expr) -> bool:
        """A field, or the text of an error."""
        match node:
            case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
                return name in errors
        return _is_field(node)

    for node in nodes:
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[place]) if is_sentence(place):
                yield node.lineno
            case ast.Call(func=ast.Attribute(value=ast.Call() as place, attr="startswith" | "endswith" | "find")):
                if is_sentence(place):
                    yield node.lineno
            case ast.Call(func=ast.Attribute(value=place, attr=name)) if name in _SEARCHES and _is_field(place):
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr=name), args=[*arguments]) if name in _PATTERNS:
                if any(map(is_sentence, arguments)):
                    yield node.lineno


def in_typescript(text: str) -> Iterator[int]:
    for number, line in enumerate(text.splitlines(), start=1):
        if _IN_TYPESCRIPT.search(line):
            yield number


def _is_field(node: ast.expr) -> bool:
    """A field with text for people, or a variable with such a name."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in FIELDS
    return False


def main(paths: list[str]) -> int:
    count = 0
    for path in sorted(file for given in paths for file in _files(Path(given))):
        lines = in_python if path.suffix == ".py" else in_typescript
        for number in lines(path.read_text(encoding="utf-8")):
            count += 1
            print(f"{path}:{number}: this decision reads a text for people: decide by a value instead")
    return 1 if count else 0


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in path.rglob("*"):
        is_generated = "generated" in file.parts
        is_test = file.name.endswith((".test.ts", ".test.tsx"))
        if file.suffix in (".py", ".ts", ".tsx") and not is_generated and not is_test:
            yield file


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
