"""A watched repository: where it is, which of its branches count, and where its specs are."""

from typing import Annotated, Literal

from pydantic import Field

from kexbench.domain.forges import ForgeConfig
from kexbench.domain.frozen import Frozen

PullRequests = Literal["ignore", "plan", "measure"]
"""What becomes of open ones: nothing, dry runs, or runs where their heads live in the repository itself."""
RepositoryName = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]


class Repository(Frozen):
    name: RepositoryName
    url: str = Field(description="whatever git clones: https://…, ssh://…, git@…:…, or an absolute path")
    branches: tuple[str, ...] = Field(min_length=1)
    planned_branches: tuple[str, ...] = Field((), description="patterns; what they fit is planned and not measured")
    pull_requests: PullRequests = Field("ignore", description="those against the watched branches")
    specs: str = Field(description="the folder of specs, without a slash at its end")
    catalogue: str = Field(description="the file that says which versions are tracked; there need be none")
    username: str | None = None
    password_file: str | None = Field(None, description="read anew each time; a token is a password too")
    forge: ForgeConfig | None = Field(None, description="where commits get their statuses")
    webhook_secret_file: str | None = Field(None, description="what the forge signs its webhooks with")
