"""A prober asks a worker for everything, believes what was proven, and outlives workers that end."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.kits import Launch
from kexbench.domain.material import MaterialFiles
from kexbench.domain.probes import FULL_HANDSHAKES, KitProbe, ProbeCutShort, ProbeFailed, tried
from kexbench.runner.probe import MAX_ENDED_WORKERS, WorkerProber
from tests.conftest import FakeKit
from tests.runner.test_worker import HELLO

WORKER = """
import json, os, sys
print('%s', flush=True)
for line in sys.stdin:
    words = dict(word.partition("=")[::2] for word in line.split()[1:])
    verb, case = line.split()[0], words["id"]
    negotiated = dict.fromkeys(("protocol", "cipher", "group", "signature", "peer_key"), "-")
    negotiated |= {"peer_key_bits": 0, "resumed": False}
    answer = {"type": "ready", "id": case, "negotiated": negotiated}
    if verb == "run":
        answer = {"type": "failed", "id": case, "handshakes": 0, "kind": "mismatch", "reason": "r", "detail": None}
    if verb == "examine":
        answer = {"type": "refused", "id": case, "kind": "error", "reason": "not examined", "detail": None}
    %s
    print(json.dumps(answer), flush=True)
"""
Probe = Callable[[str], KitProbe]


class NoMaterial:
    """For workers that read none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[Case] = []

    def provide(self, case: Case) -> MaterialFiles:
        self.asked.append(case)
        return MaterialFiles(key="key.pem", certificate="certificate.pem", dh_parameters="-")


@pytest.fixture
def probe(tmp_path: Path) -> Probe:
    """`probe("statements")` is of a worker that runs them before each of its answers."""

    def run(statements: str) -> KitProbe:
        launch = Launch(arguments=(sys.executable, "-c", WORKER % (HELLO, statements)), environment={}, folder="/")
        return WorkerProber(NoMaterial(tmp_path)).probe(launch, "fake", tmp_path / "log", fips=False)

    return run


def test_a_fake_supports_everything_and_takes_what_it_takes_by_default(fake_kit: FakeKit, tmp_path: Path) -> None:
    folder, kit = fake_kit("fake@1.0")
    material = NoMaterial(tmp_path)
    found = WorkerProber(material).probe(kit.launch(folder, tmp_path), "fake", tmp_path / "log", fips=True)
    assert found.version == "1.0"
    assert all(feature.supported for feature in found.features)
    assert [feature.label for feature in found.features][-1] == "FIPS"
    assert len(found.features) == len(tried(fips=True))
    for default in found.defaults:
        assert default.negotiated is not None
        assert (default.negotiated.group, default.client_bytes, default.server_bytes) == ("X25519", 400, 1600)
        assert default.setup_cpu_ns is not None
        assert default.setup_cpu_ns > 0
    asked = [case.case_id for case in material.asked]
    assert len(asked) == len(set(asked)), "a case that stands for several features is tried once"


def test_what_a_library_lacks_is_unsupported_in_its_own_words(probe: Probe) -> None:
    refuse = '{"type": "refused", "id": case, "kind": "unsupported", "reason": "no group", "detail": "its words"}'
    found = probe(f'answer = {refuse} if words.get("group") == "X448" else answer')
    assert {feature.label: feature.why for feature in found.features if feature.result == "unsupported"} == {
        "X448": "no group: its words"
    }


def test_a_full_handshake_counts_only_once_a_batch_was_proven(probe: Probe) -> None:
    found = probe("pass")
    assert {found.of(case).result for case in FULL_HANDSHAKES} == {"mismatch"}
    assert all(feature.supported for feature in found.features if feature.label == "X25519")


def test_a_default_that_cannot_be_looked_at_says_why(probe: Probe) -> None:
    assert {(default.result, default.reason) for default in probe("pass").defaults} == {("error", "not examined")}


def test_a_worker_that_crashes_is_that_features_matter_alone(probe: Probe) -> None:
    found = probe('if words.get("group") == "X448": os._exit(9)')
    results = {feature.label: feature.result for feature in found.features if feature.dimension == "group"}
    assert results.pop("X448") == "crashed"
    assert set(results.values()) == {"supported", "mismatch"}


def test_a_worker_that_keeps_ending_is_given_up(probe: Probe) -> None:
    with pytest.raises(ProbeFailed, match=rf"{MAX_ENDED_WORKERS} workers crashed or hung, .* status 9"):
        probe("os._exit(9)")


def test_a_program_that_does_not_start_cannot_be_probed(tmp_path: Path) -> None:
    launch = Launch(arguments=(str(tmp_path / "missing"),), environment={}, folder=str(tmp_path))
    with pytest.raises(ProbeFailed, match="does not start"):
        WorkerProber(NoMaterial(tmp_path)).probe(launch, "fake", tmp_path / "log", fips=False)


@pytest.mark.parametrize("number", ["SIGTERM", "SIGKILL"])
def test_a_worker_that_somebody_ends_says_nothing_of_the_kit(probe: Probe, number: str) -> None:
    end = f"import signal; os.kill(os.getpid(), signal.{number})"
    with pytest.raises(ProbeCutShort, match="the worker was ended by signal"):
        probe(f'if words.get("group") == "X448": {end}')


def test_a_worker_that_dies_of_a_fault_of_its_own_has_crashed(probe: Probe) -> None:
    probed = probe('if words.get("group") == "X448": import signal; os.kill(os.getpid(), signal.SIGSEGV)')
    assert {feature.label for feature in probed.features if feature.result == "crashed"} == {"X448"}
