"""One check of the machine, as shown to people."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["good", "warning", "unknown"]


@dataclass(frozen=True)
class Check:
    name: str
    verdict: Verdict
    found: str
    """What was read or observed, in a few words."""
    advice: str
    """One sentence: what to do, or why nothing needs to be done."""


@dataclass(frozen=True)
class About:
    """The name of a check, and its outcomes."""

    name: str

    def good(self, found: str, advice: str) -> Check:
        return Check(self.name, "good", found, advice)

    def warning(self, found: str, advice: str) -> Check:
        return Check(self.name, "warning", found, advice)

    def unknown(self, found: str, advice: str) -> Check:
        return Check(self.name, "unknown", found, advice)
