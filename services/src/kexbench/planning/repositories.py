"""The watched repositories as they are written (`kind: Repositories`): read, with every fault at its place."""

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from kexbench.domain.forges import ForgeConfig
from kexbench.domain.repositories import PullRequests, Repository, RepositoryName
from kexbench.planning.documents import parse_document, same_names, valid
from kexbench.planning.written import Distinct, Written

MAX_REPOSITORIES = 100
_URL = re.compile(r"(https?|ssh|git)://[^/@\s]*@?[^/\s]+/\S+|[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:\S+|/.*")


def _cloned(url: str) -> str:
    if not _URL.fullmatch(url):
        raise ValueError(
            f"'{url}' is not what git clones: give https://…, ssh://…, git://…, git@HOST:… or an absolute path"
        )
    if re.match(r"https?://[^/@]*:[^/@]*@", url):
        raise ValueError("a password in an address is seen by many: name its file as passwordFile")
    return url


def _within(path: str) -> str:
    """A path within a repository, as git writes it."""
    found = PurePosixPath(path)
    if found.is_absolute() or ".." in found.parts or "\\" in path:
        raise ValueError(f"'{path}' is not a path within the repository, such as bench-specs")
    return str(found)


_Branch = Annotated[str, Field(pattern=r"^[^\s~^:?*\[\\-][^\s~^:?*\[\\]*$", max_length=255)]
_Pattern = Annotated[str, Field(pattern=r"^[^\s~^:?\[\\-][^\s~^:?\[\\]*$", max_length=255)]
_Within = Annotated[str, AfterValidator(_within)]


_File = Annotated[str, Field(pattern="^/", max_length=400)]


class ForgeEntry(Written):
    """The forge that a repository lives at, which is told what became of its commits."""

    kind: Literal["github", "gitlab", "gitea"]
    url: Annotated[str | None, Field(description="of its API; left out for github.com and gitlab.com")] = None
    repository: Annotated[str, Field(description="owner/name; at GitLab the whole path of the project")]
    token_file: _File

    def settings(self) -> ForgeConfig:
        return ForgeConfig.model_validate(self.model_dump())


def _coherent(entry: ForgeEntry) -> ForgeEntry:
    try:
        entry.settings()
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    return entry


class RepositoryEntry(Written):
    """A repository whose commits trigger runs."""

    name: RepositoryName
    url: Annotated[str, AfterValidator(_cloned)]
    branches: Distinct[_Branch] = Field(["main"])
    planned_branches: Annotated[
        list[_Pattern],
        Field(description="of branches whose specs are planned and not measured, such as feature/*"),
    ] = Field([])
    pull_requests: Annotated[
        PullRequests | None, Field(description="against those branches; plan where a forge is named, otherwise ignore")
    ] = None
    specs: _Within = "bench-specs"
    catalogue: Annotated[_Within | None, Field(description="libraries.yaml among the specs where left out")] = None
    username: Annotated[str | None, Field(description="with a password; git where left out")] = None
    password_file: Annotated[_File | None, Field(description="with a password or token, read anew each time")] = None
    forge: Annotated[ForgeEntry, AfterValidator(_coherent)] | None = None
    webhook_secret_file: Annotated[_File | None, Field(description="with what the forge signs its webhooks with")] = (
        None
    )

    @model_validator(mode="after")
    def _has_pull_requests(self) -> Self:
        if self.pull_requests not in (None, "ignore") and self.forge is None:
            raise ValueError(f"pullRequests: {self.pull_requests} needs the forge where they are")
        return self


class Repositories(Written):
    """What is watched."""

    api_version: Literal["kexbench.dev/v1"]
    kind: Literal["Repositories"]
    repositories: Annotated[list[RepositoryEntry], Field(max_length=MAX_REPOSITORIES)]


def read_repositories(text: str, file: str) -> tuple[Repository, ...]:
    """The repositories in the order of the file. Raises DocumentError with every fault."""
    document = parse_document(text, file)
    written = valid(document, Repositories, same_names(document, "repositories"))
    return tuple(
        Repository(
            **entry.model_dump(exclude={"branches", "planned_branches", "pull_requests", "catalogue", "forge"}),
            forge=entry.forge.settings() if entry.forge else None,
            branches=tuple(entry.branches),
            planned_branches=tuple(entry.planned_branches),
            pull_requests=entry.pull_requests or ("plan" if entry.forge else "ignore"),
            catalogue=entry.catalogue or str(PurePosixPath(entry.specs) / "libraries.yaml"),
        )
        for entry in written.repositories
    )
