"""Documents: each is in the folder of its purpose, links lead somewhere, pages are short, the index names them all,
settings are those of the code."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from pydantic_core import PydanticUndefined

from kexbench.settings import Settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MOST_WORDS = 1500
PURPOSES = {"use", "operate", "understand", "reference", "results", "adr"}
LOOKED_UP = (DOCS / "reference", DOCS / "results")
"""Nobody reads these from end to end."""
NO_VALUES = {"store.lock", "store.kept", "store.external.deduplicationWindow"}
"""Look like values of the chart: a file, a field, and a value that is gone, which the page on upgrades names."""


def tracked(pattern: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", pattern],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return sorted(path for path in paths if path.exists())


DOCUMENTS = tracked("*.md")
PAGES = [path for path in DOCUMENTS if path.is_relative_to(DOCS)]
READ = [path for path in PAGES if not any(path.is_relative_to(folder) for folder in LOOKED_UP)]


def prose(document: Path) -> str:
    """Without blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def links(document: Path) -> Iterator[tuple[str, str]]:
    """The relative links of a document: the path, empty for the document itself, and the anchor, empty for none."""
    without_code = re.sub(r"`[^`\n]*`", "", prose(document))
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield path, anchor


@cache
def anchors(document: Path) -> frozenset[str]:
    """As GitHub makes them of headings."""
    found: Counter[str] = Counter()
    names = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", prose(document), flags=re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return frozenset(names)


def default_of(name: str) -> str:
    """The default of a setting as the table writes it."""
    field: Any = Settings.model_fields[name]
    value = field.default if field.default is not PydanticUndefined else field.default_factory()
    if value is None or value == "":
        return "none"
    if isinstance(value, Path):
        inside, home = value.is_relative_to(ROOT), value.is_relative_to(Path.home())
        value = value.relative_to(ROOT) if inside else f"~/{value.relative_to(Path.home())}" if home else value
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_to_files_and_headings(document: Path) -> None:
    for path, anchor in links(document):
        target = document.parent / path if path else document
        assert target.exists(), path
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.resolve()), f"{path}#{anchor}"


def test_values_of_the_chart_are_named_as_they_are() -> None:
    values = yaml.safe_load((ROOT / "charts/kexbench/values.yaml").read_text("utf-8"))
    for document in DOCUMENTS:
        if document.is_relative_to(DOCS / "adr") or document.name == "CHANGELOG.md":
            continue
        for name in re.findall(r"`([a-z]\w*(?:\.\w+)+)(?:[:=][^`]*)?`", document.read_text("utf-8")):
            value: Any = values
            parts = name.split(".")
            if name in NO_VALUES or not isinstance(values.get(parts[0]), dict):
                continue
            for part in parts:
                value = value.get(part) if isinstance(value, dict) else None
                assert value is not None, f"{document.relative_to(ROOT)}: {name}"


def test_every_document_lies_in_the_folder_of_its_purpose() -> None:
    folders = {path.relative_to(DOCS).parts[0] for path in tracked("docs")}
    assert folders == {"README.md", "site", *PURPOSES}


def test_what_a_command_writes_is_in_results_and_nothing_else_is() -> None:
    # Each library's program is started otherwise, a report of others is repeated once, and comparisons have words.
    names = (
        "stacks-beside-their-own-programs.md",
        "rustls-report.md",
        "why-between-stacks.md",
        "histories-of-stacks.md",
    )
    by_hand = {DOCS / "results" / name for name in names}
    written = [page for page in PAGES if re.search(r"`make \w+` (writes|wrote) this page", page.read_text("utf-8"))]
    assert written == [page for page in PAGES if page.is_relative_to(DOCS / "results") and page not in by_hand]
    for page in PAGES:
        assert "<!--" not in page.read_text("utf-8"), f"{page.name}: a part that a command writes is in results/"


def test_paths_of_documents_in_code_and_texts_exist() -> None:
    """Such as in comments, in help and in messages, with `docs/` before them. A number alone names a decision."""
    for path in tracked("."):
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        for named in re.findall(r"(?<![\w./-])docs/[\w./-]*\w", text):
            decision = re.fullmatch(r"docs/adr/\d{4}", named)
            assert (ROOT / named).exists() or (decision and list(ROOT.glob(f"{named}-*"))), f"{path}: {named}"


@pytest.mark.parametrize("page", READ, ids=lambda path: path.name)
def test_a_page_is_read_in_one_go(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_in_yaml_are_valid(document: Path) -> None:
    blocks = re.findall(r"^ *```yaml\n(.*?)^ *```$", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for block in blocks:
        assert yaml.safe_load(dedent(block)) is not None


def test_the_readme_is_one_screen_and_the_glossary_short() -> None:
    assert 350 <= len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 400
    assert len(re.findall(r"\*\*[^*]+\*\*", (DOCS / "reference/glossary.md").read_text(encoding="utf-8"))) <= 45


def test_the_index_names_every_page() -> None:
    named = {(DOCS / path).resolve() for path, _ in links(DOCS / "README.md")}
    pages = [page for page in PAGES if page != DOCS / "README.md"]
    assert [str(page.relative_to(ROOT)) for page in pages if not {page, page.parent} & named] == []


def test_the_tests_that_show_guarantees_exist() -> None:
    lines = [
        line
        for line in (DOCS / "understand/guarantees.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    guarantees = [line for line in lines if not line.startswith(("| guarantee |", "|---"))]
    for line in guarantees:
        named = re.search(r"`(tests/\S+\.py)::(test_\w+)` \|$", line)
        assert named, line
        assert f"def {named[2]}(" in (ROOT / "services" / named[1]).read_text(encoding="utf-8"), line
    assert len(guarantees) > 30


def test_the_page_on_settings_has_every_setting_with_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    rows = re.findall(
        r"^\| `KEXBENCH_(\w+)` \| (.*?) \|",
        (DOCS / "reference/settings.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    written = {name.lower(): default for name, default in rows}
    assert len(rows) == len(written)
    assert written == {name: default_of(name) for name in Settings.model_fields}
