"""Whether the parts of a run belong together, and invocations to it. Pure."""

from kexbench.domain.hosts import HostFacts
from kexbench.domain.runs import Run
from kexbench.domain.samples import Invocation


def incoherent(run: Run) -> str | None:
    """Why the parts of a run do not belong together, or None."""
    for subject in run.plan.subjects:
        if subject.reference not in run.kits and run != run.announced():
            return f"the run has no kit of subject {subject.reference}"
    cases = {case.case_id for case in run.plan.cases}
    for job in run.plan.jobs:
        if unknown := sorted(set(job.case_ids) - cases):
            return f"the plan has no case {unknown[0]} of job {job.job_id}"
    return None


def misfit(run: Run, invocation: Invocation) -> str | None:
    """Why an invocation does not belong to a run, or None."""
    if invocation.run_id != run.run_id:
        return f"the invocation is of run {invocation.run_id}, not {run.run_id}"
    job = next((job for job in run.plan.jobs if job.job_id == invocation.job_id), None)
    if job is None:
        return f"the plan has no job {invocation.job_id}"
    if invocation.case_id not in job.case_ids or invocation.invocation not in job.numbers:
        return f"job {job.job_id} has no invocation {invocation.invocation} of case {invocation.case_id}"
    subjects = {sample.subject for sample in invocation.samples} | {outcome.subject for outcome in invocation.outcomes}
    named = subjects | invocation.negotiated.keys() | invocation.profiles.keys()
    if unknown := sorted(named - run.kits.keys()):
        return f"the run has no subject {unknown[0]}"
    pairs = [(sample.subject, sample.metric) for sample in invocation.samples]
    if len(pairs) != len(set(pairs)):
        return "a subject's metric is given twice"
    return None


def emulated(run: Run, invocation: Invocation, host: HostFacts) -> str | None:
    """Why the numbers of an invocation were measured under emulation, or None."""
    peer = run.plan.case(invocation.case_id).peer_reference
    for subject in sorted({sample.subject for sample in invocation.samples}):
        for reference in (subject, peer):
            kit = run.kits.get(reference or "")
            if kit and (made_for := kit.build_profile.architecture) != host.architecture:
                where = f"its kit of {reference} is for {made_for}, the host is {host.architecture}"
                return f"{subject} was measured under emulation: {where}"
        timer = invocation.timers.get(subject)
        if timer and timer.emulated:
            return f"{subject} was measured under emulation: its worker reported it"
    return None
