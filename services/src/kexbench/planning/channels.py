"""Reads the notification channels (`kind: Channels`), with every fault at its place. An address is a secret, so no
fault quotes one."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kexbench.domain.alerts import CHANNEL_NAME
from kexbench.domain.notifications import AT_ONCE, BY_DAY, ChannelRule, Happening
from kexbench.planning.documents import parse_document, same_names, valid
from kexbench.planning.written import KIND, ApiVersion, Distinct, Written

MAX_CHANNELS = 100
USUAL_HOUR, USUAL_PER_HOUR = 7, 20
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


def checked_address(text: str) -> str:
    """Raises ValueError, which doesn't quote the address."""
    if not _ADDRESS.fullmatch(text):
        raise ValueError("must be an apprise address, such as mailto://… or jsons://HOST/PATH")
    return text


@dataclass(frozen=True)
class ConfiguredChannel:
    """A channel with its address, or with the file that holds it. Neither is shown."""

    rule: ChannelRule
    address: str | Path = field(repr=False)


class ChannelEntry(Written):
    """A channel that receives notifications of alerts."""

    name: Annotated[str, Field(pattern=CHANNEL_NAME, description="the name that specs use in alerts.notify")]
    url: Annotated[
        str | None, AfterValidator(lambda url: url and checked_address(url)), Field(description="address for apprise")
    ] = None
    url_file: Annotated[
        str | None,
        Field(pattern="^/", max_length=400, description="file with the address on one line; read for each message"),
    ] = None
    events: Annotated[
        Distinct[Happening] | None,
        Field(description="events to send; default: raised, fixed and stale, in a digest also grew and improved"),
    ] = None
    digest: Annotated[
        Literal["none", "daily"], Field(description="daily: one message a day with all events, and no others")
    ] = "none"
    digest_hour: Annotated[int | None, Field(ge=0, le=23, description="hour of the digest in UTC; default: 7")] = None
    most_per_hour: Annotated[int, Field(ge=1, le=1000, description="messages; further events are combined")] = (
        USUAL_PER_HOUR
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.url is None) == (self.url_file is None):
            raise ValueError("needs either url, the address, or urlFile, the file that holds it")
        if self.digest_hour is not None and self.digest == "none":
            raise ValueError("digestHour needs a digest: set digest: daily")
        if Happening.IMPROVED in (self.events or ()) and self.digest == "none":
            raise ValueError("'improved' is sent only in a digest: set digest: daily")
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
    """Where notifications of alerts are sent."""

    api_version: ApiVersion
    kind: Annotated[Literal["Channels"], KIND]
    channels: Annotated[list[ChannelEntry], Field(max_length=MAX_CHANNELS, description="the channels")]


def read_channels(text: str, file: str) -> tuple[ConfiguredChannel, ...]:
    """The channels in the order of the file. Raises DocumentError with every fault."""
    document = parse_document(text, file)
    written = valid(document, Channels, same_names(document, "channels"))
    return tuple(entry.configured() for entry in written.channels)
