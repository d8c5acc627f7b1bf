"""The forge of a repository, and the token for it."""

import re
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from kexbench.domain.frozen import Frozen

Kind = Literal["github", "gitlab", "gitea", "none"]
_PUBLIC = {"github": "https://api.github.com", "gitlab": "https://gitlab.com/api/v4"}
_ENDS = {"github": "/api/v3", "gitlab": "/api/v4", "gitea": "/api/v1"}
_PART = r"[A-Za-z0-9_.-]+"


class ForgeConfig(Frozen):
    """`none`: a repository without a forge; all other fields are left out."""

    kind: Kind
    url: str | None = Field(None, description="address of its API; default for github.com and gitlab.com")
    repository: str = Field("", description="owner/name; on GitLab the full path of the project")
    token_file: Path | None = Field(None, description="read for each request, so that it can be renewed")

    token_variable: str | None = Field(None, description="of the environment, instead of a file, for a job that has it")

    @property
    def token_place(self) -> str:
        """Where people put the token."""
        return f"the variable {self.token_variable}" if self.token_variable else str(self.token_file)

    @property
    def api(self) -> str:
        """The base address of the API."""
        return (self.url or _PUBLIC[self.kind]).rstrip("/")

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        parts = urlsplit(url or "https://host")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("must be an address such as https://git.example.org/api/v1")
        _ = parts.port  # raises where it is invalid
        if parts.username is not None:
            raise ValueError("must not contain a user or password: put the token in its own file")
        return url

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.kind == "none":
            return self
        if self.token_file is None and self.token_variable is None:
            raise ValueError(f"{self.kind} needs a token_file")
        if self.url is None and self.kind not in _PUBLIC:
            raise ValueError(f"{self.kind} needs the url of its API, such as https://git.example.org/api/v1")
        path = urlsplit(self.api)
        of_github = self.kind == "github" and (path.hostname or "").startswith("api.")
        if not of_github and not path.path.endswith(_ENDS[self.kind]):
            raise ValueError(f"the url of {self.kind}'s API must end with {_ENDS[self.kind]}, not {self.api}")
        parts = "{1,20}" if self.kind == "gitlab" else "{1}"
        if not re.fullmatch(rf"{_PART}(/{_PART}){parts}", self.repository):
            form = "group/project, with all groups" if self.kind == "gitlab" else "owner/name"
            raise ValueError(f"repository must be of the form {form}, not {self.repository!r}")
        return self
