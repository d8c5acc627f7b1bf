"""Histories made by hand, and pools of invocations that nobody measured."""

from collections.abc import Sequence

import numpy as np

from bench.scorecard.pool import AGAIN, CASES, PLAIN, STEPS, Pool, burned
from kexbench.domain.cases import Case
from kexbench.domain.upgrades import Side

SIDES: tuple[Side, ...] = ("both", "client", "server")


def history(*levels: float, each: int = 30, noise: float = 0.01, seed: int = 1) -> list[float]:
    """So many points at each level, with normal noise."""
    random = np.random.default_rng(seed)
    return [float(level * np.exp(noise * random.standard_normal())) for level in levels for _ in range(each)]


def made_up_pool(case: Case, count: int, seed: int, *, noise: float = 0.002, wandering: float = 0.05) -> Pool:
    """Invocations in which the machine's speed wanders, alike for all of an invocation."""
    random = np.random.default_rng([seed, *case.case_id.encode()])
    speeds = np.exp(wandering * random.standard_normal(count))
    shares = {PLAIN: 0.0, AGAIN: 0.0} | {burned(step): step for step in STEPS}
    made: dict[str, dict[Side, dict[str, Sequence[float]]]] = {}
    for subject, share in shares.items():
        costs: dict[str, Sequence[float]] = {
            f"bench/{n}": _batches(speed, share, noise, random) for n, speed in enumerate(speeds)
        }
        made[subject] = dict.fromkeys(SIDES, costs)
    return Pool("openssl", case, made)


def _batches(speed: float, share: float, noise: float, random: np.random.Generator) -> list[float]:
    return [float(cost) for cost in 1e6 * speed * (1 + share) * np.exp(noise * random.standard_normal(20))]


def made_up_pools(count: int = 60, seed: int = 1) -> list[Pool]:
    return [made_up_pool(case, count, seed) for case in CASES["openssl"]]
