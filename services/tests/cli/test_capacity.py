"""`kexbench capacity`: from measuring to cores, and the words of every result."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from kexbench.answers.capacity_shapes import (
    CpuNeed,
    MixChange,
    MixNeed,
    MixPartView,
    MixReport,
    PartChange,
    VersionNeed,
)
from kexbench.answers.capacity_words import change_sentence, instead_sentence, need_sentence
from kexbench.cli import capacity
from kexbench.domain.dimensions import Server
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.mixes import CostOf
from kexbench.domain.upgrades import CellVerdict, MissingCell, UpgradeEnd
from tests.cli.conftest import Cli
from tests.conftest import FakeKit
from tests.golden import GOLDEN, assert_texts

NOISE = "noise=0.006"
MIX = """\
apiVersion: kexbench.dev/v1
kind: TrafficMix
connectionsPerSecond: 10000
utilisation: 0.5
coresPerMachine: 4
parts:
  - share: 0.5
    case: { protocol: TLSv1.2, keyExchange: RSA }
  - share: 0.5
    case: { protocol: TLSv1.2, keyExchange: ECDHE-ECDSA }
"""


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory, fake_kit: FakeKit) -> Cli:
    """In whose home two versions were measured beside each other, the second of which costs 2% more."""
    cli = Cli(tmp_path_factory.mktemp("capacity"))
    done = cli("run", cli.spec("history", f"1.0+{NOISE}", f"1.1+{NOISE}+seed=7+step=1.02", invocations=10))
    assert done.status == 0, done.err
    return cli


def written(cli: Cli, text: str = MIX) -> str:
    path = cli.folder / "mix.yaml"
    path.write_text(text)
    return str(path)


def test_measured_parts_become_cores_and_a_planted_step_shows_in_them(cli: Cli) -> None:
    """The server's connection takes 301 µs, as upgrades say: 6.02 cores at 50%, and 2% more after the step."""
    done = cli("capacity", written(cli), "--from", "fake@1.0", "--to", "fake@1.1")
    assert done.status == 0, done.err
    assert "fake 1.1 needs 6.1" in done.out
    assert "more. 2 → 2 machines." in done.out
    report = MixReport.model_validate(
        cli("capacity", written(cli), "--from", "fake@1.0", "--to", "fake@1.1", "--json").json()
    )
    (cpu,) = report.cpus
    assert report.cost is CostOf.CONNECTION
    assert cpu.change
    assert cpu.change.move
    assert cpu.change.verdict == "more"
    assert cpu.change.move.ratio == pytest.approx(1.02, abs=0.004)


def test_a_part_without_a_result_is_a_failure_with_a_remedy(cli: Cli) -> None:
    mix = written(cli, MIX.replace("keyExchange: RSA", "keyExchange: ECDHE-RSA"))
    done = cli("capacity", mix, "--from", "fake@1.0")
    assert (done.status, done.out) == (1, "")
    assert "not measured: TLS 1.2 ECDHE-RSA, RSA 2048, P-256" in done.err
    assert "then kexbench run mix-spec.yaml" in done.err


def test_the_faults_of_a_mix_have_their_places(cli: Cli) -> None:
    done = cli("capacity", written(cli, MIX.replace("share: 0.5", "share: 0.6")), "--from", "fake@1.0")
    assert done.status == 1
    assert done.err == f"{cli.folder}/mix.yaml:6:1: parts: the shares sum to 1.2: make them sum to 1\n"
    assert cli("capacity", str(Path("nowhere.yaml")), "--from", "fake@1.0").err.startswith("nowhere.yaml:1:1: ")


def test_an_unknown_version_is_named_with_the_stored_ones(cli: Cli) -> None:
    done = cli("capacity", written(cli), "--from", "fake@2.0")
    assert done.status == 1
    assert "stored versions: 1.1, 1.0" in done.err


def an_end(version: str, source: str = "crate") -> UpgradeEnd:
    return UpgradeEnd(
        subject=f"openssl@{version}",
        version=version,
        source=source,
        build_profile_label="p",
        label=f"OpenSSL {version}",
    )


def a_need(cores: float, *, interval: bool = True, machines: int | None = None) -> MixNeed:
    def amount(value: float) -> Estimate:
        low, high = (value * 0.99, value * 1.01) if interval else (None, None)
        return Estimate(value=value, low=low, high=high)

    bounds = (machines, machines + 1) if machines and interval else (None, None)
    return MixNeed(
        cpu_ns=amount(cores * 1e4),
        cores=amount(cores),
        machines=Estimate(value=machines, low=bounds[0], high=bounds[1]) if machines else None,
    )


