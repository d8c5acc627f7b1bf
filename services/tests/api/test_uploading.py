"""Uploads: only with the run's own token, only what fits its plan, and as often as one likes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from kexbench.api import uploading
from kexbench.api.app import UPLOADS_AT_ONCE
from kexbench.api.calling import TokenError, bearer_of, sign_run_token
from kexbench.api.gate import MAX_UPLOAD_BYTES, validated
from kexbench.domain.runs import Run
from kexbench.domain.samples import OutcomeKind, Timer
from tests.api.conftest import SECRET, assert_problem, put, token
from tests.builders import RSA, SPEC, a_kit, a_run, an_event, an_invocation, an_outcome

ONE = "fake@1.0"
TWO = "fake@1.1"
OTHER_RUN = token("another run")


def post(
    client: httpx2.Client, run: Run, what: str, body: Any, headers: dict[str, str] | None = None
) -> httpx2.Response:
    headers = token(run.run_id) if headers is None else headers
    return client.post(f"/runs/{run.run_id}/{what}", json=body, headers=headers)


def invocation_of(run: Run, **changes: Any) -> Any:
    return an_invocation(run, cpu_ns={ONE: [1, 2]}).model_dump(mode="json") | changes


def test_a_run_its_events_and_its_invocations_are_stored(client: httpx2.Client) -> None:
    run = a_run()
    assert put(client, run).status_code == 204
    assert post(client, run, "events", an_event(run).model_dump(mode="json")).status_code == 204
    assert post(client, run, "invocations", invocation_of(run)).status_code == 204
    assert client.get(f"/runs/{run.run_id}/invocations").json() == [
        {"job_id": run.plan.jobs[0].job_id, "attempt": 1, "case_id": RSA, "invocation": 0, "hopeless": []}
    ]
    assert client.get(f"/runs/{run.run_id}").json()["summary"]["invocations_stored"] == 1


def test_what_need_not_be_tried_again_is_named_with_the_invocation_that_showed_it(client: httpx2.Client) -> None:
    run = a_run()
    put(client, run)
    of_number = [
        [an_outcome(ONE)],
        [an_outcome(ONE, OutcomeKind.CRASHED), an_outcome(TWO, OutcomeKind.HUNG)],
        [an_outcome(ONE, OutcomeKind.MISMATCH)],
        [an_outcome(TWO, OutcomeKind.HUNG), an_outcome(ONE)],
    ]
    sent = [an_invocation(run, number, outcomes=outcomes) for number, outcomes in enumerate(of_number)]
    sent.append(an_invocation(run, 4, cpu_ns={ONE: [1, 2]}, outcomes=[an_outcome(ONE), an_outcome(TWO)]))
    for each in sent:
        assert post(client, run, "invocations", each.model_dump(mode="json")).status_code == 204
    stored = client.get(f"/runs/{run.run_id}/invocations").json()
    assert {row["invocation"]: row["hopeless"] for row in stored} == {
        0: [ONE],
        1: [TWO],
        2: [],
        3: [ONE, TWO],
        4: [TWO],
    }
    assert [sorted(each.hopeless) for each in sent] == [[ONE], [TWO], [], [ONE, TWO], [TWO]], "as a runner decides"
    job_id = run.plan.jobs[1].job_id
    of_job = client.get(f"/runs/{run.run_id}/invocations?job_id={job_id}").json()
    assert {row["invocation"]: row["hopeless"] for row in of_job} == {3: [ONE, TWO], 4: [TWO]}


def test_several_invocations_are_stored_at_once_and_as_often_as_one_likes(client: httpx2.Client) -> None:
    run = a_run()
    put(client, run)
    post(client, run, "events", an_event(run).model_dump(mode="json"))
    batch = [invocation_of(run, invocation=number) for number in range(3)]
    for part in (batch[:2], batch, batch):
        assert post(client, run, "invocation-batches", part).status_code == 204
    assert {row["invocation"] for row in client.get(f"/runs/{run.run_id}/invocations").json()} == {0, 1, 2}
    assert len(client.get("/export", params={"format": "json"}).json()) == 3
    assert client.get(f"/runs/{run.run_id}").json()["summary"]["invocations_stored"] == 3


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"invocation": 6}, "has no invocation 6"),
        ({"samples": [{"subject": ONE, "metric": "cpu_ns", "values": []}]}, "body.1.samples.0.values"),
        ({"surplus": 1}, "body.1.surplus"),
    ],
)
def test_of_several_invocations_none_is_stored_if_one_is_refused(
    client: httpx2.Client, changes: dict[str, Any], says: str
) -> None:
    run = a_run()
    put(client, run)
    batch = [invocation_of(run), invocation_of(run, **changes)]
    assert_problem(post(client, run, "invocation-batches", batch), 422, says)
    assert client.get(f"/runs/{run.run_id}/invocations").json() == []


def test_several_invocations_with_many_faults_are_answered_with_their_number(client: httpx2.Client) -> None:
    run = a_run()
    put(client, run)
    assert_problem(post(client, run, "invocation-batches", [1] * 1001), 422, "1,001 places")
    assert_problem(post(client, run, "invocation-batches", []), 422, "body")
    assert_problem(post(client, run, "invocation-batches", [1], OTHER_RUN), 422, "body.0")
    assert_problem(post(client, run, "invocation-batches", [invocation_of(run)], OTHER_RUN), 403)
    assert_problem(post(client, run, "invocation-batches", [1], {}), 401)


def test_of_many_uploads_at_once_few_are_parsed_and_all_are_stored(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parsed body takes ten times its size, and a cluster's nodes end their jobs together."""
    run = a_run()
    put(client, run)
    parsed: list[object] = []
    most = 0
    store = uploading._upload

    def counted_parse(*given: Any) -> Any:
        nonlocal most
        parsed.append(given)
        most = max(most, len(parsed))
        return validated(*given)

    def counted_store(*given: Any) -> None:
        store(*given)
        parsed.pop()

    monkeypatch.setattr("kexbench.api.uploading.validated", counted_parse)
    monkeypatch.setattr(uploading, "_upload", counted_store)
    numbers = run.plan.jobs[0].numbers
    bodies = [[invocation_of(run, invocation=number)] for number in numbers] * 8
    with ThreadPoolExecutor(len(bodies)) as nodes:
        statuses = nodes.map(lambda body: post(client, run, "invocation-batches", body).status_code, bodies)
        assert set(statuses) == {204}
    assert 1 <= most <= UPLOADS_AT_ONCE
    assert len(client.get(f"/runs/{run.run_id}/invocations").json()) == len(numbers)


