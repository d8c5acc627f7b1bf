"""`kexbench notify`: tests channels and lists notifications."""

import secrets
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich.table import Table
from rich.text import Text

from kexbench.api.alert_models import NotificationPage, NotificationView
from kexbench.cli.console import err, out, print_json
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.notify.letters import trial_letter
from kexbench.notify.port import Channel, ChannelError
from kexbench.settings import Settings
from kexbench.wiring import Installation

app = typer.Typer(help="Test notification channels and list notifications.", no_args_is_help=True)
NO_CHANNELS = (
    "no channels: name them in channels.yaml in the home folder, in the file KEXBENCH_CHANNELS, "
    "or on a cluster in the chart's value channels"
)


@app.command("test")
def try_channel(
    channel: Annotated[str, typer.Argument(metavar="[CHANNEL]", help="Only this channel.", show_default=False)] = "",
    as_json: AsJson = False,
) -> None:
    """Send a test message to channels and report whether it was accepted. It is not queued and not retried.

    The channels are those of this machine's file. On a cluster, run it in the dispatcher:
    kubectl exec deploy/kexbench-dispatcher -- kexbench notify test

    Examples:

        kexbench notify test
        kexbench notify test crypto-team --json
    """
    opened = Installation(Settings()).opened_channels()
    if channel and channel not in opened:
        names = f"there are {', '.join(opened)}" if opened else NO_CHANNELS
        err.print(f"there is no channel {channel}: {names}", markup=False)
        raise typer.Exit(2)
    if not opened:
        err.print(NO_CHANNELS, markup=False)
        raise typer.Exit(1)
    results = [_try(name, each) for name, each in opened.items() if channel in ("", name)]
    if as_json:
        print_json({"channels": results})
    else:
        for result in results:
            text = "accepted the message" if result["sent"] else f"did not accept the message: {result['said']}"
            out.print(f"{result['channel']}: {text}", markup=False, soft_wrap=True)
            if result["details"]:
                out.print(f"  {result['details']}", markup=False, soft_wrap=True)
    raise typer.Exit(0 if all(result["sent"] for result in results) else 1)


@app.command("list")
def list_notifications(
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of rows.")] = 20, as_json: AsJson = False
) -> None:
    """List sent and waiting notifications, newest first.

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
        channels = ", ".join(page.channels)
        out.print(f"no notifications yet; channels: {channels}" if channels else NO_CHANNELS, markup=False)


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
    for view in listed:
        what = f"{view.title}\n{view.detail}".rstrip()
        table.add_row(*map(Text, (f"{view.created_at:%Y-%m-%d %H:%M}", view.channel, view.state, what)))
    return table
