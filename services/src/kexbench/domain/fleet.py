"""A node that somebody set aside: its results from some time on count in no comparison, history or alert."""

from typing import Annotated

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment
from kexbench.domain.numbers import Count
from kexbench.domain.pools import PoolName

REASON_MAX = 500
NodeName = Annotated[str, Field(min_length=1, max_length=253)]
"""As Kubernetes limits it."""
Reason = Annotated[str, Field(min_length=1, max_length=REASON_MAX)]


class SetAside(Frozen):
    """A node was set aside, or returned. The newest change of a node is its state."""

    pool: PoolName
    node: NodeName
    number: Count = Field(description="of the node's changes, from 1")
    at: Moment
    by: str
    reason: str = Field(description="why it was set aside; empty if it was returned", max_length=REASON_MAX)
    since: Moment | None = Field(description="its results from this time on do not count; null if it was returned")

    @property
    def words(self) -> str:
        """Why a number is missing."""
        return f"node {self.node} was set aside: {self.reason}"
