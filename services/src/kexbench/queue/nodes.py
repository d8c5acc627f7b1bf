"""Nodes that people set aside and return. The dispatcher sends no job to a node that is set aside."""

from datetime import UTC, datetime

from pydantic import Field

from kexbench.domain.fleet import NodeName, Reason, SetAside
from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment, in_milliseconds
from kexbench.domain.pools import LOCAL, PoolName
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.queue.runs import one_at_a_time
from kexbench.store.port import FleetStore


class WantedSetAside(Frozen):
    """A node that somebody sets aside."""

    pool: PoolName
    node: NodeName
    reason: Reason
    since: Moment | None = Field(None, description="its results from this time on do not count; null for now")


def set_aside_now(store: FleetStore, wanted: WantedSetAside, author: str) -> SetAside:
    """Set a node aside, or change since when and why. Repeating it changes nothing. Raises Refusal for a node that
    never had a job, and for a machine by itself."""
    with one_at_a_time:
        if not store.had_job(wanted.pool, wanted.node):
            if (wanted.pool, wanted.node) == (LOCAL, LOCAL):
                detail = "this machine is the only node of its pool: without it, nothing would be measured"
                raise Refusal(RefusalReason.CONFLICT, detail, "measure again when the machine is in order")
            raise _unknown(wanted.pool, wanted.node)
        before, now = _newest(store, wanted.pool, wanted.node), _now()
        is_repeated = before is not None and before.since is not None and before.reason == wanted.reason
        if before and is_repeated and wanted.since in (None, before.since):
            return before
        change = SetAside(
            pool=wanted.pool,
            node=wanted.node,
            number=before.number + 1 if before else 1,
            at=now,
            by=author,
            reason=wanted.reason,
            since=in_milliseconds(wanted.since or now),
        )
        store.add_set_aside(change)
        return change


def return_node(store: FleetStore, pool: str, node: str, author: str) -> None:
    """Let the results of a node count again. Repeating it changes nothing. Raises Refusal for a node that was never set
    aside."""
    with one_at_a_time:
        before = _newest(store, pool, node)
        if before is None:
            detail = f"node {node} of pool {pool} was never set aside"
            raise Refusal(RefusalReason.MISSING, detail, "kexbench fleet lists the nodes")
        if before.since:
            change = {"number": before.number + 1, "at": _now(), "by": author, "reason": "", "since": None}
            store.add_set_aside(before.model_copy(update=change))


def _newest(store: FleetStore, pool: str, node: str) -> SetAside | None:
    return next((each for each in store.set_asides() if (each.pool, each.node) == (pool, node)), None)


def _unknown(pool: str, node: str) -> Refusal:
    detail = f"no job ran on node {node} of pool {pool}"
    return Refusal(RefusalReason.MISSING, detail, "kexbench fleet lists the nodes")


def _now() -> datetime:
    return in_milliseconds(datetime.now(UTC))
