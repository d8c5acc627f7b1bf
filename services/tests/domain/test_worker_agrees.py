"""The worker in C and the planner in Python have the same rules: what one refuses, the other calls impossible."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from kexbench.domain.cases import DIMENSIONS, Case, impossible
from kexbench.domain.dimensions import Key, Method
from kexbench.domain.possible import QUIC_EARLY_DATA_MAX
from kexbench.settings import Settings
from tests.domain.spaces import FIRST_POINTS, sample

SAMPLE = 4000
NO_PEER = "a single role needs the option --peer"
"""What a worker says to a possible case with a peer here, where it was started alone."""


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("worker")
    source = Settings().workers
    subprocess.run(["make", "-s", "-C", source, "BACKEND=fake", f"BUILD={build}"], check=True, capture_output=True)
    return build / "worker"


def setup_line(case: Case, number: int) -> str:
    files = {
        "key": "key.pem",
        "certificate": "-" if case.punctures or case.key_exchange.key is Key.PSK else "certificate.pem",
        "dh_parameters": "dh.pem" if case.dh_parameters_name else "-",
        "ocsp_response": "ocsp.der" if case.ocsp_bytes else "-",
        "trust_anchors_file": "roots.pem" if case.verification else "-",
    }
    words = {"id": f"case-{number}", **case.setup_fields(), **files}
    return "setup " + " ".join(f"{key}={value}" for key, value in words.items())


def answers(worker: Path, cases: list[Case]) -> list[dict[str, str]]:
    lines = [setup_line(case, number) for number, case in enumerate(cases)]
    done = subprocess.run(
        [worker, "--material", "/"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()[1:]]


def test_the_worker_refuses_exactly_what_is_impossible(worker: Path) -> None:
    # The worker hears of no server and no path, and reads the false-positive rate in the file of the key.
    unheard = [name for name, row in DIMENSIONS.items() if row.kind in ("servers", "paths")]
    usual = {name: Case.model_fields[name].default for name in [*unheard, "false_positive_bits"]}
    cases = [case.model_copy(update=usual) for case in sample(SAMPLE)]
    # It hears of punctures by the certificate that is missing, as it also is beside a pre-shared key.
    cases = [case.model_copy(update={"punctures": 0}) if case.key_exchange.key is Key.PSK else case for case in cases]
    verdicts: Counter[str] = Counter()
    for case, answer in zip(cases, answers(worker, cases), strict=True):
        assert answer["type"] in ("ready", "refused"), answer
        refused = answer["type"] == "refused" and answer["reason"] != NO_PEER
        assert refused == (impossible(case) is not None), (case.case_id, answer, impossible(case))
        verdicts[impossible(case) or "possible"] += 1
    assert verdicts["possible"] > SAMPLE / 8
    assert len({reason.partition(" (")[0] for reason in verdicts}) > 20, "the sample met few of the rules"


def test_early_data_of_quic_end_where_the_workers_do() -> None:
    """The backend of QUIC knows its limit, which a worker without it does not refuse."""
    header = (Settings().workers / "ngtcp2_backend.h").read_text(encoding="utf-8")
    datagram = re.search(r"DATAGRAM_BYTES = (\d+) ", header)
    window = re.search(r"EARLY_WINDOW_BYTES = (\d+) \* \(DATAGRAM_BYTES - (\d+)\)", header)
    assert datagram
    assert window
    assert int(window[1]) * (int(datagram[1]) - int(window[2])) == QUIC_EARLY_DATA_MAX


def test_every_usual_case_of_every_key_exchange_is_known_to_the_worker(worker: Path) -> None:
    usual = [point for point in FIRST_POINTS if not impossible(point)]
    assert {case.key_exchange.method for case in usual} == set(Method)
    assert Counter(answer["type"] for answer in answers(worker, usual)) == {"ready": len(usual)}
