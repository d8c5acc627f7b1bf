"""The pull request that a job of continuous integration runs for, from the variables that the forge gives the job.

https://docs.github.com/actions/reference/variables-reference, which Gitea and Forgejo follow;
https://docs.gitlab.com/ci/variables/predefined_variables.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from kexbench.domain.forges import ForgeConfig, Kind

OWN = "KEXBENCH_FORGE_TOKEN"
VARIABLES: Mapping[Kind, tuple[str, ...]] = {
    "github": (OWN, "GITHUB_TOKEN"),
    "gitea": (OWN, "GITHUB_TOKEN"),
    "gitlab": (OWN,),
}
"""Those that may have a token that can comment. GitLab's own CI_JOB_TOKEN can't."""
_OF_A_PULL_REQUEST = re.compile(r"refs/pull/(\d+)/")


class _PullRequest(BaseModel):
    number: int


class _Event(BaseModel):
    pull_request: _PullRequest | None = None


@dataclass(frozen=True)
class PullRequestJob:
    """`name`: of the job, which is the same for each push."""

    forge: ForgeConfig
    pull_request: int
    name: str


class NoJob(Exception):
    """This is no job of a pull request, or it lacks something, with the remedy."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy


def pull_request_job(environment: Mapping[str, str]) -> PullRequestJob:
    """Raises NoJob."""
    if environment.get("GITLAB_CI"):
        # A merge request from a fork runs in the fork's project and is shown in the other.
        return _job(
            environment,
            "gitlab",
            environment.get("CI_MERGE_REQUEST_PROJECT_PATH", ""),
            environment.get("CI_MERGE_REQUEST_IID", ""),
            "run the job in merge request pipelines: if: $CI_PIPELINE_SOURCE == 'merge_request_event'",
        )
    if environment.get("GITHUB_ACTIONS"):
        is_gitea = environment.get("GITEA_ACTIONS") or environment.get("FORGEJO_ACTIONS")
        return _job(
            environment,
            "gitea" if is_gitea else "github",
            environment.get("GITHUB_REPOSITORY", ""),
            _number(environment),
            "run the job on: pull_request",
        )
    raise NoJob("this is no job of GitHub, Gitea, Forgejo or GitLab", "run it there, or use --dry-run")


def _job(environment: Mapping[str, str], kind: Kind, repository: str, number: str, remedy: str) -> PullRequestJob:
    if not number.isdecimal():
        raise NoJob("this job runs for no pull request", remedy)
    variable = next((each for each in VARIABLES[kind] if environment.get(each)), None)
    if variable is None:
        raise NoJob("there is no token", f"set {' or '.join(VARIABLES[kind])} to one that may comment")
    url, name = ("CI_API_V4_URL", "CI_JOB_NAME") if kind == "gitlab" else ("GITHUB_API_URL", "GITHUB_JOB")
    try:
        forge = ForgeConfig(kind=kind, url=environment.get(url) or None, repository=repository, token_variable=variable)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise NoJob(f"the variables of this job name no forge: {reason}", f"check {url} and the repository") from None
    return PullRequestJob(forge, int(number), environment.get(name, ""))


def _number(environment: Mapping[str, str]) -> str:
    """The event has it also where the job runs on the base, as for pull_request_target."""
    try:
        event = _Event.model_validate_json(Path(environment.get("GITHUB_EVENT_PATH", "")).read_bytes())
    except (OSError, ValidationError):
        event = _Event()
    if event.pull_request:
        return str(event.pull_request.number)
    match = _OF_A_PULL_REQUEST.match(environment.get("GITHUB_REF", ""))
    return match[1] if match else ""
