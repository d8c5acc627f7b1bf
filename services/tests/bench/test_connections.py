"""The worker beside an independent loop of connections: what is compared, what counts, and when they agree."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import report
from bench.connection_loop import PROGRAM, LoopTurn, Part, loop_command, loop_words, worker_part_ns
from bench.connections import COMPARED, SUBJECTS, Agreement, Round, agreement, timed_calls
from bench.machine import BenchError
from kexbench.domain.cases import Case, Cipher
from kexbench.domain.dimensions import ContextUse, Tickets
from kexbench.domain.material import MaterialFiles
from kexbench.material.store import MaterialStore
from kexbench.runner.records import Batch
from kexbench.settings import Settings
from tests.builders import a_kit
from tests.runner.real import missing

HANDSHAKE = COMPARED[0][0]
FILES = MaterialFiles(key="key.pem", certificate="chain.pem", dh_parameters="-", trust_anchors_file="roots.pem")
MATERIAL = Path("/material")


def a_batch(*, handshake_ns: int = 300_000, objects_ns: int = 8_000, switches: int = 0, split: bool = True) -> Batch:
    """Of ten connections. The times are those of one connection, both sides together."""
    names = ("client_cpu_ns", "server_cpu_ns", "client_objects_cpu_ns", "server_objects_cpu_ns")
    sides = dict.fromkeys(names[:2], handshake_ns * 5) | dict.fromkeys(names[2:], objects_ns * 5)
    unknown = ("wall_ns", "first_client_ns", "first_server_ns")
    later = [f"{side}_{part}_cpu_ns" for side in ("client", "server") for part in ("transfer", "finish")]
    return Batch.model_validate(
        {
            "type": "batch",
            "id": HANDSHAKE.case_id,
            "handshakes": 10,
            "thread_cpu_ns": 4_000_000,
            "background_cpu_ns": 0,
            "elapsed_ns": 4_000_000,
            "client_bytes": 0,
            "server_bytes": 0,
            "involuntary_switches": switches,
            "others_ns": 4_000_000 if switches else 0,
            **dict.fromkeys([*unknown, *later, "alone_handshakes", "alone_elapsed_ns", "alone_others_ns"]),
            **(sides if split else dict.fromkeys(sides)),
        }
    )


def a_turn(*, handshake_ns: int = 300_000, objects_ns: int = 8_000, preemptions: int = 0) -> LoopTurn:
    """Of four connections, as `a_batch`."""
    return LoopTurn(
        connections=4,
        preemptions=preemptions,
        thread_cpu_ns=2_000_000,
        elapsed_ns=2_500_000,
        first_handshake_ns=2 * handshake_ns,
        client_objects_ns=objects_ns * 3,
        server_objects_ns=objects_ns,
        client_handshake_ns=handshake_ns,
        server_handshake_ns=handshake_ns * 3,
        client_transfer_ns=0,
        server_transfer_ns=0,
        client_finish_ns=0,
        server_finish_ns=0,
    )


def compared(part: Part, invocations: Sequence[Sequence[Round]]) -> Agreement:
    return agreement(SUBJECTS[0], "1.1.1w", HANDSHAKE, part, invocations)


@pytest.mark.parametrize(
    ("part", "expected_ns"), [(Part.HANDSHAKE, 300_000), (Part.OBJECTS, 8_000), (Part.CONNECTION, 308_000)]
)
def test_a_part_is_the_time_of_both_sides_in_one_connection(part: Part, expected_ns: float) -> None:
    assert worker_part_ns(a_batch(), part) == expected_ns
    assert a_turn().part_ns(part) == expected_ns


def test_a_batch_without_the_part_is_an_error() -> None:
    with pytest.raises(BenchError, match="has no transfer"):
        worker_part_ns(a_batch(), Part.TRANSFER)
    with pytest.raises(BenchError, match="has no handshake"):
        worker_part_ns(a_batch(split=False), Part.HANDSHAKE)


def test_the_ratio_is_the_median_over_invocations_of_the_median_over_rounds() -> None:
    rounds = [[Round(a_batch(handshake_ns=ns), a_turn()) for ns in (300_000, first_ns, 3_000_000)] for first_ns in
              (303_000, 306_000, 330_000)]  # fmt: skip
    result = compared(Part.HANDSHAKE, rounds)
    assert result.ratio.value == pytest.approx(1.02)
    assert result.rounds == 9


def test_a_round_in_which_either_was_preempted_does_not_count() -> None:
    clean = Round(a_batch(), a_turn())
    spoilt = [Round(a_batch(handshake_ns=900_000, switches=1), a_turn()), Round(a_batch(), a_turn(preemptions=2))]
    result = compared(Part.HANDSHAKE, [[clean, *spoilt], spoilt])
    assert (result.ratio.value, result.rounds, result.worker_ns) == (1, 1, 300_000)
    with pytest.raises(BenchError, match="preempted in every round"):
        compared(Part.HANDSHAKE, [spoilt])


@pytest.mark.parametrize(
    ("part", "more_ns", "agrees"),
    [
        (Part.HANDSHAKE, 5_000, True),
        (Part.HANDSHAKE, 7_000, False),
        (Part.HANDSHAKE, -7_000, False),
        (Part.OBJECTS, 390, True),
        (Part.OBJECTS, 410, False),
        (Part.OBJECTS, -390, False),
    ],
)
def test_a_part_agrees_within_the_tolerance_or_if_short_within_the_workers_own_calls(
    part: Part, more_ns: int, agrees: bool
) -> None:
    batch = a_batch(handshake_ns=300_000 + more_ns, objects_ns=8_000 + more_ns)
    assert compared(part, [[Round(batch, a_turn())]]).agrees == agrees


def test_a_part_whose_interval_reaches_into_the_tolerance_does_not_disagree() -> None:
    def invocations(*more_ns: int) -> list[list[Round]]:
        return [[Round(a_batch(handshake_ns=300_000 + more), a_turn())] for more in more_ns]

    unsure = compared(Part.HANDSHAKE, invocations(2_000, 3_000, 7_000, 7_000, 8_000, 9_000, 9_000))
    assert (unsure.is_alike, unsure.may_be_alike, unsure.agrees) == (False, True, True)
    sure = compared(Part.HANDSHAKE, invocations(*[8_000] * 7))
    assert (sure.may_be_alike, sure.agrees) == (False, False)


def test_timed_calls_follow_from_the_case() -> None:
    calls = {(case.transfer_bytes, part): timed_calls(case, part) for case, parts in COMPARED for part in parts}
    assert calls[0, Part.OBJECTS] == 4
    assert calls[16_384, Part.TRANSFER] == 2
    assert calls[2**20, Part.TRANSFER] == 32
    assert calls[4096, Part.CONNECTION] == 4 + 5 + 2 + 3


def test_the_loop_can_do_every_case_that_is_compared() -> None:
    words = {case.case_id: loop_words(case, FILES, MATERIAL) for case, _ in COMPARED}
    assert words[HANDSHAKE.case_id] == ["/material/chain.pem", "/material/key.pem", "-"]
    assert len(COMPARED) * len(SUBJECTS) >= 12
    assert len({" ".join(line) for line in words.values()}) >= len(COMPARED) - 2  # files tell the others apart


def test_the_loops_arguments_follow_from_the_case() -> None:
    case = HANDSHAKE.model_copy(
        update={
            "chain_length": 2,
            "verification": True,
            "tickets": Tickets.DEFAULT,
            "transfer_bytes": 4096,
            "context": ContextUse.CONNECTION,
        }
    )
    assert loop_words(case, FILES, MATERIAL)[2:] == ["/material/roots.pem", "tickets", "transfer=4096", "own-context"]


def test_a_case_that_the_loop_cannot_do_is_an_error() -> None:
    case = Case.model_validate({**HANDSHAKE.model_dump(), "cipher": Cipher.CHACHA20_POLY1305})
    with pytest.raises(BenchError, match="can't do the case"):
        loop_words(case, FILES, MATERIAL)


def test_the_loop_starts_with_the_kits_own_loader() -> None:
    loader = ("lib/ld.so", "--library-path", "lib", "bin/worker")
    kit = a_kit("fake@1.0").model_copy(update={"worker": loader})
    command = loop_command(kit, Path("/kit"), Path("/built/plain_connection"), ["chain.pem"])
    assert command == ["/kit/lib/ld.so", "--library-path", "lib", "/built/plain_connection", "chain.pem"]


def test_the_table_says_what_agrees_and_how() -> None:
    batches = [a_batch(), a_batch(objects_ns=8_300), a_batch(handshake_ns=330_000)]
    parts = (Part.HANDSHAKE, Part.OBJECTS, Part.HANDSHAKE)
    results = [compared(part, [[Round(batch, a_turn())]]) for part, batch in zip(parts, batches, strict=True)]
    summary, _, _, _, *rows = report.connections_table(results).splitlines()
    assert summary.startswith(
        "1 of 3 parts agree within 2%, in 1 cases and 1 kits. 0 more have an interval that reaches into 2%. "
        "1 short ones agree within 0.1 µs"
    )
    assert [row.rpartition(" | ")[2] for row in rows] == ["within 2% |", "within 0.4 µs |", "no |"]
    assert "| debian/bullseye 1.1.1w |" in rows[0]
    assert "| 300.00 | 330.00 | +10.0% | 1 | no |" in rows[2]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The loop, linked with this machine's OpenSSL."""
    if reason := missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("loop")
    make = ["make", "--silent", "-C", str(Settings().workers), f"BUILD={folder}", "plain-connection"]
    subprocess.run(make, check=True)
    return folder / PROGRAM


