"""The pull request of a job: from the variables that each forge sets, and what is said where one lacks."""

import json
from pathlib import Path

import pytest

from kexbench.forges.ci_jobs import NoJob, PullRequestJob, pull_request_job

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_REPOSITORY": "acme/openssl",
    "GITHUB_REF": "refs/pull/28/merge",
    "GITHUB_JOB": "handshake-cost",
    "GITHUB_TOKEN": "t",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_API_V4_URL": "https://gitlab.example.org/api/v4",
    "CI_PROJECT_PATH": "fork/gnutls",
    "CI_MERGE_REQUEST_PROJECT_PATH": "group/tls/gnutls",
    "CI_MERGE_REQUEST_IID": "7",
    "CI_JOB_NAME": "compare",
    "KEXBENCH_FORGE_TOKEN": "t",
}


def said(job: PullRequestJob) -> tuple[object, ...]:
    forge = job.forge
    return forge.kind, forge.api, forge.repository, job.pull_request, job.name, forge.token_variable


def test_each_forge_is_known_by_the_variables_of_its_jobs() -> None:
    github = ("github", "https://api.github.com", "acme/openssl", 28, "handshake-cost", "GITHUB_TOKEN")
    assert said(pull_request_job(GITHUB)) == github
    gitea = GITHUB | {"GITEA_ACTIONS": "true", "GITHUB_API_URL": "https://git.example.org/api/v1"}
    assert said(pull_request_job(gitea))[:2] == ("gitea", "https://git.example.org/api/v1")
    gitlab = ("gitlab", GITLAB["CI_API_V4_URL"], "group/tls/gnutls", 7, "compare", "KEXBENCH_FORGE_TOKEN")
    assert said(pull_request_job(GITLAB)) == gitlab, "shown in the project that was asked to merge"


def test_an_own_token_comes_before_that_of_the_job() -> None:
    job = pull_request_job(GITHUB | {"KEXBENCH_FORGE_TOKEN": "mine"})
    assert job.forge.token_variable == "KEXBENCH_FORGE_TOKEN"
    assert "mine" not in repr(job)


def test_a_job_that_runs_on_the_base_finds_its_pull_request_in_the_event(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    of_the_base = GITHUB | {"GITHUB_REF": "refs/heads/main", "GITHUB_EVENT_PATH": str(event)}
    event.write_text(json.dumps({"pull_request": {"number": 31}}))
    assert pull_request_job(of_the_base).pull_request == 31
    event.write_text(json.dumps({"ref": "refs/heads/main"}))
    with pytest.raises(NoJob, match="runs for no pull request"):
        pull_request_job(of_the_base)


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"pull_request": null}', '{"pull_request": {"number": "x"}}'])
def test_without_an_event_that_can_be_read_the_ref_tells(text: str, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text(text)
    for event in (tmp_path / "event.json", tmp_path, tmp_path / "none"):
        assert pull_request_job(GITHUB | {"GITHUB_EVENT_PATH": str(event)}).pull_request == 28


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({}, "no job of GitHub"),
        (GITHUB | {"GITHUB_REF": "refs/heads/main"}, "runs for no pull request"),
        (GITHUB | {"GITHUB_TOKEN": ""}, "there is no token"),
        (GITLAB | {"CI_MERGE_REQUEST_IID": ""}, "runs for no pull request"),
        (GITHUB | {"GITHUB_API_URL": "ftp://x"}, "must be an address"),
        (GITHUB | {"GITEA_ACTIONS": "true", "GITHUB_API_URL": ""}, "name no forge"),
        (GITLAB | {"CI_MERGE_REQUEST_IID": "x"}, "runs for no pull request"),
        (GITLAB | {"KEXBENCH_FORGE_TOKEN": "", "CI_JOB_TOKEN": "t"}, "there is no token"),
    ],
)
def test_what_lacks_is_said_with_its_remedy(environment: dict[str, str], says: str) -> None:
    with pytest.raises(NoJob, match=says) as caught:
        pull_request_job(environment)
    assert caught.value.remedy
