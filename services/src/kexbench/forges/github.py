"""GitHub, also as GitHub Enterprise: its REST API of 2022-11-28.

https://docs.github.com/rest: commits/statuses, issues/comments, pulls, users.
"""

from collections.abc import Iterator, Mapping
from dataclasses import astuple
from typing import ClassVar
from urllib.parse import quote

from pydantic import AliasChoices, AliasPath, BaseModel, Field

from kexbench.domain.forges import ForgeConfig
from kexbench.forges.comments import is_marked, marked, same_text
from kexbench.forges.port import CommitStatus, ForgeError, PullRequest
from kexbench.forges.rest import Rest


class _User(BaseModel):
    login: str
    type: str = ""


class _Comment(BaseModel):
    id: int
    body: str | None = None
    user: _User | None = None


class _Status(BaseModel):
    state: str = Field(validation_alias=AliasChoices("state", "status"))
    context: str
    description: str | None = None
    target_url: str | None = None


class _Combined(BaseModel):
    statuses: list[_Status] | None = None


class _Pull(BaseModel):
    number: int
    branch: str = Field(validation_alias=AliasPath("head", "ref"))
    commit: str = Field(validation_alias=AliasPath("head", "sha"))
    base_branch: str = Field(validation_alias=AliasPath("base", "ref"))


class GitHub:
    """The class attributes are what another forge with the same paths and bodies does differently."""

    name: ClassVar[str] = "GitHub"
    scheme: ClassVar[str] = "Bearer"
    headers: ClassVar[Mapping[str, str]] = {
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    page: ClassVar[Mapping[str, str]] = {"per_page": "100"}
    description_max: ClassVar[int] = 140
    to_set_statuses: ClassVar[str] = "'Commit statuses: write'"
    to_comment: ClassVar[str] = "'Pull requests: write'"
    to_read: ClassVar[str] = "'Pull requests: read'"
    to_know_itself: ClassVar[str] = "to see its own user"
    has_apps: ClassVar[bool] = True
    """Whether a token may belong to an app instead of a user."""

    def __init__(self, config: ForgeConfig) -> None:
        self._rest = Rest(self.name, config, self.scheme, self.headers)
        self._repository = f"/repos/{config.repository}"

    def set_status(self, commit: str, status: CommitStatus) -> None:
        """Reads before it writes: every status sent is kept, and each context holds at most 1,000."""
        short, sha = status.cut(self.description_max), quote(commit, safe="")
        if astuple(short) in self._statuses(sha):
            return
        body = {
            "state": short.state,
            "context": short.context,
            "description": short.description,
            "target_url": short.url,
        }
        self._rest.send("POST", f"{self._repository}/statuses/{sha}", self.to_set_statuses, body)

    def put_comment(self, pull_request: int, key: str, body: str) -> None:
        text, comment = marked(key, body), self._comment(pull_request, key)
        if comment is None:
            path = f"{self._repository}/issues/{pull_request}/comments"
            self._rest.send("POST", path, self.to_comment, {"body": text})
        elif not same_text(comment.body or "", text):
            path = f"{self._repository}/issues/comments/{comment.id}"
            self._rest.send("PATCH", path, self.to_comment, {"body": text})

    def has_comment(self, pull_request: int, key: str) -> bool:
        return self._comment(pull_request, key) is not None

    def pull_requests(self) -> tuple[PullRequest, ...]:
        query = {**self.page, "state": "open"}
        pages = self._rest.pages(list[_Pull], f"{self._repository}/pulls", self.to_read, query)
        return tuple(
            PullRequest(ref=f"refs/pull/{pull.number}/head", **pull.model_dump()) for page in pages for pull in page
        )

    def _statuses(self, sha: str) -> Iterator[tuple[str, str, str, str]]:
        """The last status of each context, with the fields in the order of CommitStatus."""
        path = f"{self._repository}/commits/{sha}/status"
        for page in self._rest.pages(_Combined, path, self.to_set_statuses, self.page):
            for status in page.statuses or ():
                yield status.context, status.state, status.description or "", status.target_url or ""

    def _comment(self, pull_request: int, key: str) -> _Comment | None:
        """Our first comment with this key."""
        path = f"{self._repository}/issues/{pull_request}/comments"
        pages = self._rest.pages(list[_Comment], path, self.to_comment, self.page)
        comments = [comment for page in pages for comment in page if is_marked(key, comment.body or "")]
        if not comments:
            return None
        login = self._login()
        return next((comment for comment in comments if comment.user and self._is_ours(comment.user, login)), None)

    def _login(self) -> str | None:
        """The user of the token, or None for an app's token, which may not read it."""
        try:
            return self._rest.get(_User, "/user", self.to_know_itself).login
        except ForgeError as error:
            if self.has_apps and error.status == 403 and error.again_at is None:
                return None
            raise

    def _is_ours(self, author: _User, login: str | None) -> bool:
        """An app's comments have a bot as their author. A person can't comment as a bot."""
        return author.type == "Bot" if login is None else author.login == login
