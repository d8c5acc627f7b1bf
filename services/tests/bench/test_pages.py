"""Pages that a real browser opens, of a service with a made-up store."""

import pytest

from bench.large_store import Extent
from bench.pages import CROWD_LINES, CROWD_POINTS, CrowdFigures, PageFigures, Visit, measure_pages
from bench.pages_report import pages_text


@pytest.mark.long
def test_a_browser_finds_every_page_useful() -> None:
    figures = measure_pages(Extent(runs=2, groups=1, versions=4, hosts=2), rounds=1)
    pages = {"home", "series", "trends of all cases", "upgrade", "compare", "run"}
    assert {(visit.page, visit.cache) for visit in figures.visits} == {
        (page, cache) for page in pages for cache in ("cold", "warm")
    }
    for visit in figures.visits:
        assert visit.script_bytes > 0
        assert (visit.transferred_bytes > visit.script_bytes) == (visit.cache == "cold")
    assert {gesture: sum(frames) > 0 for gesture, frames in figures.crowd.frames.items()} == {
        "pointing": True,
        "zoom": True,
        "pan": True,
    }


def test_the_report_has_medians_and_their_share_of_the_goals() -> None:
    visits = [
        Visit(page="home", cache=cache, round=number, useful_ms=ms, script_bytes=100_000, transferred_bytes=200_000)
        for number, (cold_ms, warm_ms) in enumerate([(3000, 90), (750, 100), (600, 300)])
        for cache, ms in (("cold", cold_ms), ("warm", warm_ms))
    ]
    frames = {"zoom": [4.0] * 90 + [9.0] * 10}
    text = pages_text(14, PageFigures(visits=visits, crowd=CrowdFigures(useful_ms=[900], frames=frames)))
    assert "A store of 14 million values, 3 cold and warm visits of each page." in text
    assert "| home | 3,000 ms | 750 ms | 100 ms | 0.50 | 100 kB | 200 kB |" in text
    assert f"{CROWD_LINES} series with {CROWD_POINTS} versions each" in text
    assert "{" not in text
    assert "| zoom | 4.0 ms | 9.0 ms | 1.12 |" in text
