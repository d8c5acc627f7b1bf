"""Counted instructions of one side of a case, function by function."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, computed_field

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment
from kexbench.domain.numbers import Count

CountedSide = Literal["client", "server", "objects", "start"]
"""The turns of a side; making and freeing the objects of both, which no time of a handshake includes; or the start of a
process, from the library's own to the end of the first handshake."""
ROOTS: Mapping[CountedSide, tuple[str, ...]] = {
    "client": ("client_turn",),
    "server": ("server_turn",),
    "objects": ("make_objects", "free_objects"),
    "start": ("start_library", "first_context", "first_handshake"),
}
"""The worker's functions that are counted, with all that they call."""


def counted_sides(*, starts: bool) -> tuple[CountedSide, ...]:
    """What a run counts. `starts`: whether it starts processes too."""
    return tuple(side for side in ROOTS if starts or side != "start")


ProfileFormat = Literal["callgrind", "speedscope"]
SMALLEST_SHARE = 1e-4
SMALLEST_CHANGE = 100
"""A change of a side by a smaller share, or by fewer instructions, is none: the same program needs a few more to copy
bytes from an address that is aligned otherwise."""
UNNAMED = "functions without a name"
"""Stands for all functions of a library that has no symbols for them, as in a distribution's packages."""


NotNegative = Annotated[float, AfterValidator(lambda value: max(value, 0.0))]
"""Set-up is subtracted from what is counted, and random numbers change both, so what happens once may come out below
zero: it counts as none."""
SURE_CHANGE = 6
"""A change must be so many times the difference of two counts of one version. If both versions have two counts that
differ by chance alone, one comparison in a hundred exceeds it."""


def root_of(side: CountedSide) -> str:
    """The function that all counted instructions of a side are below. Where several are counted, it is made up."""
    first, *others = ROOTS[side]
    return side if others else first


class FunctionCost(Frozen):
    """What a function costs in one handshake."""

    name: str
    library: str = Field(description="file name of the program or library, without its version")
    instructions: NotNegative = Field(description="of its own, without those of functions that it calls")
    calls: NotNegative = Field(description="by both sides: callgrind does not tell them apart")


class CallCost(Frozen):
    """Calls of one function by another, in one handshake."""

    caller: tuple[str, str] = Field(description="name and library")
    callee: tuple[str, str]
    inclusive: NotNegative = Field(description="instructions of the callee and of functions that it calls")
    calls: NotNegative = Field(0.0, description="by both sides")


class Profile(Frozen):
    """One side's instructions in one handshake, counted by callgrind. Set-up is subtracted."""

    side: CountedSide
    handshakes: Count = Field(description="that the counts are an average of")
    cpu_features: str | None = Field(
        None, description="by which the library chose its code while it was counted, if it tells"
    )
    native_cpu_features: str | None = Field(None, description="the same without Valgrind")
    instructions: NotNegative
    functions: tuple[FunctionCost, ...]
    calls: tuple[CallCost, ...]

    @property
    def ran_other_code(self) -> bool:
        """Whether the library chose its code by other CPU features than it does without Valgrind."""
        return self.cpu_features != self.native_cpu_features


class FunctionChange(Frozen):
    """A function's part in the difference of two profiles. Numbers are instructions in one handshake."""

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
    instructions in one handshake."""

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
    """A function on the way to a change, with the instructions of its calls by the step before, in one handshake."""

    name: str
    before: float
    after: float


class Explanation(Frozen):
    """Why one side costs more or fewer instructions than before, or than in another library."""

    model_config = ConfigDict(extra="ignore")  # an answer of the API has what is computed as well

    side: CountedSide
    before: float = Field(description="instructions in one handshake")
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
        return abs(self.ratio - 1) >= self.resolution

    @property
    def resolution(self) -> float:
        """The smallest change that counts as one, as a share."""
        return max(SMALLEST_SHARE, SURE_CHANGE * self.spread, SMALLEST_CHANGE / self.before if self.before else 0.0)

    @property
    def ratio(self) -> float:
        return self.after / self.before if self.before else 1.0


class CallNode(Frozen):
    """A function where it is called, in both versions. Numbers are of one handshake."""

    name: str
    later_name: str = Field(description="in the later version: another one if it was renamed")
    library: str
    before: float = Field(description="instructions of the function and of those that it calls; 0 if it is new here")
    after: float = Field(description="0 if it is no longer called here")
    children: tuple["CallNode", ...] = Field(
        description="functions that it calls, the largest first; small ones are left out, so their cost is its own"
    )


class CaseExplanation(Frozen):
    """Why a case costs more or fewer instructions than before."""

    case_id: str
    title: str
    sides: tuple[Explanation, ...] = Field(description="client, then server")
    counted_at: Moment = Field(description="when the newest of the profiles was counted")
    run_ids: tuple[str, ...] = Field(description="the runs that counted them")
    other_code: bool = Field(
        description="whether a library chose its code by other CPU features than without Valgrind, so that time "
        "decides; of two libraries also if one does not tell"
    )


class Culprit(Frozen):
    """The function that most of a change is in. Numbers are of one handshake, before and after."""

    case_id: str
    title: str = Field(description="of the case")
    side: CountedSide
    function: str
    instructions: tuple[float, float] = Field(
        description="of the function and of those that it calls; its own where only these tell where the change is"
    )
    calls: tuple[float, float]
    side_instructions: tuple[float, float] = Field(description="of the whole side")
    run_id: str = Field(description="that counted them")

    @property
    def share(self) -> float:
        """What the function's change adds to the side's instructions, as a share of those before."""
        return (self.instructions[1] - self.instructions[0]) / self.side_instructions[0]
