"""The layout, the import contract, ARCHITECTURE.md and the first lines of rooms agree, and documents name verbs that
exist."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
TOP_LEVEL = {
    *("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"),
    *("Makefile", "docs", "bench-specs"),
    *("workers", "services", "frontend", "charts", "infra"),
}
DOCUMENTS = sorted(
    path for path in ROOT.rglob("*.md") if not {"node_modules", ".venv"} & set(path.relative_to(ROOT).parts)
)

PACKAGE = ROOT / "services/src/kexbench"
ROOMS = sorted(path.parent for path in PACKAGE.rglob("*/__init__.py"))


CONTRACTS = tomllib.loads((ROOT / "services" / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


def layers_of_contract() -> list[set[str]]:
    layers = next(contract for contract in CONTRACTS if contract["type"] == "layers")["layers"]
    return [set(re.findall(r"\w+", layer)) for layer in layers]


def test_the_top_level_holds_the_rooms_and_nothing_else() -> None:
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found == TOP_LEVEL


def test_the_architecture_lists_the_layers_of_the_import_contract_in_their_order() -> None:
    table = ARCHITECTURE.split("| layer | rooms |")[1].split("\n\n")[0]
    rows = [set(re.findall(r"`(\w+)`", line)) for line in table.splitlines()]
    assert [row for row in rows if row] == layers_of_contract()


def test_the_import_contract_covers_every_module_of_the_package() -> None:
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert modules - {"__init__"} == set().union(*layers_of_contract())


def test_no_contract_forbids_a_module_to_its_own_package() -> None:
    """Such a contract forbids nothing, since a package may import its own modules. `protected` says it."""
    for contract in CONTRACTS:
        for source in contract.get("source_modules", ()):
            inside = [name for name in contract["forbidden_modules"] if f"{name}.".startswith(f"{source}.")]
            assert not inside, contract["name"]


def test_every_room_of_the_architecture_exists_and_starts_where_it_says() -> None:
    for room, start in re.findall(r"^\| `([\w/-]+)/` \|.*\| (.*) \|$", ARCHITECTURE, flags=re.MULTILINE):
        for file in re.findall(r"`([\w./-]+)`", start):
            assert (ROOT / room / file).exists(), f"{room}/{file}"


def test_the_architecture_has_each_room_of_the_package_with_one_file_to_start_at() -> None:
    entries = dict(re.findall(r"^- `(\w+)`: (.*?)(?=^- |\n\n)", ARCHITECTURE, flags=re.MULTILINE | re.DOTALL))
    assert set(entries) == {room.name for room in ROOMS if room.parent == PACKAGE}
    for room, text in entries.items():
        (start,) = re.findall(r"`([\w/]+\.\w+)`", text)
        assert f"Start at `{start}`." in " ".join(text.split())
        assert (PACKAGE / room / start).exists()


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE)))
def test_the_first_lines_of_a_room_name_its_files_and_no_others(room: Path) -> None:
    """A file of another room is named with its folder, as in `planning/commits.py`."""
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    named = set(re.findall(r"`(\w+(?:\.py|/))`", text))
    files = {path.name for path in room.glob("*.py")} - {"__init__.py"}
    folders = {f"{path.parent.name}/" for path in room.glob("*/__init__.py")}
    assert named == files | folders


def test_the_readme_of_workers_names_the_files_of_the_handshake_worker_and_no_others() -> None:
    patterns = re.findall(r"`([\w*]+\.c)`", (ROOT / "workers/README.md").read_text(encoding="utf-8"))
    named = [set((ROOT / "workers/handshake").glob(pattern)) for pattern in patterns]
    assert all(named)
    assert set().union(*named) == set((ROOT / "workers/handshake").glob("*.c"))


def test_three_steps_lead_from_the_readme_to_the_line_that_decides_slower() -> None:
    assert re.search(r"\(ARCHITECTURE\.md\): .*the line that decides \*slower\*", (ROOT / "README.md").read_text())
    named = re.search(r"The line that decides \*slower\* is in `(\w+)` of\s+\[([\w/.]+)\]\(\2\)", ARCHITECTURE)
    assert named
    assert f"\ndef {named[1]}(" in (ROOT / named[2]).read_text()


def test_commands_named_in_documents_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for document in DOCUMENTS:
        named = set(re.findall(r"`(?:\w+=\S+ )?make ([a-z-]+)`", document.read_text()))
        assert named <= targets, document


def test_a_route_is_a_few_lines() -> None:
    """What it asks of other rooms is theirs to do."""
    lengths = {
        f"{path.name}: {route.name}": (route.body[-1].end_lineno or 0)
        - route.body[bool(ast.get_docstring(route))].lineno
        + 1
        for path in (PACKAGE / "api").glob("*.py")
        for route in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(route, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(_routes, route.decorator_list))
    }
    assert len(lengths) > 80
    assert {name: lines for name, lines in lengths.items() if lines > 15} == {}


def _routes(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Call(func=ast.Attribute(attr="get" | "post" | "put" | "delete")):
            return True
    return False
