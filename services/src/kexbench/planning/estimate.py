"""How long a plan will take, roughly: to tell a coffee from a lunch, not to promise."""

from kexbench.domain.cases import Case
from kexbench.domain.cpu_features import CpuFeatures
from kexbench.domain.dimensions import NOTHING, Resumption
from kexbench.domain.plans import Measure, Plan

INVOCATION_OVERHEAD_S = 0.05
"""Start, set-up and probe handshake of one worker."""
WARM_UP_BATCHES = 2
MIN_HANDSHAKES = 3
_SLOWER_CPU = {CpuFeatures.X86_64_V2: 3.0, CpuFeatures.X86_64_V3: 2.0}
"""Of OpenSSL's RSA, which gains most from new instructions."""


def estimated_seconds(cases: tuple[Case, ...], subjects: int, pools: int, measure: Measure) -> float:
    """Seconds of measuring on one node a pool, pools one after the other."""
    return sum(case_seconds(case, subjects, measure) for case in cases) * pools


def job_seconds(plan: Plan) -> dict[str, float]:
    """Seconds that each job of a plan measures, by its id. Of all jobs at once, since an id of a case is made each time
    it is asked for, and a large plan has ten thousand."""
    cases = {case.case_id: case for case in plan.cases}
    found = {}
    for job in plan.jobs:
        measure = plan.measure.model_copy(update={"invocations": job.invocations})
        parties = sum(len(block) for block in job.blocks)
        found[job.job_id] = sum(case_seconds(cases[case_id], parties, measure) for case_id in job.case_ids)
    return found


def case_seconds(case: Case, subjects: int, measure: Measure) -> float:
    """Seconds of measuring all invocations of a case on one node."""
    handshake_s = handshake_seconds(case)
    batch_s = (max(measure.batch_ns / 1e9, MIN_HANDSHAKES * handshake_s) + handshake_s) * case.threads
    workers = 1 if case.peer == NOTHING else 2
    invocation_s = INVOCATION_OVERHEAD_S * workers + (measure.batches + WARM_UP_BATCHES) * batch_s
    return invocation_s * subjects * measure.invocations


def handshake_seconds(case: Case) -> float:
    """CPU seconds of one handshake, a guess between the libraries: RSA and DH grow with the cube of their size."""
    if case.resumption in (Resumption.SESSION_ID, Resumption.TICKET, Resumption.PSK):
        return 0.0002  # symmetric cryptography alone
    seconds = 0.0005
    signatures = 0 if case.resumption is Resumption.PSK_DHE else 1 + case.client_authentication
    if case.rsa_bits:
        seconds += signatures * 0.0008 * (case.rsa_bits / 2048) ** 3 * _SLOWER_CPU.get(case.cpu_features, 1.0)
    elif signatures > 1:
        seconds += 0.0003
    if case.group.startswith(("dh-", "ffdhe")):
        bits = int(case.group.removeprefix("dh-").removeprefix("ffdhe"))
        seconds += 0.003 * (bits / 2048) ** 3
    return seconds + 0.0001 * (case.hello_retry + case.chain_length - 1)
