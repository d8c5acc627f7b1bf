"""The alert rule of a spec."""

from functools import lru_cache

from pydantic import ValidationError

from kexbench.domain.alerts import AlertRule
from kexbench.domain.verdicts import RELEVANT
from kexbench.planning.documents import DocumentError, parse_document, validate
from kexbench.planning.spec import AlertsSpec, Spec

EXAMPLE = "alerts: { relevant: 1%, notify: [crypto-team] }"


@lru_cache(maxsize=256)
def rule_of(text: str) -> AlertRule | None:
    """The rule of a stored spec. None where it has none, or none that this release understands, since nobody can
    correct a stored spec. Cached: every answer about a run needs it, and a spec takes 10 ms to parse."""
    try:
        written = parse_document(text, "spec.yaml").value.get("alerts")
        return None if written is None else AlertsSpec.model_validate(written).rule
    except (DocumentError, ValidationError):
        return None


def relevant_of(text: str) -> float:
    """The smallest relevant change of a planned spec, as a share."""
    rule = rule_of(text)
    return rule.relevant if rule else RELEVANT


def read_rule(text: str, file: str) -> AlertRule:
    """The rule of a spec that must have one. Raises DocumentError."""
    document = parse_document(text, file)
    spec, faults = validate(document, Spec)
    if spec is None:
        raise DocumentError(file, faults)
    if spec.alerts is None:
        raise DocumentError(file, [document.fault(("alerts",), f"is required here: add a rule, such as {EXAMPLE}")])
    return spec.alerts.rule
