"""What all answers of the API have in common."""

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
