"""What a damaged store lost, stored again from the folders of runs."""

from collections.abc import Iterable

from kexbench.execution.folder import RunFolder
from kexbench.runner.results import DamagedFile
from kexbench.store.port import Store

FROM_RUNS = frozenset({"runs", "run_events", "samples", "outcomes", "invocations"})
"""Tables whose rows the folders of runs hold as well."""
BY_ITSELF = frozenset({"hosts", "schema_migrations"})
"""Tables that opening a store fills."""


def restore(store: Store, folders: Iterable[RunFolder]) -> list[str]:
    """Store again what a damaged store lost, as far as folders hold it; what to tell people, nothing where it lost
    nothing. Raises StoreError, after which it is done again the next time."""
    lost = store.lost_parts()
    if not lost:
        return []
    tables = ", ".join(f"{count} of {table}" for table, count in sorted(lost.items()))
    told = [f"the store had damaged parts and lost them ({tables}), as a power cut leaves them"]
    if FROM_RUNS & lost.keys():
        runs = 0
        with store.storing_again():
            for folder in folders:
                try:
                    _store_again(store, folder)
                    runs += 1
                except DamagedFile as error:
                    told.append(f"run {folder.path.name} is not stored again: {error}")
        again = "1 run was" if runs == 1 else f"{runs} runs were"
        told.append(f"{again} stored again from the folder of runs; what other machines measured is lost")
    if elsewhere := sorted(lost.keys() - FROM_RUNS - BY_ITSELF):
        told.append(f"what {', '.join(elsewhere)} lost is in no folder: put back a backup of the store if you need it")
    store.forget_lost_parts()
    return told


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
