"""Handshakes of equal strength: the cheapest one with forward secrecy, and what that adds to RSA key exchange.

Cases run in invocations of their own, so nothing is paired. Costs of different runs are not compared, since the machine
may have changed in between.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.moves import pair
from kexbench.analysis.rounds import Batches, medians
from kexbench.analysis.verdict import judge_pairs
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import RSA_KEYS, Method
from kexbench.domain.intervals import ITSELF, Ratio
from kexbench.domain.strength import is_forward_secret
from kexbench.domain.upgrades import CellVerdict


@dataclass(frozen=True)
class Handshake:
    """What one subject's handshake cost."""

    case: Case
    bits: int | None
    """Its strength; None if unknown."""
    run_id: str
    costs_ns: Batches
    """One value for each invocation, by job and invocation."""

    @property
    def cost_ns(self) -> float:
        return float(np.median(medians(self.costs_ns)))


@dataclass(frozen=True)
class Against:
    """A cost relative to another handshake's; the verdict is among all handshakes compared with the same one."""

    ratio: Ratio
    verdict: CellVerdict
    resolves: float | None = None
    """A smaller difference would probably be missed; None of a handshake relative to itself."""


@dataclass(frozen=True)
class LevelAnswer:
    """The answers at a level of security."""

    cheapest: Handshake | None
    """The cheapest with forward secrecy, of this strength or stronger."""
    as_cheap: tuple[Handshake, ...]
    """Others with forward secrecy that are not proven to cost more."""
    with_rsa_key: Handshake | None
    """The same of those whose certificate has an RSA key, for servers that cannot change it."""
    plain_rsa: Handshake | None
    """The cheapest RSA key exchange of this strength or stronger; of the same run as `cheapest` if there is one."""
    against_rsa: dict[str, Against]
    """Handshakes relative to it, by case id; only those of its run."""


def answer(handshakes: Sequence[Handshake], level_bits: int) -> LevelAnswer:
    """The answers from all handshakes of one subject on one host kind."""
    enough = [each for each in handshakes if each.bits is not None and each.bits >= level_bits]
    secret = [each for each in enough if is_forward_secret(each.case)]
    cheapest = min(secret, key=lambda each: each.cost_ns, default=None)
    rsa_keys = [each for each in secret if each.case.key_exchange.key in RSA_KEYS]
    plain_rsa = [each for each in enough if each.case.key_exchange.method is Method.RSA]
    run_id = cheapest.run_id if cheapest else ""
    baseline = min(plain_rsa, key=lambda each: (each.run_id != run_id, each.cost_ns), default=None)
    as_cheap: tuple[Handshake, ...] = ()
    if cheapest:
        dearer = relative_to(cheapest, secret)
        as_cheap = tuple(each for each in secret if each is not cheapest and _may_be_equal(dearer, each))
    return LevelAnswer(
        cheapest=cheapest,
        as_cheap=as_cheap,
        with_rsa_key=min(rsa_keys, key=lambda each: each.cost_ns, default=None),
        plain_rsa=baseline,
        against_rsa=relative_to(baseline, handshakes) if baseline else {},
    )


def _may_be_equal(dearer: dict[str, Against], each: Handshake) -> bool:
    against = dearer.get(each.case.case_id)
    return against is not None and against.verdict != "more"


def relative_to(baseline: Handshake, handshakes: Sequence[Handshake]) -> dict[str, Against]:
    """The costs of handshakes relative to one of them, by case id, judged together. Without those of other runs, and
    those with too few invocations."""
    others = [each for each in handshakes if each.run_id == baseline.run_id and each is not baseline]
    pairs = {
        place: compared
        for place, each in enumerate(others)
        if (compared := pair(_of_its_case(baseline), _of_its_case(each)))
    }
    judged = judge_pairs(pairs, dict.fromkeys(pairs), {})
    against = {
        others[place].case.case_id: Against(each.move.ratio, each.verdict, each.resolves)
        for place, each in judged.items()
    }
    return {baseline.case.case_id: Against(ITSELF, "same"), **against}


def _of_its_case(handshake: Handshake) -> Batches:
    """With the case in the keys: invocations with one number in two cases were not interleaved."""
    return {f"{handshake.case.case_id}/{unit}": values for unit, values in handshake.costs_ns.items()}
