"""Whatever workers do, an invocation is whole: numbers or an outcome for each subject."""

import platform
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kexbench.domain.samples import Invocation, Metric, OutcomeKind
from kexbench.runner import participant as module
from kexbench.runner.invocation import measure_invocation, samples_of
from kexbench.runner.job_input import JobInput
from kexbench.runner.order import Turn
from kexbench.runner.participant import Participant, Setting, setup_request
from kexbench.runner.records import Batch, Examined, Hello, Record
from kexbench.runner.worker import Worker
from tests.runner.conftest import ECDHE, QUIET, RSA, UNPINNED, MakeJobInput, a_batch

Measure = Callable[[JobInput], Invocation]
STEADY = "fake@1.0+noise=0"


@pytest.fixture
def measure(tmp_path: Path) -> Measure:
    def run(job_input: JobInput) -> Invocation:
        turn = Turn(job_input.cases[0].case_id, job_input.job.blocks[0], 0, examines=True)
        return measure_invocation(job_input, turn, UNPINNED, tmp_path / "worker.log", lambda: QUIET)

    return run


def values(invocation: Invocation, subject: str, metric: Metric) -> tuple[float, ...]:
    return next(s.values for s in invocation.samples if (s.subject, s.metric) == (subject, metric))


def test_known_durations_arrive_as_values_per_handshake(make_job_input: MakeJobInput, measure: Measure) -> None:
    invocation = measure(make_job_input(STEADY, batches=4))
    assert values(invocation, STEADY, Metric.CLIENT_CPU_NS) == (100_000,) * 4
    assert values(invocation, STEADY, Metric.SERVER_CPU_NS) == (300_000,) * 4
    assert values(invocation, STEADY, Metric.CPU_NS) == (400_000,) * 4
    assert values(invocation, STEADY, Metric.FIRST_NS) == (400_000,) * 4


def test_a_slow_handshake_is_made_less_often(make_job_input: MakeJobInput, tmp_path: Path) -> None:
    def counts(reference: str) -> tuple[list[int], int]:
        job_input = make_job_input(reference)
        with Participant(
            Setting(job_input, job_input.cases[0], UNPINNED, tmp_path / "worker.log"), reference
        ) as subject:
            batches = [subject.batch(job_input.measure.batch_ns).handshakes for _ in range(3)]
            examined = subject.examine()
        assert examined is not None
        return batches, examined.plain.handshakes

    assert counts("fake@1.0+noise=0+client_ns=20000000+server_ns=40000000") == ([1, 1, 1], 2)
    assert counts("fake@1.0+noise=0+client_ns=10000000+server_ns=10000000") == ([1, 3, 3], 5)


