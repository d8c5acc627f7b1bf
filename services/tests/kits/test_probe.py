"""A kit is admitted on proven handshakes; what it proved is kept beside its manifest and can be checked again."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kexbench.domain.kits import Launch, Library, SubjectRef
from kexbench.domain.probes import FULL_HANDSHAKES, Feature, KitProbe, ProbeCutShort, ProbeFailed
from kexbench.domain.samples import OutcomeKind
from kexbench.kits import KitError, KitStore, WorkerSource, Workshop, default_providers, kit_ids, read_probe, verify_kit
from kexbench.kits.errors import StepFailed
from kexbench.kits.probe import prove
from kexbench.kits.provider import Provider
from kexbench.kits.target import target_for
from kexbench.kits.verify import KitCheck
from tests.builders import a_kit, a_probe

from .conftest import STANDIN


@dataclass
class Answers:
    """A prober that finds what it is set to find. `None` is a worker that can't be asked."""

    material: Path
    probe_found: KitProbe | None = field(default_factory=a_probe)
    failure: type[ProbeFailed] = ProbeFailed
    launched: list[Launch] = field(default_factory=list)

    def probe(self, launch: Launch, library: Library, log: Path, *, fips: bool) -> KitProbe:
        self.launched.append(launch)
        if self.probe_found is None:
            raise self.failure("it ended")
        return self.probe_found


@dataclass
class Proving:
    """A kit store whose workers are stand-ins and whose prober answers as it is set to."""

    kit_store: KitStore
    prober: Answers
    worker: WorkerSource

    def add(self, text: str) -> Path:
        return self.kit_store.folder(self.kit_store.add(SubjectRef.parse(text)).kit_id)

    def verify(self, folder: Path) -> KitCheck:
        return verify_kit(self.kit_store, folder.name.rpartition("-")[2], self.prober, self.worker.sha256())


def proving(folder: Path, *providers: Provider) -> Proving:
    prober, worker = Answers(folder / "material"), WorkerSource(STANDIN)
    workshop = Workshop(worker, providers or default_providers(folder / "cache"), prober)
    return Proving(KitStore(folder / "kits", workshop), prober, worker)


@pytest.fixture
def kits(tmp_path: Path) -> Proving:
    return proving(tmp_path)


def unsupported(probe: KitProbe, *cases: int, kind: OutcomeKind = OutcomeKind.UNSUPPORTED) -> KitProbe:
    """A probe in which some of the handshakes that count came to nothing."""
    ids = {FULL_HANDSHAKES[number].case_id for number in cases}

    def changed(found: Feature) -> Feature:
        return found.model_copy(update={"result": kind, "reason": "no such protocol", "detail": "its words"})

    features = tuple(changed(found) if found.case_id in ids else found for found in probe.features)
    return probe.model_copy(update={"features": features})


def test_what_a_kit_proved_lies_beside_its_manifest_and_is_read_only(kits: Proving) -> None:
    folder = kits.add("fake@1.0")
    assert read_probe(folder) == a_probe()
    assert (folder / "probe.json").stat().st_mode & 0o222 == 0
    assert kits.kit_store.verify(folder.name.rpartition("-")[2]) == ()


def test_a_probe_is_no_part_of_a_kits_identity(tmp_path: Path) -> None:
    one, two = proving(tmp_path / "one"), proving(tmp_path / "two")
    two.prober.probe_found = a_probe(client_bytes=401)
    assert one.add("fake@1.0").name == two.add("fake@1.0").name


@pytest.mark.parametrize("number", [0, 1])
def test_a_kit_that_fails_one_of_the_handshakes_is_not_admitted(kits: Proving, number: int) -> None:
    kits.prober.probe_found = unsupported(a_probe(), number)
    with pytest.raises(
        KitError, match=rf"no handshake with TLS 1\.{number + 2} .*no such protocol: its words"
    ) as caught:
        kits.add("fake@1.0")
    assert caught.value.stage == "self-test"
    assert caught.value.log_path is not None
    assert kits.kit_store.list() == ()


def test_a_worker_that_cannot_be_asked_makes_no_kit(kits: Proving) -> None:
    kits.prober.probe_found = None
    with pytest.raises(KitError, match="can't make handshakes: it ended"):
        kits.add("fake@1.0")


@pytest.mark.parametrize(("failure", "of_the_sources"), [(ProbeFailed, True), (ProbeCutShort, False)])
def test_a_worker_that_somebody_ended_is_no_fault_of_the_sources(
    kits: Proving, failure: type[ProbeFailed], of_the_sources: bool
) -> None:
    kits.prober.probe_found, kits.prober.failure = None, failure
    with pytest.raises(KitError) as caught:
        kits.add("fake@1.0")
    assert caught.value.is_of_the_sources is of_the_sources
    assert kits.kit_store.list() == ()
    kits.prober.probe_found = a_probe()
    assert kits.add("fake@1.0").is_dir()


