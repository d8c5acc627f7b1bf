"""The table of profiles: what was counted, by function."""

from collections.abc import Collection

from kexbench.domain.instruments import Instrument
from kexbench.domain.profiles import Profile
from kexbench.store import rows
from kexbench.store.connection import Connection
from kexbench.store.measured import COUNTED
from kexbench.store.port import ProfileRow
from kexbench.store.summaries import SUBJECT


class ProfileTables(Connection):
    """The part of the store's port for profiles."""

    def profiles(
        self, subjects: Collection[str], instrument: Instrument, case_id: str = "", run_id: str = ""
    ) -> list[ProfileRow]:
        selected = self._query(
            f"SELECT {rows.CASE_SQL}, {rows.SUBJECT_SQL}, case_id, run_id, measured_at, content,"
            f" if(min(amount) OVER counts > 0, max(amount) OVER counts / min(amount) OVER counts - 1, 0) AS spread"
            f" FROM profiles FINAL"
            f" WHERE {SUBJECT} IN {{subjects:Array(String)}} AND instrument = {{instrument:String}}"
            " AND ({case_id:String} = '' OR case_id = {case_id:String})"
            f" AND ({{run_id:String}} = '' OR run_id = {{run_id:String}}) AND {COUNTED}"
            f" WINDOW counts AS (PARTITION BY run_id, case_id, {SUBJECT}, side)"
            f" ORDER BY measured_at DESC LIMIT 1 BY case_id, {SUBJECT}, side",
            {"subjects": list(subjects), "instrument": str(instrument), "case_id": case_id, "run_id": run_id},
        )
        return [
            ProfileRow(
                case=rows.case_of(row),
                subject=rows.subject_of(row),
                run_id=row["run_id"],
                measured_at=row["measured_at"],
                profile=Profile.model_validate_json(row["content"]),
                spread=row["spread"],
            )
            for row in selected
        ]
