"""What a rule would have told of the runs of its spec that are stored."""

from dataclasses import dataclass

from kexbench.alerts.judging import in_pool
from kexbench.alerts.screening import Upgrade, cells_between, upgrades_of_run
from kexbench.analysis.attribution import attribute
from kexbench.analysis.sentences import sentence
from kexbench.comparison.upgrade_data import JudgedCells
from kexbench.domain.judgements import JudgedUpgrade, ReplayedUpgrade, upgrade_key
from kexbench.domain.runs import Run, RunState
from kexbench.planning.documents import parse_document
from kexbench.planning.rules import read_rule
from kexbench.store.port import JudgementStore, Store

MOST_RUNS = 100
"""The newest of a spec's."""


@dataclass(frozen=True)
class Replay:
    spec_name: str
    runs: int
    """That were judged."""
    upgrades: int
    """That those measured, each counted once."""
    told: tuple[ReplayedUpgrade, ...]
    """Those of them that the rule suspects; newest first."""


def replay(store: Store, spec_text: str, file: str = "spec.yaml") -> Replay:
    """By the newest run of each upgrade, and where a confirming run of it is stored by that one. Steps that only a
    history shows are left out. Raises DocumentError where the spec has faults or no rule."""
    rule = read_rule(spec_text, file)
    name = str(parse_document(spec_text, file).value["metadata"]["name"])
    runs = [run for run in store.runs_of_spec(name, MOST_RUNS) if run.trigger.is_watched]
    progress = store.progress([run.run_id for run in runs]) if runs else {}
    ended = [run for run in runs if run.run_id in progress and progress[run.run_id].event.state in _JUDGED]
    seen: set[str] = set()
    told: list[ReplayedUpgrade] = []
    for run in ended:
        for upgrade in upgrades_of_run(store, run.run_id):
            key = upgrade_key(upgrade.library, upgrade.before.subject, upgrade.after.subject)
            if key not in seen:
                seen.add(key)
                told += _told(store, run, upgrade, key, rule.relevant)
    return Replay(name, len(ended), len(seen), tuple(told))


_JUDGED = (RunState.FINISHED, RunState.FAILED)


def _told(store: Store, run: Run, upgrade: Upgrade, key: str, relevant: float) -> list[ReplayedUpgrade]:
    """Nothing where nothing is suspected."""
    ends = upgrade.before.subject, upgrade.after.subject
    found = cells_between(store, *ends, relevant, run.run_id)
    suspected = {in_pool(cell.pool, cell.case_id) for cell in found.more()}
    if not suspected:
        return []
    cells, confirmation = len(found.more()), _confirmation(store, key)
    outcome = "suspected"
    if confirmation and confirmation.confirmation_run:
        found = cells_between(store, *ends, relevant, confirmation.confirmation_run)
        confirmed = [cell for cell in found.more() if in_pool(cell.pool, cell.case_id) in suspected]
        cells, outcome = len(confirmed), "confirmed" if confirmed else "not confirmed"
    return [
        ReplayedUpgrade.model_validate(
            {
                "run_id": run.run_id,
                "measured_at": run.created_at,
                "library": upgrade.library,
                "before": upgrade.before,
                "after": upgrade.after,
                "cells": cells,
                "compared": sum(cell.move is not None for cell in found.judged),
                "outcome": outcome,
                "sentence": _sentence(upgrade, found, relevant),
            }
        )
    ]


def _confirmation(store: JudgementStore, key: str) -> JudgedUpgrade | None:
    """The newest judgement whose confirming run has decided about an upgrade."""
    found = [one for judgement in store.judgements_of([key]) for one in judgement.upgrades if one.key == key]
    decided = [one for one in found if one.confirmation_run and one.outcome in ("confirmed", "not confirmed")]
    return decided[-1] if decided else None


def _sentence(upgrade: Upgrade, found: JudgedCells, relevant: float) -> str:
    return sentence(upgrade.before, upgrade.after, found.judged, attribute(found.data, found.judged, relevant))
