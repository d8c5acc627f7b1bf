"""GitLab: version 4 of its REST API. https://docs.gitlab.com/api: commits, notes, merge_requests, projects, users."""

from urllib.parse import quote

from pydantic import BaseModel

from kexbench.domain.forges import ForgeConfig
from kexbench.forges.comments import is_marked, marked, same_text
from kexbench.forges.port import CommitStatus, PullRequest
from kexbench.forges.rest import Rest

DESCRIPTION_MAX = 255
_PAGE = {"per_page": "100"}
_TO_SET_STATUSES = "api, with a role that may push to the branch"
_TO_COMMENT = "api, with the role Reporter"
_TO_READ = "read_api"
_STATES = {"pending": "pending", "success": "success", "failure": "failed", "error": "failed"}


class _User(BaseModel):
    id: int


class _Note(BaseModel):
    id: int
    body: str
    author: _User


class _Status(BaseModel):
    id: int
    status: str
    description: str | None = None
    target_url: str | None = None


class _MergeRequest(BaseModel):
    iid: int
    source_branch: str
    target_branch: str
    sha: str | None = None


class GitLab:
    def __init__(self, config: ForgeConfig) -> None:
        self._rest = Rest("GitLab", config, "Bearer", {})
        self._project = f"/projects/{quote(config.repository, safe='')}"

    def set_status(self, commit: str, status: CommitStatus) -> None:
        """Reads before it writes: after an ended status, GitLab adds a job to the pipeline. It refuses pending after
        pending, so a pending text can be updated only once, as running."""
        short, sha = status.cut(DESCRIPTION_MAX), quote(commit, safe="")
        state, last = _STATES[short.state], self._status(sha, short.context)
        if last is not None:
            if state == "pending" and last.status == "running":
                return
            shown = (last.status, last.description or "", last.target_url or "")
            if shown == (state, short.description, short.url):
                return
            if state == last.status == "pending":
                state = "running"
        body = {
            "state": state,
            "name": short.context,
            "description": short.description,
            "target_url": short.url,
        }
        self._rest.send("POST", f"{self._project}/statuses/{sha}", _TO_SET_STATUSES, body)

    def put_comment(self, pull_request: int, key: str, body: str) -> None:
        text, note = marked(key, body), self._note(pull_request, key)
        path = f"{self._project}/merge_requests/{pull_request}/notes"
        if note is None:
            self._rest.send("POST", path, _TO_COMMENT, {"body": text})
        elif not same_text(note.body, text):
            self._rest.send("PUT", f"{path}/{note.id}", _TO_COMMENT, {"body": text})

    def has_comment(self, pull_request: int, key: str) -> bool:
        return self._note(pull_request, key) is not None

    def pull_requests(self) -> tuple[PullRequest, ...]:
        """Merge requests without a commit are left out."""
        query = {**_PAGE, "state": "opened"}
        pages = self._rest.pages(list[_MergeRequest], f"{self._project}/merge_requests", _TO_READ, query)
        return tuple(
            PullRequest(
                number=request.iid,
                branch=request.source_branch,
                commit=request.sha,
                ref=f"refs/merge-requests/{request.iid}/head",
                base_branch=request.target_branch,
            )
            for page in pages
            for request in page
            if request.sha
        )

    def _status(self, sha: str, context: str) -> _Status | None:
        path = f"{self._project}/repository/commits/{sha}/statuses"
        pages = self._rest.pages(list[_Status], path, _TO_SET_STATUSES, {**_PAGE, "name": context})
        return max((status for page in pages for status in page), key=lambda status: status.id, default=None)

    def _note(self, pull_request: int, key: str) -> _Note | None:
        path = f"{self._project}/merge_requests/{pull_request}/notes"
        pages = self._rest.pages(list[_Note], path, _TO_COMMENT, {**_PAGE, "sort": "asc"})
        notes = [note for page in pages for note in page if is_marked(key, note.body)]
        if not notes:
            return None
        user = self._rest.get(_User, "/user", _TO_COMMENT)
        return next((note for note in notes if note.author == user), None)
