"""Generated schemas and golden examples: checked in, up to date, and read back as they were written."""

import json
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from kexbench.domain.kits import KitManifest
from kexbench.domain.plans import Plan
from kexbench.domain.probes import KitProbe
from kexbench.domain.runs import Run, RunEvent, RunReason, RunState
from kexbench.domain.samples import Invocation
from kexbench.runner.job_input import JobInput
from kexbench.runner.records import (
    Batch,
    Bye,
    Hello,
    Load,
    PathConnections,
    Profiled,
    Ready,
    WorkerRecord,
    parse_record,
)
from kexbench.schemas import SITE, generated_files, served_schemas
from tests.builders import (
    ECDSA,
    EXAMPLES,
    REFERENCE,
    SPEC,
    a_job_input,
    a_plan,
    a_probe,
    a_run,
    an_event,
    an_invocation,
    an_outcome,
)
from tests.golden import assert_golden

SCHEMAS = EXAMPLES.parent
SESSION = EXAMPLES / "worker-session.ndjson"
LOADS = EXAMPLES / "worker-load.ndjson"
OVER_PATHS = EXAMPLES / "worker-path.ndjson"
PROFILED = EXAMPLES / "worker-profile.ndjson"
GENERATED = generated_files()


def examples() -> dict[str, BaseModel]:
    run = a_run(spec=SPEC + REFERENCE)
    return {
        "plan": a_plan(SPEC + REFERENCE),
        "run": run,
        "run-event": an_event(run, RunState.FAILED, detail="the runner failed").model_copy(
            update={"reason": RunReason.RUNNER_FAILED}
        ),
        "job-input": a_job_input(run),
        "invocation": an_invocation(
            run,
            3,
            case_id=ECDSA,
            cpu_ns={"fake@1.0": [1000, 1010, 1005, 1002]},
            outcomes=[an_outcome("fake@1.1")],
            preempted_batches=1,
        ),
        "kit-probe": a_probe(without={"X25519MLKEM768": "no such group"}),
    }


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_file_is_checked_in_as_it_is_generated(name: str) -> None:
    path = SCHEMAS / name
    assert path.is_file(), f"{name} is not checked in: run `make generate`"
    assert path.read_text(encoding="utf-8") == GENERATED[name], f"{name} is stale: run `make generate`"


def test_a_schema_names_the_address_where_the_site_serves_it() -> None:
    served = served_schemas()
    assert "schema/spec.json" in served
    assert {path: schema["$id"] for path, schema in served.items()} == {path: f"{SITE}/{path}" for path in served}
    checked_in = [json.loads(text) for name, text in GENERATED.items() if name.endswith(".schema.json")]
    assert checked_in == list(served.values())


@pytest.mark.parametrize("path", served_schemas())
def test_every_field_that_people_write_has_a_description(path: str) -> None:
    """In the editor, and in the reference of the documentation."""
    schema = served_schemas()[path]
    parts = {"": schema, **schema.get("$defs", {})}
    lacking = [
        f"{part}.{name}"
        for part, described in parts.items()
        for name, field in described.get("properties", {}).items()
        if not field.get("description")
    ]
    assert lacking == []
    assert len(schema["properties"]) >= 3


def test_no_schema_is_left_over_from_a_format_that_is_gone() -> None:
    assert {path.name for path in SCHEMAS.glob("*.json")} == set(GENERATED), "remove it, or run `make generate`"


@pytest.mark.parametrize("name", examples())
def test_a_golden_example_is_what_the_model_writes(name: str) -> None:
    assert_golden(EXAMPLES / f"{name}.json", examples()[name].model_dump_json(indent=2) + "\n")


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("plan", Plan),
        ("run", Run),
        ("run-event", RunEvent),
        ("job-input", JobInput),
        ("invocation", Invocation),
        ("kit-manifest", KitManifest),
        ("kit-probe", KitProbe),
    ],
)
def test_a_golden_example_comes_back_unchanged_and_nothing_surplus_is_taken(name: str, model: type[BaseModel]) -> None:
    text = (EXAMPLES / f"{name}.json").read_text(encoding="utf-8")
    with pytest.raises(ValidationError):
        model.model_validate_json(json.dumps({**json.loads(text), "surplus": 1}))
    read = model.model_validate_json(text)
    assert read.model_dump_json(indent=2) + "\n" == text
    assert name not in examples() or read == examples()[name]


