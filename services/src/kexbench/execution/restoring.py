"""Restores lost data of a store from the folders of runs."""

from collections.abc import Iterable
from datetime import UTC, datetime

from kexbench.domain.runs import RunEvent, RunState
from kexbench.execution.folder import RunFolder
from kexbench.runner.results import DamagedFile
from kexbench.store.port import Store

FROM_RUNS = frozenset({"runs", "run_events", "samples", "withdrawn", "outcomes", "invocations"})
"""Tables whose rows are also in the folders of runs."""
BY_ITSELF = frozenset({"hosts", "schema_migrations"})
"""Tables that are filled when a store opens."""
_AT_ONCE = 50
"""Invocations that are stored together."""


def restore(store: Store, folders: Iterable[RunFolder]) -> list[str]:
    """Store lost data again, as far as folders hold it. Returns messages for people, empty if nothing was lost. Raises
    StoreError; the next call then repeats it."""
    lost = store.lost_parts()
    folders = list(folders)
    if not lost:
        return _restore_missing_runs(store, folders)
    tables = ", ".join(f"{count} of {table}" for table, count in sorted(lost.items()))
    messages = [f"the store lost damaged parts ({tables}), probably after a power cut"]
    if FROM_RUNS & lost.keys():
        messages += _stored_again(store, folders)
    if elsewhere := sorted(lost.keys() - FROM_RUNS - BY_ITSELF):
        messages.append(f"no folder has the lost rows of {', '.join(elsewhere)}: restore a backup if you need them")
    store.forget_lost_parts()
    return messages


def _restore_missing_runs(store: Store, folders: Iterable[RunFolder]) -> list[str]:
    """A store that was moved away or lost complete files has no damaged part, but lacks what it acknowledged."""
    stored = store.run_ids()
    missing = [folder for folder in folders if folder.is_delivered() and folder.path.name not in stored]
    if not missing:
        return []
    return ["the store lacks runs that it had acknowledged", *_stored_again(store, missing)]


def _stored_again(store: Store, folders: Iterable[RunFolder]) -> list[str]:
    messages, runs = [], 0
    for folder in folders:
        try:
            _store_again(store, folder)
            runs += 1
        except DamagedFile as error:
            messages.append(f"run {folder.path.name} was not restored: {error}")
    store.forget_kept()
    again = "1 run was" if runs == 1 else f"{runs} runs were"
    return [*messages, f"{again} restored from the folder of runs; results of other machines are lost"]


def _store_again(store: Store, folder: RunFolder) -> None:
    run = folder.run()
    invocations, events = folder.invocations(run), folder.events()
    store.add_run(run)
    stored = {(event.at, event.state) for event in store.events(run.run_id)}
    for event in events:
        if (event.at, event.state) not in stored:
            store.add_event(event)
    for start in range(0, len(invocations), _AT_ONCE):
        store.add_invocations(run, invocations[start : start + _AT_ONCE])
    if not stored and folder.is_delivered() and events and events[-1].state.is_open:
        # Without this, a cancelled run of the queue would be measured again: only the store knew its end.
        detail = f"its end was lost with the store; kexbench runs resume {run.run_id} continues it"
        store.add_event(RunEvent(run_id=run.run_id, at=datetime.now(UTC), state=RunState.FAILED, detail=detail))
