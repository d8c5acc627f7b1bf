"""Points in time as in the formats: with an offset, and within the range of the store's timestamps."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BeforeValidator

EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def _plausible(moment: datetime) -> datetime:
    if not EARLIEST <= moment <= LATEST:
        raise ValueError(f"not between {EARLIEST.year} and {LATEST.year}")
    return moment


def _in_utc(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None or moment.utcoffset():
        raise ValueError("not in UTC")
    _plausible(moment)
    return text


def moment_of(seconds: int) -> datetime:
    """The moment of a clock's seconds, or the nearest one that the formats can represent."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return LATEST
    return min(max(moment, EARLIEST), LATEST)


def in_milliseconds(moment: datetime) -> datetime:
    """As the store and results keep it: what is finer is cut off."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def date_and_time(value: Any) -> Any:
    is_text = isinstance(value, str) and re.match(r"\d{4}-\d{2}-", value)
    if not (is_text or isinstance(value, datetime)):
        raise ValueError("must be a date and time")  # numbers would pass as seconds since 1970
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(date_and_time), AfterValidator(_plausible)]
UtcText = Annotated[str, AfterValidator(_in_utc)]
"""ISO 8601, kept as written."""
