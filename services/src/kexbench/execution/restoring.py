"""What a store lost, stored again from the folders of runs."""

from collections.abc import Iterable
from datetime import UTC, datetime

from kexbench.domain.runs import RunEvent, RunState
from kexbench.execution.folder import RunFolder
from kexbench.runner.results import DamagedFile
from kexbench.store.port import Store

FROM_RUNS = frozenset({"runs", "run_events", "samples", "outcomes", "invocations"})
"""Tables whose rows the folders of runs hold as well."""
BY_ITSELF = frozenset({"hosts", "schema_migrations"})
"""Tables that opening a store fills."""


def restore(store: Store, folders: Iterable[RunFolder]) -> list[str]:
    """Store again what a store lost, as far as folders hold it; what to tell people, nothing where it lost nothing.
    Raises StoreError, after which it is done again the next time."""
    lost = store.lost_parts()
    folders = list(folders)
    if not lost:
        return _restore_missing_runs(store, folders)
    tables = ", ".join(f"{count} of {table}" for table, count in sorted(lost.items()))
    told = [f"the store had damaged parts and lost them ({tables}), as a power cut leaves them"]
    if FROM_RUNS & lost.keys():
        told += _stored_again(store, folders)
    if elsewhere := sorted(lost.keys() - FROM_RUNS - BY_ITSELF):
        told.append(f"what {', '.join(elsewhere)} lost is in no folder: put back a backup of the store if you need it")
    store.forget_lost_parts()
    return told


def _restore_missing_runs(store: Store, folders: Iterable[RunFolder]) -> list[str]:
    """A store that was moved away, or lost its files without a trace, is damaged nowhere and has not what it
    acknowledged."""
    stored = store.run_ids()
    missing = [folder for folder in folders if folder.is_delivered() and folder.path.name not in stored]
    if not missing:
        return []
    return ["the store lacks runs that it had acknowledged", *_stored_again(store, missing)]


def _stored_again(store: Store, folders: Iterable[RunFolder]) -> list[str]:
    told, runs = [], 0
    with store.storing_again():
        for folder in folders:
            try:
                _store_again(store, folder)
                runs += 1
            except DamagedFile as error:
                told.append(f"run {folder.path.name} is not stored again: {error}")
    again = "1 run was" if runs == 1 else f"{runs} runs were"
    return [*told, f"{again} stored again from the folder of runs; what other machines measured is lost"]


def _store_again(store: Store, folder: RunFolder) -> None:
    run = folder.run()
    invocations, events = folder.invocations(run), folder.events()
    store.add_run(run)
    known = {(event.at, event.state) for event in store.events(run.run_id)}
    for event in events:
        if (event.at, event.state) not in known:
            store.add_event(event)
    for invocation in invocations:
        store.add_invocation(run, invocation)
    if not known and folder.is_delivered() and events and events[-1].state.is_open:
        # Else a run of the queue that was cancelled would be measured again: only the store knew of that.
        detail = f"how it ended was lost with the store; kexbench runs resume {run.run_id} goes on"
        store.add_event(RunEvent(run_id=run.run_id, at=datetime.now(UTC), state=RunState.FAILED, detail=detail))
