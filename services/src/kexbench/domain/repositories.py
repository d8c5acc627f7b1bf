"""A watched repository: its address, its watched branches, and the place of its specs."""

from typing import Annotated, Literal

from pydantic import Field

from kexbench.domain.forges import ForgeConfig
from kexbench.domain.frozen import Frozen

PullRequests = Literal["ignore", "plan", "measure"]
"""What to do for open pull requests: nothing, dry runs, or runs for heads in the repository itself."""
RepositoryName = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]


class Repository(Frozen):
    name: RepositoryName
    url: str = Field(description="whatever git clones: https://…, ssh://…, git@…:…, or an absolute path")
    branches: tuple[str, ...] = Field(min_length=1)
    planned_branches: tuple[str, ...] = Field((), description="patterns of branches that are planned, but not measured")
    pull_requests: PullRequests = Field("ignore", description="for pull requests against the watched branches")
    specs: str = Field(description="the folder of specs, without a trailing slash")
    catalogue: str = Field(description="the file of tracked versions; it may not exist")
    username: str | None = None
    password_file: str | None = Field(None, description="holds a password or token; read each time")
    forge: ForgeConfig | None = Field(None, description="the forge that shows the statuses of commits")
    webhook_secret_file: str | None = Field(None, description="holds the secret that signs webhooks")
