"""The number of invocations for a spec's `resolve`, from the qualifications of the machine."""

from collections.abc import Callable

from kexbench.analysis.detectable import invocations_for
from kexbench.answers.qualifications import Qualifications
from kexbench.domain.libraries import MADE_UP
from kexbench.domain.plans import Plan
from kexbench.planning.plan import fault_in
from kexbench.planning.spec import MAX_INVOCATIONS


class Unresolvable(ValueError):
    """No number of invocations is known to detect the change that a spec names; the text says why."""


def resolved(
    text: str, file: str, plan_of: Callable[[int | None], Plan], qualified: Callable[[int], Qualifications]
) -> Plan:
    """The plan of a spec, with the number of invocations that its `resolve` needs. `plan_of` plans it for a number of
    invocations, None for the spec's own. `qualified` returns qualifications for a number. Raises DocumentError."""
    plan = plan_of(None)
    if plan.measure.resolve is None:
        return plan
    try:
        return plan_of(invocations_to_resolve(plan, qualified(plan.measure.invocations)))
    except Unresolvable as error:
        raise fault_in(text, file, ("measure", "resolve"), str(error)) from None


def invocations_to_resolve(plan: Plan, qualified: Qualifications) -> int:
    """The invocations needed to detect the change of the spec's `resolve`, by the noisiest case in the A/A runs of its
    libraries. Raises Unresolvable if a library has no A/A run, or if too many are needed."""
    assert plan.measure.resolve is not None
    needed = 0
    for library in dict.fromkeys(subject.library for subject in plan.subjects):
        spread = [row.pair_sd for row in qualified.rows if row.library == library]
        if not spread:
            qualify = "" if library in MADE_UP else f"run kexbench qualify {library}, or "
            raise Unresolvable(f"{library} is not qualified on this machine: {qualify}set invocations instead")
        needed = max(needed, invocations_for(max(spread), plan.measure.resolve))
    if needed > MAX_INVOCATIONS:
        raise Unresolvable(
            f"a change of {plan.measure.resolve:.1%} takes {needed:,} invocations here, more than {MAX_INVOCATIONS:,}"
        )
    return needed
