"""A pod that has git tells the commits of a bisection, once."""

import shutil
from pathlib import Path

import pytest

from kexbench.agent.environment import LinePod
from kexbench.agent.line import find_line
from kexbench.client import ApiClient, Refused, token_in
from kexbench.kits import KitError
from tests.agent.conftest import Service
from tests.builders import a_bisection, a_bisection_event
from tests.kits.repositories import Repository, a_repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = a_repository(tmp_path / "repository")
    for patch in range(4):
        made.commit(patch)
    made.git("tag", "v1", "HEAD~2")
    return made


def found(service: Service, repository: Repository, bad: str, *, bound_to: str = "b" * 20) -> list[str]:
    """What the pod said."""
    bisection_id = "b" * 20
    pod = LinePod(
        api_url=service.url,
        token_file=service.admit(f"pod of {bound_to}", "builder", run_id=bound_to),
        work=service.folder / "line",
        bisection_id=bisection_id,
        good=f"openssl@git:{repository.folder}#v1",
        bad=f"openssl@git:{repository.folder}#{bad}",
    )
    link, said = ApiClient(pod.api_url, token_in(pod.token_file), print, patience_s=60, longest_wait_s=0.1), list[str]()
    service.clients.append(link)
    find_line(pod, link, said.append)
    return said


def test_the_commits_from_one_end_to_the_other_are_listed(service: Service, repository: Repository) -> None:
    service.store.add_bisection_event(a_bisection_event())
    service.store.add_bisection(a_bisection())
    assert found(service, repository, "master")[-1].startswith("3 commits from openssl@git:")
    line = service.store.line("b" * 20)
    assert line is not None
    assert [commit.hash for commit in line.commits] == repository.git("rev-list", "--reverse", "HEAD~3..HEAD").split()
    repository.commit(9)
    found(service, repository, "master")
    assert service.store.line("b" * 20) == line, "what a branch leads to later changes nothing"


def test_a_branch_that_there_is_not_is_reported_and_a_pod_of_another_bisection_is_refused(
    service: Service, repository: Repository
) -> None:
    service.store.add_bisection(a_bisection())
    with pytest.raises(KitError, match="no branch or tag mister"):
        found(service, repository, "mister")
    with pytest.raises(Refused, match="not " + "b" * 20):
        found(service, repository, "master", bound_to="another")
    assert service.store.line("b" * 20) is None
