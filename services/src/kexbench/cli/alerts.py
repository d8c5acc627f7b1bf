"""`kexbench alerts`: regressions of one cause, and what people do about them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode

import typer
from typer.core import TyperGroup

from kexbench.alerts.events import event_words
from kexbench.api.alert_models import AlertChange, AlertDetail, AlertPage, PeoplesAction, RuleDryRun, RuleWanted
from kexbench.cli.alert_words import alerts_table, cells_table, replayed_table, standing
from kexbench.cli.console import out, print_json
from kexbench.cli.plan import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.client import ApiClient
from kexbench.domain.alerts import UNSETTLED, AlertAction, AlertKind, Status
from kexbench.domain.kits import Library
from kexbench.pipeline import read_spec


class _ListedAlone(TyperGroup):
    """Without a verb, alerts are listed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ListedAlone,
    help="Alerts: regressions of one cause, and what is done about them. Without a verb they are listed.",
)
Id = Annotated[str, typer.Argument(metavar="ID", help="As `kexbench alerts` prints it, or the beginning of it.")]
Saw = Annotated[
    int | None,
    typer.Option(min=0, help="The last event that was read: it is refused where there are newer ones by now."),
]
Note = Annotated[str, typer.Option(help="Why, for those who come later.")]
Reason = Annotated[str, typer.Argument(help="Why, for those who come later.")]
_DAY = ["%Y-%m-%d"]


