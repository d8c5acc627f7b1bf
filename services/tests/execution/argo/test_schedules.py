"""Schedules on a cluster: what is submitted of one, and what is done about all of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from kexbench.execution.argo import names
from kexbench.execution.argo.schedules import ApplyCron, DeleteCron, cron_workflow, decide_crons
from tests.execution.argo.cases import SETTINGS
from tests.golden import assert_golden

SNAPSHOT = Path(__file__).parent / "snapshots" / "schedule.yaml"
NIGHTLY = cron_workflow("nightly", "0 3 * * *", SETTINGS)
NAME = "kexbench-schedule-nightly"


def content(manifest: dict[str, Any]) -> str:
    return str(manifest["metadata"]["annotations"][names.CONTENT])


def test_what_is_submitted_of_a_schedule_reads_as_it_should() -> None:
    assert_golden(SNAPSHOT, yaml.safe_dump(NIGHTLY, sort_keys=False, width=120))


def test_a_schedule_that_has_no_cron_workflow_gets_one() -> None:
    assert decide_crons({"nightly": "0 3 * * *"}, {}, SETTINGS) == (ApplyCron(NIGHTLY),)


def test_a_cron_workflow_that_is_as_it_should_is_left_alone() -> None:
    assert decide_crons({"nightly": "0 3 * * *"}, {NAME: content(NIGHTLY)}, SETTINGS) == ()


def test_a_cron_workflow_follows_the_times_of_its_schedule_and_the_settings_of_its_pods() -> None:
    found = {NAME: content(NIGHTLY)}
    later = decide_crons({"nightly": "0 4 * * *"}, found, SETTINGS)
    assert later == (ApplyCron(cron_workflow("nightly", "0 4 * * *", SETTINGS)),)
    newer = replace(SETTINGS, runner_image="registry.example/kexbench/runner:2")
    assert decide_crons({"nightly": "0 3 * * *"}, found, newer) == (
        ApplyCron(cron_workflow("nightly", "0 3 * * *", newer)),
    )


def test_a_cron_workflow_without_a_schedule_is_deleted_and_others_stay() -> None:
    found = {NAME: content(NIGHTLY), "kexbench-schedule-gone": "any"}
    assert decide_crons({"nightly": "0 3 * * *"}, found, SETTINGS) == (DeleteCron("kexbench-schedule-gone"),)


def test_a_cron_workflow_that_says_nothing_of_its_content_is_made_as_it_should_be() -> None:
    assert decide_crons({"nightly": "0 3 * * *"}, {NAME: ""}, SETTINGS) == (ApplyCron(NIGHTLY),)


def test_the_longest_name_of_a_spec_is_a_name_and_a_label_that_kubernetes_and_argo_take() -> None:
    longest = "a" + "b" * 61 + "c"
    manifest = cron_workflow(longest, "0 3 * * *", SETTINGS)
    assert len(manifest["metadata"]["name"]) <= 52
    assert manifest["metadata"]["labels"][names.SCHEDULE] == longest
    assert manifest["metadata"]["name"] != names.cron_workflow_name("a" + "b" * 61 + "d")