def test_every_upload_can_be_repeated(client: httpx2.Client) -> None:
    run = a_run()
    for _ in range(3):
        assert put(client, run).status_code == 204
        assert post(client, run, "invocations", invocation_of(run)).status_code == 204
    assert len(client.get("/runs").json()["runs"]) == 1
    assert len(client.get("/export", params={"format": "json"}).json()) == 1


def test_another_run_of_the_same_id_is_a_conflict(client: httpx2.Client) -> None:
    run = a_run()
    put(client, run)
    assert_problem(put(client, run, spec_text="another"), 409, "stored with other facts")
    assert client.get(f"/runs/{run.run_id}").json()["spec_text"] == run.spec_text


@pytest.mark.parametrize("what", ["run", "events", "invocations"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Basic dXNlcjpwYXNz"},
        OTHER_RUN,
        token(a_run().run_id, secret="t" * 64),
        token(a_run().run_id, now=datetime.now(UTC) - timedelta(hours=25)),
    ],
    ids=["none", "empty", "nonsense", "basic", "other run", "other secret", "expired"],
)
def test_without_its_own_token_nothing_of_a_run_is_written(
    client: httpx2.Client, what: str, headers: dict[str, str]
) -> None:
    run = a_run()
    if what == "run":
        response = client.put(f"/runs/{run.run_id}", json=run.model_dump(mode="json"), headers=headers)
    else:
        put(client, run)
        body = an_event(run).model_dump(mode="json") if what == "events" else invocation_of(run)
        response = post(client, run, what, body, headers)
    assert_problem(response, 403 if headers == OTHER_RUN else 401)
    assert SECRET not in response.text
    assert client.get("/export", params={"format": "json"}).json() == []
    assert (client.get(f"/runs/{run.run_id}").status_code == 404) is (what == "run")


def test_a_token_without_an_end_or_for_another_audience_is_none() -> None:
    jwt = pytest.importorskip("jwt")
    end = datetime.now(UTC) + timedelta(hours=1)
    assert bearer_of(sign_run_token("run", SECRET, now=datetime.now(UTC)), SECRET) == ("run", None)
    for claims in (
        {"sub": "run", "aud": "kexbench"},
        {"sub": "run", "aud": "other", "exp": end},
        {"aud": "kexbench", "exp": end},
        {"sub": "run", "exp": end},
    ):
        with pytest.raises(TokenError):
            bearer_of(jwt.encode(claims, SECRET, algorithm="HS256"), SECRET)
    with pytest.raises(TokenError):
        bearer_of(jwt.encode({"sub": "run", "aud": "kexbench", "exp": end}, None, algorithm="none"), SECRET)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"run_id": "other"}, "the invocation is of run other"),
        ({"job_id": "other"}, "the plan has no job other"),
        ({"case_id": "other"}, "has no invocation 0 of case other"),
        ({"invocation": 6}, "has no invocation 6"),
        ({"invocation": 3}, "has no invocation 3"),
        ({"samples": [{"subject": "fake@9", "metric": "cpu_ns", "values": [1]}]}, "the run has no subject fake@9"),
        ({"outcomes": [{"subject": "fake@9", "kind": "hung", "reason": ""}]}, "the run has no subject fake@9"),
        ({"samples": [{"subject": ONE, "metric": "cpu_ns", "values": [1]}] * 2}, "given twice"),
    ],
)
def test_an_invocation_that_does_not_fit_its_run_is_refused(
    client: httpx2.Client, changes: dict[str, Any], says: str
) -> None:
    run = a_run()
    put(client, run)
    assert_problem(post(client, run, "invocations", invocation_of(run, **changes)), 422, says)
    assert client.get(f"/runs/{run.run_id}/invocations").json() == []


