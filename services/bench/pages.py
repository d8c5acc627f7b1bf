"""How fast the dashboard's pages are in a browser, with a large store behind them."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import quote, urlencode

import httpx2
import numpy as np
from pydantic import BaseModel

from bench.large_store import Extent, run_of
from bench.load import serving_large_store
from bench.machine import BenchError
from bench.questions import Asked
from kexbench.answers.trends import Trends
from kexbench.api.calling import API_PREFIX

FRONTEND = Path(__file__).parents[2] / "frontend"
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
    useful_ms: Sequence[float]
    """Of cold visits."""
    frames: Mapping[str, Sequence[float]]
    """Milliseconds of CPU time that scripts took in each frame, by what the reader did."""


class PageFigures(BaseModel):
    """What the browser reports."""

    visits: list[Visit]
    crowd: CrowdFigures


def measure_pages(extent: Extent, rounds: int) -> PageFigures:
    """Raises BenchError."""
    with serving_large_store(extent) as address, TemporaryDirectory() as folder:
        answer = Path(folder) / "trends.json"
        with httpx2.Client(base_url=address.url, timeout=60, trust_env=False) as client:
            trends = Trends.model_validate(client.get(f"{API_PREFIX}/trends").raise_for_status().json())
        answer.write_text(crowded(trends).model_dump_json(), encoding="utf-8")
        plan = PagesPlan(
            url=address.url,
            rounds=rounds,
            pages=pages_of(extent, trends),
            crowd=Crowd(path="/trends", useful=CHART, answer=answer),
        )
        return in_a_browser(plan, Path(folder))


def in_a_browser(plan: PagesPlan, folder: Path) -> PageFigures:
    """Raises BenchError."""
    file = folder / "plan.json"
    file.write_text(plan.model_dump_json(), encoding="utf-8")
    command = ["npm", "exec", "--", "node", "scripts/measure-pages.mjs", str(file)]
    done = subprocess.run(command, cwd=FRONTEND, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"the browser failed: {done.stderr}")
    return PageFigures.model_validate_json(done.stdout)


def pages_of(extent: Extent, trends: Trends) -> list[Page]:
    run = run_of(extent, extent.hosts - 1, extent.runs - 1)
    before, after = Asked(extent, run).step
    cases = [choice.id for choice in trends.choices]
    return [
        Page(name="home", path="/", useful="table.heatmap td a"),
        Page(name="series", path=f"/series?{urlencode({'case': cases[0]})}", useful=CHART),
        Page(name="trends of all cases", path=f"/trends?{urlencode({'case': cases}, doseq=True)}", useful=CHART),
        Page(
            name="upgrade",
            path=f"/upgrades/openssl/{quote(before, safe='')}/{quote(after, safe='')}",
            useful=".tally li",
        ),
        Page(name="compare", path="/compare", useful="table.compare tbody td"),
        Page(name="run", path=f"/runs/{run.run_id}", useful="table.heatmap td a"),
    ]


def crowded(trends: Trends) -> Trends:
    """More lines and versions than anybody measured, made of the first ones of an answer."""
    subject, line = trends.subjects[0], trends.lines[0]
    point = line.points[0]
    random = np.random.default_rng(0)
    values = (
        point.value * (1 + np.arange(CROWD_LINES)[:, None] / 100) * random.normal(1, 0.01, (CROWD_LINES, CROWD_POINTS))
    )
    names = [f"9.{place}" for place in range(CROWD_POINTS)]
    return trends.model_copy(
        update={
            "subjects": [replace(subject, version=name, version_key=f"{place:05}") for place, name in enumerate(names)],
            "lines": [
                line.model_copy(
                    update={
                        "host_kind": replace(line.host_kind, pool=f"pool-{number}"),
                        "points": [
                            point.model_copy(
                                update={"subject": place, "value": value, "low": 0.99 * value, "high": 1.01 * value}
                            )
                            for place, value in enumerate(map(float, own))
                        ],
                        "change_points": [],
                    }
                )
                for number, own in enumerate(values)
            ],
            "releases": [],
        }
    )
