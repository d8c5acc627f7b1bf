"""A kit of Bloom filter encryption, built from the sources of this repository, beside this machine's OpenSSL."""

import shutil
from pathlib import Path

import pytest

from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.kits import SubjectRef
from kexbench.domain.probes import full_handshakes
from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.kits import KitStore, WorkerSource, Workshop, read_probe
from kexbench.kits.bundled import BundledProvider
from kexbench.kits.system import SystemProvider
from kexbench.material.store import MaterialStore
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.probe import WorkerProber
from kexbench.settings import Settings
from tests.runner.real import OPENSSL, RealKits, a_case, measured, missing, values

BFE = "bfe@bundled"
CASE = Case(
    protocol=Protocol.BFE_0RTT, key_exchange=KeyExchange.BFE, group="BLS12-381", punctures=100, early_data_bytes=1024
)
EARLY_DATA = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", resumption="psk-dhe", early_data_bytes=1024)
pytestmark = [
    pytest.mark.builds,
    pytest.mark.skipif(missing() is not None or shutil.which("cargo") is None, reason=missing() or "no cargo"),
]


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> RealKits:
    root, settings = tmp_path_factory.mktemp("bfe"), Settings()
    providers = BundledProvider(settings.workers.parent / "bfe", settings.cache), SystemProvider()
    prober = WorkerProber(MaterialStore(root / "material"))
    kit_store = KitStore(root / "kits", Workshop(WorkerSource(settings.workers), providers, prober))
    manifests = {reference: kit_store.add(SubjectRef.parse(reference)) for reference in (BFE, OPENSSL)}
    return {name: JobInputKit(folder=kit_store.folder(kit.kit_id), manifest=kit) for name, kit in manifests.items()}


def test_the_kit_names_what_it_stands_on_and_is_probed_by_its_own_protocol(kits: RealKits) -> None:
    kit = kits[BFE].manifest
    assert (kit.version, kit.build_profile.linkage, kit.build_profile.provider) == ("1.0.0", "static", "bundled")
    assert [package.version for package in kit.packages if package.name == "crate blst"] == ["0.3.17"]
    probe = read_probe(kits[BFE].folder)
    assert probe is not None
    assert [(feature.case_id, feature.supported) for feature in probe.features] == [
        (full_handshakes("bfe")[0].case_id, True)
    ]


def test_early_data_is_measured_and_costs_its_server_more_than_that_of_a_ticket(kits: RealKits, tmp_path: Path) -> None:
    punctured, resumed = measured(tmp_path, kits, CASE, BFE), measured(tmp_path, kits, EARLY_DATA, OPENSSL)
    assert punctured.outcomes == resumed.outcomes == ()
    negotiated = punctured.negotiated[BFE]
    assert (negotiated.protocol, negotiated.group, negotiated.early_data_bytes) == ("BFE-0RTT-1", "BLS12-381", 1024)
    assert values(punctured, BFE, Metric.ROUND_TRIPS) == (0,)
    assert len(values(punctured, BFE, Metric.SERVER_CPU_NS)) == len(values(punctured, BFE, Metric.CPU_NS)) > 0
    assert values(punctured, BFE, Metric.WALL_NS) == ()
    assert min(values(punctured, BFE, Metric.CPU_NS)) > 2 * max(values(resumed, OPENSSL, Metric.CPU_NS))


@pytest.mark.parametrize(("case", "subject"), [(CASE, OPENSSL), (EARLY_DATA, BFE)])
def test_each_library_refuses_the_protocol_of_the_other(
    kits: RealKits, case: Case, subject: str, tmp_path: Path
) -> None:
    (outcome,) = measured(tmp_path, kits, case, subject).outcomes
    assert outcome.kind is OutcomeKind.UNSUPPORTED