def test_numbers_of_a_kit_for_another_architecture_are_refused(client: httpx2.Client) -> None:
    run = a_run(kits={ONE: a_kit(ONE, architecture="aarch64")})
    put(client, run)
    response = post(client, run, "invocations", invocation_of(run))
    assert_problem(response, 422, "under emulation: its kit of fake@1.0 is for aarch64, the host is x86_64")
    assert "kit's architecture" in response.json()["remedy"]
    without = an_invocation(run, outcomes=[an_outcome(ONE)]).model_dump(mode="json")
    assert post(client, run, "invocations", without).status_code == 204


def test_numbers_against_a_peer_for_another_architecture_are_refused(client: httpx2.Client) -> None:
    run = a_run(
        spec=SPEC.replace("matrix:", "matrix:\n  peer: ['server:fake@3.0']"),
        kits={"fake@3.0": a_kit("fake@3.0", architecture="aarch64")},
    )
    put(client, run)
    body = an_invocation(run, cpu_ns={ONE: 1}, case_id=run.plan.cases[0].case_id).model_dump(mode="json")
    assert_problem(post(client, run, "invocations", body), 422, "its kit of fake@3.0 is for aarch64")


def test_numbers_of_a_worker_that_said_it_is_emulated_are_refused(client: httpx2.Client) -> None:
    run = a_run()
    put(client, run)
    timer = Timer(tick_source="cntvct", tick_cost_ns=1, thread_cpu_clock_cost_ns=1, emulated=True)
    body = an_invocation(run, cpu_ns={ONE: 1}, timers={ONE: timer}).model_dump(mode="json")
    assert_problem(post(client, run, "invocations", body), 422, "under emulation: its worker reported it")
    assert client.get(f"/runs/{run.run_id}/invocations").json() == []


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"started_at": "yesterday"}, "started_at"),
        ({"started_at": "2026-01-01T12:00:00"}, "started_at"),
        ({"started_at": "2026-01-01T12:00:00+02:00"}, "started_at"),
        ({"started_at": "0001-01-01T00:00:00+00:00"}, "started_at"),
        ({"attempt": 0}, "attempt"),
        ({"invocation": -1}, "invocation"),
        ({"samples": [{"subject": ONE, "metric": "cpu_ns", "values": []}]}, "samples.0.values"),
        ({"samples": [{"subject": ONE, "metric": "cpu_ns", "values": [-1]}]}, "samples.0.values.0"),
        ({"samples": [{"subject": ONE, "metric": "cpu_ns", "values": ["nan"]}]}, "samples.0.values.0"),
        ({"samples": [{"subject": ONE, "metric": "cpu_ns", "values": ["inf"]}]}, "samples.0.values.0"),
        ({"samples": [{"subject": ONE, "metric": "speed", "values": [1]}]}, "samples.0.metric"),
        ({"surplus": 1}, "surplus"),
    ],
)
def test_an_invocation_of_the_wrong_form_is_refused_at_its_place(
    client: httpx2.Client, changes: dict[str, Any], place: str
) -> None:
    run = a_run()
    put(client, run)
    assert_problem(post(client, run, "invocations", invocation_of(run, **changes)), 422, f"body.{place}")
    assert client.get(f"/runs/{run.run_id}/invocations").json() == []


def test_a_zero_among_the_values_is_stored_and_compared_with_nothing(client: httpx2.Client) -> None:
    run = a_run()
    put(client, run)
    for number in range(3):
        body = an_invocation(run, number, cpu_ns={ONE: 0, "fake@1.1": 5}).model_dump(mode="json")
        assert post(client, run, "invocations", body).status_code == 204
    cells = client.get("/matrix").json()["cells"]
    assert [(cell["estimate"]["value"], cell["change"]) for cell in cells] == [(0, None), (5, None)]


