"""`kexbench alerts`: list alerts and record decisions about them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode

import typer

from kexbench.alerts.changing import AlertChange
from kexbench.alerts.events import event_words
from kexbench.alerts.reading import AlertDetail, AlertPage, PeoplesAction
from kexbench.analysis.sentences import culprit_sentence
from kexbench.api.alert_models import RuleDryRun
from kexbench.api.run_models import Submission
from kexbench.cli.alert_words import alerts_table, cells_table, replayed_table, standing, suspicion_text
from kexbench.cli.console import out, print_json
from kexbench.cli.options import AsJson, ListedAlone, spec_argument
from kexbench.cli.reaching import reach_api
from kexbench.client import ApiClient
from kexbench.domain.alerts import UNSETTLED, AlertAction, AlertKind, Status
from kexbench.domain.kits import Library
from kexbench.domain.metrics import Metric
from kexbench.domain.numbers import counted
from kexbench.planning.documents import read_spec

app = typer.Typer(
    cls=ListedAlone,
    help="List alerts and record decisions about them. Without a verb: list them.",
)
Id = Annotated[str, typer.Argument(metavar="ID", help="As `kexbench alerts` prints it. A prefix is enough.")]
Saw = Annotated[
    int | None,
    typer.Option(min=0, help="Number of the last event that you read. If there are newer ones, the change is refused."),
]
Note = Annotated[str, typer.Option(help="The reason, stored with the change.")]
Reason = Annotated[str, typer.Argument(help="The reason, stored with the change.")]
_DAY = ["%Y-%m-%d"]


@app.command("list")
def list_alerts(
    status: Annotated[
        Literal["unsettled", Status] | None,
        typer.Option(help="Only this status. `unsettled`: open, acknowledged or confirmed."),
    ] = None,
    library: Annotated[Library | None, typer.Option(help="Only alerts of this library.")] = None,
    kind: Annotated[AlertKind | None, typer.Option(help="Only alerts of this kind.")] = None,
    metric: Annotated[Metric | None, typer.Option(help="Only alerts of this metric.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of alerts.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List alerts, newest first.

    Examples:

        kexbench alerts
        kexbench alerts --status unsettled --library openssl
        kexbench alerts --metric server_bytes
        kexbench alerts --json | jq -r '.alerts[].sentence'
    """
    statuses = UNSETTLED if status == "unsettled" else [status]
    filters = {"status": statuses, "library": [library], "kind": [kind], "metric": [metric], "limit": [limit]}
    query = {name: [value for value in values if value] for name, values in filters.items()}
    with reach_api() as api:
        page = api.get(AlertPage, f"/alerts?{urlencode(query, doseq=True)}")
    if as_json:
        print_json(page.model_dump(mode="json"))
        return
    if page.alerts:
        out.print(alerts_table(page.alerts))
    elif page.counts:
        out.print(f"no alerts match; there are {', '.join(f'{n} {status}' for status, n in page.counts.items())}")
    elif page.confirming:
        out.print("no alerts yet")
    else:
        out.print("no alerts yet: `kexbench serve` raises them, from runs of specs with `alerts:`", markup=False)
        out.print("`kexbench alerts dry-run SPEC` shows what an alert rule suspects in stored runs", markup=False)
    if page.confirming:
        out.print(f"\n{counted(len(page.confirming), 'suspicion')} being confirmed:")
    now = datetime.now(UTC)
    for suspicion in page.confirming:
        out.print(suspicion_text(suspicion, now), markup=False, soft_wrap=True)


@app.command("show")
def show(alert_id: Id, as_json: AsJson = False) -> None:
    """Show an alert, its cases and its history.

    Examples:

        kexbench alerts show 3f2a91c0
    """
    with reach_api() as api:
        _print(_detail(api, alert_id), as_json=as_json)


@app.command("acknowledge")
def acknowledge(alert_id: Id, note: Note = "", saw: Saw = None, as_json: AsJson = False) -> None:
    """Record that somebody is looking into an alert.

    Examples:

        kexbench alerts acknowledge 3f2a91c0 --note "asking upstream"
    """
    _change(alert_id, AlertAction.ACKNOWLEDGED, saw, as_json, note=note)


@app.command("confirm")
def confirm(alert_id: Id, note: Note = "", saw: Saw = None, as_json: AsJson = False) -> None:
    """Record that an alert is a real regression and has to be fixed.

    Examples:

        kexbench alerts confirm 3f2a91c0 --note "upstream issue 12345"
    """
    _change(alert_id, AlertAction.CONFIRMED, saw, as_json, note=note)


