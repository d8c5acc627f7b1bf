"""Shapes of requests and answers about people and their tokens."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from kexbench.api.rights import Role
from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment
from kexbench.domain.people import NAME_MAX, AccessToken, AuditEntry, PersonRole, Proof


class Me(Frozen):
    name: str | None = Field(description="null: nobody in particular")
    role: Role | None
    proof: Proof
    operations: list[str] = Field(description="the operations of this API that the role may use, by operation id")
    login: str | None = Field(description="where to log in; null where this service has no login")
    may_read: bool


class TokenWanted(Frozen):
    """A token that an administrator makes."""

    name: Annotated[str, Field(min_length=1, max_length=NAME_MAX, description="who acts by it", examples=["ci"])]
    role: PersonRole
    expires_at: Moment | None = Field(None, description="null: never")


class NewToken(Frozen):
    token: AccessToken
    text: str = Field(description="the token, which is shown only now; send it as `Authorization: Bearer …`")


class AuditPage(Frozen):
    entries: list[AuditEntry]
    next_before: datetime | None = Field(description="`before` of the next page; null if this is the last one")
