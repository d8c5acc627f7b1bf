"""What was computed from results, kept in memory as long as they are the same.

The first question reads all summaries. Later ones read only those of the runs and cases whose checksum of counted
invocations changed, so what a question costs hardly grows with the store.
"""

import pickle
import secrets
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import replace
from typing import Any

from kexbench.domain.hosts import HostKind
from kexbench.domain.moments import LATEST
from kexbench.store import rows
from kexbench.store.evidence import Digest, Evidence, OnKind, RunCase, Token
from kexbench.store.hosts import HOST_KIND, kind_parameters
from kexbench.store.port import Key, Selection, Value
from kexbench.store.summaries import COUNTS, IS_SHOWN, KEYS_FIRST, SUBJECT, SummaryTables

MOST_BYTES = 64 << 20
"""Of kept values, pickled. In memory they take some three times as much."""
_DELIVERED = {
    **dict.fromkeys(("samples", "outcomes", "profiles", "withdrawn", "invocations"), "run_id, case_id"),
    "aside_attempts": "run_id",
}
"""Tables that results are read from beside the summaries, and the columns that say of which."""
_UNKNOWN_BYTES = 1 << 20
"""Of a value that cannot be pickled."""


def _results_sql(where: str) -> str:
    """What each run measured in each case on each host kind."""
    return (
        "SELECT run_id, case_id, pool, host_kind, min(oldest) AS first, max(newest) AS last,"
        " arraySort(groupArray(name)) AS names, max(is_sentinel) AS with_sentinel,"
        " arraySort(groupUniqArrayArray(of_subject)) AS metrics,"
        " arraySort(groupUniqArrayIf(its_library, is_shown)) AS libraries FROM"
        f" (SELECT run_id, case_id, pool, {HOST_KIND} AS host_kind, {SUBJECT} AS name, any(library) AS its_library,"
        f" groupUniqArray(metric) AS of_subject, max(metric != '' AND {IS_SHOWN}) AS is_shown,"
        " max(reference = 'sentinel') AS is_sentinel, min(arrayMin(counted.measured_at)) AS oldest,"
        " max(measured_at) AS newest"
        f" FROM summaries FINAL WHERE {COUNTS} AND {where} GROUP BY run_id, case_id, pool, host_kind, name)"
        f" GROUP BY run_id, case_id, pool, host_kind {KEYS_FIRST}"
    )


def parameters(selection: Selection, first_looks: bool, host_kinds: Mapping[str, str]) -> dict[str, Any]:
    return {
        **rows.columns_of(selection, "metric", "libraries", "subjects", "case_ids", "runs", "sentinel"),
        **{field: getattr(selection, field) or "" for field in ("pool", "cpu_model", "run_id")},
        "before": selection.before or LATEST,
        "first_looks": first_looks,
        **kind_parameters(host_kinds),
    }


