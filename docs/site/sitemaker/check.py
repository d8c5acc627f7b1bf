"""Faults of the built site: links and anchors that lead nowhere, pages that take more than two clicks, and anything
that another host would have to deliver."""

from collections.abc import Iterator
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST_CLICKS = 2
GENERATED = {"search.html", "genindex.html", "404.html"}
"""Pages of the generator's own, which no list names."""
_LOADED = {
    "link": "href",
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "use": "href",
    "form": "action",
}
_FETCHED_RELATIONS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "modulepreload", "shortcut icon"}


class _Page(HTMLParser):
    """The ids of a page, its links, those among them that are in the text, and what a browser loads with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.read: set[str] = set()
        self.loaded: set[str] = set()
        self._in_article = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._in_article += tag == "article"
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
            if self._in_article:
                self.read.add(values["href"])
        if (name := _LOADED.get(tag)) in values and (tag != "link" or values.get("rel") in _FETCHED_RELATIONS):
            self.loaded.add(values[str(name)])

    def handle_endtag(self, tag: str) -> None:
        self._in_article -= tag == "article"


def faults_of(folder: Path) -> list[str]:
    pages = {
        path.relative_to(folder).as_posix(): _Page(path.read_text("utf-8")) for path in sorted(folder.rglob("*.html"))
    }
    return [
        *(fault for name, page in pages.items() for fault in _broken(folder, name, page, pages)),
        *(f"{name}: more than {MOST_CLICKS} clicks from the first page" for name in _far(pages)),
        *(f"{path.relative_to(folder)}: loads from another host" for path in _foreign_styles(folder)),
    ]


def _broken(folder: Path, name: str, page: _Page, pages: dict[str, _Page]) -> Iterator[str]:
    for link in sorted(page.links | page.loaded):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            if link in page.loaded and parts.scheme != "data":
                yield f"{name}: loads {link} from another host"
            continue
        target = _target(name, link)
        if not (folder / target).exists():
            yield f"{name}: {link} leads nowhere"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
            yield f"{name}: {link} has no such anchor"


def _target(name: str, link: str) -> str:
    path = unquote(urlsplit(link).path)
    target = normpath(Path(name).parent / path) if path else name
    return f"{target}/index.html" if path.endswith("/") else target


def _far(pages: dict[str, _Page]) -> list[str]:
    """Pages that the text of the first page, and of those that it links to, does not name. The menu does not count."""
    reached = last = {"index.html"}
    for _ in range(MOST_CLICKS):
        last = {_target(name, link) for name in last for link in pages[name].read if not urlsplit(link).scheme} & set(
            pages
        )
        reached = reached | last
    return sorted(set(pages) - reached - GENERATED)


def _foreign_styles(folder: Path) -> list[Path]:
    """Style sheets that load fonts or pictures from elsewhere."""
    return [path for path in sorted(folder.rglob("*.css")) if "url(http" in path.read_text("utf-8").replace('"', "")]
