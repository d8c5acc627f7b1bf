"""A kit of wolfSSL, built from its crate with the real recipe, measured beside this machine's OpenSSL."""

from pathlib import Path

import pytest

from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.kits import read_probe
from tests.runner.built import built_kits, built_with, contract_with
from tests.runner.real import OPENSSL, RealKits, a_case, measured, values

WOLFSSL = "wolfssl@crate/5.3.0"
FULL, RESUMED = (a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", **more) for more in ({}, {"resumption": "psk-dhe"}))
TICKET = a_case("TLSv1.2", "ECDHE-ECDSA", group="X25519", resumption="ticket")
HYBRID = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519MLKEM768")
STATIC_RSA = a_case("TLSv1.2", "RSA")
pytestmark = [*built_with("cargo", "autoreconf", "automake", "libtoolize", "make"), pytest.mark.long]


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> RealKits:
    return built_kits(tmp_path_factory.mktemp("wolfssl"), WOLFSSL)


def test_the_kit_has_the_librarys_version_and_the_crates(kits: RealKits) -> None:
    kit = kits[WOLFSSL].manifest
    assert (kit.library, kit.version, kit.source) == ("wolfssl", "5.9.4", "crate/5.3.0")
    assert (kit.build_profile.provider, kit.build_profile.linkage) == ("crate", "static")
    assert kit.licence is not None
    assert kit.licence.library == "GPL-3.0-or-later"
    assert ("crate wolfssl-sys", "5.3.0") in {(package.name, package.version) for package in kit.packages}
    probe = read_probe(kits[WOLFSSL].folder)
    assert probe is not None
    supported = {feature.value for feature in probe.features if feature.supported}
    assert {"X25519", "P-384", "X25519MLKEM768", "ticket", "session-id", "psk", "psk-dhe"} <= supported
    assert {"ffdhe2048", "X448", "MLKEM768"} & supported == set()
    assert {default.negotiated.group for default in probe.defaults if default.negotiated} == {"X25519MLKEM768"}
    assert {default.negotiated.tickets for default in probe.defaults if default.negotiated} == {1}


def test_full_and_resumed_handshakes_are_measured_and_proven(kits: RealKits, tmp_path: Path) -> None:
    for case, group in ((FULL, "X25519"), (RESUMED, "X25519"), (TICKET, "-")):
        folder = tmp_path / case.case_id
        folder.mkdir()
        result = measured(folder, kits, case, WOLFSSL, OPENSSL)
        assert result.outcomes == ()
        for subject in (WOLFSSL, OPENSSL):
            negotiated = result.negotiated[subject]
            assert (negotiated.protocol, negotiated.group) == (case.protocol, group)
            assert (negotiated.cipher, negotiated.resumed) == ("AES-128-GCM", case is not FULL)
            assert len(values(result, subject, Metric.CPU_NS)) > 0
        sent = {subject: min(values(result, subject, Metric.CLIENT_BYTES)) for subject in (WOLFSSL, OPENSSL)}
        assert 200 < sent[WOLFSSL] < 2 * sent[OPENSSL]


def test_a_hybrid_is_measured_and_what_the_library_lacks_is_unsupported(kits: RealKits, tmp_path: Path) -> None:
    (tmp_path / "hybrid").mkdir()
    (tmp_path / "rsa").mkdir()
    result = measured(tmp_path / "hybrid", kits, HYBRID, WOLFSSL)
    assert result.negotiated[WOLFSSL].group == "X25519MLKEM768"
    assert min(values(result, WOLFSSL, Metric.CLIENT_BYTES)) > 1184  # of the ML-KEM key alone (FIPS 203, table 3)
    (outcome,) = measured(tmp_path / "rsa", kits, STATIC_RSA, WOLFSSL).outcomes
    assert outcome.kind is OutcomeKind.UNSUPPORTED


def test_the_workers_contract_holds_with_the_library(kits: RealKits, tmp_path: Path) -> None:
    """The same suite that runs with this machine's OpenSSL and GnuTLS."""
    assert "wolfSSL 5.9.4" in contract_with("wolfssl", "5.9.4", tmp_path)
