"""One trace leads from a commit to the notification, whatever processes work on its run."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from kexbench import traces
from kexbench.api.alert_models import ToSend
from kexbench.api.app import create_app
from kexbench.api.notifications import next_message, note_sending
from kexbench.client import ApiClient, token_in
from kexbench.domain.notifications import ChannelRule, Sending
from kexbench.domain.runs import Run, RunEvent, RunState
from kexbench.notifier import Sender
from kexbench.queue.runs import keep_events
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.watch.git import GitSource
from kexbench.watch.loop import Watcher
from tests.api.analysing import Stage, a_spec
from tests.api.cluster import Names
from tests.builders import newest_runs
from tests.collector import Collector
from tests.notify.fake import FakeChannel
from tests.serving import serving
from tests.watch.repositories import Shared

TEAM = (ChannelRule(name="crypto-team"),)
SPEC_PATH = "bench-specs/watched.yaml"


class Outbox:
    """Implements Outbox as the API does."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def next_message(self) -> ToSend | None:
        return next_message(self._stage.store, TEAM, self._stage.now)

    def note_sending(self, sending: Sending) -> None:
        note_sending(self._stage.store, sending)


def pushed_and_requested(stage: Stage, folder: Path) -> Run:
    """The run of a commit that the watcher saw."""
    shared = Shared(folder)
    app = create_app(stage.store, Names(), None, stage.supplies)
    (folder / "token").write_text("dispatcher")
    with (
        serving(app) as url,
        closing(GitSource(shared.watched("main"), folder / "copy")) as source,
        closing(ApiClient(url, token_in(folder / "token"), patience_s=0)) as api,
    ):
        watcher = Watcher(api, [source], lambda: datetime.now(UTC))
        assert watcher.once()
        shared.pushed({SPEC_PATH: a_spec()})
        assert watcher.once()
    (run,) = newest_runs(stage.store, 10)
    return run


def measured(stage: Stage, run: Run) -> None:
    stage.measure(run, RunState.RUNNING)
    stage.pass_time(minutes=1)
    keep_events(stage.store, [RunEvent(run_id=run.run_id, at=stage.now, state=RunState.FINISHED)])


def test_one_trace_leads_from_the_commit_to_the_notification(
    collector: Collector, empty_store: ClickHouseStore, tmp_path: Path
) -> None:
    stage, channel = Stage(empty_store, {"1.1": {"_dhe-rsa": 1.05}}), FakeChannel()
    run = pushed_and_requested(stage, tmp_path)
    measured(stage, run)
    stage.advance()
    (confirming,) = stage.confirming()
    measured(stage, confirming)
    stage.advance()
    (alert,) = stage.alerts()
    assert Sender(Outbox(stage), {"crypto-team": channel}, "https://kexbench.example", print).once()
    assert len(channel.letters) == 1

    spans = collector.of(run.run_id)
    assert [span.name for span in spans] == [
        "poll repository",
        "request run",
        "run",
        "queued",
        "running",
        "screen run",
        "raise alert",
        "confirm suspicions",
        "notify",
    ]
    by_name = {span.name: span for span in spans}
    assert by_name["run"].span_id == traces.first_span_id(run.run_id)
    assert by_name["raise alert"].parent_id == by_name["confirm suspicions"].span_id
    parents = {span.parent_id for name, span in by_name.items() if name not in ("run", "raise alert")}
    assert parents == {by_name["run"].span_id}
    assert not any(span.has_failed for span in spans)
    assert run.commit is not None
    for name in ("poll repository", "run"):
        assert by_name[name].attributes["kexbench.commit"] == run.commit.commit
    assert by_name["request run"].attributes["kexbench.spec_path"] == SPEC_PATH
    assert by_name["poll repository"].end_ns == by_name["request run"].start_ns
    assert by_name["raise alert"].attributes["kexbench.alert_id"] == alert.alert_id
    assert by_name["notify"].attributes["kexbench.channel"] == "crypto-team"

    of_confirmation = [span.name for span in collector.of(confirming.run_id)]
    assert of_confirmation == ["run", "queued", "running", "raise alert", "notify"]
