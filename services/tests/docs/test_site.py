"""What the documentation's site is made of: documents in their places, and the reference from the program."""

import json
import re
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from kexbench.cli.statuses import OWN
from kexbench.schemas import SITE, served_schemas
from sitemaker.check import faults_of
from sitemaker.stage import ROOT, SECTIONS, moved, pages_of_repository, stage, staged_pages
from tests.cli.test_help import ALL, COMMANDS

PLACES = pages_of_repository()


@cache
def pages() -> dict[str, str]:
    return staged_pages()


def test_every_document_is_a_page_of_its_section() -> None:
    documents = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md") if ".venv" not in path.parts
    }
    documents = {path for path in documents if not path.startswith("docs/site/")}
    assert documents <= set(PLACES)
    assert set(PLACES.values()) <= set(pages())
    assert {PurePosixPath(page).parts[0] for page in pages()} == {"index.md", "start.md", *SECTIONS}


@pytest.mark.parametrize("document", PLACES)
def test_a_document_has_no_dialect_of_a_generator(document: str) -> None:
    """A forge would show it as text."""
    text = (ROOT / document).read_text("utf-8")
    assert not re.search(r"^ *(```+|:::+) *\{|^\(\S+\)=$|(?<!`)\{[a-z:-]+\}`", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("document", "written", "moved_to"),
    [
        ("docs/README.md", "(use/capacity.md)", "(use/capacity.md)"),
        ("docs/README.md", "(../charts/kexbench/README.md)", "(operate/chart.md)"),
        ("docs/README.md", "(adr)", "(adr/index.md)"),
        ("docs/README.md", "(results/dashboard.png)", "(results/dashboard.png)"),
        ("README.md", "](docs/results/dashboard.png)", "](results/dashboard.png)"),
        (
            "bench-specs/README.md",
            "(../docs/use/web-servers.md#real-traffic)",
            "(../use/web-servers.md#real-traffic)",
        ),
        (
            "ARCHITECTURE.md",
            "(services/src/kexbench/analysis/verdict.py)",
            "(https://github.com/kexbench/kexbench/blob/main/services/src/kexbench/analysis/verdict.py)",
        ),
    ],
)
def test_a_link_leads_where_the_site_has_its_target(document: str, written: str, moved_to: str) -> None:
    assert written in (ROOT / document).read_text("utf-8")
    assert moved_to in moved(document, PLACES)


def test_the_reference_has_every_command_with_its_options_examples_and_exit_statuses() -> None:
    for path in COMMANDS:
        if ALL[path].hidden:
            continue
        page = pages()[f"reference/command-line/{path[0]}.md"]
        command = ALL[path]
        options = [
            name for each in command.params if not getattr(each, "hidden", False) for name in each.opts if "-" in name
        ]
        examples = [line.strip() for line in command.help.rpartition("Example")[2].splitlines()[1:] if line.strip()]
        assert examples
        assert [name for name in options if f"`{name}`" not in page] == []
        assert [line for line in examples if line not in page] == []
        for status, meaning in OWN.get(" ".join(path), {}).items():
            assert f"| {status} | {meaning} |" in page
            assert f" | {status} | {meaning} |" in pages()["reference/exit-statuses.md"]


@pytest.mark.parametrize("path", served_schemas())
def test_the_reference_has_every_field_of_a_document_in_the_part_that_it_belongs_to(path: str) -> None:
    schema = served_schemas()[path]
    page = pages()[path.replace("schema/", "reference/fields/").replace(".json", ".md")]
    tables = [set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) for part in page.split("\n## ")]
    for part in [schema, *schema.get("$defs", {}).values()]:
        assert "properties" not in part or set(part["properties"]) in tables
    assert f"$schema={schema['$id']}" in page


def test_a_field_is_described_with_its_values_and_its_default() -> None:
    page = pages()["reference/fields/spec.md"]
    for row in (
        "| `invocations` | how often each case is measured with fresh processes | whole number, 2 to 1,000 | `10` |",
        " | duration, such as `90s`, `20m`, `2h` or `8d` | `60m` |",
        "| `apiVersion` | the version of the format | `kexbench.dev/v1` | required |",
        "| `chainLength` | certificates that the server sends | list of whole numbers, 1 to 10 | `1` |",
        " exact metrics and the variation of throughput have limits of their own | percentage | `0.5%` |",
        " | `openssl`, `gnutls`",
    ):
        assert row in page
    assert "\n## `reference.tables[].rows[]`\n" in page


