"""The numbered migrations, and which of them are pending."""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from kexbench.store.port import StoreError

APPLIED_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations
(version UInt32, name String, sha256 String, statements UInt32)
ENGINE = $REPLACING ORDER BY version
"""


@dataclass(frozen=True)
class Migration:
    version: int
    name: str
    sha256: str
    statements: tuple[str, ...]


@dataclass(frozen=True)
class EngineClauses:
    """SQL clauses that differ between one server, a replicated cluster and chDB."""

    replacing: str = "ReplacingMergeTree"

    @property
    def is_replicated(self) -> bool:
        """Whether other servers keep copies of each table."""
        return self.replacing.startswith("Replicated")

    def fill(self, sql: str) -> str:
        """The window has no effect, since each insert has a token of its own. Migrations name it because they never
        change."""
        window = "non_replicated_deduplication_window"
        return Template(sql).substitute(REPLACING=self.replacing, DEDUPLICATION_WINDOW=window)


def load_migrations() -> list[Migration]:
    """All migrations of this release, in order. Numbers must be 1, 2, 3 and so on."""
    migrations = []
    for file in files("kexbench.store.migrations").iterdir():
        if match := re.fullmatch(r"(\d{4})_(\w+)\.sql", file.name):
            text = file.read_text()
            body = re.sub(r"^--.*$", "", text, flags=re.MULTILINE)
            statements = tuple(_portable(_repeatable(part.strip())) for part in body.split(";") if part.strip())
            migrations.append(Migration(int(match[1]), match[2], hashlib.sha256(text.encode()).hexdigest(), statements))
    migrations.sort(key=lambda migration: migration.version)
    if [migration.version for migration in migrations] != list(range(1, len(migrations) + 1)):
        raise StoreError("the migrations are not numbered 1, 2, 3 and so on: the installation is damaged")
    return migrations


def pending(migrations: list[Migration], applied: dict[int, str]) -> list[Migration]:
    """The migrations that are not applied yet. Raises StoreError if the database has others than this release."""
    for version, sha256 in applied.items():
        if version > len(migrations):
            raise StoreError(
                f"the store has migration {version}, which this release does not know: use the newer release"
            )
        if migrations[version - 1].sha256 != sha256:
            raise StoreError(f"migration {version} differs from the one that was applied to this store")
    return [migration for migration in migrations if migration.version not in applied]


def _repeatable(statement: str) -> str:
    """Creates only what does not exist, so that an interrupted migration can run again."""
    return re.sub(r"^CREATE (TABLE|VIEW|MATERIALIZED VIEW) (?!IF NOT EXISTS)", r"CREATE \1 IF NOT EXISTS ", statement)


def _portable(statement: str) -> str:
    """Puts a column's comment before its codec: ClickHouse 26.7 and earlier know no other order. The files have the
    opposite order, and they never change."""
    return re.sub(r"(CODEC\(\w+\(\d+\)\))(\s+)(COMMENT '[^']*')", r"\3\2\1", statement)
