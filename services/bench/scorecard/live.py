"""Upgrades between two builds of one source, through a complete service."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.planted import Triplets, fetch_sources, plant_triplets
from bench.scorecard.figures import name, share
from bench.scorecard.service import Lived, Serving, lived, serving
from kexbench.domain.scorecard import ScorecardRow, ScorecardTable
from kexbench.settings import Settings

CONFIRMED = 30
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: {name}, description: Two builds. }}
subjects: [{{ openssl: "git:{repository}#{before}" }}, {{ openssl: "git:{repository}#{after}" }}]
matrix: {{ protocol: [TLSv1.2, TLSv1.3], keyExchange: [ECDHE-ECDSA, ECDHE-RSA], rsaBits: [2048], curve: [P-256], \
group: [X25519, P-256] }}
measure: {{ invocations: 10, batches: 20, sentinel: false }}
alerts: {{ confirmInvocations: {confirmed} }}
"""
CATALOGUE = """\
apiVersion: kexbench.dev/v1
kind: Catalogue
libraries: {{ openssl: [{{ source: "git:{repository}#{first}" }}, {{ source: "git:{repository}#{twin}" }}, \
{{ source: "git:{repository}#{slower}" }}] }}
"""
"""A build runs code of its git repository, so a spec can name only the repositories of the catalogue."""


@dataclass(frozen=True)
class Planting:
    """A service whose catalogue has the commits of a repository."""

    repository: Path
    commits: Triplets
    service: Serving
    scratch: Path

    def upgraded(self, spec_name: str, after: str, say: Callable[[str], None]) -> Lived:
        """From the first commit to a later one. Raises BenchError."""
        spec = self.scratch / f"{spec_name}.yaml"
        ends = {"repository": self.repository, "before": self.commits.first, "after": after}
        spec.write_text(SPEC.format(name=spec_name, confirmed=CONFIRMED, **ends))
        return lived(spec, self.service, say)


@contextmanager
def planting(say: Callable[[str], None]) -> Iterator[Planting]:
    """Raises BenchError, and StepFailed if there are no sources."""
    folder = Settings().cache / "planted" / "twins"
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as scratch:
        sources = fetch_sources(Path(scratch), say)
        commits = plant_triplets(shutil.copytree(sources, folder))
        catalogue = Path(scratch) / "libraries.yaml"
        catalogue.write_text(CATALOGUE.format(repository=folder, **asdict(commits)))
        with serving(Path(scratch) / "home", catalogue) as service:
            yield Planting(folder, commits, service, Path(scratch))


def measure(count: int, say: Callable[[str], None]) -> list[Lived]:
    """Measure `count` upgrades between builds of one source. Raises BenchError and StepFailed."""
    with planting(say) as planted:
        return [planted.upgraded(f"twins-{number}", planted.commits.twin, say) for number in range(1, count + 1)]


def table(upgrades: Sequence[Lived]) -> ScorecardTable:
    rows = (
        ("suspected after screening", sum(each.upgrade.more > 0 for each in upgrades)),
        ("alerted after confirmation", sum(each.upgrade.outcome == "confirmed" for each in upgrades)),
    )
    return ScorecardTable(
        title="Two builds of one source",
        columns=("upgrades", "share, with Wilson's interval"),
        rows=tuple(ScorecardRow(ours=True, cells=(name(text), share(count, len(upgrades)))) for text, count in rows),
    )


def sentence(upgrades: Sequence[Lived]) -> str:
    confirmed = sum(each.upgrade.outcome == "confirmed" for each in upgrades)
    cells = sum(each.upgrade.compared for each in upgrades)
    minutes = ", ".join(f"{each.minutes:.0f}" for each in upgrades)
    return (
        f"Of {len(upgrades)} upgrades between builds of one source ({cells} cells), {confirmed} raised alerts. "
        f"They took {minutes} minutes, with builds and confirmation runs."
    )
