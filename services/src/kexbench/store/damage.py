"""Damaged parts that an embedded store set aside when it opened."""

from collections import Counter

from kexbench.store.kept import KeptTables

_BROKEN = "database = {database:String} AND reason LIKE 'broken%'"


class DamageTables(KeptTables):
    """The part of the store's port for lost data and its restoring."""

    def lost_parts(self) -> Counter[str]:
        """The number of lost parts by table; empty for a server, whose administrator handles them."""
        if not self._embedded:
            return Counter()
        selected = self._query(
            f"SELECT `table`, count() AS parts FROM system.detached_parts WHERE {_BROKEN} GROUP BY `table`",
            {"database": self._database},
        )
        return Counter({row["table"]: int(row["parts"]) for row in selected})

    def forget_lost_parts(self) -> None:
        """Call it after restoring."""
        parts = list(
            self._query(
                f"SELECT `table`, name FROM system.detached_parts WHERE {_BROKEN}", {"database": self._database}
            )
        )
        for part in parts:
            name = part["name"].replace("\\", "\\\\").replace("'", "\\'")
            self._command(f"ALTER TABLE `{part['table']}` DROP DETACHED PART '{name}' SETTINGS allow_drop_detached = 1")
