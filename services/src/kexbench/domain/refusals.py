"""Why a request is refused."""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from kexbench.domain.frozen import Frozen


class RefusalReason(StrEnum):
    MISSING = "missing"
    """Nothing has that name."""
    CONFLICT = "conflict"
    """The current state does not allow it."""
    UNUSABLE = "unusable"
    """The request itself is invalid."""


class Candidate(Frozen):
    """A subject that an ambiguous request may mean."""

    asked: str = Field(description="the requested version or source", examples=["3.5.7"])
    subject: str = Field(description="its unique name, which is never ambiguous")
    version: str
    source: str
    build_profile_label: str


class Refusal(Exception):
    """Code decides by the reason; detail, remedy and candidates are for people."""

    def __init__(
        self, reason: RefusalReason, detail: str, remedy: str | None = None, candidates: Sequence[Candidate] = ()
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.remedy = remedy
        self.candidates = list(candidates)