@pytest.mark.parametrize("case", [case for case, _ in COMPARED], ids=lambda case: case.case_id)
def test_the_loop_makes_the_connections_of_every_case(program: Path, case: Case, tmp_path: Path) -> None:
    files = MaterialStore(tmp_path).provide(case)
    words = loop_words(case, files, tmp_path)
    answer = subprocess.run([program, *words], input="0\n", text=True, capture_output=True, check=True)
    turn = LoopTurn.model_validate_json(answer.stdout)
    parts_ns = [turn.part_ns(part) for part in Part]
    assert turn.connections >= 3
    assert all(ns > 0 for ns in parts_ns[:2])
    assert [ns > 0 for ns in parts_ns[2:4]] == [case.transfer_bytes > 0] * 2
    assert parts_ns[4] * turn.connections <= turn.thread_cpu_ns


def test_the_loop_refuses_a_server_that_its_trust_anchors_do_not_vouch_for(program: Path, tmp_path: Path) -> None:
    case = next(case for case, _ in COMPARED if case.verification)
    files, others = MaterialStore(tmp_path / "one").provide(case), MaterialStore(tmp_path / "other").provide(case)
    words = loop_words(case, files, tmp_path / "one")
    words[2] = str(tmp_path / "other" / others.trust_anchors_file)
    answer = subprocess.run([program, *words], input="0\n", text=True, capture_output=True, check=False)
    assert answer.returncode == 1
    assert "certificate verify failed" in answer.stderr
