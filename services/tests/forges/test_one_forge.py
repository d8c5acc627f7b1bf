"""What only one of the forges does."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kexbench.forges import ForgeError
from kexbench.forges.comments import marked
from tests.forges.conftest import Spoken
from tests.forges.fake import OURSELVES, SOMEBODY, Status
from tests.forges.test_contract import COMMIT, STATUS, seen


def test_an_app_of_github_knows_its_comments_by_their_being_a_bots(github: Spoken) -> None:
    github.fake.say(7, SOMEBODY, marked("plan", "believe me"))
    ours = github.fake.say(7, OURSELVES, marked("plan", "12 min"), is_bot=True)
    github.fake.refuse("/user", 403, "Resource not accessible by integration")
    github.forge.put_comment(7, "plan", "14 min")
    assert ours.body == marked("plan", "14 min")
    assert github.fake.written() == ["PATCH"]


def test_github_that_limits_who_asks_for_itself_is_no_app(github: Spoken) -> None:
    github.fake.say(7, OURSELVES, marked("plan", "12 min"), is_bot=True)
    github.fake.refuse("/user", 403, "You have exceeded a secondary rate limit")
    with pytest.raises(ForgeError) as refused:
        github.forge.put_comment(7, "plan", "14 min")
    assert refused.value.again_at is not None
    assert github.fake.written() == []


def test_a_limit_of_github_ends_when_it_says(github: Spoken) -> None:
    reset = datetime(2100, 1, 1, 12, tzinfo=UTC)
    limit = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(reset.timestamp()))}
    github.fake.refuse("GET", 403, "API rate limit exceeded for user ID 1.", **limit)
    with pytest.raises(ForgeError, match="12:00:00 UTC") as refused:
        github.forge.set_status(COMMIT, STATUS)
    assert refused.value.again_at == reset


def test_a_comment_of_a_user_who_is_gone_is_nobodys(github: Spoken) -> None:
    github.fake.say(7, "ghost", marked("plan", "12 min"))
    assert not github.forge.has_comment(7, "plan")


def test_gitlab_that_shows_a_status_as_running_is_sent_no_more_until_it_ends(gitlab: Spoken) -> None:
    for description in ("queued", "1 of 4 jobs", "2 of 4 jobs"):
        gitlab.forge.set_status(COMMIT, replace(STATUS, description=description))
    assert gitlab.fake.shown(COMMIT) == {STATUS.context: seen(replace(STATUS, description="1 of 4 jobs"))}
    done = replace(STATUS, state="success", description="nothing moved")
    gitlab.forge.set_status(COMMIT, done)
    assert gitlab.fake.shown(COMMIT) == {STATUS.context: seen(done)}
    assert len(gitlab.fake.statuses[COMMIT]) == 1


def test_of_gitlabs_statuses_on_several_branches_the_newest_counts(gitlab: Spoken) -> None:
    older = Status(1, STATUS.context, "success", "nothing moved", STATUS.url, ref="release")
    gitlab.fake.statuses[COMMIT] = [Status(2, STATUS.context, *seen(STATUS)), older]
    gitlab.forge.set_status(COMMIT, STATUS)
    assert gitlab.fake.written() == []


def test_a_project_of_gitlab_is_named_by_its_whole_path(gitlab: Spoken) -> None:
    gitlab.forge.set_status(COMMIT, STATUS)
    assert {one.path.split("/")[4] for one in gitlab.fake.asked} == {"acme%2Ftls%2Fbench-specs"}


def test_a_merge_request_without_a_commit_is_not_listed(gitlab: Spoken) -> None:
    gitlab.fake.pulls = [replace(gitlab.fake.pull(1), commit=""), gitlab.fake.pull(2)]
    assert gitlab.forge.pull_requests() == (gitlab.fake.pull(2),)
