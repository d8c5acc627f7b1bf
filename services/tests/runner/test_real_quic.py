"""A kit of ngtcp2 from a Debian suite: QUIC's handshakes with 0-RTT, beside this machine's OpenSSL."""

from pathlib import Path

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.probes import full_handshakes
from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.kits import KitStore, WorkerSource, Workshop, read_probe
from kexbench.kits.debian import DebianProvider
from kexbench.kits.system import SystemProvider
from kexbench.material.store import MaterialStore
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.probe import WorkerProber
from kexbench.settings import Settings
from tests.runner.real import OPENSSL, RealKits, a_case, measured, missing, values

QUIC = "ngtcp2@debian/trixie"
EARLY = {"group": "X25519", "resumption": "psk-dhe", "early_data_bytes": 1024, "anti_replay": True}
EARLY_DATA, OF_TLS = (a_case(protocol, "ECDHE-ECDSA", **EARLY) for protocol in ("QUICv1", "TLSv1.3"))
pytestmark = [
    pytest.mark.builds,
    pytest.mark.long,
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
]


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> RealKits:
    root, settings = tmp_path_factory.mktemp("quic"), Settings()
    providers = DebianProvider(settings.cache), SystemProvider()
    prober = WorkerProber(MaterialStore(root / "material"))
    kit_store = KitStore(root / "kits", Workshop(WorkerSource(settings.workers), providers, prober))
    manifests = {reference: kit_store.add(SubjectRef.parse(reference)) for reference in (QUIC, OPENSSL)}
    return {name: JobInputKit(folder=kit_store.folder(kit.kit_id), manifest=kit) for name, kit in manifests.items()}


def test_the_kit_has_the_suites_gnutls_and_is_probed_by_quic(kits: RealKits) -> None:
    kit = kits[QUIC].manifest
    assert {"lib/libgnutls.so.30", "lib/libngtcp2.so.16"} <= set(kit.files)
    assert {"libngtcp2-crypto-gnutls-dev", "libngtcp2-dev", "libgnutls28-dev"} <= {one.name for one in kit.packages}
    probe = read_probe(kits[QUIC].folder)
    assert probe is not None
    assert probe.of(full_handshakes("ngtcp2")[0]).supported
    supported = {feature.dimension for feature in probe.features if feature.supported}
    assert {"group", "key_exchange", "cipher", "resumption", "early_data_bytes", "ocsp_bytes"} <= supported


def test_early_data_is_measured_in_datagrams(kits: RealKits, tmp_path: Path) -> None:
    result = measured(tmp_path, kits, EARLY_DATA, QUIC)
    assert result.outcomes == ()
    negotiated = result.negotiated[QUIC]
    assert (negotiated.protocol, negotiated.group, negotiated.early_data_bytes) == ("QUICv1", "X25519", 1024)
    assert negotiated.resumed
    assert values(result, QUIC, Metric.ROUND_TRIPS) == (0,)
    assert len(values(result, QUIC, Metric.CPU_NS)) > 0
    # A datagram with an Initial packet has 1,200 bytes at least (RFC 9000, section 14.1).
    assert min(values(result, QUIC, Metric.CLIENT_BYTES)) > 1200 + 1024
    assert min(values(result, QUIC, Metric.SERVER_BYTES)) > 1200


@pytest.mark.parametrize(("case", "subject"), [(EARLY_DATA, OPENSSL), (OF_TLS, QUIC)])
def test_each_library_refuses_the_protocol_of_the_other(
    kits: RealKits, case: Case, subject: str, tmp_path: Path
) -> None:
    (outcome,) = measured(tmp_path, kits, case, subject).outcomes
    assert outcome.kind is OutcomeKind.UNSUPPORTED
