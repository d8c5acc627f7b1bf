"""What the generator reads: the repository's Markdown where the site has it, with links rewritten, pages that are made
from the program, and the lists of pages by which the generator draws its menu.

The documents themselves stay plain Markdown that a forge renders. A link to a file that is no page leads to the forge.
"""

import json
import re
from collections.abc import Iterator
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath

from kexbench import __version__
from kexbench.schemas import served_schemas
from sitemaker.api_pages import api_pages
from sitemaker.command_pages import command_pages
from sitemaker.schema_pages import TITLES, schema_pages

ROOT = Path(__file__).parents[3]
FORGE = "https://github.com/kexbench/kexbench"
OTHERS = {
    "README.md": "start.md",
    "ARCHITECTURE.md": "understand/architecture.md",
    "CONTRIBUTING.md": "understand/contributing.md",
    "CHANGELOG.md": "results/changes.md",
    "SECURITY.md": "operate/security.md",
    "bench-specs/README.md": "reference/specs.md",
    "charts/kexbench/README.md": "operate/chart.md",
    "infra/README.md": "operate/infrastructure.md",
    "infra/argo/README.md": "operate/infrastructure/argo.md",
    "infra/clickhouse/README.md": "operate/infrastructure/clickhouse.md",
    "infra/devcluster/README.md": "operate/infrastructure/devcluster.md",
    "infra/kind/README.md": "operate/infrastructure/kind.md",
    "infra/node-pools/README.md": "operate/infrastructure/node-pools.md",
    "workers/handshake/PROTOCOL.md": "reference/worker-protocol.md",
}
"""Pages from outside docs/. Two clicks lead to each."""
FOLDERS = {
    "docs/adr": ("adr/index.md", "Decisions", "Why things are as they are, in the order in which it was decided."),
    "docs/operate/runbooks": ("operate/runbooks/index.md", "Runbooks", "What to do when an alert of the chart fires."),
}
"""Folders that documents link to: each becomes a page that lists its pages."""
MADE = {
    "reference/command-line/index.md": "Command line](%s): every command with its options and examples.",
    "reference/exit-statuses.md": "Exit statuses](%s): what commands end with.",
    **{f"reference/fields/{name}.md": f"{title}](%s)." for name, title in TITLES.items()},
    "reference/api.md": "API](%s): every route with its parameters and answers.",
    "reference/api-objects.md": "Objects of the API](%s): what routes take and return.",
}
"""What the first page lists besides the documents that docs/README.md names."""
SECTIONS = {
    "use": "Use",
    "operate": "Operate",
    "understand": "Understand",
    "reference": "Reference",
    "results": "Results",
    "adr": "Decisions",
}
_START = "\n```{toctree}\n:hidden:\n\nGet started <start>\n```\n"
_LINK = re.compile(
    r"^ *```.*?^ *```$|`[^`\n]*`"  # code, which has no links
    r"|(?P<label>\[(?:[^][`]|`[^`]*`)*\])\((?P<target>[^)\s]+)\)",
    re.MULTILINE | re.DOTALL,
)


def pages_of_repository() -> dict[str, str]:
    """The path on the site of each document, by its path in the repository."""
    documents = {
        f"docs/{path.relative_to(ROOT / 'docs').as_posix()}": path.relative_to(ROOT / "docs").as_posix()
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if "site" not in path.relative_to(ROOT / "docs").parts
    }
    return {**documents, "docs/README.md": "index.md", **OTHERS}


def stage(folder: Path) -> None:
    """Writes `source/`, the pages, and `extra/`, what the site serves as it is."""
    for path, text in staged_pages().items():
        _write(folder / "source" / path, text.encode())
    for path in _pictures():
        _write(folder / "source" / path.removeprefix("docs/"), (ROOT / path).read_bytes())
    for path, schema in served_schemas().items():
        _write(folder / "extra" / path, json.dumps(schema, indent=2).encode())
    _write(folder / "extra/versions.json", json.dumps([{"version": __version__, "path": ""}]).encode())


