"""Converts between domain values and rows of the store's tables. Pure, without a client."""

import json
import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError

from kexbench.domain.canonical import canonical_json
from kexbench.domain.cases import FIRST_FIELDS, Case
from kexbench.domain.hosts import HostFacts, kind_of
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.runs import Purpose, Run, RunEvent, RunState
from kexbench.domain.samples import Invocation
from kexbench.domain.subjects import Subject
from kexbench.store.port import StoreError

_log = logging.getLogger(__name__)
Row = dict[str, Any]
CASE_COLUMNS = (*FIRST_FIELDS, "variation")
SUBJECT_COLUMNS = (
    *("library", "version", "version_key", "source"),
    *("build_profile", "build_profile_label", "kit_id", "commit"),
)
CASE_SQL, SUBJECT_SQL = (", ".join(f"`{column}`" for column in columns) for columns in (CASE_COLUMNS, SUBJECT_COLUMNS))
EVENT_ORDER = f"(number, at, indexOf({[str(state) for state in RunState]}, state))"
"""SQL: the order of a run's events, newest last. Events of old releases have no number: their times count, and at equal
times the order of the states."""


def columns_of(value: object, *fields: str) -> Row:
    """Fields of a value as columns of the same names."""
    row = {field: getattr(value, field) for field in fields}
    for field, content in row.items():
        if isinstance(content, StrEnum):
            row[field] = str(content)
        elif isinstance(content, tuple):
            row[field] = list(content)
    return row


def event_row(event: RunEvent) -> Row:
    return columns_of(event, *RunEvent.model_fields) | {"reason": str(event.reason or "")}


def whole(value: BaseModel, *fields: str, **others: Any) -> Row:
    """A row with a complete value in `content`, and with the columns for queries."""
    return columns_of(value, *fields) | others | {"content": value.model_dump_json()}


def outcome_rows(run: Run, invocation: Invocation, host: HostFacts) -> list[Row]:
    return [
        {
            **_cell_columns(run, invocation, host, outcome.subject),
            **columns_of(outcome, "kind", "reason"),
            "detail": outcome.detail or "",
        }
        for outcome in sorted(invocation.outcomes, key=lambda outcome: outcome.subject)
    ]


def withdrawn_rows(invocation: Invocation) -> list[Row]:
    return [
        {
            **columns_of(invocation, "run_id", "job_id", "case_id", "invocation", "attempt"),
            "reference": sample.subject,
            "metric": sample.metric,
            "value": sample.cost,
        }
        for sample in invocation.withdrawn_samples
    ]


def profile_rows(run: Run, invocation: Invocation, host: HostFacts) -> list[Row]:
    return [
        {
            **_cell_columns(run, invocation, host, subject),
            **columns_of(profile, "instrument", "side", "amount"),
            "content": profile.model_dump_json(),
        }
        for subject, profiles in sorted(invocation.profiles.items())
        for profile in profiles
    ]


def invocation_row(invocation: Invocation, host: HostFacts) -> Row:
    return {
        **_invocation_columns(invocation, host),
        **columns_of(invocation, "discarded_batches", "preempted_batches"),
        "host_load": invocation.host_load.model_dump_json(),
        "negotiated": _by_subject(invocation.negotiated),
        "timers": _by_subject(invocation.timers),
    }


def _by_subject(values: Mapping[str, BaseModel]) -> str:
    return canonical_json({subject: value.model_dump(mode="json") for subject, value in values.items()})


def run_row(run: Run) -> Row:
    return {
        **columns_of(run, "run_id", "created_at", "trigger"),
        **columns_of(run.plan, "spec_name", "plan_id"),
        "watched": run.is_watched,
        "aside": run.is_aside,
        "first_look": run.purpose is Purpose.FIRST_LOOK,
        "run": run.model_dump_json(),
    }


PARSED_RUNS = 16
"""The number of cached runs. The page of a run reads the runs before it each time, and rows of runs seldom change."""


def run_of(row: Row) -> Run:
    """Raises StoreError if the row is not a valid run."""
    try:
        return _parsed_run(row["run"])
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise StoreError(
            f"run {row['run_id']} cannot be read: {place}: {fault['msg']}",
            "measure its spec again; other runs are not affected",
        ) from None


@lru_cache(maxsize=PARSED_RUNS)
def _parsed_run(content: str) -> Run:
    return Run.model_validate_json(content)


def runs_of(run_rows: Iterable[Row]) -> list[Run]:
    """The readable runs: an unreadable one must not hide the others."""
    runs = []
    for row in run_rows:
        try:
            runs.append(run_of(row))
        except StoreError as error:
            _log.warning("%s", error)
    return runs


def host_row(host: HostFacts, host_id: str | None = None) -> Row:
    """`host_id`: the id in rows of an earlier release."""
    return {"host_id": host_id or host.host_id, "kind": kind_of(host), "facts": host.model_dump_json()}


def subject_of(row: Row) -> Subject:
    return _subject(*(row[column] for column in SUBJECT_COLUMNS))


@lru_cache(maxsize=4096)
def _subject(*columns: str) -> Subject:
    """Cached, because most rows are of few subjects."""
    written = dict(zip(SUBJECT_COLUMNS, columns, strict=True))
    commit = written.pop("commit")
    return Subject(**written, commit=LibraryCommit.model_validate_json(commit) if commit else None)


def case_of(row: Row) -> Case:
    return _case(*(row[column] for column in CASE_COLUMNS))


@lru_cache(maxsize=4096)
def _case(*columns: str | int) -> Case:
    """Cached, because all rows of a cell have the same case."""
    written = dict(zip(CASE_COLUMNS, columns, strict=True))
    variation = written.pop("variation")
    return Case.model_validate(written | (json.loads(str(variation)) if variation else {}))


def place_columns(run: Run, invocation: Invocation, host: HostFacts) -> Row:
    """Which invocation something is of, in which case and on which host."""
    case = run.plan.case(invocation.case_id)
    return {
        **_invocation_columns(invocation, host),
        **{column: getattr(case, column) for column in FIRST_FIELDS},
        "variation": canonical_json(case.variation) if case.variation else "",
        "pool": next(job.pool for job in run.plan.jobs if job.job_id == invocation.job_id),
        "cpu_model": host.cpu,
    }


def subject_columns(run: Run, reference: str) -> Row:
    """The kit of a subject of a run."""
    kit = run.kits[reference]
    return {
        **columns_of(kit, "library", "version", "version_key", "source", "kit_id"),
        "build_profile": kit.build_profile.id,
        "build_profile_label": kit.build_profile.label,
        "commit": canonical_json(kit.commit.model_dump(mode="json")) if kit.commit else "",
        "reference": reference,
    }


def _cell_columns(run: Run, invocation: Invocation, host: HostFacts, reference: str) -> Row:
    return place_columns(run, invocation, host) | subject_columns(run, reference)


def _invocation_columns(invocation: Invocation, host: HostFacts) -> Row:
    return {
        **columns_of(invocation, "run_id", "job_id", "case_id", "invocation", "attempt"),
        "host_id": host.host_id,
        "measured_at": datetime.fromisoformat(invocation.started_at),
    }
