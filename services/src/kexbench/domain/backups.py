"""The manifest of a backup: what its other files are, and which releases can read it."""

from typing import Annotated, Literal

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment

FORMAT: Literal[1] = 1
MANIFEST = "manifest.json"
TABLE_NAME = r"[a-z_]+"
_ROWS = rf"tables/{TABLE_NAME}/[0-9]+\.parquet"
_DOCUMENT = r"home/[a-z]+(\.incomplete)?\.yaml"
_OF_A_RUN = r"runs(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+"
Number = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class BackupFile(Frozen):
    name: Annotated[str, Field(pattern=rf"^({_ROWS}|{_DOCUMENT}|{_OF_A_RUN})$")]
    """Of the member of the archive. Never a path that leads elsewhere."""
    size_bytes: Number
    sha256: Sha256


class BackupTable(Frozen):
    table: Annotated[str, Field(pattern=f"^{TABLE_NAME}$")]
    rows: Number
    files: tuple[str, ...]


class BackupManifest(Frozen):
    format: Literal[1]
    kexbench: str
    """The release that made it."""
    engine: str
    at: Moment
    """Nothing that was stored later is in it."""
    migrations: Annotated[dict[int, str], Field(min_length=1)]
    """The schema of the tables: the SHA-256 of each applied migration."""
    tables: tuple[BackupTable, ...]
    files: tuple[BackupFile, ...]
    left_out: tuple[str, ...]
    """Sentences about what is not in it, for people."""
