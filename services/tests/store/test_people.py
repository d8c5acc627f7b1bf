"""What a store keeps of tokens and of the audit trail."""

from datetime import timedelta

from kexbench.domain.people import AccessToken, AuditEntry
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Store, StoredToken
from tests.builders import NOON
from tests.stores import raw

HOSTILE = "it's {so:String} 'x' \\ \n «Z» ; DROP TABLE tokens; --"
SHA256 = "ab" * 32


def a_token(number: int = 0, **fields: object) -> AccessToken:
    token = AccessToken(
        token_id=f"{number:012x}",
        name=HOSTILE,
        role="submitter",
        created_by="alice",
        created_at=NOON + timedelta(seconds=number),
        expires_at=NOON + timedelta(days=90),
    )
    return token.model_copy(update=fields)


def an_entry(number: int, **fields: object) -> AuditEntry:
    entry = AuditEntry(
        entry_id=f"{number:016x}",
        at=NOON + timedelta(seconds=number),
        name=HOSTILE,
        role="admin",
        proof="token",
        token_id="0" * 12,
        method="POST",
        route="/api/v1/runs",
        subject=HOSTILE,
        status=201,
    )
    return entry.model_copy(update=fields)


def test_an_empty_store_knows_no_token_and_no_deed(store: Store) -> None:
    assert (store.token("x"), store.tokens(), store.audit(5)) == (None, [], [])


def test_tokens_come_back_as_they_were_newest_first_however_often_they_are_written(store: Store) -> None:
    first, second = a_token(0), a_token(1, expires_at=None)
    for _ in range(3):
        store.add_token(first, SHA256)
        store.add_token(second, "cd" * 32)
        assert store.tokens() == [second, first]
        assert store.token(first.token_id) == StoredToken(first, SHA256)
        assert store.token(second.token_id) == StoredToken(second, "cd" * 32)


def test_what_is_revoked_stays_revoked_even_if_it_is_written_again(store: Store) -> None:
    token = a_token()
    store.add_token(token, SHA256)
    revoked = token.model_copy(update={"revoked_by": "bob", "revoked_at": NOON + timedelta(days=1)})
    store.add_token(revoked, SHA256)
    store.add_token(token, SHA256)
    assert store.tokens() == [revoked]
    assert store.token(token.token_id) == StoredToken(revoked, SHA256)


def test_another_process_sees_a_revocation_at_once(store: ClickHouseStore) -> None:
    token, other = a_token(), raw(store).opened_as(ClickHouseStore)
    store.add_token(token, SHA256)
    assert other.token(token.token_id) == StoredToken(token, SHA256)
    revoked = token.model_copy(update={"revoked_by": "bob", "revoked_at": NOON})
    other.add_token(revoked, SHA256)
    assert store.token(token.token_id) == StoredToken(revoked, SHA256)
    other.close()


def test_the_audit_trail_comes_in_pages_newest_first(store: Store) -> None:
    entries = [an_entry(number) for number in range(4)]
    for entry in (*entries, entries[0]):
        store.add_audit_entry(entry)
    assert store.audit(10) == entries[::-1]
    assert store.audit(2) == entries[:1:-1]
    assert store.audit(2, before=entries[2].at) == entries[1::-1]


def test_entries_of_the_same_moment_are_on_one_page(store: Store) -> None:
    entries = [an_entry(number, at=NOON) for number in range(3)]
    for entry in entries:
        store.add_audit_entry(entry)
    assert store.audit(1) == entries[::-1]