def test_a_fake_is_proven_without_the_faults_it_is_set_to_have(kits: Proving) -> None:
    folder = kits.add("fake@1.0+step=2+crash_after=3+unsupported=1")
    assert kits.prober.launched[0].arguments[-1] == "version=1.0,step=2"
    assert "crash_after=3" in json.loads((folder / "kit.json").read_text())["arguments"][1]


def test_a_kit_from_before_probes_is_probed_when_it_is_verified(kits: Proving) -> None:
    folder = kits.add("fake@1.0")
    (folder / "probe.json").unlink()
    assert read_probe(folder) is None
    assert kits.verify(folder).verdict == "probed first"
    assert read_probe(folder) == a_probe()
    assert kits.verify(folder).verdict == "sound"
    assert [path.name for path in kits.kit_store.root.iterdir() if path.name.startswith(f".{folder.name}")] == []


def test_a_kit_that_is_made_again_gets_the_probe_it_lacks(kits: Proving) -> None:
    folder = kits.add("fake@1.0")
    (folder / "probe.json").unlink()
    (kits.kit_store.root / "refs/fake@1.0.json").unlink()
    assert kits.add("fake@1.0") == folder
    assert read_probe(folder) == a_probe()


def test_a_feature_that_is_gone_is_named_and_the_probe_kept(kits: Proving) -> None:
    folder = kits.add("fake@1.0")
    kits.prober.probe_found = a_probe(without={"X25519": "no such group"})
    check = kits.verify(folder)
    assert (check.verdict, check.lines, check.failed) == ("changed", ("lost X25519: no such group",), True)
    assert read_probe(folder) == a_probe()


def test_where_more_is_tried_than_before_the_probe_is_renewed(kits: Proving) -> None:
    before = a_probe().model_copy(update={"features": a_probe().features[:-1]})
    kits.prober.probe_found = before
    folder = kits.add("fake@1.0")
    assert read_probe(folder) == before
    kits.prober.probe_found = a_probe()
    check = kits.verify(folder)
    assert (check.verdict, check.failed) == ("sound", False)
    assert "its probe was renewed" in check.lines[0]
    assert read_probe(folder) == a_probe()


def test_damage_is_reported_and_nothing_is_started(kits: Proving) -> None:
    folder = kits.add("fake@1.0")
    kits.prober.launched.clear()
    (folder / "lib/libc.so.6").unlink()
    check = kits.verify(folder)
    assert (check.verdict, check.lines) == ("damaged", ("lib/libc.so.6 is missing",))
    assert kits.prober.launched == []


def test_an_unreadable_manifest_is_damage_too(kits: Proving) -> None:
    folder = kits.add("fake@1.0")
    (folder / "kit.json").unlink()
    assert kit_ids(kits.kit_store) == (folder.name.rpartition("-")[2],)
    assert kits.verify(folder).verdict == "damaged"


def test_an_edited_probe_is_damage_with_a_remedy(kits: Proving) -> None:
    folder = kits.add("fake@1.0")
    (folder / "probe.json").unlink()
    (folder / "probe.json").write_text('{"format_version": 1}')
    check = kits.verify(folder)
    assert check.verdict == "damaged"
    assert "delete it" in check.lines[0]


def test_a_worker_that_fails_now_is_damage_unless_it_is_of_another_version(kits: Proving, tmp_path: Path) -> None:
    folder = kits.add("fake@1.0")
    kits.prober.probe_found = None
    assert kits.verify(folder).verdict == "damaged"
    other = verify_kit(kits.kit_store, folder.name.rpartition("-")[2], kits.prober, "0" * 64)
    assert (other.verdict, other.failed) == ("not probed", False)
    assert "add fake@1.0 again" in other.lines[0]


FLAGGED = a_kit("openssl@crate/3.5.5+no-tls1_2", version="3.5.5")


def test_what_a_reference_leaves_out_itself_need_not_be_proven(tmp_path: Path) -> None:
    prober = Answers(tmp_path, unsupported(a_probe(), 0))
    assert prove(tmp_path, FLAGGED, prober, tmp_path / "log", target_for()) == prober.probe_found


@pytest.mark.parametrize(
    ("probe", "says"),
    [
        (unsupported(a_probe(), 0, kind=OutcomeKind.CRASHED), "no handshake with TLS 1.2"),
        (unsupported(a_probe(), 0, 1), "with no-tls1_2, neither a TLS 1.2 nor a TLS 1.3 handshake"),
    ],
)
def test_flags_excuse_neither_a_crash_nor_a_library_without_any_handshake(
    probe: KitProbe, says: str, tmp_path: Path
) -> None:
    with pytest.raises(StepFailed, match=says):
        prove(tmp_path, FLAGGED, Answers(tmp_path, probe), tmp_path / "log", target_for())
