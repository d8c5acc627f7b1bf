"""What differs between two things, with both of its values."""

from pydantic import Field

from kexbench.domain.frozen import Frozen


class Difference(Frozen):
    what: str = Field(examples=["nettle", "cipher", "compiler flags"])
    before: str | None = Field(description="null: the first one has none", examples=["3.8.1"])
    after: str | None

    @property
    def words(self) -> str:
        """`nettle 3.8.1 → 3.10.1`."""
        return f"{self.what} {self.before} → {self.after}"
