"""The tables of what asks for runs: schedules, and the commits of watched and of followed branches."""

from datetime import datetime

from kexbench.domain.commits import HandledCommit
from kexbench.domain.following import FollowedCommit
from kexbench.domain.moments import EARLIEST, LATEST
from kexbench.domain.schedules import Schedule
from kexbench.store import rows
from kexbench.store.connection import Connection


class TriggerTables(Connection):
    """The part of the store's port that tells of schedules and commits."""

    def add_schedule(self, schedule: Schedule) -> None:
        self._insert("schedules", [rows.schedule_row(schedule)])

    def schedules(self) -> list[Schedule]:
        found = self._query("SELECT content FROM schedules FINAL ORDER BY name, changed_at DESC LIMIT 1 BY name")
        return [Schedule.model_validate_json(row["content"]) for row in found]

    def add_commit(self, handled: HandledCommit) -> None:
        self._insert("commits", [rows.commit_row(handled)])

    def commits(self, repository: str, limit: int, before: datetime | None = None) -> list[HandledCommit]:
        # A commit is told with its newest row, and no page knows an older one of it.
        found = self._query(
            "SELECT content FROM (SELECT content, handled_at, commit FROM commits FINAL WHERE tells"
            " AND ({repository:String} = '' OR repository = {repository:String})"
            " ORDER BY handled_at DESC, branch LIMIT 1 BY repository, commit)"
            " WHERE handled_at < {before:DateTime64(3, 'UTC')}"
            " ORDER BY handled_at DESC LIMIT {limit:UInt32} WITH TIES",
            {"repository": repository, "before": min(max(before or LATEST, EARLIEST), LATEST), "limit": limit},
        )
        commits = [HandledCommit.model_validate_json(row["content"]) for row in found]
        return sorted(commits, key=lambda one: (one.handled_at, one.commit.repository, one.commit.commit), reverse=True)

    def repositories(self) -> list[str]:
        found = self._query("SELECT DISTINCT repository FROM commits WHERE tells ORDER BY repository")
        return [row["repository"] for row in found]

    def heads(self, repository: str) -> dict[str, str]:
        found = self._query(
            "SELECT branch, argMax(commit, handled_at) AS head FROM commits WHERE repository = {repository:String}"
            " GROUP BY branch",
            {"repository": repository},
        )
        return {row["branch"]: row["head"] for row in found}

    def add_followed(self, followed: FollowedCommit) -> None:
        self._insert("followed", [rows.followed_row(followed)])

    def followed(self, repository: str) -> list[FollowedCommit]:
        found = self._query(
            "SELECT content FROM followed FINAL WHERE repository = {repository:String}"
            " ORDER BY following, handled_at DESC LIMIT 1 BY following",
            {"repository": repository},
        )
        return [FollowedCommit.model_validate_json(row["content"]) for row in found]
