"""What a spec says of its schedule."""

from kexbench.planning.cron import EXAMPLE
from kexbench.planning.documents import DocumentError, parse_document, validate
from kexbench.planning.spec import Spec


def read_schedule(text: str, file: str) -> str:
    """The times of a spec that is to be a schedule. Raises DocumentError."""
    document = parse_document(text, file)
    spec, faults = validate(document, Spec)
    if spec is None:
        raise DocumentError(file, faults)
    if spec.schedule is None:
        remedy = f"say when, in UTC, such as schedule: {EXAMPLE}, or ask for one run with kexbench submit"
        raise DocumentError(file, [document.fault(("schedule",), f"is required here: {remedy}")])
    return spec.schedule
