"""What needs no server: configuration, limits, and a repository that no forge has."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kexbench.forges import CommitStatus, ForgeConfig, NoForge, forge_of
from kexbench.forges.comments import is_marked, marked
from kexbench.forges.rest import again_after

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TOKEN = Path("/run/secrets/token")
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"kind": "github", "repository": "acme/specs"}, "token_file"),
        ({"kind": "gitea", "repository": "acme/specs", "token_file": TOKEN}, "needs the url"),
        ({"kind": "github", "repository": "specs", "token_file": TOKEN}, "owner/name"),
        ({"kind": "github", "repository": "https://github.com/acme/specs", "token_file": TOKEN}, "owner/name"),
        ({"kind": "gitlab", "repository": "specs", "token_file": TOKEN}, "group/project"),
        ({"kind": "gitlab", "url": "https://host", "repository": "a/b", "token_file": TOKEN}, "must end with /api/v4"),
        ({"kind": "github", "url": "https://github.com", "repository": "a/b", "token_file": TOKEN}, "with /api/v3"),
        ({"kind": "gitea", "url": "git.example.org", "repository": "a/b", "token_file": TOKEN}, "an address"),
        ({"kind": "gitea", "url": "https://h:99999/api/v1", "repository": "a/b", "token_file": TOKEN}, "[Pp]ort"),
        ({"kind": "gitea", "url": "https://me:pw@h/api/v1", "repository": "a/b", "token_file": TOKEN}, "its own file"),
        ({"kind": "bitbucket"}, "'github', 'gitlab', 'gitea' or 'none'"),
        ({"kind": "none", "tokn_file": TOKEN}, "tokn_file"),
    ],
)
def test_a_wrong_configuration_says_what_is_wrong(fields: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        ForgeConfig.model_validate(fields)


@pytest.mark.parametrize(
    ("fields", "api"),
    [
        ({"kind": "github"}, "https://api.github.com"),
        ({"kind": "github", "url": "https://host/api/v3/"}, "https://host/api/v3"),
        ({"kind": "github", "url": "https://api.acme.ghe.com"}, "https://api.acme.ghe.com"),
        ({"kind": "gitlab"}, "https://gitlab.com/api/v4"),
        ({"kind": "gitea", "url": "http://gitea:3000/git/api/v1"}, "http://gitea:3000/git/api/v1"),
    ],
)
def test_each_forge_is_at_home_or_where_it_is_said_to_be(fields: dict[str, object], api: str) -> None:
    config = ForgeConfig.model_validate({**fields, "repository": "acme/specs", "token_file": TOKEN})
    assert config.api == api
    assert type(forge_of(config)).__name__.lower() == config.kind


def test_a_repository_without_a_forge_has_nobody_to_tell() -> None:
    forge = forge_of(ForgeConfig(kind="none"))
    assert isinstance(forge, NoForge)
    forge.set_status("0" * 40, CommitStatus("kexbench", "success", "", ""))
    forge.put_comment(1, "plan", "12 min")
    assert (forge.has_comment(1, "plan"), forge.pull_requests()) == (False, ())


@pytest.mark.parametrize(
    ("status", "headers", "said", "after"),
    [
        (429, {"Retry-After": "30"}, "", timedelta(seconds=30)),
        (429, {"Retry-After": "Thu, 01 Jan 2026 00:02:00 GMT"}, "", 2 * MINUTE),
        (429, {"RateLimit-Remaining": "0", "RateLimit-Reset": str(int(NOW.timestamp()) + 90)}, "", 1.5 * MINUTE),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW.timestamp()) + 600)}, "", 10 * MINUTE),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW.timestamp()) - 1)}, "", MINUTE),
        (429, {"Retry-After": "30", "RateLimit-Remaining": "0", "RateLimit-Reset": "4102444800"}, "", MINUTE / 2),
        (403, {"X-RateLimit-Remaining": "9", "X-RateLimit-Reset": "4102444800"}, "a secondary rate limit", MINUTE),
        (403, {"X-RateLimit-Remaining": "9"}, "Resource not accessible", None),
        (502, {}, "", MINUTE),
        (409, {}, "Another update is in progress", MINUTE),
        (404, {"Retry-After": "30"}, "", None),
        (422, {}, "", None),
    ],
)
def test_when_to_ask_again(status: int, headers: dict[str, str], said: str, after: timedelta | None) -> None:
    assert again_after(status, headers, said, NOW) == (NOW + after if after else None)


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=20))
def test_whatever_a_limit_says_the_wait_is_some_time_in_the_future(retry: str, reset: str, remaining: str) -> None:
    headers = {"Retry-After": retry, "X-RateLimit-Reset": reset, "X-RateLimit-Remaining": remaining}
    again_at = again_after(429, headers, "", NOW)
    assert again_at is not None
    assert again_at > NOW


@given(st.text(), st.integers(1, 300))
def test_a_description_is_one_line_of_no_more_than_its_length(text: str, most: int) -> None:
    cut = CommitStatus("kexbench", "pending", text, "").cut(most).description
    assert len(cut) <= most
    assert cut.splitlines() in ([], [cut])
    assert cut.endswith("…") or cut == " ".join(text.split())


@given(st.text(), st.text(), st.text())
def test_a_marker_is_of_its_key_alone(key: str, other: str, body: str) -> None:
    assert is_marked(key, marked(key, body))
    assert is_marked(other, marked(key, body)) == (key == other)
    assert marked(key, body).partition("\n")[0].count("-->") == 1
