"""No two rows of what a connection costs have one title."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kexbench.analysis.connection import connection_parts
from kexbench.answers.connection import part_labels
from kexbench.domain.cases import Case

BASE = Case(protocol="TLSv1.3", key_exchange="ECDHE-ECDSA", group="X25519", curve="P-256")
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "cipher": st.sampled_from(["AES-128-GCM", "AES-256-GCM"]),
        "chain_length": st.sampled_from([1, 2]),
        "verification": st.booleans(),
        "trust_anchors": st.sampled_from([1, 140, 150]),
        "tickets": st.sampled_from(["none", "default"]),
        "context": st.sampled_from(["shared", "connection", "thread"]),
        "transfer_bytes": st.sampled_from([0, 1024, 4096]),
        "threads": st.sampled_from([1, 2]),
    },
)


def is_possible(changes: dict[str, Any]) -> bool:
    try:
        varied(changes)
    except ValidationError:
        return False
    return True


def varied(changes: dict[str, Any]) -> Case:
    return Case.model_validate({**BASE.model_dump(), **changes})


@given(st.lists(SETTINGS.filter(is_possible), max_size=8))
def test_every_row_has_a_title_of_its_own(changes: list[dict[str, Any]]) -> None:
    """Among rows that a difference is subtracted for, the case without the part is there too."""
    cases = [varied(each) for each in changes]
    cases += [case.model_copy(update={"trust_anchors": 1}) for case in cases]
    cases += [case.model_copy(update={"verification": False, "trust_anchors": 1}) for case in cases]
    for parts in connection_parts(cases).values():
        labels = part_labels(parts)
        assert len(set(labels)) == len(labels), labels


def test_trust_anchors_of_a_shared_context_and_of_one_for_each_connection_are_distinguished() -> None:
    cases = [
        varied({"verification": True, "context": context, "trust_anchors": anchors})
        for context in ("shared", "connection")
        for anchors in (1, 140)
    ]
    (parts,) = connection_parts(cases).values()
    assert [label for label in part_labels(parts) if "trust anchors" in label] == [
        "140 trust anchors instead of 1, loaded for each connection",
        "140 trust anchors instead of 1, loaded once",
    ]
