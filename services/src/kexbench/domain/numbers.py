"""Numbers as in the formats: finite, and within the range of the store's columns. And counts as text."""

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


def move_words(ratio: float, low: float, high: float, places: int = 1) -> str:
    """`+3.1% [+2.0%, +4.2%]`: a ratio and its interval, as changes."""
    change, least, most = (signed_words(each - 1, places) for each in (ratio, low, high))
    return f"{change} [{least}, {most}]"
