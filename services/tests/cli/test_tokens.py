"""`kexbench tokens` and `kexbench audit`: a token is printed once, listed and revoked, and the trail says by whom."""

import pytest

from tests.cli.conftest import Cli
from tests.cli.queueing import serving


def test_a_token_is_made_listed_and_revoked_and_the_trail_has_it(cli: Cli) -> None:
    with serving(cli):
        made = cli("tokens", "create", "--name", "ci", "--role", "submitter", "--expires", "90d")
        assert made.status == 0, made.err
        text = made.out.strip()
        token_id = text.split("_")[1]
        assert f"kexbench tokens revoke {token_id}" in made.err
        listed = cli("tokens").out
        assert token_id in listed
        assert "submitter" in listed
        assert text not in listed
        revoked = cli("tokens", "revoke", token_id)
        assert (revoked.status, revoked.out.strip()) == (0, f"token {token_id} is revoked")
        (token,) = cli("tokens", "list", "--json").json()
        assert token["revoked_by"] == token["created_by"]
        trail = cli("audit", "--json").json()["entries"]
        assert [(each["method"], each["subject"], each["status"]) for each in trail] == [
            ("DELETE", token_id, 204),
            ("POST", token_id, 201),
        ]
        assert "/api/v1/tokens/{token_id}" in cli("audit").out


@pytest.mark.parametrize(
    "given", [("--name", "ci"), ("--name", "ci", "--role", "owner"), ("--role", "admin"), ("--expires", "soon")]
)
def test_a_token_without_a_name_or_a_known_role_is_not_made(cli: Cli, given: tuple[str, ...]) -> None:
    assert cli("tokens", "create", *given).status == 2


def test_an_unknown_token_is_said(cli: Cli) -> None:
    revoked = cli("tokens", "revoke", "unknown")
    assert revoked.status == 1
    assert "there is no token unknown" in revoked.err
