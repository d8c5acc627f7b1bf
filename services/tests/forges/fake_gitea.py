"""A Gitea of some routes, after https://docs.gitea.com/api: as GitHub's, except where it is not.

A status is called `status` when it is read, the page's size `limit`, and a commit without statuses is answered with an
empty body. Of a comment's pages there is one, with all of them. A pull request whose fork is gone names `refs/pull`.
"""

from typing import Any, ClassVar

from fastapi import FastAPI, Request
from fastapi.responses import Response

from kexbench.domain.forges import Kind
from tests.forges.fake import IDS, Status
from tests.forges.fake_github import FakeGitHub


class FakeGitea(FakeGitHub):
    kind: ClassVar[Kind] = "gitea"
    prefix: ClassVar[str] = "/api/v1"
    description_max: ClassVar[int] = 255
    scheme: ClassVar[str] = "token"
    size: ClassVar[str] = "limit"

    def add_routes(self, app: FastAPI) -> None:
        @app.get(f"{self.prefix}/repos/{self.repository}/issues/{{number}}/comments")
        def all_comments(number: int) -> list[dict[str, Any]]:
            return [self.comment_json(one) for one in self.comments.get(number, [])]

        super().add_routes(app)

    def combined(self, request: Request, sha: str, latest: list[Status]) -> Response:
        return super().combined(request, sha, latest) if latest else Response(status_code=200)

    def status_json(self, status: Status) -> dict[str, Any]:
        said = super().status_json(status)
        return {**said, "status": said.pop("state"), "description": status.description, "target_url": status.url}

    def user_json(self, login: str, *, is_bot: bool) -> dict[str, Any]:
        return {"id": IDS[login], "login": login, "login_name": "", "full_name": "", "is_admin": False}
