"""A kit of BoringSSL, built from its crate with the real recipe, measured beside this machine's OpenSSL. It is of the
older series, whose libcrypto is C, since that compiles in half the time."""

from pathlib import Path

import pytest

from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.kits import read_probe
from tests.runner.built import built_kits, built_with, contract_with
from tests.runner.real import OPENSSL, RealKits, a_case, measured, values

VERSION = "4.22.0"
BORINGSSL = f"boringssl@crate/{VERSION}"
FULL, RESUMED, VERIFIED = (
    a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", **more)
    for more in ({}, {"resumption": "psk-dhe"}, {"chain_length": 2, "verification": True})
)
HYBRID = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519MLKEM768")
pytestmark = [
    *built_with("cargo", "cmake", "c++", "make", "git"),
    pytest.mark.long,
]


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> RealKits:
    return built_kits(tmp_path_factory.mktemp("boringssl"), BORINGSSL)


def test_the_kits_version_is_the_crates(kits: RealKits) -> None:
    kit = kits[BORINGSSL].manifest
    assert (kit.library, kit.version, kit.source) == ("boringssl", VERSION, f"crate/{VERSION}")
    assert (kit.build_profile.provider, kit.build_profile.linkage) == ("crate", "static")
    assert ("crate boring-sys", VERSION) in {(package.name, package.version) for package in kit.packages}
    probe = read_probe(kits[BORINGSSL].folder)
    assert probe is not None
    supported = {feature.value for feature in probe.features if feature.supported}
    assert {"X25519", "P-384", "AES-128-GCM", "ticket", "session-id", "psk-dhe"} <= supported
    assert {"ffdhe2048", "psk", "X25519MLKEM768"} & supported == set()
    assert {default.negotiated.key_shares for default in probe.defaults if default.negotiated} == {1}
    assert {default.negotiated.tickets for default in probe.defaults if default.negotiated} == {2}


def test_handshakes_are_measured_and_proven(kits: RealKits, tmp_path: Path) -> None:
    for case in (FULL, RESUMED, VERIFIED):
        folder = tmp_path / case.case_id
        folder.mkdir()
        result = measured(folder, kits, case, BORINGSSL, OPENSSL)
        assert result.outcomes == ()
        for subject in (BORINGSSL, OPENSSL):
            negotiated = result.negotiated[subject]
            assert (negotiated.protocol, negotiated.group) == ("TLSv1.3", "X25519")
            assert negotiated.resumed is (case is RESUMED)
            assert (negotiated.key_shares, negotiated.cipher) == (1, "AES-128-GCM")
            # Leaf, intermediate and trust anchor.
            assert negotiated.verified_length == (None if case is RESUMED else 3 if case is VERIFIED else 0)
            assert len(values(result, subject, Metric.CPU_NS)) > 0
        sent = {subject: min(values(result, subject, Metric.CLIENT_BYTES)) for subject in (BORINGSSL, OPENSSL)}
        assert 200 < sent[BORINGSSL] < 2 * sent[OPENSSL]


def test_what_this_version_lacks_is_unsupported(kits: RealKits, tmp_path: Path) -> None:
    (outcome,) = measured(tmp_path, kits, HYBRID, BORINGSSL).outcomes
    assert outcome.kind is OutcomeKind.UNSUPPORTED


def test_the_workers_contract_holds_with_the_library(kits: RealKits, tmp_path: Path) -> None:
    """The same suite that runs with this machine's OpenSSL and GnuTLS."""
    assert f"BoringSSL {VERSION}" in contract_with("boringssl", VERSION, tmp_path)
