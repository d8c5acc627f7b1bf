"""What people look for by a few words: cases, upgrades, runs and alerts."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, get_args

from pydantic import Field

from kexbench.answers.subjects import cases_in_order, end_of, neighbours
from kexbench.domain.alerts import Alert
from kexbench.domain.frozen import Frozen
from kexbench.domain.upgrades import SIDES_OF
from kexbench.store.port import RunNameRow, SampleStore, Selection, Store

MOST_OF_A_KIND = 5


HitKind = Literal["case", "upgrade", "alert", "run"]


class Hit(Frozen):
    kind: HitKind
    id: str = Field(description="of a case, a run or an alert; of an upgrade, the unique name of the newer subject")
    title: str
    detail: str
    library: str | None = Field(None, description="of an upgrade")
    before: str | None = Field(None, description="of an upgrade: the unique name of the older subject")


def words_of(text: str) -> list[str]:
    return text.lower().split()


def measured_hits(store: SampleStore) -> list[Hit]:
    """All cases in the order of the matrix, and all upgrades, the ones measured last first."""
    every = [Selection(sides["both"]) for sides in SIDES_OF.values()]
    cases = cases_in_order(row for selection in every for row in store.measured_cases(selection))
    upgrades = neighbours(row for selection in every for row in store.measured_subjects(selection))
    return [
        *(Hit(kind="case", id=case.case_id, title=case.label, detail="") for case in cases),
        *(
            Hit(
                kind="upgrade",
                id=pair.after.name,
                title=f"{end_of(pair.before).label} to {end_of(pair.after).version}",
                detail=f"{pair.after.source}, {pair.after.build_profile_label}",
                library=pair.library,
                before=pair.before.name,
            )
            for pair in upgrades
        ),
    ]


def run_hit(run: RunNameRow) -> Hit:
    return Hit(kind="run", id=run.run_id, title=run.spec_name, detail=_date(run.created_at))


def alert_hit(alert: Alert) -> Hit:
    return Hit(kind="alert", id=alert.alert_id, title=alert.sentence, detail=f"raised {_date(alert.raised_at)}")


def best_hits(hits: Iterable[Hit], words: Sequence[str]) -> list[Hit]:
    """Those with all words, by kind; of each kind first those in which most words begin a word of the title, at most
    MOST_OF_A_KIND."""
    matching = [hit for hit in hits if all(word in _text(hit) for word in words)]
    matching.sort(key=lambda hit: -_begun(hit, words))
    return [
        hit for kind in get_args(HitKind) for hit in [each for each in matching if each.kind == kind][:MOST_OF_A_KIND]
    ]


def _text(hit: Hit) -> str:
    return f"{hit.title} {hit.detail} {hit.id}".lower()


def _begun(hit: Hit, words: Sequence[str]) -> int:
    """How many words begin a word of the title."""
    of_title = hit.title.lower().split()
    return sum(any(each.startswith(word) for each in of_title) for word in words)


def _date(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def search(store: Store, text: str, alerts: Iterable[Alert]) -> list[Hit]:
    """Cases, upgrades, alerts and runs with all words of a text: at most MOST_OF_A_KIND of each kind, the best first.
    `alerts`: all of them."""
    words = words_of(text)
    if not words:
        return []
    measured = store.kept_value(("searched",), lambda evidence: evidence.of_all(), lambda: measured_hits(store))
    runs = store.find_runs(words, MOST_OF_A_KIND)
    return best_hits([*measured, *map(alert_hit, alerts), *map(run_hit, runs)], words)
