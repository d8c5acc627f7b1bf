"""Matrices of cells with planted moves: sides that swing with the machine, invocations with noise of their own."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kexbench.analysis.compared import CellData
from kexbench.analysis.rounds import medians
from kexbench.domain.cases import Case, KeyExchange, Protocol, Resumption
from kexbench.domain.hosts import HostKind
from kexbench.domain.upgrades import Side, UpgradeEnd

Steps = Callable[[Case], tuple[float, float]]
"""By how much the server's and the client's cost of a case grow."""


def a_case(protocol: str, exchange: str, **fields: object) -> Case:
    return Case.model_validate({"protocol": Protocol(protocol), "key_exchange": KeyExchange(exchange), **fields})


MATRIX = (
    a_case("TLSv1.2", "RSA", rsa_bits=2048),
    a_case("TLSv1.2", "ECDHE-RSA", rsa_bits=2048, group="P-256"),
    a_case("TLSv1.3", "ECDHE-RSA", rsa_bits=2048, group="X25519"),
    a_case("TLSv1.3", "ECDHE-RSA", rsa_bits=4096, group="P-256"),
    a_case("TLSv1.2", "ECDHE-ECDSA", curve="P-256", group="P-256"),
    a_case("TLSv1.3", "ECDHE-ECDSA", curve="P-256", group="X25519"),
    a_case("TLSv1.3", "ECDHE-ECDSA", curve="P-256", group="P-256"),
    a_case("TLSv1.2", "ECDHE-RSA", rsa_bits=2048, group="P-256", resumption=Resumption.TICKET),
)


def nothing(_: Case) -> tuple[float, float]:
    return 0.0, 0.0


def a_cell(
    case: Case,
    random: np.random.Generator,
    *,
    server: float = 0.0,
    client: float = 0.0,
    invocations: int = 10,
    noise: float = 0.006,
    jobs: int = 2,
    job_noise: float = 0.0,
    paired: bool = True,
    pool: str = "local",
    unlike: bool = False,
    floor: float = 0.0,
) -> CellData:
    sides: tuple[dict[Side, dict[str, list[float]]], ...] = ({"both": {}, "client": {}, "server": {}}, {})
    sides[1].update({side: {} for side in sides[0]})
    of_job = job_noise * random.standard_normal(jobs)
    for number in range(invocations):
        machine, job = 0.1 * random.standard_normal(), number % jobs
        for after, costs in enumerate(sides):
            key = f"run{'' if paired else after}/{job}/{number}"
            shift = machine + after * of_job[job]
            first = 600 * (1 + after * server) * np.exp(shift + noise * random.standard_normal())
            second = 400 * (1 + after * client) * np.exp(shift + noise * random.standard_normal())
            rounds = np.exp(0.001 * random.standard_normal(5))
            costs["server"][key] = (first * rounds).tolist()
            costs["client"][key] = (second * rounds).tolist()
            costs["both"][key] = ((first + second) * rounds).tolist()
    before_ns, after_ns = (float(np.median(medians(side["both"]))) if invocations else None for side in sides)
    cell = CellData(case, HostKind(pool, "Example CPU 9000"), sides[0], sides[1], ("run",), (), unlike, floor)
    return replace(cell, before_ns=before_ns, after_ns=after_ns)


def a_matrix(steps: Steps = nothing, *, seed: int = 1, invocations: int = 10, noise: float = 0.006) -> list[CellData]:
    random = np.random.default_rng(seed)
    return [
        a_cell(case, random, server=steps(case)[0], client=steps(case)[1], invocations=invocations, noise=noise)
        for case in MATRIX
    ]


def an_end(version: str, source: str = "debian/trixie") -> UpgradeEnd:
    return UpgradeEnd(
        subject=f"openssl@{version}~{source}~1f3c",
        version=version,
        source=source,
        build_profile_label="gcc 14.2.0",
        label=f"OpenSSL {version}",
    )