@app.command("ignore")
def ignore(
    alert_id: Id,
    reason: Reason,
    until: Annotated[
        datetime | None, typer.Option(formats=_DAY, metavar="YYYY-MM-DD", help="Reopen on this date. Default: never.")
    ] = None,
    saw: Saw = None,
    as_json: AsJson = False,
) -> None:
    """Ignore an alert, permanently or until a date.

    Examples:

        kexbench alerts ignore 3f2a91c0 "the price of constant time"
        kexbench alerts ignore 3f2a91c0 "to be fixed in 3.0.20" --until 2027-01-31
    """
    moment = until.replace(tzinfo=UTC) if until else None
    _change(alert_id, AlertAction.IGNORED, saw, as_json, note=reason, until=moment)


@app.command("wrong")
def wrong(alert_id: Id, reason: Reason, saw: Saw = None, as_json: AsJson = False) -> None:
    """Mark an alert as a false positive.

    Examples:

        kexbench alerts wrong 3f2a91c0 "that node was throttled"
    """
    _change(alert_id, AlertAction.WRONG, saw, as_json, note=reason)


@app.command("reopen")
def reopen(alert_id: Id, note: Note = "", saw: Saw = None, as_json: AsJson = False) -> None:
    """Reopen an alert.

    Examples:

        kexbench alerts reopen 3f2a91c0 --note "still slower in 3.0.20"
    """
    _change(alert_id, AlertAction.REOPENED, saw, as_json, note=note)


@app.command("assign")
def assign(
    alert_id: Id,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The assignee. Omit to unassign.")] = "",
    saw: Saw = None,
    as_json: AsJson = False,
) -> None:
    """Assign an alert to somebody, or unassign it.

    Examples:

        kexbench alerts assign 3f2a91c0 alice
        kexbench alerts assign 3f2a91c0
    """
    _change(alert_id, AlertAction.ASSIGNED, saw, as_json, assignee=name)


@app.command("note")
def note(
    alert_id: Id,
    text: Annotated[str, typer.Argument(help="The text of the note.")],
    saw: Saw = None,
    as_json: AsJson = False,
) -> None:
    """Add a note. The status stays.

    Examples:

        kexbench alerts note 3f2a91c0 "the cost is in the key schedule: https://example.org/profile"
    """
    _change(alert_id, AlertAction.NOTED, saw, as_json, note=text)


@app.command("due")
def due(
    alert_id: Id,
    day: Annotated[
        datetime | None, typer.Argument(formats=_DAY, metavar="[YYYY-MM-DD]", help="Omit to remove the date.")
    ] = None,
    saw: Saw = None,
    as_json: AsJson = False,
) -> None:
    """Set the due date of an alert, or remove it.

    Examples:

        kexbench alerts due 3f2a91c0 2027-01-31
    """
    _change(alert_id, AlertAction.DUE, saw, as_json, due=day.date() if day else None)


@app.command("dry-run")
def dry_run(
    spec: Annotated[Path, spec_argument("It has `alerts:`.")],
    as_json: AsJson = False,
) -> None:
    """Show what the alert rule of a spec suspects in the stored runs of that spec. Measures and stores nothing.

    Examples:

        kexbench alerts dry-run history
    """
    rule = Submission(spec_text=read_spec(spec), spec_file=str(spec))
    with reach_api() as api:
        replay = api.post(RuleDryRun, "/alerts/dry-run", rule)
    if as_json:
        print_json(replay.model_dump(mode="json"))
        return
    if replay.suspected:
        out.print(replayed_table(replay.suspected))
    screened = f"{replay.upgrades} upgrades in {replay.runs} stored runs of {replay.spec_name}"
    out.print(f"{len(replay.suspected)} suspected, out of {screened}", markup=False)


def _change(alert_id: str, action: PeoplesAction, saw: int | None, as_json: bool, **fields: Any) -> None:
    with reach_api() as api:
        alert = _detail(api, alert_id).alert
        change = AlertChange(action=action, saw=alert.version if saw is None else saw, **fields)
        detail = api.post(AlertDetail, f"/alerts/{alert.alert_id}/events", change)
    _print(detail, as_json=as_json)


def _detail(api: ApiClient, alert_id: str) -> AlertDetail:
    return api.get(AlertDetail, f"/alerts/{quote(alert_id, safe='')}")


def _print(detail: AlertDetail, *, as_json: bool) -> None:
    if as_json:
        print_json(detail.model_dump(mode="json"))
        return
    alert = detail.alert
    out.print(f"{alert.alert_id}  {', '.join((alert.status, *standing(alert)))}", markup=False, soft_wrap=True)
    for sentence in (alert.sentence, *map(culprit_sentence, alert.culprits)):
        out.print(sentence, markup=False, soft_wrap=True)
    if alert.cells:
        out.print(cells_table(alert))
    for event in detail.events:
        when = f"{event.number:>3}  {event.at:%Y-%m-%d %H:%M}"
        out.print(f"{when}  {event_words(event)}", markup=False, soft_wrap=True)
