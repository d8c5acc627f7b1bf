"""The two shapes of a number that was measured: a value and a ratio, each with its 95% confidence interval."""

from math import exp

from pydantic import Field

from kexbench.domain.frozen import Frozen


class Estimate(Frozen):
    """A value with its 95% confidence interval."""

    value: float = Field(description="of a cost in the metric's unit, per handshake")
    low: float | None = Field(description="null with too few invocations for a 95% confidence interval")
    high: float | None
    invocations: int | None = Field(None, description="of a cell; null where the value is of several")

    @property
    def bounds(self) -> tuple[float, float]:
        """Of a value that has an interval."""
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high

    @classmethod
    def whole(cls, value: float) -> "Estimate":
        """Known without noise, or without an interval."""
        return cls(value=value, low=None, high=None)


class Ratio(Frozen):
    """A number relative to another, with its 95% confidence interval: a cost of 1.02 is 2% more."""

    ratio: float
    low: float
    high: float

    @classmethod
    def of_logs(cls, centre: float, low: float, high: float) -> "Ratio":
        return cls(ratio=exp(centre), low=exp(low), high=exp(high))

    @property
    def inverse(self) -> "Ratio":
        """The other number relative to this one."""
        return Ratio(ratio=1 / self.ratio, low=1 / self.high, high=1 / self.low)


ITSELF = Ratio(ratio=1.0, low=1.0, high=1.0)
"""The ratio of a number to itself, which has no noise."""
