"""How many invocations a spec's `resolve` takes, from what is known of the machine it is measured on."""

from collections.abc import Callable

from kexbench.api.lab_models import Qualifications
from kexbench.domain.libraries import MADE_UP
from kexbench.domain.plans import Plan
from kexbench.planning.plan import fault_in
from kexbench.planning.spec import MAX_INVOCATIONS


class Unresolvable(ValueError):
    """Why no number of invocations is known that tells the change which a spec asks for."""


def resolved(
    text: str, file: str, plan_of: Callable[[int | None], Plan], known: Callable[[int], Qualifications]
) -> Plan:
    """The plan of a spec whose invocations follow from its `resolve`, where it has one. `plan_of` makes it for a number
    of invocations or for the spec's own, `known` says what was qualified for so many. Raises DocumentError."""
    plan = plan_of(None)
    if plan.measure.resolve is None:
        return plan
    try:
        return plan_of(invocations_to_resolve(plan, known(plan.measure.invocations)))
    except Unresolvable as error:
        raise fault_in(text, file, ("measure", "resolve"), str(error)) from None


def invocations_to_resolve(plan: Plan, qualified: Qualifications) -> int:
    """How many invocations tell the change that a spec asks for, by the noisiest case that an A/A run of each of its
    libraries found here. Raises Unresolvable where there was none, or where no number is enough."""
    # Here, since arrays take a moment to import and few specs are resolved.
    from kexbench.analysis.detectable import invocations_for  # noqa: PLC0415

    assert plan.measure.resolve is not None
    wanted = 0
    for library in dict.fromkeys(subject.library for subject in plan.subjects):
        spread = [row.pair_sd for row in qualified.rows if row.library == library]
        if not spread:
            qualify = "" if library in MADE_UP else f"run kexbench qualify {library}, or "
            raise Unresolvable(f"nothing is known of {library} on this machine: {qualify}say invocations")
        wanted = max(wanted, invocations_for(max(spread), plan.measure.resolve))
    if wanted > MAX_INVOCATIONS:
        raise Unresolvable(
            f"a change of {plan.measure.resolve:.1%} takes {wanted:,} invocations here, more than {MAX_INVOCATIONS:,}"
        )
    return wanted
