"""`kexbench tokens`: makes, lists and revokes tokens of people and programs. `kexbench audit`: what they did."""

from datetime import UTC, datetime, timedelta
from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table

from kexbench.api.people_models import AuditPage, NewToken, TokenWanted
from kexbench.cli.console import err, out, print_json, say
from kexbench.cli.options import AsJson, ListedAlone, duration
from kexbench.cli.reaching import reach_api
from kexbench.domain.people import AccessToken, PersonRole

app = typer.Typer(
    cls=ListedAlone,
    help="Make, list and revoke tokens for people and programs. Without a verb: list them. For administrators.",
)


@app.command("create")
def create(
    name: Annotated[str, typer.Option(help="Who acts by it, for the audit trail.", show_default=False)],
    role: Annotated[PersonRole, typer.Option(help="What it may do.", show_default=False)],
    expires: Annotated[
        timedelta | None,
        typer.Option(parser=duration, metavar="DURATION", help="How long it is valid, such as 90d. Default: for ever."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and print it. It is shown only now.

    A `viewer` reads, a `submitter` requests runs, a `triager` also handles alerts and nodes, and an `admin` does
    everything.

    Examples:

        kexbench tokens create --name ci --role submitter --expires 90d > token
        KEXBENCH_API_URL=https://kexbench.example.com KEXBENCH_TOKEN_FILE=token kexbench submit quickstart
    """
    expires_at = datetime.now(UTC) + expires if expires else None
    with reach_api() as api:
        made = api.post(NewToken, "/tokens", TokenWanted(name=name, role=role, expires_at=expires_at))
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    out.print(made.text, soft_wrap=True)
    say(f"to revoke it: kexbench tokens revoke {made.token.token_id}")


@app.command("list")
def list_tokens(as_json: AsJson = False) -> None:
    """List all tokens, also expired and revoked ones, newest first.

    Examples:

        kexbench tokens
        kexbench tokens list --json | jq -r '.[] | select(.revoked_at == null) | .name'
    """
    with reach_api() as api:
        tokens = api.get(list[AccessToken], "/tokens")
    if as_json:
        print_json([token.model_dump(mode="json") for token in tokens])
        return
    if not tokens:
        err.print("no tokens: kexbench tokens create makes one")
        return
    table = Table("id", "name", "role", "created", "by", "ends, UTC", box=None, header_style="bold")
    for token in tokens:
        table.add_row(token.token_id, token.name, token.role, _at(token.created_at), token.created_by, _end(token))
    out.print(table)


def _end(token: AccessToken) -> str:
    if token.revoked_at:
        return f"revoked {_at(token.revoked_at)} by {token.revoked_by}"
    return _at(token.expires_at) if token.expires_at else "never"


def _at(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"


@app.command("revoke")
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="As `kexbench tokens` prints it.", show_default=False)],
) -> None:
    """Revoke a token for good. From now on it is refused everywhere.

    Examples:

        kexbench tokens revoke 0123456789ab
    """
    with reach_api() as api:
        api.send("DELETE", f"/tokens/{quote(token_id, safe='')}")
    out.print(f"token {token_id} is revoked", markup=False)


def audit(
    limit: Annotated[int, typer.Option(help="The number of entries.", min=1, max=1000)] = 100,
    before: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only earlier ones, in UTC.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what people and their programs changed or were refused, newest first. For administrators.

    An entry names who it was, how they proved it, what was asked of what, and the status of the answer.

    Examples:

        kexbench audit
        kexbench audit --json | jq -r '.entries[] | select(.status >= 400) | .name'
    """
    earlier = f"&before={quote(before.replace(tzinfo=UTC).isoformat())}" if before else ""
    with reach_api() as api:
        page = api.get(AuditPage, f"/audit?limit={limit}{earlier}")
    if as_json:
        print_json(page.model_dump(mode="json"))
        return
    if not page.entries:
        err.print("nothing was changed or refused")
        return
    table = Table("at, UTC", "who", "role", "proof", "what", "subject", "status", box=None, header_style="bold")
    for entry in page.entries:
        proof = " ".join(filter(None, (entry.proof, entry.token_id)))
        what = f"{entry.method} {entry.route}"
        table.add_row(_at(entry.at), entry.name, entry.role, proof, what, entry.subject, str(entry.status))
    out.print(table)
