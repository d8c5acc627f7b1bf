"""`kexbench notify`: what people were told of alerts, and whether a channel works."""

import secrets
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich.table import Table
from rich.text import Text

from kexbench.api.alert_models import NotificationPage, NotificationView
from kexbench.cli.console import err, out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.notify.letters import trial_letter
from kexbench.notify.port import Channel, ChannelError
from kexbench.settings import Settings
from kexbench.wiring import Installation

app = typer.Typer(help="Whether channels work, and what people were told there.", no_args_is_help=True)
NO_CHANNELS = "no channels: name them in channels.yaml of the home folder, or in what KEXBENCH_CHANNELS names"


@app.command("test")
def try_channel(
    channel: Annotated[str, typer.Argument(metavar="[CHANNEL]", help="Only this one.", show_default=False)] = "",
    as_json: AsJson = False,
) -> None:
    """Send a message that says it is a test, and tell what the channel says. Nothing is queued or tried again.

    Channels are those of this machine's file. On a cluster ask where the messages are sent from:
    kubectl exec deploy/kexbench-dispatcher -- kexbench notify test

    Exit status: 0 every channel took it, 1 one did not, 2 there is no such channel.

    Examples:

        kexbench notify test
        kexbench notify test crypto-team --json
    """
    opened = Installation(Settings()).opened_channels()
    if channel and channel not in opened:
        known = f"there are {', '.join(opened)}" if opened else NO_CHANNELS
        err.print(f"there is no channel {channel}: {known}", markup=False)
        raise typer.Exit(2)
    if not opened:
        err.print(NO_CHANNELS, markup=False)
        raise typer.Exit(1)
    told = [_try(name, found) for name, found in opened.items() if channel in ("", name)]
    if as_json:
        print_json({"channels": told})
    else:
        for one in told:
            came = "took the message" if one["sent"] else f"did not take the message: {one['said']}"
            out.print(f"{one['channel']}: {came}", markup=False, soft_wrap=True)
            if one["details"]:
                out.print(f"  {one['details']}", markup=False, soft_wrap=True)
    raise typer.Exit(0 if all(one["sent"] for one in told) else 1)


@app.command("list")
def list_notifications(
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, newest first.")] = 20, as_json: AsJson = False
) -> None:
    """List what people were told of alerts or are still to be told, newest first.

    Examples:

        kexbench notify list
        kexbench notify list --json | jq -r '.notifications[] | select(.state != "sent") | .detail'
    """
    with reach_api() as api:
        page = api.get(NotificationPage, f"/notifications?{urlencode({'limit': limit})}")
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.notifications:
        out.print(_table(page.notifications))
    else:
        known = f"nothing to tell yet; channels: {', '.join(page.channels)}" if page.channels else NO_CHANNELS
        out.print(known, markup=False)


def _try(name: str, channel: Channel) -> dict[str, str | bool]:
    try:
        channel.send(trial_letter(secrets.token_hex(8), name))
    except ChannelError as error:
        return {"channel": name, "sent": False, "said": str(error), "details": error.details}
    return {"channel": name, "sent": True, "said": "", "details": ""}


def _table(listed: list[NotificationView]) -> Table:
    table = Table(box=None, header_style="bold")
    for column in ("when", "channel", "state"):
        table.add_column(column, no_wrap=True)
    table.add_column("what", overflow="fold")
    for one in listed:
        what = f"{one.title}\n{one.detail}".rstrip()
        table.add_row(*map(Text, (f"{one.created_at:%Y-%m-%d %H:%M}", one.channel, one.state, what)))
    return table
