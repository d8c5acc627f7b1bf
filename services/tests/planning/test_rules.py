"""Rules of alerts in specs: what they say, and that they change nothing of what is measured."""

from itertools import pairwise

import pytest

from kexbench.domain.alerts import AlertRule
from kexbench.planning.documents import DocumentError
from kexbench.planning.rules import read_rule, rule_of
from tests.builders import BENCH_SPECS, SPEC, a_plan

WATCHED = SPEC + "alerts: { relevant: 1%, notify: [crypto-team, 2nd], confirmInvocations: 40, staleAfter: 8d }\n"


def test_a_rule_is_read_from_a_specs_text() -> None:
    said = AlertRule(relevant=0.01, notify=("crypto-team", "2nd"), confirm_invocations=40, stale_after_s=8 * 86_400)
    assert rule_of(WATCHED) == said == read_rule(WATCHED, "spec.yaml")


@pytest.mark.parametrize("text", ["alerts: {}\n", "alerts:\n  relevant: 0.5%\n"])
def test_what_a_rule_leaves_out_is_as_usual(text: str) -> None:
    assert rule_of(SPEC + text) == AlertRule()


def test_one_channel_needs_no_list() -> None:
    assert rule_of(SPEC + "alerts: { notify: crypto-team }\n") == AlertRule(notify=("crypto-team",))


@pytest.mark.parametrize("text", [SPEC, "", "{", "alerts: { relevant: 1% ", SPEC + "alerts: { confirm: 3 }\n", "[]"])
def test_a_stored_spec_without_a_rule_or_with_one_that_nobody_understands_is_not_watched(text: str) -> None:
    assert rule_of(text) is None


def test_a_rule_changes_neither_the_plan_nor_its_id() -> None:
    plans = [a_plan(text) for text in (SPEC, WATCHED, SPEC + "alerts: { notify: others }\n")]
    assert all(one == other for one, other in pairwise(plans))


def test_where_a_rule_is_wanted_a_spec_without_one_is_reported_with_how_to_write_it() -> None:
    with pytest.raises(DocumentError, match=r"^spec.yaml:1:1: alerts: is required here: add .* alerts: \{ relevant"):
        read_rule(SPEC, "spec.yaml")
    with pytest.raises(DocumentError, match="unknown field"):
        read_rule(WATCHED + "more: 1\n", "spec.yaml")


@pytest.mark.parametrize("address", ["slack://xoxb-SECRET/x", "https://hooks.example.org/SECRET", "SECRET@example.org"])
@pytest.mark.parametrize("form", ["[{}]", "{}", "[crypto-team, {}]"])
def test_an_address_in_a_spec_is_refused_and_not_repeated_in_what_everybody_reads(address: str, form: str) -> None:
    with pytest.raises(DocumentError) as caught:
        a_plan(SPEC + f"alerts: {{ notify: {form.format(repr(address))} }}\n")
    assert "must be the name of a channel" in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_the_history_of_all_tracked_versions_is_watched() -> None:
    rule = rule_of((BENCH_SPECS / "history.yaml").read_text())
    assert rule is not None
    assert rule.relevant == 0.01
