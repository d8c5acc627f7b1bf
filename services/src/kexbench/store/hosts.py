"""The hosts of measurements, and their host kinds."""

from collections.abc import Mapping

from kexbench.domain.hosts import HostFacts
from kexbench.store import rows
from kexbench.store.connection import Connection

HOST_KIND = "transform(host_id, {hosts:Array(String)}, {kinds:Array(String)}, toString(cpu_model))"
"""SQL: the host kind of a sample or an outcome, as in `domain.hosts.kind_of`, with `kind_parameters`."""


def kind_parameters(host_kinds: Mapping[str, str]) -> dict[str, list[str]]:
    return {"hosts": list(host_kinds), "kinds": list(host_kinds.values())}


class HostTables(Connection):
    """The part of the store's port for hosts."""

    def _note_host(self, host: HostFacts) -> None:
        """Store a host before its results. This object does it once for each host."""
        if (row := rows.host_row(host))["host_id"] not in self._noted_hosts:
            self._insert("hosts", [row])
            self._noted_hosts.add(row["host_id"])

    def nodes(self, pool: str) -> dict[str, HostFacts]:
        selected = self._query(
            "SELECT JSONExtractString(content, 'node') AS node,"
            " argMax(JSONExtractRaw(content, 'host'), started_at) AS facts FROM attempts WHERE pool = {pool:String}"
            " AND started_at > (SELECT max(started_at) FROM attempts WHERE pool = {pool:String}) - INTERVAL 7 DAY"
            " GROUP BY node ORDER BY node",
            {"pool": pool},
        )
        return {row["node"]: HostFacts.model_validate_json(row["facts"]) for row in selected}

    def _recognise_hosts(self) -> None:
        """Add hosts of earlier releases from runs and attempts, and compute all host kinds as in this release. After a
        kill, the next start completes it."""
        noted = self._query("SELECT host_id, kind, facts FROM hosts FINAL")
        missing = "SELECT host_id FROM {} WHERE host_id NOT IN (SELECT host_id FROM hosts) GROUP BY host_id"
        one_each = missing.format("invocations").replace("SELECT host_id", "SELECT any(run_id)", 1)
        of_runs = self._query(
            "SELECT DISTINCT host_id, JSONExtractRaw(run, 'host') AS facts"
            " FROM invocations INNER JOIN (SELECT run_id, run FROM runs FINAL) AS facts_of_runs USING run_id"
            f" WHERE run_id IN ({one_each}) AND JSONType(run, 'host') = 'Object'"
        )
        of_attempts = self._query(
            "SELECT host_id, any(JSONExtractRaw(content, 'host')) AS facts FROM attempts"
            f" WHERE host_id IN ({missing.format('attempts')}) GROUP BY host_id"
        )
        kinds = [
            (row.get("kind"), rows.host_row(HostFacts.model_validate_json(row["facts"]), row["host_id"]))
            for row in (*noted, *of_runs, *of_attempts)
        ]
        self._insert("hosts", [row for kind, row in kinds if row["kind"] != kind])