def test_what_a_worker_counts_is_divided_by_what_the_same_worker_counted_it_over(
    make_job_input: MakeJobInput, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two workers of the untimed pass hold another number of connections. The slow subject holds fewer than the
    quick one."""
    answers: dict[tuple[str, bool], Examined] = {}
    receive = Worker.receive

    def listening(worker: Worker, timeout_s: float) -> Record:
        record = receive(worker, timeout_s)
        if isinstance(record, Examined):
            answers[worker.hello.version, record.total(Metric.HEAP_PEAK_BYTES) is not None] = record
        return record

    monkeypatch.setattr(Worker, "receive", listening)
    slow = "fake@2.0+noise=0+client_ns=20000000+server_ns=40000000"
    invocation = measure(make_job_input(STEADY, slow))
    for subject, version, held in ((STEADY, "1.0", 16), (slow, "2.0", 4)):
        plain, heap = answers[version, False], answers[version, True]
        assert (plain.held_connections, heap.held_connections) == (1, held)
        assert heap.total(Metric.SERVER_HELD_BYTES)
        assert heap.total(Metric.SERVER_ALLOCATIONS)
        for record, per, metrics in (
            (heap, held, (Metric.CLIENT_HELD_BYTES, Metric.SERVER_HELD_BYTES)),
            (heap, heap.handshakes, (Metric.CLIENT_ALLOCATIONS, Metric.SERVER_ALLOCATIONS)),
            (heap, 1, (Metric.HEAP_PEAK_BYTES,)),
            (plain, plain.handshakes, (Metric.CLIENT_RECORDS, Metric.ROUND_TRIPS)),
        ):
            for metric in metrics:
                assert values(invocation, subject, metric) == ((record.total(metric) or 0) / per,), metric


def test_a_planted_step_is_the_ratio_of_two_subjects(make_job_input: MakeJobInput, measure: Measure) -> None:
    slower = "fake@1.1+noise=0+step=1.02"
    invocation = measure(make_job_input(STEADY, slower))
    pairs = zip(values(invocation, slower, Metric.CPU_NS), values(invocation, STEADY, Metric.CPU_NS), strict=True)
    assert {after / before for after, before in pairs} == {1.02}


def test_what_was_negotiated_is_recorded_for_every_subject(make_job_input: MakeJobInput, measure: Measure) -> None:
    invocation = measure(make_job_input(STEADY))
    assert invocation.negotiated[STEADY].protocol == "TLSv1.2"
    assert invocation.negotiated[STEADY].peer_key_bits == 2048


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ("unsupported=1", OutcomeKind.UNSUPPORTED),
        ("fail_after=0", OutcomeKind.ERROR),
        ("fail_after=40", OutcomeKind.ERROR),
        ("mismatch_after=40", OutcomeKind.MISMATCH),
        ("crash_after=0", OutcomeKind.CRASHED),
        ("crash_after=40", OutcomeKind.CRASHED),
    ],
)
def test_a_subject_that_fails_has_an_outcome_and_no_number_and_the_others_go_on(
    setting: str, kind: OutcomeKind, make_job_input: MakeJobInput, measure: Measure
) -> None:
    broken = f"fake@2.0+{setting}"
    invocation = measure(make_job_input(STEADY, broken))
    assert [(outcome.subject, outcome.kind) for outcome in invocation.outcomes] == [(broken, kind)]
    assert invocation.outcomes[0].reason
    assert {sample.subject for sample in invocation.samples} == {STEADY}
    assert len(values(invocation, STEADY, Metric.CPU_NS)) == 3
    assert broken not in invocation.negotiated


def test_a_worker_that_hangs_is_ended_and_the_others_go_on(
    make_job_input: MakeJobInput, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_TIMEOUT_S", 0.3)
    invocation = measure(make_job_input(STEADY, "fake@2.0+hang_after=40"))
    assert [outcome.kind for outcome in invocation.outcomes] == [OutcomeKind.HUNG]
    assert {sample.subject for sample in invocation.samples} == {STEADY}


def test_a_kit_whose_worker_is_another_version_is_not_measured(make_job_input: MakeJobInput, measure: Measure) -> None:
    job_input = make_job_input(STEADY, "fake@1.1+noise=0")
    swapped = {STEADY: job_input.kits[STEADY], "fake@1.1+noise=0": job_input.kits[STEADY]}
    other = job_input.kits["fake@1.1+noise=0"].manifest
    wrong = swapped[STEADY].model_copy(update={"manifest": other.model_copy(update={"version": "9.9"})})
    invocation = measure(job_input.model_copy(update={"kits": {**swapped, "fake@1.1+noise=0": wrong}}))
    assert [(outcome.kind, "fake 1.1" in outcome.reason) for outcome in invocation.outcomes] == [
        (OutcomeKind.MISMATCH, True)
    ]


def emulating(job_input: JobInput, subject: str) -> JobInput:
    """The job input with a worker of one subject that says it is emulated."""
    known = job_input.kits[subject]
    verb, settings_of_fake = known.manifest.arguments
    manifest = known.manifest.model_copy(update={"arguments": (verb, f"{settings_of_fake},emulated=1")})
    return job_input.model_copy(
        update={"kits": {**job_input.kits, subject: known.model_copy(update={"manifest": manifest})}}
    )


def test_a_worker_beneath_an_emulator_is_not_measured(make_job_input: MakeJobInput, measure: Measure) -> None:
    invocation = measure(emulating(make_job_input(STEADY, "fake@2.0"), "fake@2.0"))
    outcomes = [(outcome.subject, outcome.kind) for outcome in invocation.outcomes]
    assert outcomes == [("fake@2.0", OutcomeKind.UNSUPPORTED)]
    assert "measured under emulation: the worker detected" in invocation.outcomes[0].reason
    assert {sample.subject for sample in invocation.samples} == {STEADY}
    assert not invocation.timers[STEADY].emulated


def test_nothing_is_measured_against_a_peer_beneath_an_emulator(make_job_input: MakeJobInput, measure: Measure) -> None:
    against = RSA.model_copy(update={"peer": "server:fake@3.0"})
    invocation = measure(emulating(make_job_input(STEADY, cases=(against,)), "fake@3.0"))
    assert invocation.samples == ()
    assert "measured under emulation" in invocation.outcomes[0].reason


def test_a_kit_for_another_architecture_is_not_even_started(make_job_input: MakeJobInput, measure: Measure) -> None:
    job_input = make_job_input(STEADY)
    foreign = "s390x" if platform.machine() != "s390x" else "x86_64"
    known = job_input.kits[STEADY]
    profile = known.manifest.build_profile.model_copy(update={"architecture": foreign})
    absent = known.model_copy(
        update={
            "folder": Path("/nowhere"),
            "manifest": known.manifest.model_copy(update={"build_profile": profile}),
        }
    )
    (outcome,) = measure(job_input.model_copy(update={"kits": {STEADY: absent}})).outcomes
    assert outcome.kind is OutcomeKind.UNSUPPORTED
    assert outcome.reason.startswith(f"would be measured under emulation: the kit is for {foreign}")


def test_bytes_and_first_handshakes_are_not_divided_alike() -> None:
    found = {sample.metric: sample.values for sample in samples_of("s", [a_batch()])}
    assert found[Metric.CPU_NS] == (300,)
    assert found[Metric.WALL_NS] == (325,)
    assert found[Metric.FIRST_NS] == (400,)
    assert found[Metric.SERVER_BYTES] == (20,)


def test_a_connection_is_its_objects_its_handshake_its_transfer_and_its_end() -> None:
    transferred = a_batch(
        client_transfer_cpu_ns=400, server_transfer_cpu_ns=800, client_finish_cpu_ns=4, server_finish_cpu_ns=8
    )
    costs = {sample.metric: sample.cost for sample in samples_of("x", [transferred] * 3)}
    assert costs[Metric.CLIENT_CONNECTION_CPU_NS] == 10 + 100 + 100 + 1
    assert costs[Metric.SERVER_CONNECTION_CPU_NS] == 20 + 200 + 200 + 2
    assert costs[Metric.CONNECTION_CPU_NS] == 211 + 422
    assert (costs[Metric.CLIENT_TRANSFER_CPU_NS], costs[Metric.SERVER_OBJECTS_CPU_NS]) == (100, 20)
    assert (costs[Metric.CPU_NS], costs[Metric.SERVER_CPU_NS]) == (300, 200)
    whole = {sample.metric: sample.cost for sample in samples_of("x", [transferred] * 3, whole_connection=True)}
    assert (whole[Metric.CPU_NS], whole[Metric.CLIENT_CPU_NS], whole[Metric.SERVER_CPU_NS]) == (633, 211, 422)
    without = {sample.metric: sample.cost for sample in samples_of("x", [a_batch()] * 3)}
    assert without[Metric.CONNECTION_CPU_NS] == 110 + 220
    assert Metric.CLIENT_TRANSFER_CPU_NS not in without


def test_what_a_batch_does_not_know_has_no_sample() -> None:
    unsplit = a_batch(
        client_cpu_ns=None,
        server_cpu_ns=None,
        wall_ns=None,
        first_client_ns=None,
        first_server_ns=None,
        client_objects_cpu_ns=None,
        server_objects_cpu_ns=None,
    )
    found = {sample.metric for sample in samples_of("s", [unsplit])}
    assert found == {Metric.ELAPSED_NS, Metric.BACKGROUND_CPU_NS, Metric.CLIENT_BYTES, Metric.SERVER_BYTES}


def test_the_untimed_pass_is_per_handshake_and_absent_where_nothing_counts(
    make_job_input: MakeJobInput, measure: Measure
) -> None:
    invocation = measure(make_job_input(STEADY))
    assert values(invocation, STEADY, Metric.CLIENT_RECORDS) == (2,)
    assert values(invocation, STEADY, Metric.ROUND_TRIPS) == (2,)
    assert values(invocation, STEADY, Metric.CLIENT_ALLOCATIONS)[0] >= 1
    assert Metric.CLIENT_INSTRUCTIONS not in {sample.metric for sample in invocation.samples}


def test_timer_costs_are_recorded_for_every_subject(make_job_input: MakeJobInput, measure: Measure) -> None:
    timer = measure(make_job_input(STEADY)).timers[STEADY]
    assert (timer.tick_source, timer.tick_cost_ns) == ("virtual", 0)


def test_two_libraries_play_one_role_each_and_each_side_is_its_own_workers(
    make_job_input: MakeJobInput, measure: Measure
) -> None:
    server = "fake@3.0+server_ns=700000+noise=0"
    against = RSA.model_copy(update={"peer": f"server:{server}"})
    invocation = measure(make_job_input(STEADY, cases=(against,)))
    assert invocation.outcomes == ()
    assert values(invocation, STEADY, Metric.CLIENT_CPU_NS) == (100_000,) * 3
    assert values(invocation, STEADY, Metric.SERVER_CPU_NS) == (700_000,) * 3
    assert values(invocation, STEADY, Metric.CPU_NS) == (800_000,) * 3


def test_of_two_workers_the_one_at_fault_is_named(make_job_input: MakeJobInput, measure: Measure) -> None:
    broken = "fake@3.0+fail_after=4"
    against = RSA.model_copy(update={"peer": f"server:{broken}"})
    outcomes = measure(make_job_input(STEADY, cases=(against,))).outcomes
    assert [(outcome.kind, outcome.reason) for outcome in outcomes] == [(OutcomeKind.ERROR, "the server's turn failed")]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dies_after=st.integers(0, 70), kind=st.sampled_from(["crash_after", "fail_after", "mismatch_after"]))
def test_no_batch_is_counted_twice_or_lost_whenever_a_worker_dies(
    dies_after: int, kind: str, make_job_input: MakeJobInput, measure: Measure
) -> None:
    """Every batch that workers reported, in their order, is what the samples hold, warm-up apart."""
    mortal, steady = f"fake@2.0+{kind}={dies_after}", "fake@1.0+noise=0.01"
    reported: dict[str, list[int]] = {"1.0": [], "2.0": []}
    receive = Worker.receive

    def listening(worker: Worker, timeout_s: float) -> Record:
        record = receive(worker, timeout_s)
        if isinstance(record, Batch):
            reported[worker.hello.version].append(round(record.thread_cpu_ns / record.handshakes))
        return record

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "receive", listening)
        invocation = measure(make_job_input(steady, mortal))
    counted = {subject: values(invocation, subject, Metric.ELAPSED_NS) for subject in invocation.negotiated}
    lived = {steady: "1.0", mortal: "2.0"}
    assert counted == {subject: tuple(reported[lived[subject]][2:]) for subject in counted}
    assert all(len(batches) == 3 for batches in counted.values())
    assert steady in counted
    assert {outcome.subject for outcome in invocation.outcomes} == {steady, mortal} - counted.keys()


def test_the_setup_request_names_every_dimension_of_the_case(make_job_input: MakeJobInput) -> None:
    job_input = make_job_input(STEADY)
    request = setup_request(ECDHE, job_input.material[ECDHE.case_id])
    assert request == (
        "setup id=tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm protocol=TLSv1.3 key_exchange=ECDHE-ECDSA "
        "cipher=AES-128-GCM group=X25519 rsa_bits=0 curve=P-256 chain_length=1 client_authentication=no "
        "resumption=none early_data_bytes=0 anti_replay=no hello_retry=no fips=no threads=1 verification=no "
        "trust_anchors=1 tickets=none transfer_bytes=0 context=shared certificate_names=1 "
        "certificate_policies=0 crl_distribution_points=0 intermediate_bytes=0 trust_store=file "
        "reload_every=0 server_names=1 roles=both "
        "key=key.pem certificate=certificate.pem dh_parameters=- ocsp_response=- trust_anchors_file=-"
    )


@pytest.mark.parametrize(
    ("mask", "architecture", "says"),
    [
        ("OPENSSL_ia32cap=0x1 env:~0x2:0", "x86_64", None),
        (None, "x86_64", None),
        ("OPENSSL_ia32cap=0xff", "x86_64", "expected ~0x2:0, the library reports OPENSSL_ia32cap=0xff"),
        (None, "aarch64", "masked only on x86_64, but this worker runs on aarch64"),
    ],
)
def test_a_mask_of_cpu_features_that_is_not_in_force_drops_the_subject(
    mask: str | None, architecture: str, says: str | None, make_job_input: MakeJobInput
) -> None:
    known = make_job_input(STEADY).kits[STEADY].manifest
    hello = Hello(
        type="hello",
        protocol_version=11,
        library=known.library,
        version=known.version,
        version_text="",
        architecture=architecture,
        emulated=False,
        cpus=None,
        cpu_features=mask,
        tick_source="tsc",
        thread_cpu_clock_cost_ns=1,
        tick_cost_ns=1,
    )
    fault = module.unfit(hello, known, {"OPENSSL_ia32cap": "~0x2:0"}, emulates=False)
    assert (fault is None) == (says is None)
    assert says is None or says in str(fault)
    assert module.unfit(hello, known, {}, emulates=False) is None
