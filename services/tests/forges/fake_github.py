"""A GitHub of some routes, after its documentation: fields that matter, and some that are to be ignored.

- https://docs.github.com/rest/commits/statuses: the latest status of each context is in the combined status
- https://docs.github.com/rest/issues/comments: the comments of a pull request's conversation are those of its issue
- https://docs.github.com/rest/pulls/pulls
- https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
"""

from typing import Any, ClassVar

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from kexbench.domain.forges import Kind
from kexbench.forges import PullRequest
from tests.forges.fake import IDS, OURSELVES, Comment, FakeForge, Status, linked, page_of


class FakeGitHub(FakeForge):
    kind: ClassVar[Kind] = "github"
    prefix: ClassVar[str] = "/api/v3"
    description_max: ClassVar[int] = 140
    size: ClassVar[str] = "per_page"

    def add_routes(self, app: FastAPI) -> None:
        repository = f"{self.prefix}/repos/{self.repository}"

        @app.get(f"{self.prefix}/user")
        def user() -> dict[str, Any]:
            return self.user_json(OURSELVES, is_bot=False)

        @app.post(repository + "/statuses/{sha}", status_code=201)
        async def create_status(request: Request, sha: str) -> Response:
            body = await request.json()
            if len(body["description"]) > self.description_max:
                return self.too_long()
            said = Status(self.next_id(), body["context"], body["state"], body["description"], body["target_url"])
            self.statuses.setdefault(sha, []).append(said)
            return JSONResponse(self.status_json(said), 201)

        @app.get(repository + "/commits/{sha}/status")
        def combined(request: Request, sha: str) -> Response:
            latest = {one.context: one for one in self.statuses.get(sha, [])}
            return self.combined(request, sha, list(latest.values()))

        @app.get(repository + "/issues/{number}/comments")
        def comments(request: Request, number: int) -> Response:
            page, following = page_of(self.comments.get(number, []), request, self.size)
            return linked([self.comment_json(one) for one in page], request, following)

        @app.post(repository + "/issues/{number}/comments", status_code=201)
        async def create_comment(request: Request, number: int) -> dict[str, Any]:
            return self.comment_json(self.say(number, OURSELVES, (await request.json())["body"]))

        @app.patch(repository + "/issues/comments/{comment_id}")
        async def edit_comment(request: Request, comment_id: int) -> dict[str, Any]:
            self.comment(comment_id).body = (await request.json())["body"]
            return self.comment_json(self.comment(comment_id))

        @app.get(repository + "/pulls")
        def pulls(request: Request) -> Response:
            assert request.query_params["state"] == "open"
            page, following = page_of(self.pulls, request, self.size)
            return linked([self.pull_json(one) for one in page], request, following)

    def too_long(self) -> Response:
        fault = {"resource": "Status", "code": "custom", "field": "description", "message": "description is too long"}
        return JSONResponse({"message": "Validation Failed", "errors": [fault]}, 422)

    def combined(self, request: Request, sha: str, latest: list[Status]) -> Response:
        page, following = page_of(latest, request, self.size)
        body = {
            "state": "pending",
            "sha": sha,
            "total_count": len(latest),
            "statuses": [self.status_json(one) for one in page],
        }
        return linked(body, request, following)

    def user_json(self, login: str, *, is_bot: bool) -> dict[str, Any]:
        return {"login": login, "id": IDS[login], "type": "Bot" if is_bot else "User", "site_admin": False}

    def status_json(self, status: Status) -> dict[str, Any]:
        return {
            "id": status.id,
            "node_id": "MDY6U3RhdHVzMQ==",
            "state": status.state,
            "description": status.description or None,
            "target_url": status.url or None,
            "context": status.context,
            "created_at": "2012-07-20T01:19:13Z",
        }

    def comment_json(self, comment: Comment) -> dict[str, Any]:
        return {
            "id": comment.id,
            "body": comment.body,
            "user": self.user_json(comment.author, is_bot=comment.is_bot) if comment.author in IDS else None,
            "author_association": "COLLABORATOR",
        }

    def pull_json(self, pull: PullRequest) -> dict[str, Any]:
        fork = {"id": 4, "full_name": "octocat/bench-specs", "fork": True}
        return {
            "id": 1,
            "number": pull.number,
            "state": "open",
            "title": "Measure more",
            "draft": False,
            "head": {"label": f"octocat:{pull.branch}", "ref": pull.branch, "sha": pull.commit, "repo": fork},
            "base": {"ref": pull.base_branch, "sha": "0" * 40, "repo": {"full_name": self.repository}},
        }
