"""Numbers as in the formats: finite, and within the range of the store's columns. And numbers as text."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

Finite = Annotated[float, Field(allow_inf_nan=False)]
AttemptNumber = Annotated[int, Field(ge=1, le=2**16 - 1)]
Count = Annotated[int, Field(ge=0, le=2**32 - 1)]
Large = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""Bytes or nanoseconds."""


def counted(number: int, word: str) -> str:
    """`1 case`, `1,200 cases`."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def signed_words(change: float, places: int = 1) -> str:
    """`+3.1%`: with the minus sign of print, wherever a person reads a change."""
    return f"{change:+.{places}%}".replace("-", "\N{MINUS SIGN}")


def percent(ratio: float, places: int = 1) -> str:
    """`+2.1%`: the change that a ratio of 1.021 means."""
    return signed_words(ratio - 1, places)


def move_words(ratio: float, low: float, high: float, places: int = 1) -> str:
    """`+3.1% [+2.0%, +4.2%]`: a ratio and its interval, as changes."""
    change, least, most = (percent(each, places) for each in (ratio, low, high))
    return f"{change} [{least}, {most}]"


def size_words(ratio: float, low: float, high: float) -> str:
    """`3.1% [2.0%, 4.2%]`: the same without signs, for what is said to be more or less."""
    size, least, most = (1 - ratio, 1 - high, 1 - low) if ratio < 1 else (ratio - 1, low - 1, high - 1)
    return f"{size:.1%} [{least:.1%}, {most:.1%}]"


def margin_words(value: float, low: float | None, high: float | None) -> str:
    """` ±0.4%` behind a number: half of its interval; nothing if it has none."""
    return f" ±{(high - low) / 2 / value:.1%}" if low is not None and high is not None and value else ""


def amount_words(value: float, unit: str) -> str:
    """`541.5 µs` of ns, `46,730 B` of bytes, `3.9%` of parts of a million, or `2,127,291` of a count."""
    return f"{_amount(value, unit)}{_UNITS.get(unit, '')}"


def amounts_words(before: float, after: float, unit: str) -> str:
    """`1,482 → 2,663 B (+79.7%)`"""
    change = f" ({percent(after / before)})" if before else ""
    return f"{amounts_of(before, after, unit)}{change}"


def amounts_of(before: float, after: float, unit: str) -> str:
    """`1,482 → 2,663 B`"""
    return f"{_amount(before, unit)} → {amount_words(after, unit)}"


_UNITS = {"ns": " µs", "bytes": " B", "ppm": "%"}
_SCALES = {"ns": 1e3, "ppm": 1e4}


def _amount(value: float, unit: str) -> str:
    amount = value / _SCALES.get(unit, 1)
    return f"{amount:,.0f}" if amount >= 1000 or amount == round(amount) else f"{amount:.4g}"


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def bytes_words(size: int) -> str:
    """`0 bytes`, `1.5 MiB`."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    power = min(max(0, (size.bit_length() - 1) // 10), len(units) - 1)
    return f"{size / (1 << 10 * power):.{min(power, 1)}f} {units[power]}"


def duration_words(seconds: float) -> str:
    """`45 s` or `12 min`."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
