"""Building blocks of documents that people write: models that reject unknown fields, and values such as durations."""

import re
from collections import Counter
from datetime import date
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

Item = TypeVar("Item")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = "^([1-9][0-9]{0,5}[smh]|[1-9][0-9]{0,3}d)$"
_DATE = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_PERCENTAGE = r"^([0-9]{1,2}(\.[0-9]{1,4})?)%$"
_SHARE_MIN, _SHARE_MAX = 0.001, 0.5


class Written(BaseModel):
    """Part of a document that a person wrote: unknown fields are faults."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _distinct(values: list[Item]) -> list[Item]:
    repeated = sorted(_written(value) for value, times in Counter(values).items() if times > 1)
    if repeated:
        raise ValueError(f"given twice: {', '.join(repeated)}")
    return values


def _seconds(text: Any) -> Any:
    """`90s`, `20m`, `2h` or `8d` as seconds."""
    if not isinstance(text, str) or not re.fullmatch(_DURATION, text):
        raise ValueError("must be a whole number followed by s, m, h or d, such as 20m")
    return int(text[:-1]) * _SECONDS[text[-1]]


def _share(text: Any) -> Any:
    """`0.5%` as 0.005."""
    match = re.fullmatch(_PERCENTAGE, text) if isinstance(text, str) else None
    if not match or not _SHARE_MIN <= float(match[1]) / 100 <= _SHARE_MAX:
        raise ValueError(f"must be a percentage from {_SHARE_MIN:.1%} to {_SHARE_MAX:.0%}, such as 0.5%")
    return float(match[1]) / 100


def _date(text: Any) -> Any:
    """`2025-04-08` as a date."""
    try:
        if isinstance(text, str) and re.fullmatch(_DATE, text):
            return date.fromisoformat(text)
    except ValueError:  # the 30th of February
        pass
    raise ValueError(f"must be a date such as 2025-04-08, not '{text}'")


ApiVersion = Annotated[Literal["kexbench.dev/v1"], Field(description="the version of the format")]
KIND = Field(description="what the document describes")
Distinct = Annotated[
    list[Item], Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(_distinct)
]
Duration = Annotated[int, BeforeValidator(_seconds, json_schema_input_type=Annotated[str, Field(pattern=_DURATION)])]
"""In seconds."""
Share = Annotated[float, BeforeValidator(_share, json_schema_input_type=Annotated[str, Field(pattern=_PERCENTAGE)])]
Day = Annotated[date, BeforeValidator(_date, json_schema_input_type=Annotated[str, Field(pattern=_DATE)])]
