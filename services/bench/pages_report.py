"""The section of the report on pages in a browser."""

import statistics
from collections.abc import Callable, Sequence

import numpy as np

from bench.pages import CROWD_LINES, CROWD_POINTS, CrowdFigures, PageFigures, Visit
from bench.tables import markdown_table

USEFUL_S = 1.5
SCRIPT_KB = 170
FRAME_MS = 8
"""Goals: from navigation to useful, JavaScript before the first paint, and scripts in a frame."""


def pages_text(millions: int, figures: PageFigures) -> str:
    names = list(dict.fromkeys(visit.page for visit in figures.visits))
    rows = [_row(name, [visit for visit in figures.visits if visit.page == name]) for name in names]
    table = markdown_table(("page", "first", "cold", "warm", "cold / goal", "JavaScript", "transferred"), rows)
    rounds = 1 + max(visit.round for visit in figures.visits)
    about = f"A store of {millions} million values, {rounds} cold and warm visits of each page."
    return f"{about}\n\n{table}\n\n{_crowd_text(figures.crowd)}"


def _row(name: str, visits: Sequence[Visit]) -> Sequence[str]:
    cold, warm = ([visit for visit in visits if visit.cache == cache] for cache in ("cold", "warm"))
    cold_ms = _median(cold, lambda visit: visit.useful_ms)
    return (
        name,
        _milliseconds(cold[0].useful_ms),
        _milliseconds(cold_ms),
        _milliseconds(_median(warm, lambda visit: visit.useful_ms)),
        f"{cold_ms / 1000 / USEFUL_S:.2f}",
        _kilobytes(_median(cold, lambda visit: visit.script_bytes)),
        _kilobytes(_median(cold, lambda visit: visit.transferred_bytes)),
    )


def _crowd_text(crowd: CrowdFigures) -> str:
    rows = [
        (gesture, f"{np.median(frames):.1f} ms", f"{p95:.1f} ms", f"{p95 / FRAME_MS:.2f}")
        for gesture, frames in crowd.frames.items()
        for p95 in [float(np.quantile(frames, 0.95))]
    ]
    useful_ms = statistics.median(crowd.useful_ms)
    return (
        f"A chart of {CROWD_LINES} series with {CROWD_POINTS} versions each is useful after"
        f" {_milliseconds(useful_ms)}, {useful_ms / 1000 / USEFUL_S:.2f} of the goal, as the median of cold visits. No"
        " store has that many: the browser gets an answer that is made up, compressed as the service sends it, so the"
        f" service's time is not in it. The table has the CPU time of scripts in a frame, with a goal of {FRAME_MS} ms"
        f" for 95% of the frames.\n\n{markdown_table(('gesture', 'median', '95%', '95% / goal'), rows)}"
    )


def _median(visits: Sequence[Visit], of: Callable[[Visit], float]) -> float:
    return statistics.median(map(of, visits))


def _milliseconds(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms"


def _kilobytes(size: float) -> str:
    return f"{size / 1000:,.0f} kB"
