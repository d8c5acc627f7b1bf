"""A kit of AWS-LC, built from its crate with the real recipe, measured beside this machine's OpenSSL."""

from pathlib import Path

import pytest

from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.kits import read_probe
from tests.runner.built import built_kits, built_with, contract_with
from tests.runner.real import OPENSSL, RealKits, a_case, measured, values

AWSLC = "awslc@crate/0.47.0"
FULL, RESUMED = (a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", **more) for more in ({}, {"resumption": "psk-dhe"}))
HYBRID = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519MLKEM768")
PSK_ALONE = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", resumption="psk")
pytestmark = [
    *built_with("cargo", "cmake", "c++", "make"),
    pytest.mark.long,
]


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> RealKits:
    return built_kits(tmp_path_factory.mktemp("awslc"), AWSLC)


def test_the_kit_has_the_librarys_version_and_the_crates(kits: RealKits) -> None:
    kit = kits[AWSLC].manifest
    assert (kit.library, kit.version, kit.source) == ("awslc", "5.12.0", "crate/0.47.0")
    assert (kit.build_profile.provider, kit.build_profile.linkage) == ("crate", "static")
    assert ("crate aws-lc-sys", "0.47.0") in {(package.name, package.version) for package in kit.packages}
    probe = read_probe(kits[AWSLC].folder)
    assert probe is not None
    supported = {feature.value for feature in probe.features if feature.supported}
    assert {"X25519", "P-384", "X25519MLKEM768", "ticket", "session-id", "psk-dhe"} <= supported
    assert {"ffdhe2048", "psk"} & supported == set()
    assert {default.negotiated.key_shares for default in probe.defaults if default.negotiated} == {2}
    assert {default.negotiated.tickets for default in probe.defaults if default.negotiated} == {2}


def test_full_and_resumed_handshakes_are_measured_and_proven(kits: RealKits, tmp_path: Path) -> None:
    for case, resumed in ((FULL, False), (RESUMED, True)):
        folder = tmp_path / case.case_id
        folder.mkdir()
        result = measured(folder, kits, case, AWSLC, OPENSSL)
        assert result.outcomes == ()
        for subject in (AWSLC, OPENSSL):
            negotiated = result.negotiated[subject]
            assert (negotiated.protocol, negotiated.group, negotiated.resumed) == ("TLSv1.3", "X25519", resumed)
            assert (negotiated.key_shares, negotiated.cipher) == (1, "AES-128-GCM")
            assert len(values(result, subject, Metric.CPU_NS)) > 0
        sent = {subject: min(values(result, subject, Metric.CLIENT_BYTES)) for subject in (AWSLC, OPENSSL)}
        assert 200 < sent[AWSLC] < 2 * sent[OPENSSL]


def test_a_hybrid_is_measured_and_what_the_library_lacks_is_unsupported(kits: RealKits, tmp_path: Path) -> None:
    (tmp_path / "hybrid").mkdir()
    (tmp_path / "psk").mkdir()
    result = measured(tmp_path / "hybrid", kits, HYBRID, AWSLC)
    assert result.negotiated[AWSLC].group == "X25519MLKEM768"
    assert min(values(result, AWSLC, Metric.CLIENT_BYTES)) > 1184  # of the ML-KEM key alone (FIPS 203, table 3)
    (outcome,) = measured(tmp_path / "psk", kits, PSK_ALONE, AWSLC).outcomes
    assert outcome.kind is OutcomeKind.UNSUPPORTED


def test_the_workers_contract_holds_with_the_library(kits: RealKits, tmp_path: Path) -> None:
    """The same suite that runs with this machine's OpenSSL and GnuTLS."""
    assert "AWS-LC 5.12.0" in contract_with("awslc", "5.12.0", tmp_path)
