"""What an instrument counted in one part of a case, function by function."""

from collections.abc import Mapping
from math import inf
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field, computed_field, model_validator

from kexbench.domain.frozen import Frozen
from kexbench.domain.instruments import INSTRUMENTS, CountedSide, Instrument
from kexbench.domain.moments import Moment
from kexbench.domain.numbers import Count

ProfileFormat = Literal["callgrind", "speedscope"]
SMALLEST_SHARE = 1e-4
"""A change of a part by a smaller share is none, and one that is below the instrument's smallest."""
UNNAMED = "functions without a name"
"""Stands for all functions of a library that has no symbols for them, as in a distribution's packages."""


NotNegative = Annotated[float, AfterValidator(lambda value: max(value, 0.0))]
"""Set-up is subtracted from what is counted, and random numbers change both, so what happens once may come out below
zero: it counts as none."""
SURE_CHANGE = 6
"""A change must be so many times the difference of two counts of one version. If both versions have two counts that
differ by chance alone, one comparison in a hundred exceeds it."""


class _Renamed(Frozen):
    """Reads what was stored when instructions were all that was counted."""

    former: ClassVar[Mapping[str, str]] = {}
    """Names of fields, by those that they had."""

    @model_validator(mode="before")
    @classmethod
    def _take_former_names(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {cls.former.get(name, name): each for name, each in value.items()}


class FunctionCost(_Renamed):
    """What a function costs in one handshake."""

    former: ClassVar[Mapping[str, str]] = {"instructions": "amount"}

    name: str
    library: str = Field(description="file name of the program or library, without its version")
    amount: NotNegative = Field(description="of its own, without those of functions that it calls")
    calls: NotNegative = Field(
        description="calls by both sides, which callgrind does not tell apart, or how many allocations"
    )


class CallCost(Frozen):
    """Calls of one function by another, in one handshake."""

    caller: tuple[str, str] = Field(description="name and library")
    callee: tuple[str, str]
    inclusive: NotNegative = Field(description="of the callee and of functions that it calls")
    calls: NotNegative = Field(0.0, description="by both sides; 0 where only whole stacks are known")


class Profile(_Renamed):
    """What one part of a handshake costs. What happens once is not in it."""

    former: ClassVar[Mapping[str, str]] = {"instructions": "amount"}
    instrument: Instrument = Instrument.INSTRUCTIONS
    side: CountedSide
    handshakes: Count = Field(description="that the counts are an average of")
    cpu_features: str | None = Field(
        None, description="by which the library chose its code while it was counted, if it tells"
    )
    native_cpu_features: str | None = Field(None, description="the same without Valgrind")
    amount: NotNegative
    functions: tuple[FunctionCost, ...]
    calls: tuple[CallCost, ...]

    @property
    def ran_other_code(self) -> bool:
        """Whether the library chose its code by other CPU features than it does without Valgrind."""
        return self.cpu_features != self.native_cpu_features


class FunctionChange(Frozen):
    """A function's part in the difference of two profiles. Numbers are amounts in one handshake."""

    name: str
    later_name: str = Field(description="in the later version: another one if it was renamed")
    library: str
    before: float = Field(description="0 if the function is new")
    after: float = Field(description="0 if the function has vanished")
    calls_before: float
    calls_after: float
    share: float = Field(description="of the total change; negative if it works against it")

    @property
    def change(self) -> float:
        return self.after - self.before


class PartDifference(Frozen):
    """What a part of two libraries, such as an algorithm, has in the difference of their profiles. Numbers are
    amounts in one handshake."""

    name: str
    matched_before: float = Field(description="in functions that both libraries have, by name")
    matched_after: float
    only_before: float = Field(description="in functions that the other library has not, by name")
    only_after: float

    @property
    def before(self) -> float:
        return self.matched_before + self.only_before

    @property
    def after(self) -> float:
        return self.matched_after + self.only_after


class PathStep(Frozen):
    """A function on the way to a change, with the cost of its calls by the step before, in one handshake."""

    name: str
    before: float
    after: float


class Explanation(Frozen):
    """Why one part costs more or less than before, or than in another library."""

    model_config = ConfigDict(extra="ignore")  # an answer of the API has what is computed as well

    instrument: Instrument = Instrument.INSTRUCTIONS
    side: CountedSide
    before: float = Field(description="in one handshake, of what the instrument counts")
    after: float
    functions: tuple[FunctionChange, ...] = Field(description="the largest change first")
    path: tuple[PathStep, ...] = Field(
        description="from the outermost function to the one that explains most of the change; empty without a change"
    )
    place: PathStep | None = Field(
        None,
        description="the function that most of the change is in: the end of the path, or one whose own instructions "
        "are most of it; null if it is spread, and without a change",
    )
    spread: float = Field(0.0, description="by how much two counts of one version differed, as a share")
    parts: tuple[PartDifference, ...] = Field(
        (), description="of two libraries: the parts that add up to both sides; empty for versions of one library"
    )

    @computed_field(description="whether the change is larger than counts differ by chance")  # type: ignore[prop-decorator]
    @property
    def has_changed(self) -> bool:
        return abs(self.after - self.before) >= self._smallest

    @property
    def resolution(self) -> float:
        """The smallest change that counts as one, as a share."""
        return self._smallest / self.before if self.before else 0.0

    @property
    def _smallest(self) -> float:
        share = max(SMALLEST_SHARE, SURE_CHANGE * self.spread)
        return max(share * self.before, INSTRUMENTS[self.instrument].smallest_change)

    @property
    def ratio(self) -> float:
        if self.before:
            return self.after / self.before
        return inf if self.after else 1.0


class CallNode(Frozen):
    """A function where it is called, in both versions. Numbers are of one handshake."""

    name: str
    later_name: str = Field(description="in the later version: another one if it was renamed")
    library: str
    before: float = Field(description="of the function and of those that it calls; 0 if it is new here")
    after: float = Field(description="0 if it is no longer called here")
    children: tuple["CallNode", ...] = Field(
        description="functions that it calls, the largest first; small ones are left out, so their cost is its own"
    )


class CaseExplanation(Frozen):
    """Why a case costs more or less than before."""

    instrument: Instrument = Instrument.INSTRUCTIONS
    case_id: str
    title: str
    sides: tuple[Explanation, ...] = Field(description="client, server, then the instrument's other parts")
    counted_at: Moment = Field(description="when the newest of the profiles was counted")
    run_ids: tuple[str, ...] = Field(description="the runs that counted them")
    other_code: bool = Field(
        description="whether a library chose its code by other CPU features than without Valgrind, so that time "
        "decides; of two libraries also if one does not tell"
    )


class Culprit(_Renamed):
    """The function that most of a change is in. Numbers are of one handshake, before and after."""

    former: ClassVar[Mapping[str, str]] = {"instructions": "amounts", "side_instructions": "side_amounts"}
    instrument: Instrument = Instrument.INSTRUCTIONS
    case_id: str
    title: str = Field(description="of the case")
    side: CountedSide
    function: str
    amounts: tuple[float, float] = Field(
        description="of the function and of those that it calls; its own where only these tell where the change is"
    )
    calls: tuple[float, float]
    side_amounts: tuple[float, float] = Field(description="of the whole side")
    run_id: str = Field(description="that counted them")

    @property
    def share(self) -> float:
        """What its change adds to its part, as a share of what that had before; infinite if that had nothing."""
        change, before = self.amounts[1] - self.amounts[0], self.side_amounts[0]
        return change / before if before else inf
