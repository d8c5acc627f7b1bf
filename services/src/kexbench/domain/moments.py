"""Points in time as the formats carry them: with an offset, and within what the store's timestamps hold."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

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
    """Of a clock that may say anything: the nearest that the formats can carry."""
    try:
        found = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return LATEST
    return min(max(found, EARLIEST), LATEST)


Moment = Annotated[AwareDatetime, AfterValidator(_plausible)]
UtcText = Annotated[str, AfterValidator(_in_utc)]
"""ISO 8601, kept as it was written."""
