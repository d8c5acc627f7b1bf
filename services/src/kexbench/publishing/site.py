"""The dashboard as a static site: the built pages, and the API's answers to everything that they ask, as files.

The answers come from the API, so a site shows the same numbers and verdicts as the service.
"""

import gzip
import json
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import urlencode

from pydantic import BaseModel

from kexbench import __version__
from kexbench.answers.comparison import Comparison
from kexbench.answers.cpus import Cpus
from kexbench.answers.filters import Filters, RunsAside
from kexbench.answers.life import Life
from kexbench.answers.matrix import Matrix
from kexbench.answers.overview import Overview
from kexbench.answers.paths_shapes import Paths
from kexbench.answers.stacks_shapes import Stacks
from kexbench.answers.trends import Trends
from kexbench.answers.upgrade import UpgradePage, UpgradeView
from kexbench.client import ApiClient, Refused
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.instruments import COUNTING, Instrument
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES
from kexbench.publishing.files import PAIRS, Query, file_of
from kexbench.publishing.narrowing import (
    Narrowing,
    Pair,
    narrowed_life,
    narrowed_matrix,
    narrowed_paths,
    shown_libraries,
    without_stacks,
)
from kexbench.publishing.replacing import CannotPublish, in_place_of

MARKER = "kexbench-published.json"
"""A folder with this file may be replaced: `publish` made it."""
_META = "kexbench-published"
"""The name of the element by which the pages know that they have no service."""
FEED_LINK = '<link rel="alternate" type="application/atom+xml" title="Upgrades and alerts" href="/feed.atom" />'
"""In the first page of a service; a site has no feed."""
_MOST_UPGRADES = 1000
_LEVELS = {"levels": "true"}
_COUNTED_BY: tuple[Query, ...] = tuple(
    {} if instrument is Instrument.INSTRUCTIONS else {"instrument": str(instrument)} for instrument in COUNTING
)
"""What the pages ask of each upgrade: they leave out the instrument that answers are of anyway."""
Front = Literal["overview", "stacks"]
"""The page that an address without a page opens."""
_COMPRESSION = 6
"""Higher levels take many times as long for a few percent."""


@dataclass(frozen=True)
class Choice:
    """The results to publish."""

    libraries: frozenset[str]
    """Empty for all."""
    metrics: frozenset[Metric]
    """Besides those that the pages show at first: CPU time of both sides, client and server."""
    since: datetime | None = None
    """Only versions that were measured since then."""
    front: Front = "overview"


class Site(Frozen):
    """A written site."""

    version: str
    newest: datetime
    """When the newest published result was measured."""
    host_kind: HostKind
    """The one that pages show first."""
    front: Front
    host_kinds: list[HostKind]
    libraries: list[str]
    metrics: list[Metric]
    versions: int
    upgrades: int
    local_sources: list[str]
    """Sources that are folders of the machine that built them. Pages show their paths."""
    files: int
    size_bytes: int


class Progress(Protocol):
    def __call__(self, done: int, total: int) -> None: ...


def publish(api: ApiClient, pages: Path, folder: Path, choice: Choice, progress: Progress) -> Site:
    """Write a site to a folder, in place of an earlier one. Raises CannotPublish or ApiError."""
    folder = folder.resolve()
    if not (pages / "index.html").is_file():
        raise CannotPublish(f"there are no built pages in {pages}", "run make frontend, or set KEXBENCH_PAGES")
    if folder.exists() and not _is_ours(folder):
        raise CannotPublish(f"{folder} exists and is not a published site, so it is not replaced", "name a new folder")
    with in_place_of(folder) as new:
        return _Publication(api, new, choice).write(pages, progress)


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and ((folder / MARKER).is_file() or not any(folder.iterdir()))


