"""How fast the dashboard's pages are in a browser, with a large store behind them."""

import subprocess
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import urlencode

import httpx
from pydantic import BaseModel

from bench.answers import requests
from bench.large_store import EXTENTS, Extent, run_of
from bench.load import serving_large_store
from bench.machine import BenchError
from kexbench.api.calling import API_PREFIX
from kexbench.api.models import Trends

FRONTEND = Path(__file__).parents[3] / "frontend"
CROWD_LINES = 200
CROWD_POINTS = 200
CHART = ".trend .u-over"


class Page(BaseModel):
    name: str
    path: str
    useful: str
    """The CSS selector of what a reader came for."""


class Crowd(BaseModel):
    """A chart with many series, from an answer that is made up."""

    path: str
    useful: str
    answer: Path


class PagesPlan(BaseModel):
    """What the browser is to do."""

    url: str
    rounds: int
    pages: list[Page]
    crowd: Crowd


class Visit(BaseModel):
    page: str
    cache: Literal["cold", "warm"]
    round: int
    useful_ms: float
    """From navigation until what a reader came for is painted."""
    script_bytes: int
    """JavaScript that arrived before the first paint, compressed."""
    transferred_bytes: int
    """Everything that arrived until the page was useful, compressed, with headers."""


class CrowdFigures(BaseModel):
    useful_ms: float
    frames: Mapping[str, Sequence[float]]
    """Milliseconds that scripts took in each frame, by what the reader did."""


class PageFigures(BaseModel):
    values_millions: int = 0
    visits: list[Visit]
    crowd: CrowdFigures


def measure_pages(millions: int, rounds: int) -> PageFigures:
    """Raises BenchError."""
    extent = EXTENTS[millions]
    with serving_large_store(extent) as address, TemporaryDirectory() as folder:
        answer = Path(folder) / "trends.json"
        with httpx.Client(base_url=address.url, timeout=60, trust_env=False) as client:
            trends = Trends.model_validate(client.get(f"{API_PREFIX}/trends").raise_for_status().json())
        answer.write_text(crowded(trends).model_dump_json(), encoding="utf-8")
        plan = PagesPlan(
            url=address.url,
            rounds=rounds,
            pages=pages_of(extent, trends),
            crowd=Crowd(path="/trends", useful=CHART, answer=answer),
        )
        return in_a_browser(plan, Path(folder)).model_copy(update={"values_millions": millions})


def in_a_browser(plan: PagesPlan, folder: Path) -> PageFigures:
    """Raises BenchError."""
    file = folder / "plan.json"
    file.write_text(plan.model_dump_json(), encoding="utf-8")
    command = ["node", "scripts/measure-pages.mjs", str(file)]
    done = subprocess.run(command, cwd=FRONTEND, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"the browser failed: {done.stderr}")
    return PageFigures.model_validate_json(done.stdout)


def pages_of(extent: Extent, trends: Trends) -> list[Page]:
    run = run_of(extent, extent.hosts - 1, extent.runs - 1)
    _, upgrade = requests(run, extent)["upgrade report"]
    cases = [choice.id for choice in trends.choices]
    return [
        Page(name="home", path="/", useful="table.heatmap td a"),
        Page(name="series", path=f"/series?{urlencode({'case': cases[0]})}", useful=CHART),
        Page(name="trends of all cases", path=f"/trends?{urlencode({'case': cases}, doseq=True)}", useful=CHART),
        Page(name="upgrade", path="/upgrades/{library}/{before}/{after}".format(**upgrade), useful=".tally li"),
        Page(name="compare", path="/compare", useful="table.compare tbody td"),
        Page(name="run", path=f"/runs/{run.run_id}", useful="table.heatmap td a"),
    ]


def crowded(trends: Trends) -> Trends:
    """More lines and versions than anybody measured, made of an answer's first ones."""
    subject, line = trends.subjects[0], trends.lines[0]
    subjects = [
        subject.model_copy(update={"subject": f"openssl@9.{place}", "version": f"9.{place}", "version_key": f"{place:05}"})
        for place in range(CROWD_POINTS)
    ]
    pools = [f"pool-{number}" for number in range(CROWD_LINES)]
    lines = []
    for number, pool in enumerate(pools):
        points = [
            line.points[0].model_copy(update={"subject": place, "value": value, "low": value * 0.99, "high": value * 1.01})
            for place in range(CROWD_POINTS)
            for value in [line.points[0].value * (1 + number / 100 + (place * 7919 + number * 31) % 97 / 5000)]
        ]
        kind = line.host_kind.model_copy(update={"pool": pool})
        lines.append(line.model_copy(update={"host_kind": kind, "points": points, "change_points": []}))
    return trends.model_copy(update={"subjects": subjects, "lines": lines, "releases": [], "left_out": 0})
