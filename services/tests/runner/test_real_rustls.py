"""A kit of rustls, built by the real cargo, measured beside this machine's OpenSSL. Its provider is ring, which
compiles in a quarter of the time of aws-lc-rs, the crate's default."""

from pathlib import Path

import pytest

from kexbench.domain.samples import Metric, OutcomeKind
from kexbench.kits import read_probe
from tests.runner.built import built_kits, built_with, contract_with
from tests.runner.real import OPENSSL, RealKits, a_case, measured, values

RUSTLS = "rustls@crate/0.23.46+with-ring"
OLDEST = "rustls@crate/0.23.12+with-ring"
FULL, RESUMED = (a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", **more) for more in ({}, {"resumption": "psk-dhe"}))
HYBRID = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519MLKEM768")
PSK_ALONE = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", resumption="psk")
pytestmark = [*built_with("cargo", "rustc", "make"), pytest.mark.long]


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> RealKits:
    return built_kits(tmp_path_factory.mktemp("rustls"), RUSTLS)


def test_the_kit_has_the_crates_that_it_was_built_from(kits: RealKits) -> None:
    kit = kits[RUSTLS].manifest
    assert (kit.library, kit.version, kit.source) == ("rustls", "0.23.46", "crate/0.23.46+with-ring")
    assert (kit.build_profile.linkage, kit.build_profile.flags) == ("static", "with-ring")
    names = {package.name for package in kit.packages}
    assert {"crate rustls", "ring", "rustls-webpki"} <= names
    assert "aws-lc-rs" not in names
    probe = read_probe(kits[RUSTLS].folder)
    assert probe is not None
    supported = {feature.value for feature in probe.features if feature.supported}
    assert {"X25519", "P-384", "ticket", "session-id", "psk-dhe"} <= supported
    assert {"ffdhe2048", "psk", "X25519MLKEM768"} & supported == set()
    assert {default.negotiated.tickets for default in probe.defaults if default.negotiated} == {2}


def test_no_path_of_this_machine_is_in_the_worker(kits: RealKits) -> None:
    kit = kits[RUSTLS]
    worker = (kit.folder / kit.manifest.worker[-1]).read_bytes()
    assert b"rustls" in worker
    assert str(Path.home()).encode() not in worker


def test_full_and_resumed_handshakes_are_measured_and_proven(kits: RealKits, tmp_path: Path) -> None:
    for case, resumed in ((FULL, False), (RESUMED, True)):
        folder = tmp_path / case.case_id
        folder.mkdir()
        result = measured(folder, kits, case, RUSTLS, OPENSSL)
        assert result.outcomes == ()
        for subject in (RUSTLS, OPENSSL):
            negotiated = result.negotiated[subject]
            assert (negotiated.protocol, negotiated.group, negotiated.resumed) == ("TLSv1.3", "X25519", resumed)
            assert (negotiated.key_shares, negotiated.cipher) == (1, "AES-128-GCM")
            assert len(values(result, subject, Metric.CPU_NS)) > 0
        sent = {subject: min(values(result, subject, Metric.CLIENT_BYTES)) for subject in (RUSTLS, OPENSSL)}
        assert 200 < sent[RUSTLS] < 2 * sent[OPENSSL]


def test_the_oldest_server_does_not_tell_the_group_of_a_resumption_and_its_client_does(tmp_path: Path) -> None:
    result = measured(tmp_path, built_kits(tmp_path, OLDEST), RESUMED, OLDEST)
    assert result.outcomes == ()
    assert (result.negotiated[OLDEST].group, result.negotiated[OLDEST].resumed) == ("X25519", True)


def test_what_the_library_lacks_is_unsupported(kits: RealKits, tmp_path: Path) -> None:
    for case in (HYBRID, PSK_ALONE):
        folder = tmp_path / case.case_id
        folder.mkdir()
        (outcome,) = measured(folder, kits, case, RUSTLS).outcomes
        assert outcome.kind is OutcomeKind.UNSUPPORTED


def test_the_workers_contract_holds_with_the_library(kits: RealKits, tmp_path: Path) -> None:
    """The same suite that runs with this machine's OpenSSL and GnuTLS."""
    assert "rustls 0.23.46 with " in contract_with("rustls", "0.23.46", tmp_path)
