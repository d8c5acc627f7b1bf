"""The channels that people are told at, as they are written (`kind: Channels`): read, with every fault at its place. No
fault quotes an address, which is a secret."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kexbench.domain.alerts import CHANNEL_NAME
from kexbench.domain.notifications import AT_ONCE, BY_DAY, ChannelRule, Happening
from kexbench.planning.documents import parse_document, same_names, valid
from kexbench.planning.written import Distinct, Written

MAX_CHANNELS = 100
USUAL_HOUR, USUAL_PER_HOUR = 7, 20
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


def checked_address(text: str) -> str:
    """Raises ValueError, which doesn't quote it."""
    if not _ADDRESS.fullmatch(text):
        raise ValueError("must be an address as apprise knows them, such as mailto://… or jsons://HOST/PATH")
    return text


@dataclass(frozen=True)
class ConfiguredChannel:
    """A channel with its address, or the file that holds it, which is not shown."""

    rule: ChannelRule
    address: str | Path = field(repr=False)


class ChannelEntry(Written):
    """A channel that people are told of alerts at."""

    name: Annotated[str, Field(pattern=CHANNEL_NAME, description="what specs name it by, under alerts.notify")]
    url: Annotated[
        str | None, AfterValidator(lambda url: url and checked_address(url)), Field(description="address for apprise")
    ] = None
    url_file: Annotated[
        str | None,
        Field(pattern="^/", max_length=400, description="holds the address on one line; read anew each time"),
    ] = None
    events: Annotated[
        Distinct[Happening] | None,
        Field(description="what is told; left out: raised, fixed and stale, in a digest also grew and improved"),
    ] = None
    digest: Annotated[
        Literal["none", "daily"], Field(description="daily: all of a day in one message, and nothing in between")
    ] = "none"
    digest_hour: Annotated[int | None, Field(ge=0, le=23, description="of the digest, in UTC; 7 where left out")] = None
    most_per_hour: Annotated[int, Field(ge=1, le=1000, description="messages; what is more is put together")] = (
        USUAL_PER_HOUR
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.url is None) == (self.url_file is None):
            raise ValueError("needs either url or urlFile: the address, or the file that holds it")
        if self.digest_hour is not None and self.digest == "none":
            raise ValueError("digestHour is that of a digest: say digest: daily")
        if Happening.IMPROVED in (self.events or ()) and self.digest == "none":
            raise ValueError("'improved' is told in a digest only: say digest: daily")
        return self

    def configured(self) -> ConfiguredChannel:
        is_daily = self.digest == "daily"
        hour = USUAL_HOUR if self.digest_hour is None else self.digest_hour
        rule = ChannelRule(
            name=self.name,
            events=tuple(self.events or (BY_DAY if is_daily else AT_ONCE)),
            digest_hour=hour if is_daily else None,
            most_per_hour=self.most_per_hour,
        )
        return ConfiguredChannel(rule, self.url or Path(self.url_file or ""))


class Channels(Written):
    """Where people are told of alerts."""

    api_version: Literal["kexbench.dev/v1"]
    kind: Literal["Channels"]
    channels: Annotated[list[ChannelEntry], Field(max_length=MAX_CHANNELS)]


def read_channels(text: str, file: str) -> tuple[ConfiguredChannel, ...]:
    """The channels in the order of the file. Raises DocumentError with every fault."""
    document = parse_document(text, file)
    written = valid(document, Channels, same_names(document, "channels"))
    return tuple(entry.configured() for entry in written.channels)
