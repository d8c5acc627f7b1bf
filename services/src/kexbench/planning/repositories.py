"""Reads the watched repositories (`kind: Repositories`), with every fault at its place."""

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from kexbench.domain.forges import ForgeConfig
from kexbench.domain.repositories import PullRequests, Repository, RepositoryName
from kexbench.planning.documents import parse_document, same_names, valid
from kexbench.planning.written import KIND, ApiVersion, Distinct, Written

MAX_REPOSITORIES = 100
_URL = re.compile(r"(https?|ssh|git)://[^/@\s]*@?[^/\s]+/\S+|[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:\S+|/.*")


def _cloned(url: str) -> str:
    if not _URL.fullmatch(url):
        raise ValueError(f"git cannot clone '{url}': use https://…, ssh://…, git://…, git@HOST:… or an absolute path")
    if re.match(r"https?://[^/@]*:[^/@]*@", url):
        raise ValueError("an address must not contain a password: put it in a file and set passwordFile")
    return url


def _within(path: str) -> str:
    """A path within a repository, as git writes it."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path:
        raise ValueError(f"'{path}' is not a path within the repository, such as bench-specs")
    return str(pure)


_Branch = Annotated[str, Field(pattern=r"^[^\s~^:?*\[\\-][^\s~^:?*\[\\]*$", max_length=255)]
_Pattern = Annotated[str, Field(pattern=r"^[^\s~^:?\[\\-][^\s~^:?\[\\]*$", max_length=255)]
_Within = Annotated[str, AfterValidator(_within)]


_File = Annotated[str, Field(pattern="^/", max_length=400)]


class ForgeEntry(Written):
    """The forge of a repository, which gets the statuses of its commits."""

    kind: Annotated[Literal["github", "gitlab", "gitea"], Field(description="its API; Forgejo has that of Gitea")]
    url: Annotated[str | None, Field(description="address of its API; default for github.com and gitlab.com")] = None
    repository: Annotated[str, Field(description="owner/name; on GitLab the full path of the project")]
    token_file: Annotated[_File, Field(description="holds a token that may set statuses; read each time")]

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

    name: Annotated[RepositoryName, Field(description="the name that pages, statuses and webhooks use")]
    url: Annotated[str, AfterValidator(_cloned), Field(description="the address to clone it from")]
    branches: Distinct[_Branch] = Field(["main"], description="branches whose new commits are measured")
    planned_branches: Annotated[
        list[_Pattern],
        Field(description="patterns of branches whose specs are planned, but not measured, such as feature/*"),
    ] = Field([])
    pull_requests: Annotated[
        PullRequests | None, Field(description="against these branches; default: plan with a forge, otherwise ignore")
    ] = None
    specs: Annotated[_Within, Field(description="the folder of its specs")] = "bench-specs"
    catalogue: Annotated[_Within | None, Field(description="default: libraries.yaml among the specs")] = None
    username: Annotated[str | None, Field(description="goes with a password; default: git")] = None
    password_file: Annotated[_File | None, Field(description="holds a password or token; read each time")] = None
    forge: Annotated[
        Annotated[ForgeEntry, AfterValidator(_coherent)] | None,
        Field(description="where statuses and comments go; default: nowhere"),
    ] = None
    webhook_secret_file: Annotated[_File | None, Field(description="holds the secret that signs webhooks")] = None

    @model_validator(mode="after")
    def _has_pull_requests(self) -> Self:
        if self.pull_requests not in (None, "ignore") and self.forge is None:
            raise ValueError(f"pullRequests: {self.pull_requests} needs a forge")
        return self


class Repositories(Written):
    """The watched repositories."""

    api_version: ApiVersion
    kind: Annotated[Literal["Repositories"], KIND]
    repositories: Annotated[list[RepositoryEntry], Field(max_length=MAX_REPOSITORIES, description="the repositories")]


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
