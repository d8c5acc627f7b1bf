"""Why something that was asked for is not done."""

from enum import StrEnum


class RefusalReason(StrEnum):
    MISSING = "missing"
    """There is nothing of that name."""
    CONFLICT = "conflict"
    """Not as things are now."""
    UNUSABLE = "unusable"
    """Not as it was asked for."""


class Refusal(Exception):
    """Code decides on the reason; what is wrong and what puts it right is for people."""

    def __init__(self, reason: RefusalReason, detail: str, remedy: str | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.remedy = remedy