@app.command("list")
def list_alerts(
    status: Annotated[
        Literal["unsettled", Status] | None,
        typer.Option(help="Only these; unsettled are those that somebody has to see to."),
    ] = None,
    library: Annotated[Library | None, typer.Option(help="Only of this one.")] = None,
    kind: Annotated[AlertKind | None, typer.Option(help="Only this kind.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, newest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List alerts, those that were raised last first.

    Examples:

        kexbench alerts
        kexbench alerts --status unsettled --library openssl
        kexbench alerts --json | jq -r '.alerts[].sentence'
    """
    statuses = UNSETTLED if status == "unsettled" else [status]
    asked = {"status": statuses, "library": [library], "kind": [kind], "limit": [limit]}
    given = {name: [value for value in values if value] for name, values in asked.items()}
    with reach_api() as api:
        page = api.get(AlertPage, f"/alerts?{urlencode(given, doseq=True)}")
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.alerts:
        out.print(alerts_table(page.alerts))
    elif page.counts:
        out.print(f"no such alerts; there are {', '.join(f'{n} {status}' for status, n in page.counts.items())}")
    else:
        out.print("no alerts: they come from specs that have `alerts:`", markup=False)
        out.print("`kexbench alerts dry-run SPEC` tells what its rule suspects in the spec's stored runs", markup=False)


@app.command("show")
def show(alert_id: Id, as_json: AsJson = False) -> None:
    """Show an alert: what was found, and what happened to it.

    Examples:

        kexbench alerts show 3f2a91c0
    """
    with reach_api() as api:
        _tell(_asked(api, alert_id), as_json=as_json)


@app.command("acknowledge")
def acknowledge(alert_id: Id, note: Note = "", saw: Saw = None, as_json: AsJson = False) -> None:
    """Say that somebody looks into it.

    Examples:

        kexbench alerts acknowledge 3f2a91c0 --note "I ask upstream"
    """
    _change(alert_id, AlertAction.ACKNOWLEDGED, saw, as_json, note=note)


@app.command("confirm")
def confirm(alert_id: Id, note: Note = "", saw: Saw = None, as_json: AsJson = False) -> None:
    """Say that it is a regression that somebody has to see to.

    Examples:

        kexbench alerts confirm 3f2a91c0 --note "upstream has it as issue 12345"
    """
    _change(alert_id, AlertAction.CONFIRMED, saw, as_json, note=note)


@app.command("ignore")
def ignore(
    alert_id: Id,
    reason: Reason,
    until: Annotated[
        datetime | None, typer.Option(formats=_DAY, metavar="YYYY-MM-DD", help="When it is open again; else never.")
    ] = None,
    saw: Saw = None,
    as_json: AsJson = False,
) -> None:
    """Say that it is so and nothing is done about it, for good or until a day.

    Examples:

        kexbench alerts ignore 3f2a91c0 "the price of constant time"
        kexbench alerts ignore 3f2a91c0 "3.0.20 shall mend it" --until 2027-01-31
    """
    moment = until.replace(tzinfo=UTC) if until else None
    _change(alert_id, AlertAction.IGNORED, saw, as_json, note=reason, until=moment)


@app.command("wrong")
def wrong(alert_id: Id, reason: Reason, saw: Saw = None, as_json: AsJson = False) -> None:
    """Say that it is none: a false alarm.

    Examples:

        kexbench alerts wrong 3f2a91c0 "that node was throttled"
    """
    _change(alert_id, AlertAction.WRONG, saw, as_json, note=reason)


@app.command("reopen")
def reopen(alert_id: Id, note: Note = "", saw: Saw = None, as_json: AsJson = False) -> None:
    """Take back what was said of it.

    Examples:

        kexbench alerts reopen 3f2a91c0 --note "it is back"
    """
    _change(alert_id, AlertAction.REOPENED, saw, as_json, note=note)


@app.command("assign")
def assign(
    alert_id: Id,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Whoever sees to it; left out, nobody does.")] = "",
    saw: Saw = None,
    as_json: AsJson = False,
) -> None:
    """Say who sees to it.

    Examples:

        kexbench alerts assign 3f2a91c0 alice
        kexbench alerts assign 3f2a91c0
    """
    _change(alert_id, AlertAction.ASSIGNED, saw, as_json, assignee=name)


@app.command("note")
def note(
    alert_id: Id,
    text: Annotated[str, typer.Argument(help="What others should know.")],
    saw: Saw = None,
    as_json: AsJson = False,
) -> None:
    """Write something down, and change nothing.

    Examples:

        kexbench alerts note 3f2a91c0 "it is in the key schedule: https://example.org/profile"
    """
    _change(alert_id, AlertAction.NOTED, saw, as_json, note=text)


@app.command("due")
def due(
    alert_id: Id,
    day: Annotated[
        datetime | None, typer.Argument(formats=_DAY, metavar="[YYYY-MM-DD]", help="Left out, there is none.")
    ] = None,
    saw: Saw = None,
    as_json: AsJson = False,
) -> None:
    """Say by when something has to be done.

    Examples:

        kexbench alerts due 3f2a91c0 2027-01-31
    """
    _change(alert_id, AlertAction.DUE, saw, as_json, due=day.date() if day else None)


@app.command("dry-run")
def dry_run(
    spec: Annotated[Path, typer.Argument(help="A spec that has `alerts:`.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Tell what the rule of a spec suspects in the stored runs of that spec. Nothing is measured or written.

    Examples:

        kexbench alerts dry-run bench-specs/history.yaml
    """
    wanted = RuleWanted(spec_text=read_spec(spec), spec_file=str(spec))
    with reach_api() as api:
        found = api.post(RuleDryRun, "/alerts/dry-run", wanted)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    if found.told:
        out.print(replayed_table(found.told))
    judged = f"{found.upgrades} upgrades in {found.runs} stored runs of {found.spec_name}"
    out.print(f"{len(found.told)} suspected of {judged}", markup=False)


def _change(alert_id: str, action: PeoplesAction, saw: int | None, as_json: bool, **said: Any) -> None:
    with reach_api() as api:
        found = _asked(api, alert_id).alert
        change = AlertChange(action=action, saw=found.version if saw is None else saw, **said)
        detail = api.post(AlertDetail, f"/alerts/{found.alert_id}/events", change)
    _tell(detail, as_json=as_json)


def _asked(api: ApiClient, alert_id: str) -> AlertDetail:
    return api.get(AlertDetail, f"/alerts/{quote(alert_id, safe='')}")


def _tell(detail: AlertDetail, *, as_json: bool) -> None:
    if as_json:
        print_json(detail.model_dump(mode="json"))
        return
    alert = detail.alert
    out.print(f"{alert.alert_id}  {', '.join((alert.status, *standing(alert)))}", markup=False, soft_wrap=True)
    out.print(alert.sentence, markup=False, soft_wrap=True)
    if alert.cells:
        out.print(cells_table(alert.cells))
    for event in detail.events:
        when = f"{event.number:>3}  {event.at:%Y-%m-%d %H:%M}"
        out.print(f"{when}  {event_words(event)}", markup=False, soft_wrap=True)
