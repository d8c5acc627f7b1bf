"""What the watcher of repositories asks for, and what is told of their commits."""

from typing import Annotated

from pydantic import Field

from kexbench.api.answer import Answer
from kexbench.api.control_models import SPEC_MAX_CHARACTERS
from kexbench.domain.commits import Commit, HandledCommit, Reason, SpecPath


class CommittedSpec(Answer):
    """A spec of a commit that shall be measured."""

    commit: Commit
    path: SpecPath
    reason: Reason
    spec_text: str = Field(max_length=SPEC_MAX_CHARACTERS)
    catalogue_text: str | None = Field(max_length=SPEC_MAX_CHARACTERS, description="of the commit; null is this one's")
    subjects: Annotated[list[str], Field(max_length=10_000)] = Field([], description="references; all where empty")


class Commits(Answer):
    """The newest commits that say something of a spec."""

    commits: list[HandledCommit]
