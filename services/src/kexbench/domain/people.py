"""Who may write, by which proof, and what each did: people, and programs that act for them."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment

PersonRole = Literal["viewer", "submitter", "triager", "admin"]
"""`viewer`: reads. `submitter`: requests, cancels and resumes runs, and adds and removes schedules and bisections.
`triager`: decides what is done about alerts, and sets nodes aside. `admin`: removes, makes tokens, and reads the audit
trail. Each may do what those before it may."""
PERSON_ROLES: tuple[PersonRole, ...] = get_args(PersonRole)
Proof = Literal["", "signed", "account", "token", "login"]
"""`signed`: a token signed with the secret of this machine's service. `account`: a ServiceAccount's token. `token`: a
stored one. `login`: a session of a browser. Empty for machines."""
NAME_MAX = 100


def at_least(role: PersonRole) -> tuple[PersonRole, ...]:
    """The role and those that include it."""
    return PERSON_ROLES[PERSON_ROLES.index(role) :]


class AccessToken(Frozen):
    """What an administrator made a token for. The token itself is nowhere."""

    token_id: str
    name: Annotated[str, Field(min_length=1, max_length=NAME_MAX, description="who acts by it, for the audit trail")]
    role: PersonRole
    created_by: str
    created_at: Moment
    expires_at: Moment | None = Field(description="null: never")
    revoked_by: str = Field("", description="empty while it is valid")
    revoked_at: Moment | None = None


class AuditEntry(Frozen):
    """One accepted or refused write."""

    entry_id: str
    at: Moment
    name: str = Field(description="who")
    role: PersonRole
    proof: Proof = Field(description="how they proved it")
    token_id: str = Field(description="of a stored token; otherwise empty")
    method: str
    route: str = Field(description="the address, with names in place of its variable parts")
    subject: str = Field(description="the run, alert, node or other thing that it was about, as far as it is known")
    status: int = Field(description="of the answer; 400 and more: nothing was written, or only a part")
