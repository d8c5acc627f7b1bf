"""What every forge does, each spoken to over HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kexbench.forges import CommitStatus, ForgeError, forge_of
from kexbench.forges.comments import marked
from kexbench.forges.port import State
from tests.forges.conftest import Spoken
from tests.forges.fake import OURSELVES, PAGE_MAX, SOMEBODY

COMMIT = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
STATUS = CommitStatus("kexbench/bench-specs/quickstart.yaml", "pending", "4 jobs are queued", "https://kb/runs/1")


def seen(status: CommitStatus) -> tuple[str, str, str]:
    return status.state, status.description, status.url


def test_a_status_is_shown_at_its_commit_and_replaced_by_the_next_of_its_context(spoken: Spoken) -> None:
    other = replace(STATUS, context="kexbench/history.yaml")
    done = replace(STATUS, state="failure", description="2 cost more")
    for status in (STATUS, other, done):
        spoken.forge.set_status(COMMIT, status)
    assert spoken.fake.shown(COMMIT) == {STATUS.context: seen(done), other.context: seen(other)}


@pytest.mark.parametrize("state", ["pending", "success", "failure", "error"])
def test_a_status_that_is_shown_already_is_not_sent_again(spoken: Spoken, state: State) -> None:
    status = replace(STATUS, state=state)
    others = [replace(STATUS, context=f"ci/{number}") for number in range(PAGE_MAX + 1)]
    for one in (status, *others, status):
        spoken.forge.set_status(COMMIT, one)
    assert len(spoken.fake.written()) == 1 + len(others)


def test_a_status_goes_on_from_what_was_said_of_it_before(spoken: Spoken) -> None:
    """Queued, under way, under way still, done, and begun anew."""
    statuses = [
        replace(STATUS, description="1 of 4 jobs"),
        replace(STATUS, state="success", description="nothing moved"),
        replace(STATUS, description="measured again"),
    ]
    spoken.forge.set_status(COMMIT, STATUS)
    for status in statuses:
        spoken.forge.set_status(COMMIT, status)
        assert spoken.fake.shown(COMMIT) == {STATUS.context: seen(status)}


def test_a_description_is_cut_to_what_the_forge_takes(spoken: Spoken) -> None:
    long = replace(STATUS, description="word\n" * 200)
    for _ in range(2):
        spoken.forge.set_status(COMMIT, long)
    _, shown, _ = spoken.fake.shown(COMMIT)[STATUS.context]
    assert shown.endswith("word…")
    assert spoken.fake.description_max - len("word ") <= len(shown) <= spoken.fake.description_max
    assert spoken.fake.written() == ["POST"]


def test_a_comment_is_made_once_and_edited_in_place_afterwards(spoken: Spoken) -> None:
    spoken.fake.say(7, SOMEBODY, "Nice!")
    for body in ("12 min", "14 min"):
        spoken.forge.put_comment(7, "plan", body)
    assert spoken.fake.bodies(7) == [(SOMEBODY, "Nice!"), (OURSELVES, marked("plan", "14 min"))]


def test_a_body_that_is_there_already_sends_nothing(spoken: Spoken) -> None:
    spoken.forge.put_comment(7, "plan", "12 min\n\n| a |")
    spoken.fake.comments[7][0].body = marked("plan", "12 min\r\n\r\n| a |  \r\n")
    spoken.forge.put_comment(7, "plan", "12 min\n\n| a |\n")
    assert spoken.fake.written() == ["POST"]


def test_a_comment_is_found_on_a_later_page(spoken: Spoken) -> None:
    for number in range(2 * PAGE_MAX + 1):
        spoken.fake.say(7, SOMEBODY, f"comment {number}")
    assert not spoken.forge.has_comment(7, "plan")
    for body in ("12 min", "14 min"):
        spoken.forge.put_comment(7, "plan", body)
    assert spoken.forge.has_comment(7, "plan")
    assert spoken.fake.bodies(7)[-1] == (OURSELVES, marked("plan", "14 min"))
    assert spoken.fake.written()[0] == "POST"
    assert len(spoken.fake.written()) == 2


def test_comments_of_other_keys_and_pull_requests_are_left_alone(spoken: Spoken) -> None:
    spoken.forge.put_comment(7, "plan", "12 min")
    spoken.forge.put_comment(7, "plan-2", "13 min")
    spoken.forge.put_comment(8, "plan", "14 min")
    assert spoken.fake.bodies(7) == [(OURSELVES, marked("plan", "12 min")), (OURSELVES, marked("plan-2", "13 min"))]
    assert spoken.fake.bodies(8) == [(OURSELVES, marked("plan", "14 min"))]


def test_somebody_who_writes_our_marker_is_not_edited(spoken: Spoken) -> None:
    forged = marked("plan", "believe me")
    spoken.fake.say(7, SOMEBODY, forged)
    assert not spoken.forge.has_comment(7, "plan")
    spoken.forge.put_comment(7, "plan", "12 min")
    assert spoken.fake.bodies(7) == [(SOMEBODY, forged), (OURSELVES, marked("plan", "12 min"))]


def test_a_marker_inside_another_comment_of_ours_is_text(spoken: Spoken) -> None:
    spoken.forge.put_comment(7, "run", marked("plan", "from a spec"))
    assert not spoken.forge.has_comment(7, "plan")


def test_open_pull_requests_are_read_to_the_last_page(spoken: Spoken) -> None:
    spoken.fake.pulls = [spoken.fake.pull(number) for number in range(1, 2 * PAGE_MAX + 2)]
    assert spoken.forge.pull_requests() == tuple(spoken.fake.pulls)


def test_no_pull_requests_are_none(spoken: Spoken) -> None:
    assert spoken.forge.pull_requests() == ()


def test_the_token_is_read_anew_for_each_request(spoken: Spoken) -> None:
    spoken.forge.set_status(COMMIT, STATUS)
    spoken.fake.token = "token-2"
    spoken.token_file.write_text("token-2")
    spoken.forge.set_status(COMMIT, replace(STATUS, state="success"))
    assert {one.authorization.split()[1] for one in spoken.fake.asked} == {"token-1", "token-2"}


def test_what_the_token_lacks_is_said_without_the_token(spoken: Spoken) -> None:
    spoken.token_file.write_text("secret-token")
    with pytest.raises(ForgeError, match="answered 401") as unknown:
        spoken.forge.pull_requests()
    spoken.token_file.write_text(spoken.fake.token)
    spoken.fake.refuse("POST", 403, f"{spoken.fake.token} may not do this")
    with pytest.raises(ForgeError, match="answered 403") as forbidden:
        spoken.forge.set_status(COMMIT, STATUS)
    for error, status in ((unknown.value, 401), (forbidden.value, 403)):
        assert (error.status, error.again_at) == (status, None)
        assert str(spoken.token_file) in str(error)
        assert "secret-token" not in str(error)
        assert spoken.fake.token not in str(error)
        assert error.__cause__ is None


@pytest.mark.parametrize("text", ["", "two\nlines", "not latin \u20ac", None])
def test_a_file_without_a_token_is_reported_and_nothing_is_asked(spoken: Spoken, text: str | None) -> None:
    if text is None:
        spoken.token_file.unlink()
    else:
        spoken.token_file.write_text(text, encoding="utf-8")
    with pytest.raises(ForgeError, match=str(spoken.token_file)) as refused:
        spoken.forge.pull_requests()
    assert not text or text not in str(refused.value)
    assert spoken.fake.asked == []


@pytest.mark.parametrize(("status", "says"), [(404, "repository's name"), (422, "Not a commit"), (301, "has moved")])
def test_a_refusal_for_good_says_what_puts_it_right(spoken: Spoken, status: int, says: str) -> None:
    spoken.fake.refuse("POST", status, "Not a commit", location="https://elsewhere/")
    with pytest.raises(ForgeError, match=says) as refused:
        spoken.forge.set_status(COMMIT, STATUS)
    assert (refused.value.status, refused.value.again_at) == (status, None)
    assert f"/statuses/{COMMIT}" in str(refused.value)


@pytest.mark.parametrize("status", [429, 503])
def test_a_limit_or_trouble_of_the_forge_says_when_to_ask_again(spoken: Spoken, status: int) -> None:
    before = datetime.now(UTC)
    spoken.fake.refuse("GET", status, "Slow down", retry_after="120")
    with pytest.raises(ForgeError) as refused:
        spoken.forge.pull_requests()
    assert refused.value.again_at is not None
    assert before <= refused.value.again_at - timedelta(seconds=120) <= datetime.now(UTC)
    assert spoken.forge.pull_requests() == ()


def test_an_answer_of_another_form_is_reported_as_such(spoken: Spoken) -> None:
    spoken.fake.refuse("GET", 200, "a proxy's greeting")
    with pytest.raises(ForgeError, match="is not one of"):
        spoken.forge.pull_requests()


def test_a_forge_that_is_not_there_may_come_back(spoken: Spoken) -> None:
    gone = forge_of(spoken.fake.config("http://127.0.0.1:1", spoken.token_file))
    with pytest.raises(ForgeError, match="reached") as refused:
        gone.pull_requests()
    assert refused.value.again_at is not None


def test_pages_without_end_are_given_up(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kexbench.forges.rest.PAGES_MAX", 2)
    spoken.fake.pulls = [spoken.fake.pull(number) for number in range(1, 2 * PAGE_MAX + 2)]
    with pytest.raises(ForgeError, match="more than 2 pages"):
        spoken.forge.pull_requests()