def staged_pages() -> dict[str, str]:
    """The Markdown of each page, by its path on the site."""
    places = pages_of_repository()
    pages = {page: moved(document, places) for document, page in places.items()}
    for folder, (index, title, purpose) in FOLDERS.items():
        listed = [page for document, page in places.items() if document.startswith(f"{folder}/")]
        lines = [f"- [{_title(pages[page])}]({PurePosixPath(page).name})" for page in listed]
        pages[index] = f"# {title}\n\n{purpose}\n\n{chr(10).join(lines)}\n"
    pages |= {**command_pages(), **schema_pages(), **api_pages()}
    pages["index.md"] = _first_page(pages["index.md"])
    return {page: text + _menu(page, pages) for page, text in pages.items()}


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def _first_page(index: str) -> str:
    """docs/README.md with the pages that are made from the program."""
    before, heading, after = index.partition("\n## Reference")
    title, listed, rest = after.partition("\n\n")
    made = "\n".join(f"- [{line % path}" for path, line in MADE.items())
    return f"{before}{heading}{title}{listed}{made}\n{rest}"


def _menu(page: str, pages: dict[str, str]) -> str:
    """The lists of pages below a page, in the generator's own words: the only place that has them."""
    order = [str(PurePosixPath(normpath(PurePosixPath(page).parent / link["target"]))) for link in _links(pages[page])]
    rank = {path: place for place, path in reversed(list(enumerate(order)))}
    children = sorted(
        (each for each in pages if _parent(each, pages) == page), key=lambda each: rank.get(each, len(rank))
    )
    if page != "index.md":
        return _toctree("", page, children)
    sections = {section: [each for each in children if each.split("/")[0] == section] for section in SECTIONS}
    return _START + "".join(_toctree(SECTIONS[section], page, listed) for section, listed in sections.items())


def _links(text: str) -> Iterator[re.Match[str]]:
    return (link for link in _LINK.finditer(text) if link["label"])


def _parent(page: str, pages: dict[str, str]) -> str | None:
    """`statistics/changes.md` belongs to `statistics.md`, and `adr/0001-….md` to `adr/index.md`."""
    if page == "index.md":
        return None
    path = PurePosixPath(page)
    above = [f"{path.parent}.md", f"{path.parent}/index.md"]
    return next((each for each in above if each in pages and each != page), "index.md")


def _toctree(caption: str, page: str, listed: list[str]) -> str:
    if not listed:
        return ""
    paths = [relpath(each, PurePosixPath(page).parent).removesuffix(".md") for each in listed]
    options = ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), ""]
    return "\n" + "\n".join([*options, *paths, "```", ""])


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _pictures() -> Iterator[str]:
    for path in sorted((ROOT / "docs").rglob("*.*")):
        if path.suffix in (".png", ".svg") and "site" not in path.relative_to(ROOT / "docs").parts:
            yield path.relative_to(ROOT).as_posix()


def moved(document: str, places: dict[str, str]) -> str:
    """The text of a document with its links as they are on the site."""
    return _LINK.sub(
        lambda link: f"{link['label']}({_target(document, link['target'], places)})" if link["label"] else link[0],
        (ROOT / document).read_text("utf-8"),
    )


def _target(document: str, link: str, places: dict[str, str]) -> str:
    if re.match(r"[a-z]+:", link) or link.startswith("#"):
        return link
    path, mark, anchor = link.partition("#")
    named = normpath(PurePosixPath(document).parent / path)
    page = FOLDERS[named][0] if named in FOLDERS else places.get(named)
    if page is None and named.startswith("docs/") and named.endswith((".png", ".svg")):
        page = named.removeprefix("docs/")
    if page is None:
        kind = "tree" if (ROOT / named).is_dir() else "blob"
        return f"{FORGE}/{kind}/main/{named}{mark}{anchor}"
    return relpath(page, PurePosixPath(places[document]).parent) + mark + anchor