def test_an_invocation_that_somebody_cut_short_is_dropped_and_a_crash_of_the_library_is_stored(
    client: httpx2.Client,
) -> None:
    run = a_run()
    put(client, run)
    for number, ended_by in enumerate((15, 9, 11)):
        crash = an_outcome("fake@1.1", OutcomeKind.CRASHED, f"the worker was ended by signal {ended_by}")
        sent = an_invocation(run, number, cpu_ns={ONE: [1, 2]}, outcomes=[crash]).model_dump(mode="json")
        assert post(client, run, "invocations", sent).status_code == 204
    assert [stored["invocation"] for stored in client.get(f"/runs/{run.run_id}/invocations").json()] == [2]
    outcomes = [cell["outcome"] for cell in client.get(f"/runs/{run.run_id}").json()["cells"] if cell["outcome"]]
    assert [outcome["reason"] for outcome in outcomes] == ["the worker was ended by signal 11"]


def test_what_is_uploaded_under_another_address_is_refused(client: httpx2.Client) -> None:
    run, other = a_run(), a_run("other")
    response = client.put("/runs/other", json=run.model_dump(mode="json"), headers=token("other"))
    assert_problem(response, 422, f"the run in the body has id {run.run_id}, not other")
    put(client, other)
    assert_problem(post(client, other, "events", an_event(run).model_dump(mode="json")), 422, "the event is of run")


@pytest.mark.parametrize("created_at", ["2026-01-01T12:00:00", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "soon"])
def test_a_run_from_no_time_the_store_knows_is_refused(client: httpx2.Client, created_at: str) -> None:
    assert_problem(put(client, a_run(), created_at=created_at), 422, "body.created_at")


def test_a_run_whose_parts_do_not_fit_each_other_is_refused(client: httpx2.Client) -> None:
    run = a_run()
    plan = run.plan.model_dump(mode="json")
    assert_problem(put(client, run, kits={}), 422, "no kit of subject fake@1.0")
    assert_problem(put(client, run, plan=plan | {"cases": []}), 422, "no case")


@pytest.mark.parametrize("what", ["events", "invocations"])
def test_nothing_is_stored_of_a_run_that_was_never_announced(client: httpx2.Client, what: str) -> None:
    run = a_run()
    body = an_event(run).model_dump(mode="json") if what == "events" else invocation_of(run)
    assert_problem(post(client, run, what, body), 404, f"there is no run {run.run_id}")


def test_an_upload_that_is_too_large_is_refused(client: httpx2.Client) -> None:
    run = a_run()
    body = b'{"a":"' + b"x" * MAX_UPLOAD_BYTES + b'"}'
    headers = token(run.run_id) | {"Content-Type": "application/json"}
    assert_problem(client.put(f"/runs/{run.run_id}", content=body, headers=headers), 413)


def test_a_body_without_a_length_is_refused_before_it_is_read(client: httpx2.Client) -> None:
    run = a_run()
    request = client.build_request("PUT", f"/runs/{run.run_id}", content=b"{", headers=token(run.run_id))
    del request.headers["Content-Length"]
    request.headers["Transfer-Encoding"] = "chunked"
    assert_problem(client.send(request), 411, "length")


def test_a_body_is_counted_where_no_header_tells_its_length(client: httpx2.Client) -> None:
    run = a_run()
    request = client.build_request("PUT", f"/runs/{run.run_id}", content=b" " * (MAX_UPLOAD_BYTES + 1))
    request.headers.update(token(run.run_id))
    del request.headers["Content-Length"]
    assert_problem(client.send(request), 413, str(MAX_UPLOAD_BYTES))


def test_a_body_with_two_lengths_is_refused(client: httpx2.Client) -> None:
    run = a_run()
    headers = token(run.run_id) | {"Content-Length": "2", "Transfer-Encoding": "chunked"}
    assert_problem(client.put(f"/runs/{run.run_id}", content=b"{}", headers=headers), 400, "Transfer-Encoding")


def test_a_body_with_many_faults_is_answered_with_a_few_and_their_number(client: httpx2.Client) -> None:
    response = put(client, a_run(), kits={f"{number}@1": 1 for number in range(1000)})
    assert_problem(response, 422, "1000 places")
    assert len(response.json()["errors"]) == 5


def test_a_body_that_is_no_json_is_a_problem(client: httpx2.Client) -> None:
    headers = token(a_run().run_id) | {"Content-Type": "application/json"}
    assert_problem(client.put(f"/runs/{a_run().run_id}", content=b"{", headers=headers), 422, "body")


def test_a_token_is_good_for_a_day() -> None:
    text = sign_run_token("run", SECRET, now=datetime.now(UTC) - timedelta(hours=23))
    assert bearer_of(text, SECRET) == ("run", None)
