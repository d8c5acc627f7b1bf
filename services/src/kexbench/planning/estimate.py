"""How long a plan will take, roughly: to tell a coffee from a lunch, not to promise."""

from kexbench.domain.cases import Case
from kexbench.domain.plans import Measure

INVOCATION_OVERHEAD_S = 0.05
"""Start, set-up and probe handshake of one worker."""
WARM_UP_BATCHES = 2
MIN_HANDSHAKES = 3


def estimated_seconds(cases: tuple[Case, ...], subjects: int, pools: int, measure: Measure) -> float:
    """Seconds of measuring on one node a pool, pools one after the other."""
    per_subject = 0.0
    for case in cases:
        batch_s = max(measure.batch_ns / 1e9, (MIN_HANDSHAKES + 1) * handshake_seconds(case))
        per_subject += INVOCATION_OVERHEAD_S + (measure.batches + WARM_UP_BATCHES) * batch_s
    return per_subject * subjects * pools * measure.invocations


def handshake_seconds(case: Case) -> float:
    """A guess between the libraries: RSA and DH grow with the cube of their size."""
    seconds = 0.0005
    if case.rsa_bits:
        seconds += 0.0008 * (case.rsa_bits / 2048) ** 3
    if case.group.startswith(("dh-", "ffdhe")):
        bits = int(case.group.removeprefix("dh-").removeprefix("ffdhe"))
        seconds += 0.003 * (bits / 2048) ** 3
    return seconds