def test_the_reference_has_every_route_and_object_of_the_api() -> None:
    document = json.loads((ROOT / "bench-specs/schema/openapi.json").read_text("utf-8"))
    routes = {f"{verb.upper()} {path}" for path, verbs in document["paths"].items() for verb in verbs}
    assert set(re.findall(r"^### (.+)$", pages()["reference/api.md"], re.MULTILINE)) == routes
    objects = re.findall(r"^## (.+)$", pages()["reference/api-objects.md"], re.MULTILINE)
    assert set(objects) == set(document["components"]["schemas"])
    assert len({name.lower() for name in objects}) == len(objects), "anchors would be numbered"


@pytest.mark.parametrize(("page", "command"), [("compare-two-builds", "compare"), ("find-the-commit", "bisect")])
def test_a_page_with_exit_statuses_has_those_of_the_one_table(page: str, command: str) -> None:
    _, _, after = (ROOT / f"docs/use/{page}.md").read_text("utf-8").partition("| exit status | meaning |\n|---|---|\n")
    rows = re.findall(r"^\| (\d+) \| (.*?)(?:: see below)? \|$", after.partition("\n\n")[0], re.MULTILINE)
    assert {int(status): meaning for status, meaning in rows} == OWN[command]


def test_the_site_serves_each_schema_at_its_own_address(tmp_path: Path) -> None:
    stage(tmp_path)
    served = {path.relative_to(tmp_path / "extra").as_posix(): path for path in (tmp_path / "extra").rglob("*.json")}
    assert set(served) == {"versions.json", *served_schemas()}
    for path in served_schemas():
        assert json.loads(served[path].read_text("utf-8"))["$id"] == f"{SITE}/{path}"
    assert (tmp_path / "source/results/dashboard.png").is_file()
    assert f"$schema={SITE}/schema/spec.json" in (ROOT / "bench-specs/README.md").read_text("utf-8")


def built(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(f'<article id="top">{text}</article>', encoding="utf-8")
    return folder


def test_a_site_whose_links_lead_somewhere_has_no_fault(tmp_path: Path) -> None:
    folder = built(
        tmp_path,
        index='<a href="near.html#top">',
        near='<a href="far.html"><a href="#top"><a href="https://example.org">',
        far='<img src="picture.png">',
    )
    (folder / "picture.png").touch()
    assert faults_of(folder) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('<a href="gone.html">', "index.html: gone.html leads nowhere"),
        ('<a href="index.html#gone">', "index.html: index.html#gone has no such anchor"),
        ('<a href="#gone">', "index.html: #gone has no such anchor"),
        ('<img src="gone.png">', "index.html: gone.png leads nowhere"),
        (
            '<script src="https://example.org/code.js"></script>',
            "index.html: loads https://example.org/code.js from another host",
        ),
        (
            '<link rel="stylesheet" href="//example.org/a.css">',
            "index.html: loads //example.org/a.css from another host",
        ),
    ],
)
def test_a_fault_of_a_page_is_named(tmp_path: Path, text: str, fault: str) -> None:
    assert faults_of(built(tmp_path, index=text)) == [fault]


def test_a_page_that_takes_three_clicks_is_named_whatever_the_menu_lists(tmp_path: Path) -> None:
    folder = built(tmp_path, one='<a href="two.html">', two='<a href="three.html">', three="")
    (folder / "index.html").write_text('<a href="three.html"></a><article><a href="one.html"></article>')
    assert faults_of(folder) == ["three.html: more than 2 clicks from the first page"]


def test_a_font_of_another_host_is_named(tmp_path: Path) -> None:
    folder = built(tmp_path, index="")
    (folder / "site.css").write_text('@font-face { src: url("https://example.org/font.woff2") }')
    assert faults_of(folder) == ["site.css: loads from another host"]
