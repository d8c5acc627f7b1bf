"""The tables of run triggers: schedules, and the commits of watched and followed branches."""

from datetime import datetime

from kexbench.domain.canonical import content_hash
from kexbench.domain.commits import NO_COMMIT, BranchHead, HandledCommit
from kexbench.domain.following import FollowedCommit
from kexbench.domain.schedules import Schedule
from kexbench.store import rows
from kexbench.store.connection import Connection


class TriggerTables(Connection):
    """The part of the store's port for schedules and commits."""

    def add_schedule(self, schedule: Schedule) -> None:
        self._insert("schedules", [rows.whole(schedule, "name", "changed_at")])

    def schedules(self) -> list[Schedule]:
        return self._read(
            Schedule, "SELECT content FROM schedules FINAL ORDER BY name, changed_at DESC LIMIT 1 BY name"
        )

    def add_commit(self, handled: HandledCommit) -> None:
        has_content = bool(handled.checks or handled.note)
        of_commit = rows.columns_of(handled.commit, "repository", "branch", "commit")
        self._insert("commits", [rows.whole(handled, "handled_at", tells=has_content, **of_commit)])

    def commits(self, repository: str, limit: int, before: datetime | None = None) -> list[HandledCommit]:
        # Only the newest row of a commit is shown.
        newest_of_each = (
            "(SELECT content, handled_at, commit FROM commits FINAL WHERE tells"
            " AND ({repository:String} = '' OR repository = {repository:String})"
            f" ORDER BY handled_at DESC, branch LIMIT 1 BY repository, commit, if(commit = '{NO_COMMIT}', branch, ''))"
        )
        order = ("handled_at", "commit.repository", "commit.commit")
        return self._page(HandledCommit, newest_of_each, order, limit, before, {"repository": repository})

    def repositories(self) -> list[str]:
        selected = self._query("SELECT DISTINCT repository FROM commits WHERE tells ORDER BY repository")
        return [row["repository"] for row in selected]

    def heads(self, repository: str) -> dict[str, BranchHead]:
        selected = self._query(
            f"SELECT branch, argMaxIf(commit, handled_at, commit != '{NO_COMMIT}') AS head,"
            f" argMax(multiIf(commit != '{NO_COMMIT}', 'present', tells, 'gone', 'awaited'), handled_at) AS presence"
            " FROM commits WHERE repository = {repository:String} GROUP BY branch",
            {"repository": repository},
        )
        return {
            row["branch"]: BranchHead(commit=row["head"] or NO_COMMIT, presence=row["presence"]) for row in selected
        }

    def add_followed(self, followed: FollowedCommit) -> None:
        following = {
            "repository": followed.following.repository,
            "following": content_hash(followed.following.model_dump(mode="json")),
        }
        self._insert("followed", [rows.whole(followed, "handled_at", "commit", **following)])

    def followed(self, repository: str) -> list[FollowedCommit]:
        return self._read(
            FollowedCommit,
            "SELECT content FROM followed FINAL WHERE repository = {repository:String}"
            " ORDER BY following, handled_at DESC LIMIT 1 BY following",
            {"repository": repository},
        )
