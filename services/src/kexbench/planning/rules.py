"""What a spec says of its alerts: its rule."""

from pydantic import ValidationError

from kexbench.domain.alerts import AlertRule
from kexbench.planning.documents import DocumentError, parse_document, validate
from kexbench.planning.spec import AlertsSpec, Spec

EXAMPLE = "alerts: { relevant: 1%, notify: [crypto-team] }"


def rule_of(text: str) -> AlertRule | None:
    """The rule of a spec that was planned once. None where it has none, or none that this release understands: what
    is stored is not to be corrected any more."""
    try:
        written = parse_document(text, "spec.yaml").value.get("alerts")
        return None if written is None else AlertsSpec.model_validate(written).rule
    except (DocumentError, ValidationError):
        return None


def read_rule(text: str, file: str) -> AlertRule:
    """The rule of a spec that has to have one. Raises DocumentError."""
    document = parse_document(text, file)
    spec, faults = validate(document, Spec)
    if spec is None:
        raise DocumentError(file, faults)
    if spec.alerts is None:
        remedy = f"say what is to be told, such as {EXAMPLE}"
        raise DocumentError(file, [document.fault(("alerts",), f"is required here: {remedy}")])
    return spec.alerts.rule
