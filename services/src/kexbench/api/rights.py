"""Which callers may use a route: the only table. Routes that are not in it are for anyone who may read."""

from collections.abc import Mapping
from typing import Literal

from kexbench.domain.people import PERSON_ROLES, PersonRole, at_least

MachineRole = Literal["run", "job", "builder", "dispatcher", "schedule"]
"""`run`: a machine that measures by itself, for one run. `job`: the pod of one job. `builder`: a pod that builds kits.
`dispatcher`: submits runs to the cluster and records their results. `schedule`: the pod that requests the runs of a
schedule."""
Role = MachineRole | PersonRole
PERSON: frozenset[Role] = frozenset(PERSON_ROLES)
_TRIAGER, _ADMIN = frozenset(at_least("triager")), frozenset(at_least("admin"))
_SUBMITTER: frozenset[Role] = frozenset(at_least("submitter"))
_DISPATCHER: frozenset[Role] = frozenset({"dispatcher"})

RIGHTS: Mapping[str, frozenset[Role]] = {
    # runs
    "submit_run": _SUBMITTER,
    "cancel_run": _SUBMITTER,
    "cancel_runs": _SUBMITTER,
    "resume_run": _SUBMITTER,
    "backfill": _SUBMITTER,
    "dry_run": _SUBMITTER | _DISPATCHER,
    "open_run": _SUBMITTER | {"dispatcher", "run"},
    "open_runs": _DISPATCHER,
    "known_kits": _DISPATCHER,
    "start_run": _DISPATCHER,
    # schedules and bisections
    "add_schedule": _SUBMITTER,
    "remove_schedule": _SUBMITTER,
    "run_schedule": frozenset({"schedule"}),
    "begin_bisection": _SUBMITTER,
    "cancel_bisection": _SUBMITTER,
    "resume_bisection": _SUBMITTER,
    "advance_bisections": _DISPATCHER,
    "line_trouble": _DISPATCHER,
    "put_line": frozenset({"builder"}),
    # alerts and machines
    "change_alert": _TRIAGER,
    "dry_run_alerts": _SUBMITTER,
    "advance_alerts": _DISPATCHER,
    "next_notification": _DISPATCHER,
    "note_what_was_sent": _DISPATCHER,
    "set_aside": _TRIAGER,
    "return_node": _TRIAGER,
    # the store
    "prunable": _SUBMITTER | _DISPATCHER,
    "prune": _ADMIN | _DISPATCHER,
    "backup": _DISPATCHER,
    # people
    "create_token": _ADMIN,
    "tokens": _ADMIN,
    "revoke_token": _ADMIN,
    "audit": _ADMIN,
    # what pods and runners send and get
    "put_run": frozenset({"run"}),
    "post_event": frozenset({"run", "dispatcher"}),
    "put_attempt": frozenset({"job"}),
    "post_invocation": frozenset({"run", "job"}),
    "post_invocations": frozenset({"run", "job"}),
    "job_order": frozenset({"job", "dispatcher"}),
    "material": frozenset({"job"}),
    "kit": frozenset({"job", "builder", "dispatcher"}),
    "put_kit": frozenset({"builder"}),
    # commits of watched repositories
    "repository_heads": _DISPATCHER,
    "run_committed": _DISPATCHER,
    "handled_commit": _DISPATCHER,
    "followed": _DISPATCHER,
    "run_followed": _DISPATCHER,
    "note_followed": _DISPATCHER,
    "rings": _DISPATCHER,
}
"""By operation id."""
OPEN: Mapping[str, str] = {
    "capacity": "a question whose mix is its body; it stores nothing",
    "logout": "it removes a cookie of whoever sends it",
    "receive_webhook": "the forge signs it with the repository's secret",
}
"""Routes with a writing method that take no caller, and why."""


def operations_of(role: Role) -> list[str]:
    """The operations that need a role, and that this one may use."""
    return sorted(operation for operation, roles in RIGHTS.items() if role in roles)
