"""What the fakes of all forges have in common: tokens, pages, refusals, and a record of what was asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from kexbench.domain.forges import Kind
from kexbench.forges import ForgeConfig, PullRequest

OURSELVES, SOMEBODY = "kexbench-bot", "octocat"
IDS = {OURSELVES: 28, SOMEBODY: 1}
PAGE_MAX = 2
"""However many are asked for: so that everything has pages."""
ELSEWHERE = "https://git.example.org"
"""The host that a forge behind a proxy believes to have, and names in its links."""


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    authorization: str


@dataclass
class Comment:
    id: int
    author: str
    body: str
    is_bot: bool = False


@dataclass
class Status:
    id: int
    context: str
    state: str
    description: str
    url: str
    ref: str = "main"


@dataclass
class FakeForge:
    """The state that people see, and `asked`. Subclasses give it the routes of a forge."""

    kind: ClassVar[Kind]
    prefix: ClassVar[str]
    repository: ClassVar[str] = "acme/bench-specs"
    description_max: ClassVar[int]
    refs: ClassVar[str] = "refs/pull"
    scheme: ClassVar[str] = "Bearer"

    token: str = "token-1"
    asked: list[Asked] = field(default_factory=list)
    refusals: list[tuple[str, Response]] = field(default_factory=list)
    statuses: dict[str, list[Status]] = field(default_factory=dict)
    comments: dict[int, list[Comment]] = field(default_factory=dict)
    pulls: list[PullRequest] = field(default_factory=list)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.middleware("http")
        async def _check(request: Request, call_next):  # type: ignore[no-untyped-def]
            path = request.scope["raw_path"].decode()
            self.asked.append(Asked(request.method, path, request.headers.get("authorization", "")))
            for refusal in self.refusals:
                if refusal[0] in f"{request.method} {path}":
                    self.refusals.remove(refusal)
                    return refusal[1]
            if request.headers.get("authorization") != f"{self.scheme} {self.token}":
                return JSONResponse({"message": "Bad credentials", "documentation_url": "https://docs"}, 401)
            return await call_next(request)

        self.add_routes(app)
        return app

    def add_routes(self, app: FastAPI) -> None:
        raise NotImplementedError

    def shown(self, commit: str) -> dict[str, tuple[str, str, str]]:
        """State, description and address of each context, in the port's words: what people see."""
        return {one.context: (one.state, one.description, one.url) for one in self.statuses.get(commit, [])}

    def config(self, address: str, token_file: Path) -> ForgeConfig:
        return ForgeConfig(kind=self.kind, url=address + self.prefix, repository=self.repository, token_file=token_file)

    def pull(self, number: int, *, commit: str = "", base_branch: str = "main") -> PullRequest:
        ref = f"{self.refs}/{number}/head"
        return PullRequest(number, f"measure-{number}", commit or f"{number:040x}", ref, base_branch)

    def refuse(self, when: str, status: int, message: str, **headers: str) -> None:
        """The next request whose method and path have `when` in them."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.refusals.append((when, JSONResponse({"message": message}, status, headers=named)))

    def say(self, pull_request: int, author: str, body: str, *, is_bot: bool = False) -> Comment:
        """A comment that was not made by a request."""
        said = Comment(self.next_id(), author, body, is_bot)
        self.comments.setdefault(pull_request, []).append(said)
        return said

    def comment(self, number: int) -> Comment:
        return next(one for own in self.comments.values() for one in own if one.id == number)

    def bodies(self, pull_request: int) -> list[tuple[str, str]]:
        return [(one.author, one.body) for one in self.comments.get(pull_request, [])]

    def written(self) -> list[str]:
        """The methods of the requests that change something, in their order."""
        return [one.method for one in self.asked if one.method != "GET"]

    def next_id(self) -> int:
        comments, statuses = self.comments.values(), self.statuses.values()
        return 100 + sum(len(own) for own in comments) + sum(len(own) for own in statuses)


def page_of(items: Sequence[Any], request: Request, size_name: str) -> tuple[Sequence[Any], int | None]:
    """The items of the page that a request asks for, and the number of the next."""
    page = int(request.query_params.get("page", "1"))
    size = min(PAGE_MAX, int(request.query_params.get(size_name, "30")))
    end = page * size
    return items[end - size : end], page + 1 if end < len(items) else None


def linked(body: Any, request: Request, following: int | None) -> JSONResponse:
    """With RFC 8288 links, as GitHub and Gitea tell the pages."""
    if following is None:
        return JSONResponse(body)
    url = f"{ELSEWHERE}{request.url.path}"
    link = f'<{url}?page={following}>; rel="next", <{url}?page=99>; rel="last"'
    return JSONResponse(body, headers={"Link": link})