class _Publication:
    """One site while it is written."""

    def __init__(self, api: ApiClient, folder: Path, choice: Choice) -> None:
        self._api = api
        self._folder = folder
        self._choice = choice
        self._written: set[str] = set()

    def write(self, pages: Path, progress: Progress) -> Site:
        filters = self._api.get(Filters, "/filters")
        libraries = self._libraries(filters)
        chosen_metrics = {*SIDES.values(), *self._choice.metrics}
        metrics = [view for view in filters.metrics if view.metric in chosen_metrics and view.stored]
        matrices = self._matrices(filters, libraries, [view.metric for view in metrics])
        if not matrices:
            since = f" since {self._choice.since:%Y-%m-%d}" if self._choice.since else ""
            raise CannotPublish(
                f"there are no results to publish: nothing chosen was measured{since}",
                "measure something with kexbench run SPEC, or choose other libraries, metrics or an earlier date",
            )
        shutil.copytree(pages, self._folder)
        kinds = list(dict.fromkeys(matrix.host_kind for matrix in matrices if matrix.host_kind))
        chosen = {view.name: view for matrix in matrices for view in matrix.subjects}
        libraries = [name for name in libraries if name in {view.library for view in chosen.values()}]
        # That first looks are shown is said; other runs are not part of a site.
        first_looks = filters.aside.first_looks if filters.aside.shows_first_looks else 0
        aside = RunsAside(first_looks=first_looks, newest=[], shows_first_looks=first_looks > 0, others=0)
        self._store("filters", {}, Filters(host_kinds=kinds, libraries=libraries, metrics=metrics, aside=aside))
        upgrades = [each for each in self._upgrades(libraries) if each.after.subject in chosen]
        self._store("upgrades", {}, UpgradePage(upgrades=upgrades, next_before=None))
        for library in libraries:
            of_library = [each for each in upgrades if each.library == library]
            self._store("upgrades", {"library": library}, UpgradePage(upgrades=of_library, next_before=None))
        pairs = dict.fromkeys((each.before.subject, each.after.subject) for each in upgrades)
        pairs |= dict.fromkeys(sorted(pair for pair in _compared(matrices) if pair[0] in chosen))
        measured = _measured(matrices)
        shown = Narrowing(kinds, chosen, measured, list(pairs))
        steps = [partial(self._store, "matrix", _place(matrix), matrix) for matrix in matrices]
        steps.append(partial(self._overview, shown))
        steps.append(partial(self._stacks, kinds, libraries, chosen))
        steps.append(partial(self._paths, kinds, chosen))
        steps.append(partial(self._life, kinds, chosen))
        for case_id, on in _kinds_by_case(measured).items():
            steps += [partial(self._trends, case_id, metric, on, libraries, shown) for metric in measured]
        for metric, by_case in measured.items():
            steps += [partial(self._on_cpus, case_id, metric, libraries, shown) for case_id in by_case]
        steps.append(partial(self._compared, shown))
        for before, after in sorted(pairs):
            steps.append(partial(self._explained_upgrade, chosen[after].library, before, after))
            steps.append(partial(self._comparison, (before, after), shown))
        steps += [partial(self._badge, *line) for line in _lines(chosen.values())]
        for done, step in enumerate(steps, start=1):
            step()
            progress(done, len(steps))
        site = Site(
            version=__version__,
            newest=max(cell.measured_at for matrix in matrices for cell in matrix.cells),
            host_kind=kinds[0],
            front=self._choice.front,
            host_kinds=kinds,
            libraries=libraries,
            metrics=[view.metric for view in metrics],
            versions=len(chosen),
            upgrades=len(pairs),
            local_sources=sorted({view.source for view in chosen.values() if _is_local(view.source)}),
            **_extent(self._folder),
        )
        self._mark(site)
        return site

    def _libraries(self, filters: Filters) -> list[str]:
        chosen = self._choice.libraries
        if unknown := chosen.difference(filters.libraries):
            raise CannotPublish(
                f"there are no results of {', '.join(sorted(unknown))}",
                f"libraries with results: {', '.join(filters.libraries) or 'none'}",
            )
        return [name for name in filters.libraries if not chosen or name in chosen]

    def _matrices(self, filters: Filters, libraries: Sequence[str], metrics: Sequence[Metric]) -> list[Matrix]:
        """Of each host kind with chosen results and each metric."""
        asked = ({"metric": str(metric), **_host(kind)} for kind in filters.host_kinds for metric in metrics)
        matrices = [self._api.get(Matrix, _address("/matrix", query, library=libraries)) for query in asked]
        since = self._choice.since
        recent = {
            cell.subject for matrix in matrices for cell in matrix.cells if since is None or cell.measured_at >= since
        }
        matrices = [narrowed_matrix(matrix, recent) for matrix in matrices]
        first_shown = {matrix.host_kind for matrix in matrices if matrix.metric is Metric.CPU_NS and matrix.cells}
        return [matrix for matrix in matrices if matrix.host_kind in first_shown]

    def _upgrades(self, libraries: Collection[str]) -> Iterator[UpgradeView]:
        before: datetime | None = None
        while True:
            query = {"limit": str(_MOST_UPGRADES)} | ({"before": before.isoformat()} if before else {})
            page = self._api.get(UpgradePage, _address("/upgrades", query))
            yield from (each for each in page.upgrades if each.library in libraries)
            if page.next_before is None:
                return
            before = page.next_before

    def _overview(self, shown: Narrowing) -> None:
        self._store("overview", {}, shown.overview(self._api.get(Overview, "/overview")))

    def _stacks(self, kinds: Sequence[HostKind], libraries: Sequence[str], chosen: Collection[str]) -> None:
        """The newest versions of libraries on each host kind, in the usual protocol and in each. The one with most of
        them is shown first, as by the API. The mix is the usual one, since a reader may ask for any."""

        def answered(query: Query) -> Stacks:
            answer = self._api.get(Stacks, _address("/stacks", query, library=libraries))
            shown = shown_libraries(answer, chosen)
            if len(shown) == len(answer.stacks):
                return answer
            return self._api.get(Stacks, _address("/stacks", query, library=shown)) if shown else without_stacks(answer)

        usual = {kind: answered(_host(kind)) for kind in kinds}
        first = max(kinds, key=lambda kind: len(usual[kind].stacks))
        for kind, answer in usual.items():
            addresses = [_host(kind), *([{}] if kind == first else [])]
            for query in addresses:
                self._store("stacks", query, answer)
            for protocol in answer.protocols:
                of_protocol = {"protocol": str(protocol)}
                table = answer if protocol == answer.protocol else answered(_host(kind) | of_protocol)
                for query in addresses:
                    self._store("stacks", query | of_protocol, table)

    def _paths(self, kinds: Sequence[HostKind], chosen: Collection[str]) -> None:
        """Of each host kind. The first one with any is shown first, as by the API."""
        answers = {
            kind: narrowed_paths(self._api.get(Paths, _address("/paths", _host(kind))), chosen) for kind in kinds
        }
        for kind, answer in answers.items():
            self._store("paths", _host(kind), answer)
        self._store("paths", {}, next((each for each in answers.values() if each.cases), answers[kinds[0]]))

    def _life(self, kinds: Sequence[HostKind], chosen: Collection[str]) -> None:
        """As of paths."""
        answers = {kind: narrowed_life(self._api.get(Life, _address("/life", _host(kind))), chosen) for kind in kinds}
        for kind, answer in answers.items():
            self._store("life", _host(kind), answer)
        self._store("life", {}, next((each for each in answers.values() if each.cases), answers[kinds[0]]))

    def _trends(
        self, case_id: str, metric: Metric, kinds: Sequence[HostKind], libraries: Sequence[str], shown: Narrowing
    ) -> None:
        """A case on all host kinds, also with the costs of all invocations, and these with the samples on each host
        kind. Also in metrics without numbers of the case, since pages ask for several."""

        def answered(query: Query) -> Trends:
            return shown.trends(self._api.get(Trends, _address("/trends", query, library=libraries)), metric)

        place = {"case_id": case_id, "metric": str(metric)}
        self._store_of_case("trends", place, answered(place))
        for host in ({}, *map(_host, kinds)):
            on_kind = place | host
            answer = answered(on_kind | _LEVELS)
            self._store("trends", on_kind | _LEVELS, answer)
            if host and answer.subjects:
                self._samples(on_kind, answer.subjects)

    def _on_cpus(self, case_id: str, metric: Metric, libraries: Sequence[str], shown: Narrowing) -> None:
        """A case on all CPUs, compared with each, and with the one that the API chooses."""
        place = {"case_id": case_id, "metric": str(metric)}
        for query in (place, *({**place, **_host(kind)} for kind in shown.measured[metric][case_id])):
            answer = shown.cpus(self._api.get(Cpus, _address("/cpus", query, library=libraries)))
            self._store_of_case("cpus", query, answer)

    def _store_of_case(self, route: str, query: Query, answer: Trends | Cpus) -> None:
        """The first case is also the answer to a question that names none."""
        self._store(route, query, answer)
        if answer.choices and answer.choices[0].id == query["case_id"]:
            self._store(route, {name: value for name, value in query.items() if name != "case_id"}, answer)

    def _samples(self, place: Query, subjects: Iterable[Subject]) -> None:
        """Compressed, since no other files are as large."""
        query = {"format": "csv", **place}
        names = sorted(subject.name for subject in subjects)
        with (
            self._file(file_of("export", query, "csv.gz")).open("wb") as file,
            gzip.GzipFile("", "wb", _COMPRESSION, file, mtime=0) as samples,
        ):
            for piece in self._api.stream(_address("/export", query, subject=names)):
                samples.write(piece)

    def _comparison(self, pair: Pair, shown: Narrowing) -> None:
        """Two versions case by case, on all host kinds and on each."""
        ends = {"base": pair[0], "other": pair[1]}
        on_each = [
            {f"{end}_{name}": value for end in ends for name, value in _host(kind).items()} for kind in shown.kinds
        ]
        for host in ({}, *on_each):
            answer = shown.comparison(self._api.get(Comparison, _address("/compare", ends | host)))
            self._store("compare", ends | host, answer)
            if pair == shown.pairs[0] and not host:
                self._store("compare", {}, answer)

    def _compared(self, shown: Narrowing) -> None:
        """The pairs that have comparisons. Without any, there is nothing to choose."""
        self._file(PAIRS).write_text(json.dumps(shown.pairs), encoding="utf-8")
        if not shown.pairs:
            nothing = self._api.get(Comparison, "/compare").model_copy(
                update={
                    **{name: [] for name in ("subjects", "cases", "cells", "differences", "lines")},
                    **dict.fromkeys(("base", "other", "upgrade")),
                    "left_out": 0,
                }
            )
            self._store("compare", {}, nothing)

    def _explained_upgrade(self, library: str, before: str, after: str) -> None:
        """Its functions with their calls and profiles, by each instrument that counts."""
        pair = {"library": library, "before": before, "after": after}
        for counted_by in _COUNTED_BY:
            explained = self._explained(pair | counted_by)
            self._file(file_of("upgrades/why", pair | counted_by)).write_bytes(explained)
            for case in json.loads(explained):
                for side in case["sides"]:
                    part = {"case_id": case["case_id"], "side": side["side"], **counted_by}
                    self._copy("upgrades/why/stacks", {**pair, **part})
                    for subject in (before, after):
                        counted = {"library": library, "subject": subject, **part}
                        self._copy("upgrades/why/profile", {**counted, "format": "callgrind"}, "callgrind")
                        self._copy("upgrades/why/profile", {**counted, "format": "speedscope"})

    def _badge(self, library: str, line: str) -> None:
        """The same picture below the same path as at the service."""
        path = f"badge/{library}/{line}.svg"
        self._file(path).write_bytes(b"".join(self._api.stream(self._api.at_root(f"/{path}"))))

    def _explained(self, pair: Query) -> bytes:
        """No cases either where only other versions of the library were counted."""
        try:
            return b"".join(self._api.stream(_address("/upgrades/why", pair)))
        except Refused as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return b"[]"
            raise

    def _store(self, route: str, query: Query, answer: BaseModel) -> None:
        self._file(file_of(route, query)).write_text(answer.model_dump_json(), encoding="utf-8")

    def _copy(self, route: str, query: Query, ending: str = "json") -> None:
        """An answer as it is."""
        name = file_of(route, query, ending)
        if name not in self._written:  # neighbouring upgrades share a version and its profiles
            with self._file(name).open("wb") as file:
                file.writelines(self._api.stream(_address(f"/{route}", query)))

    def _file(self, name: str) -> Path:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self._written.add(name)
        return path

    def _mark(self, site: Site) -> None:
        """In the first page, whose addresses become relative: a site may be a folder of a server."""
        facts = site.model_dump_json(include={"version", "newest", "host_kind", "front"})
        page = self._folder / "index.html"
        text = page.read_text(encoding="utf-8").replace(FEED_LINK, "").replace('="/', '="./')
        element = f'  <meta name="{_META}" content="{escape(facts)}" />\n  </head>'
        page.write_text(text.replace("</head>", element, 1), encoding="utf-8")
        (self._folder / MARKER).write_text(site.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _address(path: str, query: Query, **lists: Sequence[str]) -> str:
    return f"{path}?{urlencode([*query.items(), *((name, each) for name, values in lists.items() for each in values)])}"


def _host(kind: HostKind) -> Query:
    return {"pool": kind.pool, "cpu_model": kind.cpu_model}


def _place(matrix: Matrix) -> Query:
    return {"metric": str(matrix.metric), **(_host(matrix.host_kind) if matrix.host_kind else {})}


def _measured(matrices: Iterable[Matrix]) -> dict[Metric, dict[str, list[HostKind]]]:
    """The host kinds with numbers, by metric and case."""
    measured: dict[Metric, dict[str, list[HostKind]]] = {}
    for matrix in matrices:
        by_case = measured.setdefault(matrix.metric, {})
        for case_id in dict.fromkeys(cell.case_id for cell in matrix.cells if cell.estimate):
            if matrix.host_kind:
                by_case.setdefault(case_id, []).append(matrix.host_kind)
    return measured


def _kinds_by_case(measured: Mapping[Metric, Mapping[str, Sequence[HostKind]]]) -> dict[str, list[HostKind]]:
    """Those with numbers in any metric."""
    kinds: dict[str, list[HostKind]] = {}
    for by_case in measured.values():
        for case_id, on in by_case.items():
            kinds[case_id] = list(dict.fromkeys((*kinds.get(case_id, ()), *on)))
    return kinds


def _compared(matrices: Collection[Matrix]) -> Iterator[Pair]:
    """The versions that cells are compared with: columns of the matrix link these upgrades."""
    for matrix in matrices:
        yield from ((cell.change.before.subject, cell.subject) for cell in matrix.cells if cell.change)


def _lines(subjects: Iterable[Subject]) -> list[tuple[str, str]]:
    """The libraries and version lines of subjects: of 3.5.4 these are 3, 3.5 and 3.5.4."""
    return sorted(
        {
            (view.library, ".".join(view.version.split(".")[:parts]))
            for view in subjects
            if re.fullmatch(r"[\w.+-]+", view.version, re.ASCII)
            for parts in range(1, view.version.count(".") + 2)
        }
    )


def _is_local(source: str) -> bool:
    _, scheme, path = source.partition(":")
    return bool(scheme) and path.startswith(("/", "~", "."))


def _extent(folder: Path) -> dict[str, int]:
    """With the marker."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {"files": len(files) + 1, "size_bytes": sum(path.stat().st_size for path in files)}
