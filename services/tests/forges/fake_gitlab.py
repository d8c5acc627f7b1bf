"""A GitLab of some routes, after its documentation: fields that matter, and some that are to be ignored.

- https://docs.gitlab.com/api/commits/#set-commit-pipeline-status: what has ended stays, and is followed by another of
  the same name, on each branch apart; what is pending can't be enqueued, and what runs can't be run
- https://docs.gitlab.com/api/notes/#merge-requests
- https://docs.gitlab.com/api/merge_requests/#list-project-merge-requests: a fork is named by its project's number
- https://docs.gitlab.com/api/rest/#offset-based-pagination
"""

from typing import Any, ClassVar

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from kexbench.domain.forges import Kind
from kexbench.forges import PullRequest
from tests.forges.fake import IDS, OURSELVES, Comment, FakeForge, Status, page_of

_OPEN = ("pending", "running")
_IN_OUR_WORDS = {"running": "pending", "failed": "failure"}


class FakeGitLab(FakeForge):
    kind: ClassVar[Kind] = "gitlab"
    prefix: ClassVar[str] = "/api/v4"
    repository: ClassVar[str] = "acme/tls/bench-specs"
    description_max: ClassVar[int] = 255
    refs: ClassVar[str] = "refs/merge-requests"

    def add_routes(self, app: FastAPI) -> None:
        project = f"{self.prefix}/projects/{self.repository}"

        @app.get(f"{self.prefix}/user")
        def user() -> dict[str, Any]:
            return self.user_json(OURSELVES)

        @app.post(project + "/statuses/{sha}", status_code=201)
        async def set_status(request: Request, sha: str) -> Response:
            return self.become(sha, await request.json())

        @app.get(project + "/repository/commits/{sha}/statuses")
        def statuses(request: Request, sha: str) -> Response:
            latest = {(one.context, one.ref): one for one in self.statuses.get(sha, [])}
            named = [one for one in latest.values() if one.context == request.query_params["name"]]
            return self.paged([self.status_json(one, sha) for one in named], request)

        @app.get(project + "/merge_requests/{number}/notes")
        def notes(request: Request, number: int) -> Response:
            return self.paged([self.note_json(one) for one in self.comments.get(number, [])], request)

        @app.post(project + "/merge_requests/{number}/notes", status_code=201)
        async def create_note(request: Request, number: int) -> dict[str, Any]:
            return self.note_json(self.say(number, OURSELVES, (await request.json())["body"]))

        @app.put(project + "/merge_requests/{number}/notes/{note_id}")
        async def edit_note(request: Request, number: int, note_id: int) -> dict[str, Any]:
            self.comment(note_id).body = (await request.json())["body"]
            return self.note_json(self.comment(note_id))

        @app.get(project + "/merge_requests")
        def merge_requests(request: Request) -> Response:
            assert request.query_params["state"] == "opened"
            return self.paged([self.request_json(one) for one in self.pulls], request)

    def become(self, sha: str, body: dict[str, str]) -> Response:
        if len(body["description"]) > self.description_max:
            return JSONResponse({"message": {"description": ["is too long (maximum is 255 characters)"]}}, 400)
        own = [one for one in self.statuses.get(sha, []) if one.context == body["name"]]
        known = own[-1] if own and own[-1].state in _OPEN else None
        if known and body["state"] in ("pending", known.state):
            event = "enqueue" if body["state"] == "pending" else "run"
            return JSONResponse({"message": f"Cannot transition status via :{event} from :{known.state}"}, 400)
        if known is None:
            known = Status(self.next_id(), body["name"], "", "", "")
            self.statuses.setdefault(sha, []).append(known)
        known.state, known.description, known.url = body["state"], body["description"], body["target_url"]
        return JSONResponse(self.status_json(known, sha), 201)

    def shown(self, commit: str) -> dict[str, tuple[str, str, str]]:
        return {
            context: (_IN_OUR_WORDS.get(state, state), description, url)
            for context, (state, description, url) in super().shown(commit).items()
        }

    def paged(self, items: list[Any], request: Request) -> Response:
        page, following = page_of(items, request, "per_page")
        return JSONResponse(page, headers={"X-Next-Page": str(following or ""), "X-Per-Page": "2"})

    def user_json(self, name: str) -> dict[str, Any]:
        return {"id": IDS[name], "username": name, "name": "Somebody", "state": "active"}

    def status_json(self, status: Status, sha: str) -> dict[str, Any]:
        return {
            "id": status.id,
            "sha": sha,
            "ref": status.ref,
            "status": status.state,
            "name": status.context,
            "target_url": status.url,
            "description": status.description,
            "allow_failure": False,
        }

    def note_json(self, note: Comment) -> dict[str, Any]:
        author = self.user_json(note.author)
        return {"id": note.id, "body": note.body, "author": author, "system": False, "noteable_type": "MergeRequest"}

    def request_json(self, pull: PullRequest) -> dict[str, Any]:
        return {
            "id": 1000 + pull.number,
            "iid": pull.number,
            "state": "opened",
            "title": "Measure more",
            "source_branch": pull.branch,
            "target_branch": pull.base_branch,
            "source_project_id": 4,
            "target_project_id": 3,
            "sha": pull.commit or None,
            "draft": False,
        }
