"""Who asks, the tokens of people and programs, and the audit trail."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import Query, Request, Response

from kexbench.api.access import ADMITTED, MaybeCaller, TheCaller
from kexbench.api.dependencies import TheAuditStore, TheTokenStore
from kexbench.api.gate import CountedRoute, api_router
from kexbench.api.people_models import AuditPage, Me, NewToken, TokenWanted
from kexbench.api.problems import ProblemError
from kexbench.api.reading import Before
from kexbench.api.rights import operations_of
from kexbench.api.stored_tokens import new_secret, new_token_id, sha256_of, text_of
from kexbench.api.uploading import router as uploads
from kexbench.domain.moments import in_milliseconds
from kexbench.domain.people import AccessToken

router = api_router(route_class=CountedRoute, tags=["people"], responses=uploads.responses)


@router.get("/me", operation_id="me")
def me(request: Request, caller: MaybeCaller) -> Me:
    """Who sends this request, and what they may do."""
    return Me(
        name=caller.name if caller else None,
        role=caller.role if caller else None,
        proof=caller.proof if caller else "",
        operations=operations_of(caller.role) if caller else [],
        login=request.url_for("begin_login").path if request.app.state.login else None,
        may_read=caller is not None or request.app.state.anyone_reads,
    )


@router.post("/tokens", operation_id="create_token", status_code=201)
def create_token(store: TheTokenStore, caller: TheCaller, wanted: TokenWanted, response: Response) -> NewToken:
    """Make a token. The answer has it, and nothing else ever will."""
    now = _now()
    if wanted.expires_at and wanted.expires_at <= now:
        detail = f"the token would expire at {wanted.expires_at:%Y-%m-%d %H:%M} UTC, which is over"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "choose a later time, or none")
    secret, fields = new_secret(), wanted.model_dump()
    token = AccessToken(**fields, token_id=new_token_id(), created_by=caller.name, created_at=now)
    store.add_token(token, sha256_of(secret))
    response.headers["Location"] = f"/api/v1/tokens/{token.token_id}"
    return NewToken(token=token, text=text_of(token.token_id, secret))


@router.get("/tokens", operation_id="tokens", dependencies=ADMITTED)
def tokens(store: TheTokenStore) -> list[AccessToken]:
    """All tokens, also expired and revoked ones, newest first."""
    return store.tokens()


@router.delete("/tokens/{token_id}", operation_id="revoke_token", status_code=204)
def revoke_token(store: TheTokenStore, caller: TheCaller, token_id: str) -> None:
    """Revoke a token for good: from now on it is refused. Repeating it changes nothing."""
    stored = store.token(token_id)
    if stored is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no token {token_id}", "kexbench tokens list lists them")
    if not stored.token.revoked_at:
        revoked = stored.token.model_copy(update={"revoked_by": caller.name, "revoked_at": _now()})
        store.add_token(revoked, stored.secret_sha256)


@router.get("/audit", operation_id="audit", dependencies=ADMITTED)
def audit(store: TheAuditStore, limit: Annotated[int, Query(ge=1, le=1000)] = 100, before: Before = None) -> AuditPage:
    """What people and their programs wrote or were refused, newest first."""
    page = store.audit(limit, before)
    return AuditPage(entries=page, next_before=page[-1].at if len(page) >= limit else None)


def _now() -> datetime:
    return in_milliseconds(datetime.now(UTC))
