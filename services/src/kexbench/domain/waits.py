"""What a user waits for over emulated paths before and after an upgrade."""

from typing import Literal

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate


class Wait(Frozen):
    """One case over one path, on one host kind."""

    case_id: str
    title: str = Field(description="of the case, whatever its path")
    path: str = Field(description="as cases have it", examples=["continent"])
    path_words: str = Field(examples=["continent (30.916 ms)", "a path of 50 ms with 1% loss"])
    host_kind: HostKind
    basis: Literal["measured", "predicted"] | None = Field(
        description="of the round trips: they are counted without loss, where the round trip is long beside the "
        "machine's own time, and else follow from the sizes of the flights; null where those are unknown too"
    )
    round_trips_before: float | None = Field(description="after connecting, before the request may be sent")
    round_trips_after: float | None
    more: int | None = Field(
        description="round trips more after the upgrade, which all invocations show, or fewer below 0; null where "
        "invocations differ, or nothing is known"
    )
    handshake_before_ns: Estimate = Field(
        description="from the beginning of a connection until the client's handshake is done: median over invocations"
    )
    handshake_after_ns: Estimate
    cause: str | None = Field(
        description="why there are more or fewer; null where there are not, or where the sizes do not explain it",
        examples=["the server's first flight grew from 13.9 to 15.8 kB and the window is 14.5 kB"],
    )
    sentence: str


class Waits(Frozen):
    """An upgrade over all paths that both versions were measured over."""

    sentence: str = Field(description="empty without a path")
    cases: tuple[Wait, ...] = Field(description="in the order of the matrix")


NO_WAITS = Waits(sentence="", cases=())
