"""Numbers as the formats carry them: finite, and within what the store's columns hold."""

from typing import Annotated

from pydantic import Field

Finite = Annotated[float, Field(allow_inf_nan=False)]
AttemptNumber = Annotated[int, Field(ge=1, le=2**16 - 1)]
Count = Annotated[int, Field(ge=0, le=2**32 - 1)]
Large = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""Of bytes or nanoseconds."""
