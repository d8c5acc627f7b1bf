"""Upgrades to something slower, through a complete service: to a planted commit, whose slower cases are known, and
between two releases."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.scorecard.figures import name
from bench.scorecard.live import planting
from bench.scorecard.service import Lived, alerts_of, lived, serving
from kexbench.alerts.reading import AlertSummary
from kexbench.domain.scorecard import ScorecardCell, ScorecardRow, ScorecardTable

BEFORE, AFTER = "1.1.1w", "3.0.0"
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: releases, description: A release and a later one. }}
subjects: [{{ openssl: crate/{before} }}, {{ openssl: crate/{after} }}]
matrix:
  - {{ protocol: [TLSv1.2], keyExchange: [ECDHE-ECDSA, ECDHE-RSA], rsaBits: [2048], curve: [P-256], \
group: [X25519, P-256] }}
  - {{ protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA, ECDHE-RSA], rsaBits: [2048], curve: [P-256], \
group: [X25519, P-256], resumption: [none, psk] }}
measure: {{ invocations: 10, batches: 20, sentinel: false }}
alerts: {{}}
"""


@dataclass(frozen=True)
class Upgraded:
    """The result of an upgrade, and its final alerts."""

    title: str
    lived: Lived
    alerts: tuple[AlertSummary, ...]


def measure(say: Callable[[str], None]) -> list[Upgraded]:
    """Raises BenchError and StepFailed."""
    return [_planted(say), _released(say)]


def _planted(say: Callable[[str], None]) -> Upgraded:
    with planting(say) as planted:
        upgrade = planted.upgraded("slower", planted.commits.slower, say)
        return Upgraded("A commit that signs with RSA twice", upgrade, alerts_of(planted.service))


def _released(say: Callable[[str], None]) -> Upgraded:
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        spec = Path(scratch) / "releases.yaml"
        spec.write_text(SPEC.format(before=BEFORE, after=AFTER))
        with serving(Path(scratch) / "home") as service:
            upgrade = lived(spec, service, say)
            return Upgraded(f"OpenSSL {BEFORE} to {AFTER}", upgrade, alerts_of(service))


def table(upgrades: Sequence[Upgraded]) -> ScorecardTable:
    columns = ("upgrade", "alert", "cells", "suspected", "alerts", "cells in alerts", "minutes, with builds")
    rows = (ScorecardRow(ours=True, cells=(name(each.title), *_cells(each))) for each in upgrades)
    return ScorecardTable(title="Alerts", columns=columns, rows=tuple(rows))


def _cells(upgraded: Upgraded) -> tuple[ScorecardCell, ...]:
    upgrade, alerts = upgraded.lived.upgrade, upgraded.alerts
    cells = sum(alert.cells for alert in alerts)
    counts = (upgrade.compared, upgrade.more, len(alerts), cells, round(upgraded.lived.minutes))
    words = " ".join(alert.sentence for alert in alerts) or "–"
    return tuple(ScorecardCell(text=str(cell)) for cell in (words, *counts))


def sentence(upgrades: Sequence[Upgraded]) -> str:
    """How many alerts each raised."""
    counts = [(each.title, len(each.alerts)) for each in upgrades]
    raised = [f"{title} raised {count} alert{'' if count == 1 else 's'}" for title, count in counts]
    return f"{'; '.join(raised)}."
