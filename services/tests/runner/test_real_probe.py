"""What this machine's own libraries prove of themselves: plausible features, and defaults that tell them apart."""

import pytest

from kexbench.domain.kit_changes import compare_kits
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.domain.probes import FULL_HANDSHAKES, KitProbe
from kexbench.kits import KitStore, WorkerSource, Workshop, read_probe, verify_kit
from kexbench.kits.system import SystemProvider
from kexbench.material.store import MaterialStore
from kexbench.runner.probe import WorkerProber
from kexbench.settings import Settings
from tests.runner.real import GNUTLS, OPENSSL, missing

pytestmark = pytest.mark.real
Proven = dict[str, tuple[KitManifest, KitProbe]]
HYBRID = "X25519MLKEM768"


@pytest.fixture(scope="module")
def prober(tmp_path_factory: pytest.TempPathFactory) -> WorkerProber:
    return WorkerProber(MaterialStore(tmp_path_factory.mktemp("material")))


@pytest.fixture(scope="module")
def kit_store(tmp_path_factory: pytest.TempPathFactory, prober: WorkerProber) -> KitStore:
    if reason := missing():
        pytest.skip(reason)
    workshop = Workshop(WorkerSource(Settings().workers), (SystemProvider(),), prober)
    return KitStore(tmp_path_factory.mktemp("kit-store") / "kits", workshop)


@pytest.fixture(scope="module")
def proven(kit_store: KitStore) -> Proven:
    found = {}
    for reference in (OPENSSL, GNUTLS):
        kit = kit_store.add(SubjectRef.parse(reference))
        probe = read_probe(kit_store.folder(kit.kit_id))
        assert probe is not None
        found[reference] = (kit, probe)
    return found


@pytest.mark.parametrize("reference", [OPENSSL, GNUTLS])
def test_a_real_kit_makes_the_handshakes_that_count_and_the_usual_ones(proven: Proven, reference: str) -> None:
    kit, probe = proven[reference]
    assert probe.version == kit.version
    assert all(probe.of(case).supported for case in FULL_HANDSHAKES)
    able = {found.label for found in probe.features if found.supported}
    assert {"X25519", "P-384", "ECDSA", "Ed25519", "AES-256-GCM", "session-id", "psk-dhe", "OCSP stapling"} <= able


@pytest.mark.parametrize("reference", [OPENSSL, GNUTLS])
def test_what_a_real_library_lacks_it_says_in_its_own_words(proven: Proven, reference: str) -> None:
    lacking = [found for found in proven[reference][1].features if not found.supported]
    assert all(found.result == "unsupported" and found.reason for found in lacking)
    kit, probe = proven[reference]
    hybrid = next(found for found in probe.features if found.value == HYBRID)
    if kit.version.startswith("3.0.") and kit.library == "openssl":
        assert hybrid.detail is not None
        assert "passed invalid argument" in hybrid.detail
    if kit.version.startswith("3.7.") and kit.library == "gnutls":
        assert hybrid.detail is not None
        assert "GNUTLS_E_INVALID_REQUEST" in hybrid.detail


@pytest.mark.parametrize("reference", [OPENSSL, GNUTLS])
def test_the_defaults_of_a_real_library_are_looked_at_whole(proven: Proven, reference: str) -> None:
    for found in proven[reference][1].defaults:
        assert found.negotiated is not None
        assert found.negotiated.protocol == "TLSv1.3"
        assert found.round_trips == 1
        assert found.client_bytes is not None
        assert found.client_bytes > 100
        assert found.setup_cpu_ns is not None
        assert found.setup_cpu_ns > 0


def test_two_libraries_differ_in_what_they_do_by_default(proven: Proven) -> None:
    changes = compare_kits(proven[OPENSSL], proven[GNUTLS])
    assert changes.probe is not None
    assert any(change.what in ("group", "client_bytes") for change in changes.probe.defaults)
    assert len(changes.setup) == 2


@pytest.mark.parametrize("reference", [OPENSSL, GNUTLS])
def test_a_real_kit_proves_the_same_when_it_is_asked_again(
    proven: Proven, kit_store: KitStore, prober: WorkerProber, reference: str
) -> None:
    kit, _ = proven[reference]
    check = verify_kit(kit_store, kit.kit_id, prober, kit.worker_source_sha256)
    assert (check.verdict, check.lines) == ("sound", ())
