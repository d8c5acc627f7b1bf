"""Parts that an embedded store found damaged when it opened, and set aside."""

import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from kexbench.store.connection import Connection

_BROKEN = "database = {database:String} AND reason LIKE 'broken%'"


class DamageTables(Connection):
    """The part of the store that tells what it lost, and takes it again."""

    def lost_parts(self) -> Counter[str]:
        """How many of each table; a server's own are seen to by whoever runs it."""
        if not self._embedded:
            return Counter()
        found = self._query(
            f"SELECT `table`, count() AS parts FROM system.detached_parts WHERE {_BROKEN} GROUP BY `table`",
            {"database": self._database},
        )
        return Counter({row["table"]: int(row["parts"]) for row in found})

    @contextmanager
    def storing_again(self) -> Iterator[None]:
        """Meanwhile rows are stored though the same were stored before: the store remembers them, not that they are
        lost. Rows that are there twice count once."""
        self._anew = f":{secrets.token_hex(8)}"
        try:
            yield
        finally:
            self._anew = ""

    def forget_lost_parts(self) -> None:
        """For who has stored again what there was to store."""
        parts = list(
            self._query(
                f"SELECT `table`, name FROM system.detached_parts WHERE {_BROKEN}", {"database": self._database}
            )
        )
        for part in parts:
            name = part["name"].replace("\\", "\\\\").replace("'", "\\'")
            self._command(f"ALTER TABLE `{part['table']}` DROP DETACHED PART '{name}' SETTINGS allow_drop_detached = 1")
