"""What a worker is asked for with `load`. workers/handshake/PROTOCOL.md, "Loads", specifies it."""

from ipaddress import IPv4Address
from typing import Annotated

from pydantic import Field, field_validator

from kexbench.domain.frozen import Frozen

_MARGIN_S = 5.0
"""For a worker's answer after the last connection has ended."""


class LoadRequest(Frozen):
    """A load on a server of this machine. Its case is set up with both roles. `path` has no leading slash."""

    address: IPv4Address = IPv4Address("127.0.0.1")
    port: int = Field(ge=1, le=65535)
    path: str = Field(pattern=r"^[A-Za-z0-9._+-]{1,255}$")
    response_bytes: int = Field(ge=0, le=16 * 1024 * 1024)
    requests: int = Field(default=1, ge=1, le=1000)
    concurrency: int = Field(ge=1, le=32)
    max_connections: int = Field(ge=1, le=100_000)
    max_ns: int = Field(ge=1, le=3600 * 10**9)
    timeout_ns: int = Field(default=10 * 10**9, ge=10**6, le=60 * 10**9)
    resumed_percent: Annotated[int, Field(ge=0, le=100)] = 0

    @field_validator("address")
    @classmethod
    def _on_this_machine(cls, address: IPv4Address) -> IPv4Address:
        if not address.is_loopback:
            raise ValueError(f"{address} is not an address of this machine's loopback")
        return address

    def line(self, case_id: str) -> str:
        return f"load id={case_id} " + " ".join(f"{name}={value}" for name, value in self.model_dump().items())

    @property
    def longest_s(self) -> float:
        """The time within which a worker answers. One connection, which yields the first session, precedes the load."""
        return (self.max_ns + 2 * self.timeout_ns) / 1e9 + _MARGIN_S