class KeptTables(SummaryTables):
    """The part of the store's port for what is computed from results."""

    def __init__(self, dsn: str, database: str) -> None:
        super().__init__(dsn, database)
        self._evidence = Evidence()
        self._read_at = ""
        """The version of the content that the evidence is of."""
        self._blocks: dict[str, tuple[int, int]] = {}
        """The first and the last block of each table that evidence is read from."""
        self._refreshing = threading.Lock()
        self._keeping = threading.Lock()
        self._deliveries: Counter[RunCase] = Counter()
        self._newest_parts: dict[tuple[str, str], int] = {}
        """The newest block of each table and partition of `_DELIVERED`, if other processes deliver too."""
        self._kept: OrderedDict[Hashable, tuple[Token, Any, int]] = OrderedDict()
        """By key, the token and the value with its bytes."""
        self._bytes = 0

    def evidence(self) -> Evidence:
        with self._refreshing:
            version = self.content_version()
            if version != self._read_at:
                if self._may_write is not None:
                    self._note_deliveries_of_others()
                self._evidence, self._read_at = self._newer(self._evidence), version
            return self._evidence

    def forget_kept(self) -> None:
        with self._refreshing:
            self._evidence, self._read_at = Evidence(), ""

    def _note_delivery(self, places: Collection[RunCase]) -> None:
        """Call it after each delivery, also after one that failed. It changes the version of the content too."""
        with self._keeping:
            self._deliveries.update(places)
        with self._writing():
            pass

    def _note_deliveries_of_others(self) -> None:
        """Repeated ones too, which leave the checksums as they are. A part that was merged names what it had before as
        well: then more is computed anew than needs be."""
        newest = {
            (row["table"], row["partition_id"]): int(row["newest"])
            for row in self._query(
                "SELECT `table`, partition_id, max(max_block_number) AS newest FROM system.parts"
                " WHERE database = {database:String} AND `table` IN {tables:Array(String)} AND active"
                " GROUP BY `table`, partition_id",
                {"database": self._database, "tables": list(_DELIVERED)},
            )
        }
        before, self._newest_parts = self._newest_parts, newest
        if not self._evidence.basis:
            return  # nothing is kept yet
        changed = {key: before.get(key, -1) for key, block in newest.items() if before.get(key, -1) != block}
        places: set[RunCase] = set()
        try:
            for (table, partition), block in changed.items():
                places |= self._delivered_since(table, partition, block)
        except BaseException:
            self._newest_parts = before
            raise
        with self._keeping:
            self._deliveries.update(places)

    def _delivered_since(self, table: str, partition: str, block: int) -> set[RunCase]:
        selected = self._query(
            f"SELECT DISTINCT {_DELIVERED[table]} FROM {table} WHERE _partition_id = {{partition:String}}"
            " AND toInt64(splitByChar('_', _part)[3]) > {block:Int64}",
            {"partition": partition, "block": block},
        )
        if "case_id" in _DELIVERED[table]:
            return {RunCase(row["run_id"], row["case_id"]) for row in selected}
        run_ids = {row["run_id"] for row in selected}
        return {place for place in self._evidence.digests if place.run_id in run_ids}

    def kept(
        self,
        keys: Collection[Key],
        token_of: Callable[[Evidence, Key], Token],
        compute: Callable[[list[Key]], Mapping[Key, Value]],
    ) -> dict[Key, Value]:
        def tokens() -> dict[Key, Token]:
            evidence = self.evidence()
            return {key: token_of(evidence, key) for key in keys}

        return self._kept_by(tokens, compute) if keys else {}

    def kept_value(self, key: Hashable, token_of: Callable[[Evidence], Token], compute: Callable[[], Value]) -> Value:
        return self.kept([key], lambda evidence, _: token_of(evidence), lambda _: {key: compute()})[key]

    def kept_until_stored(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        return self._kept_by(lambda: {key: ("content", self.content_version())}, lambda _: {key: compute()})[key]

    def _kept_by(
        self, newest_tokens: Callable[[], Mapping[Key, Token]], compute: Callable[[list[Key]], Mapping[Key, Value]]
    ) -> dict[Key, Value]:
        tokens = newest_tokens()
        with self._keeping:
            found = {
                key: entry[1] for key, token in tokens.items() if (entry := self._kept.get(key)) and entry[0] == token
            }
            for key in found:
                self._kept.move_to_end(key)
        missing = [key for key in tokens if key not in found]
        if not missing:
            return found
        computed = compute(missing)
        later = newest_tokens()
        with self._keeping:
            for key in missing:
                if later[key] == tokens[key]:  # otherwise it may be partly of the one, partly of the other
                    self._keep(key, tokens[key], computed[key])
        return {key: found[key] if key in found else computed[key] for key in tokens}

    def host_kinds(self, run_id: str | None = None) -> list[HostKind]:
        return [HostKind(*kind) for kind in self.evidence().host_kinds(run_id)]

    def metrics(self) -> set[str]:
        return self.evidence().metrics()

    def libraries(self) -> set[str]:
        return self.evidence().libraries()

    def _parameters(self, selection: Selection) -> dict[str, Any]:
        evidence = self.evidence()
        return parameters(selection, evidence.shows_first_looks, evidence.kinds_of_hosts)

    def _newer(self, known: Evidence) -> Evidence:
        """Reads the results of the runs and cases whose checksum changed; all of them if a host's kind changed or the
        checksums were emptied, since then equal ones may stand for other results."""
        blocks = {
            row["table"]: (row["first"], row["last"])
            for row in self._query(
                "SELECT `table`, min(min_block_number) AS first, max(max_block_number) AS last FROM system.parts"
                " WHERE database = {database:String} AND `table` IN ('summarised', 'hosts', 'runs') AND active"
                " GROUP BY `table`",
                {"database": self._database},
            )
        }
        with self._keeping:
            deliveries = dict(self._deliveries)
        if known.basis and blocks == self._blocks:
            return known if deliveries == known.deliveries else replace(known, deliveries=deliveries)
        host_kinds = {row["host_id"]: row["kind"] for row in self._query("SELECT host_id, kind FROM hosts FINAL")}
        nothing = (0, 0)
        emptied = blocks.get("summarised", nothing)[0] != self._blocks.get("summarised", nothing)[0]
        if not known.basis or emptied or not known.kinds_of_hosts.items() <= host_kinds.items():
            known = Evidence(basis=secrets.token_hex(8))
        checksums = {
            RunCase(row["run_id"], row["case_id"]): row["checksum"]
            for row in self._query("SELECT run_id, case_id, checksum FROM summarised FINAL")
        }
        digests = {place: digest for place, digest in known.digests.items() if checksums.get(place) == digest.checksum}
        if changed := checksums.keys() - digests.keys():
            results = self._results(changed if digests else None, host_kinds)
            digests |= {place: Digest(checksums[place], results.get(place, ())) for place in changed}
        asides = {
            row["run_id"]: row["is_first_look"]
            for row in self._query(
                "SELECT run_id, max(first_look) AS is_first_look FROM runs WHERE aside GROUP BY run_id"
            )
        }
        self._blocks = blocks
        first_looks = frozenset(run_id for run_id, is_first_look in asides.items() if is_first_look)
        return Evidence(known.basis, frozenset(asides), first_looks, digests, deliveries, host_kinds)

    def _results(
        self, places: Collection[RunCase] | None, host_kinds: Mapping[str, str]
    ) -> dict[RunCase, tuple[OnKind, ...]]:
        """What some runs measured in their cases, and maybe in cases of each other; None for all."""
        where, parameters = "true", kind_parameters(host_kinds)
        if places is not None:
            where = "run_id IN {run_ids:Array(String)} AND case_id IN {case_ids:Array(String)}"
            parameters |= {
                name: sorted({getattr(place, name[:-1]) for place in places}) for name in ("run_ids", "case_ids")
            }
        results: dict[RunCase, tuple[OnKind, ...]] = {}
        once: dict[tuple[str, ...], tuple[str, ...]] = {}
        for row in self._query(_results_sql(where), parameters):
            place = RunCase(row["run_id"], row["case_id"])
            subjects, metrics, libraries = (
                once.setdefault(tuple(row[column]), tuple(row[column])) for column in ("names", "metrics", "libraries")
            )
            on_kind = OnKind(
                (row["pool"], row["host_kind"]),
                row["first"],
                row["last"],
                subjects,
                bool(row["with_sentinel"]),
                metrics,
                libraries,
            )
            results[place] = (*results.get(place, ()), on_kind)
        return results

    def _keep(self, key: Hashable, token: Token, value: object) -> None:
        if key in self._kept:
            self._bytes -= self._kept.pop(key)[-1]
        size_bytes = _bytes_of((key, value))
        self._kept[key] = (token, value, size_bytes)
        self._bytes += size_bytes
        while self._bytes > MOST_BYTES and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1][-1]


def _bytes_of(value: object) -> int:
    try:
        return len(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
    except (TypeError, AttributeError, pickle.PicklingError):
        return _UNKNOWN_BYTES
