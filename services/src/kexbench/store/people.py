"""The tables of access tokens and of the audit trail. Rows are added, and never changed."""

from datetime import datetime

from kexbench.domain.people import AccessToken, AuditEntry
from kexbench.store import rows
from kexbench.store.connection import Connection
from kexbench.store.port import StoredToken


class PeopleTables(Connection):
    """The part of the store's port for people."""

    def add_token(self, token: AccessToken, secret_sha256: str) -> None:
        revoked = token.revoked_at is not None
        row = rows.whole(token, "token_id", "created_at", revoked=revoked, secret_sha256=secret_sha256)
        self._insert("tokens", [row])

    def token(self, token_id: str) -> StoredToken | None:
        selected = self._query(
            "SELECT content, secret_sha256 FROM tokens WHERE token_id = {token_id:String}"
            " ORDER BY revoked DESC LIMIT 1",
            {"token_id": token_id},
        )
        return next(
            (StoredToken(AccessToken.model_validate_json(row["content"]), row["secret_sha256"]) for row in selected),
            None,
        )

    def tokens(self) -> list[AccessToken]:
        newest = "SELECT * FROM tokens ORDER BY token_id, revoked DESC LIMIT 1 BY token_id"
        return self._read(AccessToken, f"SELECT content FROM ({newest}) ORDER BY created_at DESC, token_id")

    def add_audit_entry(self, entry: AuditEntry) -> None:
        self._insert("audit", [rows.whole(entry, "at", "entry_id")])

    def audit(self, limit: int, before: datetime | None = None) -> list[AuditEntry]:
        return self._page(AuditEntry, "audit FINAL", ("at", "entry_id"), limit, before)
