"""A kit of s2n-tls, built from its crate with the real recipe, measured beside this machine's OpenSSL."""

from pathlib import Path

import pytest

from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.kits import read_probe
from tests.runner.built import built_kits, built_with, contract_with
from tests.runner.real import OPENSSL, RealKits, a_case, measured, values

S2N = "s2n@crate/0.3.47"
FULL, RESUMED = (a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", **more) for more in ({}, {"resumption": "psk-dhe"}))
HYBRID = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519MLKEM768")
PSK_ALONE = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", resumption="psk")
pytestmark = [
    *built_with("cargo", "cmake", "c++", "make", "ar"),
    pytest.mark.long,
]


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> RealKits:
    return built_kits(tmp_path_factory.mktemp("s2n"), S2N)


def test_the_kit_names_both_crates_and_can_do_what_the_librarys_policies_have(kits: RealKits) -> None:
    kit = kits[S2N].manifest
    assert (kit.library, kit.version, kit.source) == ("s2n", "0.3.47", "crate/0.3.47")
    assert (kit.build_profile.provider, kit.build_profile.linkage) == ("crate", "static")
    named = {(package.name, package.version) for package in kit.packages}
    assert {("crate s2n-tls-sys", "0.3.47"), ("aws-lc-sys", "0.47.0")} <= named
    assert kit.licence is not None
    assert "aws-lc-sys" in kit.licence.bundled
    probe = read_probe(kits[S2N].folder)
    assert probe is not None
    supported = {feature.value for feature in probe.features if feature.supported}
    assert {"X25519", "P-384", "X25519MLKEM768", "MLKEM1024", "ticket", "session-id", "psk-dhe"} <= supported
    assert {"ffdhe2048", "psk", "Ed25519", "AES-128-CBC-SHA"} & supported == set()
    defaults = [default.negotiated for default in probe.defaults if default.negotiated]
    assert {(seen.group, seen.key_shares, seen.tickets) for seen in defaults} == {("X25519MLKEM768", 2, 0)}


def test_full_and_resumed_handshakes_are_measured_and_proven(kits: RealKits, tmp_path: Path) -> None:
    for case, resumed in ((FULL, False), (RESUMED, True)):
        folder = tmp_path / case.case_id
        folder.mkdir()
        result = measured(folder, kits, case, S2N, OPENSSL)
        assert result.outcomes == ()
        for subject in (S2N, OPENSSL):
            negotiated = result.negotiated[subject]
            assert (negotiated.protocol, negotiated.group, negotiated.resumed) == ("TLSv1.3", "X25519", resumed)
            assert (negotiated.key_shares, negotiated.cipher) == (1, "AES-128-GCM")
            assert len(values(result, subject, Metric.CPU_NS)) > 0
        sent = {subject: min(values(result, subject, Metric.CLIENT_BYTES)) for subject in (S2N, OPENSSL)}
        assert 200 < sent[S2N] < 2 * sent[OPENSSL]


def test_a_hybrid_is_measured_and_what_the_library_lacks_is_unsupported(kits: RealKits, tmp_path: Path) -> None:
    (tmp_path / "hybrid").mkdir()
    (tmp_path / "psk").mkdir()
    result = measured(tmp_path / "hybrid", kits, HYBRID, S2N)
    assert (result.negotiated[S2N].group, result.negotiated[S2N].key_shares) == ("X25519MLKEM768", 1)
    assert min(values(result, S2N, Metric.CLIENT_BYTES)) > 1184  # of the ML-KEM key alone (FIPS 203, table 3)
    (outcome,) = measured(tmp_path / "psk", kits, PSK_ALONE, S2N).outcomes
    assert outcome.kind is OutcomeKind.UNSUPPORTED


def test_the_workers_contract_holds_with_the_library(kits: RealKits, tmp_path: Path) -> None:
    """The same suite that runs with this machine's OpenSSL and GnuTLS."""
    assert "s2n-tls 0.3.47 with AWS-LC 5.12.0" in contract_with("s2n", "0.3.47", tmp_path)
