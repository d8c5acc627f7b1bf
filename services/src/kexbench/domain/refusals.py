"""Why a request is refused."""

from enum import StrEnum


class RefusalReason(StrEnum):
    MISSING = "missing"
    """Nothing has that name."""
    CONFLICT = "conflict"
    """The current state does not allow it."""
    UNUSABLE = "unusable"
    """The request itself is invalid."""


class Refusal(Exception):
    """Code decides by the reason; detail and remedy are for people."""

    def __init__(self, reason: RefusalReason, detail: str, remedy: str | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.remedy = remedy
