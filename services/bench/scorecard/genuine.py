"""Upgrades that did make something slower, through a service that measures, judges and confirms as any does: of a
commit that was planted, so that what it makes slower is known, and between two releases."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.scorecard.figures import name
from bench.scorecard.live import planting
from bench.scorecard.service import Lived, alerts_of, lived, serving
from kexbench.api.alert_models import AlertSummary
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
    """What became of an upgrade, and the alerts that there were in the end."""

    title: str
    lived: Lived
    alerts: tuple[AlertSummary, ...]


def measure(say: Callable[[str], None]) -> list[Upgraded]:
    """Raises BenchError and StepFailed."""
    return [_planted(say), _released(say)]


def _planted(say: Callable[[str], None]) -> Upgraded:
    with planting(say) as planted:
        found = planted.upgraded("slower", planted.commits.slower, say)
        return Upgraded("A commit that signs with RSA twice", found, alerts_of(planted.service))


def _released(say: Callable[[str], None]) -> Upgraded:
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        spec = Path(scratch) / "releases.yaml"
        spec.write_text(SPEC.format(before=BEFORE, after=AFTER))
        with serving(Path(scratch) / "home") as service:
            found = lived(spec, service, say)
            return Upgraded(f"OpenSSL {BEFORE} to {AFTER}", found, alerts_of(service))


def table(found: Sequence[Upgraded]) -> ScorecardTable:
    columns = ("upgrade", "in words", "cells", "look slower", "alerts", "cells of them", "minutes, builds included")
    rows = (ScorecardRow(ours=True, cells=(name(one.title), *_cells(one))) for one in found)
    return ScorecardTable(title="Their alerts", columns=columns, rows=tuple(rows))


def _cells(one: Upgraded) -> tuple[ScorecardCell, ...]:
    upgrade, told = one.lived.upgrade, sum(alert.cells for alert in one.alerts)
    counts = (upgrade.compared, upgrade.more, len(one.alerts), told, round(one.lived.minutes))
    words = " ".join(alert.sentence for alert in one.alerts)
    return (ScorecardCell(text=words or "–"), *(ScorecardCell(text=str(count)) for count in counts))


def sentence(found: Sequence[Upgraded]) -> str:
    """How many alerts each raised."""
    raised = [f"{one.title} raised {len(one.alerts)} alert{'' if len(one.alerts) == 1 else 's'}" for one in found]
    return f"{'; '.join(raised)}."
