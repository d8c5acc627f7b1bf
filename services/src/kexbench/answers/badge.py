"""A badge: the verdict on the newest upgrade of a version line, as a small picture for README files."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from kexbench.analysis.sentences import verdict_in_brief
from kexbench.answers.judging import judged_steps
from kexbench.answers.subjects import Neighbours, neighbours, version_order
from kexbench.domain.kits import Library
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import UpgradeCell, UpgradeEnd
from kexbench.store.port import SampleStore, Selection

_SLOWER, _FASTER, _OTHER = "#8f4300", "#0b5394", "#5f6670"
"""White text is readable on each. The text says the same as the colour."""
_LABEL = "#24292f"
_HEIGHT, _BASELINE, _ROOM, _LETTER = 20, 14, 6, 6.2
"""In pixels; the last is the width of a letter, to which browsers fit the text whatever their font."""


def newest_of_line(upgrades: Iterable[Neighbours], line: str) -> Neighbours | None:
    """The upgrade to the newest version that is `line` or begins so: 3.5 means 3.5.4, but not 3.50."""
    of_line = [pair for pair in upgrades if f"{pair.after.version}.".startswith(f"{line}.")]
    return max(of_line, key=lambda pair: version_order(pair.after), default=None)


def upgrade_badge(ends: tuple[UpgradeEnd, UpgradeEnd], cells: Sequence[UpgradeCell]) -> str:
    verdicts, (before, after) = {cell.verdict for cell in cells}, ends
    colour = _SLOWER if "more" in verdicts else _FASTER if "less" in verdicts else _OTHER
    return _svg(f"{before.label} → {after.version}", verdict_in_brief(cells), colour)


def empty_badge(title: str) -> str:
    return _svg(title, "no upgrade measured yet", _OTHER)


def _svg(label: str, message: str, colour: str) -> str:
    parts, left = [], 0
    for text, fill in ((label, _LABEL), (message, colour)):
        length = round(_LETTER * len(text))
        width = length + 2 * _ROOM
        parts.append(
            f'<rect x="{left}" width="{width}" height="{_HEIGHT}" fill="{fill}"/>'
            f'<text x="{left + _ROOM}" y="{_BASELINE}" textLength="{length}"'
            f' lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
        )
        left += width
    words = f"{label}: {message}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left}" height="{_HEIGHT}" role="img"'
        f" aria-label={quoteattr(words)}><title>{escape(words)}</title>"
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{"".join(parts)}</g></svg>\n'
    )


def badge(store: SampleStore, library: Library, line: str) -> str:
    """The badge of a version line, such as 3.5, as SVG."""
    pairs = neighbours(store.measured_subjects(Selection(Metric.CPU_NS, libraries=(library,))))
    pair = newest_of_line(pairs, line)
    if pair is None:
        return empty_badge(f"{LIBRARIES[library].title} {line}")
    step = (pair.before.name, pair.after.name)
    return upgrade_badge(pair.ends, judged_steps(store, [step])[step].judged)
