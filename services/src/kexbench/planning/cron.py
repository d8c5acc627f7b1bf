"""The times of a schedule: five crontab fields in UTC, limited to what every supported Argo accepts."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from cronsim import CronSim, CronSimError
from pydantic import BeforeValidator, Field

EXAMPLE = '"0 3 * * *"'
_ITEM = r"(\*|[0-9]{1,2}(-[0-9]{1,2})?)(/[0-9]{1,2})?"
_FIELD = f"{_ITEM}(,{_ITEM})*"
_PATTERN = f"^{_FIELD}( +{_FIELD}){{4}}$"
"""Argo 4.0 accepts no names of days and months."""
_SUNDAY_AS_7 = "(?<![/0-9])0?7(?![0-9])"
_FIELDS = {
    "minute": "a minute is 0 to 59",
    "hour": "an hour is 0 to 23",
    "day-of-month": "a day of the month is 1 to 31, and must exist in the month",
    "month": "a month is 1 to 12",
    "day-of-week": "a day of the week is 0 to 6, and Sunday is 0",
}
"""Keyed by the field names in the library's errors, in the order of a schedule."""
_RANGES = "a range ascends (1-5), a step is 1 or more (*/2)"


def cron(text: Any) -> Any:
    """The five fields, separated by one space. Raises ValueError with the remedy."""
    if not isinstance(text, str) or not re.fullmatch(_PATTERN, text.strip()):
        raise ValueError(
            f"must be minute, hour, day of the month, month and day of the week, in numbers and UTC, such as {EXAMPLE}"
        )
    fields = text.split()
    wrong = "day-of-week" if re.search(_SUNDAY_AS_7, fields[4]) else _wrong(" ".join(fields))
    if wrong:
        written = fields[list(_FIELDS).index(wrong)]
        raise ValueError(f"'{written}' is not a valid {wrong.replace('-', ' ')}: {_FIELDS[wrong]}; {_RANGES}")
    return " ".join(fields)


def _wrong(text: str) -> str | None:
    """The field that crontab would reject, or None."""
    try:
        CronSim(text, datetime.now(UTC))
    except CronSimError as error:
        return str(error).removeprefix("Bad ")
    return None


def last_time(times: str, now: datetime) -> datetime | None:
    """The latest time up to now; None where there was none for decades."""
    backwards = CronSim(times, now.astimezone(UTC) + timedelta(minutes=1), reverse=True)
    return next((time for time in backwards if time <= now), None)


Cron = Annotated[str | None, BeforeValidator(cron, json_schema_input_type=Annotated[str, Field(pattern=_PATTERN)])]
