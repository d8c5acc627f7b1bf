"""Dry run of an alert rule: what it would have suspected in the stored runs of its spec."""

from dataclasses import dataclass
from itertools import product

from kexbench.alerts.confirming import sentence_of
from kexbench.alerts.screening import Upgrade, cells_between, upgrades_of_run
from kexbench.alerts.suspicions import in_pool
from kexbench.domain.metrics import Metric
from kexbench.domain.runs import Run, RunState
from kexbench.domain.screenings import ReplayedUpgrade, ScreenedUpgrade, upgrade_key
from kexbench.planning.documents import parse_document
from kexbench.planning.rules import read_rule
from kexbench.store.port import ScreeningStore, Store

MOST_RUNS = 100
"""The newest runs of a spec."""


@dataclass(frozen=True)
class Replay:
    spec_name: str
    runs: int
    """The runs that were screened."""
    upgrades: int
    """The upgrades that these runs measured, each counted once."""
    suspected: tuple[ReplayedUpgrade, ...]
    """The upgrades that the rule suspects, newest first."""


def replay(store: Store, spec_text: str, file: str = "spec.yaml") -> Replay:
    """The newest run of each upgrade decides, or its confirmation run if one is stored. Steps that only a history shows
    are left out. Raises DocumentError if the spec has faults or no rule."""
    rule = read_rule(spec_text, file)
    name = str(parse_document(spec_text, file).value["metadata"]["name"])
    runs = [run for run in store.runs_of_spec(name, MOST_RUNS) if run.trigger.is_watched]
    progress = store.progress([run.run_id for run in runs]) if runs else {}
    ended = [run for run in runs if run.run_id in progress and progress[run.run_id].event.state in _SCREENED]
    seen: set[str] = set()
    suspected: list[ReplayedUpgrade] = []
    upgrades: set[tuple[str, str]] = set()
    for run, metric in product(ended, rule.metrics):
        for upgrade in upgrades_of_run(store, run.run_id, metric):
            key = upgrade_key(upgrade.library, upgrade.before.subject, upgrade.after.subject, metric)
            if key not in seen:
                seen.add(key)
                upgrades.add((upgrade.before.subject, upgrade.after.subject))
                suspected += _suspected(store, run, upgrade, metric, key, rule.relevant)
    return Replay(name, len(ended), len(upgrades), tuple(suspected))


_SCREENED = (RunState.FINISHED, RunState.INCOMPLETE, RunState.FAILED)


def _suspected(
    store: Store, run: Run, upgrade: Upgrade, metric: Metric, key: str, relevant: float
) -> list[ReplayedUpgrade]:
    """The upgrade if it is suspected in the metric, or sure to have more of an exact one."""
    ends = upgrade.before.subject, upgrade.after.subject
    cells = cells_between(store, *ends, metric, relevant, run.run_id)
    suspected = {in_pool(cell.host_kind.pool, cell.case_id) for cell in cells.more()}
    if not suspected:
        return []
    count, confirmation = len(cells.more()), _confirmation(store, key)
    outcome, decided_by = "confirmed" if metric.row.exact else "suspected", run.run_id
    if confirmation and confirmation.confirmation_run:
        decided_by = confirmation.confirmation_run
        cells = cells_between(store, *ends, metric, relevant, decided_by)
        confirmed = [cell for cell in cells.more() if in_pool(cell.host_kind.pool, cell.case_id) in suspected]
        count, outcome = len(confirmed), "confirmed" if confirmed else "not confirmed"
    return [
        ReplayedUpgrade.model_validate(
            {
                "run_id": run.run_id,
                "measured_at": run.created_at,
                "library": upgrade.library,
                "metric": metric,
                "before": upgrade.before,
                "after": upgrade.after,
                "cells": count,
                "compared": sum(cell.is_compared for cell in cells.judged),
                "outcome": outcome,
                "sentence": sentence_of(store, upgrade, metric, cells, relevant, decided_by),
            }
        )
    ]


def _confirmation(store: ScreeningStore, key: str) -> ScreenedUpgrade | None:
    """The newest screening of an upgrade that a confirmation run has decided."""
    screened = [each for screening in store.screenings_of([key]) for each in screening.upgrades if each.key == key]
    decided = [each for each in screened if each.confirmation_run and each.outcome in ("confirmed", "not confirmed")]
    return decided[-1] if decided else None