def test_the_session_of_a_real_worker_is_read_whole() -> None:
    lines = SESSION.read_bytes().splitlines()
    records = [parse_record(line) for line in lines]
    assert isinstance(records[0], Hello)
    assert isinstance(records[-1], Bye)
    assert {Ready, Batch} < {type(record) for record in records}
    for line, record in zip(lines, records, strict=True):
        assert json.loads(WorkerRecord.dump_json(record)) == json.loads(line)


def test_the_records_of_loads_that_the_worker_writes_are_read_whole() -> None:
    lines = LOADS.read_bytes().splitlines()
    good, refused = records = [parse_record(line) for line in lines]
    for line, record in zip(lines, records, strict=True):
        assert json.loads(WorkerRecord.dump_json(record)) == json.loads(line)
    assert isinstance(good, Load)
    assert (good.failures.total, good.connections_per_s, good.client_share) == (21, 716.0, 0.36)
    assert isinstance(refused, Load)
    assert (refused.connections, refused.handshake_p50_ns, refused.connections_per_s) == (0, None, 0.0)


def test_the_records_of_paths_that_the_worker_writes_are_read_whole() -> None:
    lines = OVER_PATHS.read_bytes().splitlines()
    good, silent = records = [parse_record(line) for line in lines]
    for line, record in zip(lines, records, strict=True):
        assert json.loads(WorkerRecord.dump_json(record)) == json.loads(line)
    assert isinstance(good, PathConnections)
    assert (good.connections, good.failures.total, good.flight_bytes) == (2, 1, (1400, 5600, 80))
    assert good.late_share == 1 / 30
    assert isinstance(silent, PathConnections)
    assert (silent.connections, silent.failures.timeout, silent.late_share) == (0, 3, 0.0)


def test_the_profile_round_trips_with_its_stacks() -> None:
    (line,) = PROFILED.read_bytes().splitlines()
    record = parse_record(line)
    assert json.loads(WorkerRecord.dump_json(record)) == json.loads(line)
    assert isinstance(record, Profiled)
    assert [(stack.part, stack.count, stack.amount, len(stack.addresses)) for stack in record.stacks] == [
        ("objects", 4, 320, 3),
        ("server", 2, 4096, 4),
        ("kept", 2, 32, 2),
    ]


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[]", b'{"type":"bye","x":1}', b'{"type":"hi"}', b"\xff", b'{"type":"bye"']
)
def test_what_is_no_record_is_refused_as_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError, match="not a record"):
        parse_record(line)


@pytest.mark.parametrize(
    ("totals", "reason"),
    [
        ({"round_trips": None, "client_cycles": 5}, None),
        ({"flights": 5}, "no metric is named flights"),
        ({"client_cycles": -1}, "greater than or equal to 0"),
        ({"client_cycles": ...}, "it lacks client_cycles"),
    ],
)
def test_the_totals_of_an_untimed_pass_are_exactly_those_of_the_metrics(
    totals: dict[str, object], reason: str | None
) -> None:
    line = next(line for line in SESSION.read_bytes().splitlines() if b'"examined"' in line)
    fields = {**json.loads(line), **totals}
    changed = json.dumps({name: value for name, value in fields.items() if value is not ...}).encode()
    if reason is None:
        assert json.loads(WorkerRecord.dump_json(parse_record(changed))) == fields
    else:
        with pytest.raises(ValueError, match=reason):
            parse_record(changed)


@pytest.mark.parametrize(
    "path", sorted(Path(EXAMPLES).rglob("*.*json")), ids=lambda path: str(path.relative_to(EXAMPLES))
)
def test_no_example_names_a_place_on_somebodys_machine(path: Path) -> None:
    assert not any(word in path.read_text() for word in ("/home/", "/root/", "/tmp/"))