def a_version(version: str, need: MixNeed, source: str = "crate") -> VersionNeed:
    part = MixPartView(
        case_id="rsa",
        title="TLS 1.2 RSA, RSA 2048",
        share=1.0,
        load_share=1.0,
        cpu_ns=need.cpu_ns,
        invocations=10,
        run_id="one",
    )
    return VersionNeed(
        end=an_end(version, source),
        need=need,
        parts=(part,),
        against=None,
        against_parts=(),
        instead=None,
        sentence=need_sentence(an_end(version, source), need, 2000),
    )


def a_change(verdict: CellVerdict, ratio: float | None = None) -> MixChange:
    move = Ratio(ratio=ratio, low=ratio - 0.01, high=ratio + 0.01) if ratio else None
    return MixChange(verdict=verdict, move=move, resolves=0.012 if move else None)


OLDER, NEWER = a_version("3.0.8", a_need(63.4, machines=2)), a_version("3.5.5", a_need(41.2, machines=2))
CHANGES: tuple[tuple[CellVerdict, float], ...] = (
    ("less", 0.65),
    ("more", 1.35),
    ("same", 1.001),
    ("unresolved", 1.004),
)
NO_CHANGES: tuple[CellVerdict, ...] = ("unresolved", "unlike", "apart")
SENTENCES = {
    "one version": need_sentence(an_end("3.5.5"), a_need(41.2), 2000),
    "many cores and machines": need_sentence(an_end("3.5.5"), a_need(4123, machines=129), 2_000_000),
    "few cores, no interval": need_sentence(an_end("3.5.5"), a_need(0.0412, interval=False, machines=1), 0.5),
    **{f"an upgrade, {verdict}": change_sentence(OLDER, NEWER, a_change(verdict, ratio)) for verdict, ratio in CHANGES},
    **{
        f"an upgrade, {verdict}, not compared": change_sentence(OLDER, NEWER, a_change(verdict))
        for verdict in NO_CHANGES
    },
    "two builds of one version": change_sentence(
        a_version("3.5.5", a_need(41.2)), a_version("3.5.5", a_need(40), "system"), a_change("less", 0.97)
    ),
    "other parts": instead_sentence(
        an_end("3.5.5"), a_need(41.2, machines=2), a_need(63.4, machines=3), a_change("less", 0.65)
    ),
}


def test_the_sentences() -> None:
    assert_texts(GOLDEN / "capacity-sentences.txt", SENTENCES)


def a_report(
    *cpus: CpuNeed, missing: tuple[MissingCell, ...] = (), text: str | None = None, server: Server = Server.NONE
) -> MixReport:
    return MixReport(
        connections_per_s=2000,
        utilisation=0.6,
        cores_per_machine=32,
        cost=CostOf.HANDSHAKE,
        server=server,
        cpus=cpus,
        missing=missing,
        spec_text=text,
    )


def shown(report: MixReport, monkeypatch: pytest.MonkeyPatch) -> str:
    streams = StringIO()
    for name in ("out", "err"):
        monkeypatch.setattr(capacity, name, Console(file=streams, width=80, highlight=False))
    capacity.print_mix(report)
    return "\n".join(line.rstrip() for line in streams.getvalue().splitlines())


def test_what_is_printed_fits_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    change = PartChange(
        **a_change("less", 0.65).model_dump(),
        case_id="rsa",
        title="TLS 1.2 RSA, RSA 2048",
        paired=True,
        run_ids=("one",),
        warnings=("different build profile",),
    )
    both = a_change("less", 0.65)
    upgraded = CpuNeed(
        host_kind=HostKind("local", "Example CPU 9000"),
        versions=(OLDER, NEWER),
        change=both,
        part_changes=(change,),
        sentence=change_sentence(OLDER, NEWER, both),
        warnings=("3.5.5: parts of different runs",),
    )
    other = OLDER.model_copy(
        update={
            "against": a_need(60),
            "against_parts": OLDER.parts,
            "instead": a_change("more", 1.06),
            "sentence": instead_sentence(OLDER.end, OLDER.need, a_need(60), a_change("more", 1.06)),
        }
    )
    alone = upgraded.model_copy(
        update={
            "versions": (other,),
            "change": None,
            "part_changes": (),
            "sentence": other.sentence,
            "warnings": (),
        }
    )
    missing = tuple(
        MissingCell(
            case_id=title, title=title, host_kind=HostKind("local", "Example CPU 9000"), version="3.0.8", reason=reason
        )
        for title, reason in (("A", "not measured"), ("B", "not measured"), ("C", "unsupported: no such group"))
    )
    assert_texts(
        GOLDEN / "capacity.txt",
        {
            "an upgrade": shown(a_report(upgraded), monkeypatch),
            "other parts": shown(a_report(alone), monkeypatch),
            "a web server": shown(a_report(alone, server=Server.NGINX), monkeypatch),
            "missing parts": shown(a_report(missing=missing, text="kind: Benchmark\n"), monkeypatch),
        },
    )
