"""What is submitted to a cluster. The snapshots are what a person would read: `.actual` twins show what changes."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from kexbench.execution.argo import names
from kexbench.execution.argo.pods import JobSettings
from kexbench.execution.argo.schedules import cron_workflow
from kexbench.execution.argo.workflows import (
    AROUND_MEASURING_S,
    ENDED,
    JOBS_PER_WORKFLOW,
    WantedKit,
    job_deadlines_s,
    kits_workflow,
    line_workflow,
    run_workflows,
)
from kexbench.planning.job_pods import JobPods
from tests.execution.argo.cases import AMD, ARM, POOLS, SETTINGS, a_cluster_run
from tests.golden import assert_golden

SNAPSHOTS = Path(__file__).parent / "snapshots"
KITS = (WantedKit("fake@1.1", "x86_64"), WantedKit("fake@1.0", "aarch64"), WantedKit("fake@1.0", "x86_64"))
Manifest = dict[str, Any]


def of_run(settings: JobSettings = SETTINGS) -> tuple[Manifest, ...]:
    run = a_cluster_run()
    return run_workflows(run, 1, run.plan.jobs, POOLS, settings)


def of_kits(settings: JobSettings = SETTINGS) -> Manifest:
    return kits_workflow("20260101-120000-0a0b0c0d", 1, KITS, POOLS, settings)


def of_line(settings: JobSettings = SETTINGS) -> Manifest:
    good, bad = (f"fake@git:https://example.org/fake.git#{name}" for name in ("v1", "main"))
    return line_workflow("0123456789abcdef0123", 1, (good, bad), AMD, settings)


def of_schedule(settings: JobSettings = SETTINGS) -> Manifest:
    """The workflow that a schedule's CronWorkflow makes of itself."""
    return {"spec": cron_workflow("nightly", "0 3 * * *", settings)["spec"]["workflowSpec"]}


def pod_templates(manifests: tuple[Manifest, ...]) -> Iterator[Manifest]:
    for manifest in manifests:
        yield from (template for template in manifest["spec"]["templates"] if "container" in template)


def argos_containers(template: Manifest) -> list[Manifest]:
    """What the patch says of Argo's own."""
    patch = json.loads(template["podSpecPatch"])
    ours = {container.get("name") for container in our_containers(template)}
    return [one for one in (*patch["containers"], *patch["initContainers"]) if one["name"] not in ours]


def our_containers(template: Manifest) -> list[Manifest]:
    return [template["container"], *template.get("initContainers", [])]


def test_what_a_site_wants_is_in_every_pod_and_changes_nothing_of_its_own() -> None:
    site = JobPods.model_validate(
        {
            "env": [
                {"name": "HTTPS_PROXY", "value": "http://proxy:3128"},
                {"name": "KEXBENCH_API_URL", "value": "wrong"},
            ],
            "volumes": [{"name": "site-ca", "configMap": {"name": "site-ca"}}],
            "volumeMounts": [{"name": "site-ca", "mountPath": "/etc/kexbench/ca", "readOnly": True}],
            "priorityClassName": "measuring",
            "userFromPlatform": True,
        }
    )
    settings = replace(SETTINGS, site=site)
    manifests = (*of_run(settings), of_kits(settings), of_line(settings), of_schedule(settings))
    for manifest in manifests:
        assert manifest["spec"]["podPriorityClassName"] == "measuring"
        assert not {"runAsUser", "runAsGroup", "fsGroup"} & manifest["spec"]["securityContext"].keys()
        assert manifest["spec"]["securityContext"]["runAsNonRoot"] is True
    templates = list(pod_templates(manifests))
    assert len(templates) >= 5
    for template in templates:
        assert "site-ca" in [volume["name"] for volume in template["volumes"]]
        for container in our_containers(template):
            environment = {
                one["name"]: one.get("value") for one in container["env"]
            }  # as in a pod: the last one counts
            assert environment["HTTPS_PROXY"] == "http://proxy:3128"
            assert environment.get("KEXBENCH_API_URL") in (SETTINGS.api_url, "wrong")
            if "KEXBENCH_TOKEN_FILE" in environment:
                assert environment["KEXBENCH_API_URL"] == SETTINGS.api_url
            assert {"name": "site-ca", "mountPath": "/etc/kexbench/ca", "readOnly": True} in container["volumeMounts"]


def test_what_a_site_wants_of_jobs_alone_is_not_in_builds() -> None:
    endpoint = {"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}
    secret = {"name": "collector", "key": "headers"}
    headers = {"name": "OTEL_EXPORTER_OTLP_HEADERS", "valueFrom": {"secretKeyRef": secret}}
    settings = replace(SETTINGS, site=JobPods.model_validate({"jobEnv": [endpoint, headers]}))
    for template in pod_templates(of_run(settings)):
        for container in our_containers(template):
            assert endpoint in container["env"]
            assert headers in container["env"]
    others = pod_templates((of_kits(settings), of_line(settings), of_schedule(settings)))
    for container in (container for template in others for container in our_containers(template)):
        assert not any(variable["name"].startswith("OTEL_") for variable in container["env"])


def test_a_site_that_emulates_paths_gives_only_measuring_containers_the_device_and_a_seccomp_profile() -> None:
    paths = {"seccompProfile": "kexbench-paths.json", "device": "squat.ai/tun"}
    settings = replace(SETTINGS, site=JobPods.model_validate({"paths": paths}))
    for usual, template in zip(pod_templates(of_run()), pod_templates(of_run(settings)), strict=True):
        measuring, before = template["container"], usual["container"]
        given = {kind: {**amounts, "squat.ai/tun": "1"} for kind, amounts in before["resources"].items()}
        profile = {"type": "Localhost", "localhostProfile": "kexbench-paths.json"}
        assert measuring["resources"] == given
        assert measuring["securityContext"] == {**before["securityContext"], "seccompProfile": profile}
        own = ("resources", "securityContext")
        assert {**measuring, **{name: before[name] for name in own}} == before
        assert {**template, "container": before} == usual
    assert [of_kits(settings), of_line(settings), of_schedule(settings)] == [of_kits(), of_line(), of_schedule()]


def job_ids(manifests: tuple[Manifest, ...]) -> list[str]:
    return [
        task["arguments"]["parameters"][0]["value"]
        for manifest in manifests
        for task in manifest["spec"]["templates"][0]["dag"]["tasks"]
    ]


@pytest.mark.parametrize(
    ("name", "manifests"),
    [("run-amd", of_run()[:1]), ("run-arm", of_run()[1:]), ("kits", (of_kits(),)), ("line", (of_line(),))],
)
def test_what_is_submitted_reads_as_it_should(name: str, manifests: tuple[Manifest, ...]) -> None:
    assert_golden(SNAPSHOTS / f"{name}.yaml", yaml.safe_dump_all(manifests, sort_keys=False, width=120))


def test_a_run_is_one_workflow_a_pool_and_every_job_is_in_one() -> None:
    run = a_cluster_run()
    assert [manifest["metadata"]["name"] for manifest in of_run()] == [
        "kexbench-run-20260101-120000-0a0b0c0d-1-0",
        "kexbench-run-20260101-120000-0a0b0c0d-1-1",
    ]
    assert sorted(job_ids(of_run())) == sorted(job.job_id for job in run.plan.jobs)


def test_a_job_keeps_its_workflow_whatever_else_is_left_to_do() -> None:
    run = a_cluster_run(jobs=450)
    whole = {
        job: manifest["metadata"]["name"]
        for manifest in run_workflows(run, 2, run.plan.jobs, POOLS, SETTINGS)
        for job in job_ids((manifest,))
    }
    assert len(whole) == 450
    rest = run_workflows(run, 2, run.plan.jobs[7::31], POOLS, SETTINGS)
    assert job_ids(rest)
    for manifest in rest:
        assert {whole[job] for job in job_ids((manifest,))} == {manifest["metadata"]["name"]}


def test_a_plan_with_many_jobs_is_split_so_that_every_workflow_is_small() -> None:
    run = a_cluster_run(jobs=2000)
    manifests = run_workflows(run, 1, run.plan.jobs, POOLS, SETTINGS)
    assert sorted(job_ids(manifests)) == sorted(job.job_id for job in run.plan.jobs)
    for manifest in manifests:
        assert len(job_ids((manifest,))) <= JOBS_PER_WORKFLOW
        assert len(json.dumps(manifest)) < 100_000
        (template,) = pod_templates((manifest,))
        assert template["nodeSelector"]["kexbench.dev/pool"] == template["metadata"]["labels"][names.POOL]


def test_a_large_pool_works_on_all_of_its_nodes_and_a_small_one_has_some_pods_that_wait() -> None:
    run = a_cluster_run(jobs=450)
    manifests = run_workflows(run, 1, run.plan.jobs, POOLS, SETTINGS, {"amd-epyc": 50, "arm.n1": 2})
    at_once = {next(pod_templates((one,)))["metadata"]["labels"][names.POOL]: one["spec"] for one in manifests}
    assert {pool: spec["parallelism"] for pool, spec in at_once.items()} == {"amd-epyc": 50, "arm.n1": 8}


def test_attempts_of_a_job_are_numbered_on_from_series_to_series() -> None:
    run = a_cluster_run()
    for series, first in ((1, 1), (2, 4)):
        template = next(pod_templates(run_workflows(run, series, run.plan.jobs, POOLS, SETTINGS)))
        for container in our_containers(template):
            environment = {entry["name"]: entry.get("value") for entry in container["env"]}
            assert environment["KEXBENCH_ATTEMPT"] == f"{{{{=sprig.int(retries) + {first}}}}}"
        assert template["retryStrategy"]["limit"] == "2"


@pytest.mark.parametrize("template", list(pod_templates((*of_run(), of_kits(), of_line()))))
def test_every_container_asks_for_what_it_may_use_so_that_cpus_can_be_exclusive(template: Manifest) -> None:
    pool = POOLS[template["metadata"]["labels"][names.POOL]]
    argos = argos_containers(template)
    assert [container["name"] for container in argos] == ["wait", "init"]
    for container in (*our_containers(template), *argos):
        assert container["resources"]["requests"] == container["resources"]["limits"]
        assert set(container["resources"]["limits"]) == {"cpu", "memory"}
    for container in our_containers(template):
        assert container["resources"]["limits"] == {"cpu": str(pool.cpus), "memory": pool.memory}


@pytest.mark.parametrize("manifest", [*of_run(), of_kits(), of_line(), of_schedule()])
def test_nothing_in_a_pod_may_do_more_than_the_restricted_standard_allows(manifest: Manifest) -> None:
    assert manifest["spec"]["securityContext"]["runAsNonRoot"] is True
    assert manifest["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for template in pod_templates((manifest,)):
        for container in (*our_containers(template), *argos_containers(template)):
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"] == {"drop": ["ALL"]}
        assert all(found["securityContext"]["readOnlyRootFilesystem"] for found in our_containers(template))
        assert {next(iter(set(volume) - {"name"})) for volume in template["volumes"]} == {"emptyDir", "projected"}


@pytest.mark.parametrize("template", list(pod_templates((*of_run(), of_kits(), of_line(), of_schedule()))))
def test_only_the_containers_of_argo_hold_a_token_for_kubernetes(template: Manifest) -> None:
    patch = json.loads(template["podSpecPatch"])
    assert patch["automountServiceAccountToken"] is False
    for container in argos_containers(template):
        assert [mount["name"] for mount in container["volumeMounts"]] == ["argo-token"]
    (token,) = (volume["projected"] for volume in template["volumes"] if volume["name"] == "token")
    (source,) = token["sources"]
    assert source["serviceAccountToken"] == {"audience": "kexbench", "expirationSeconds": 3600, "path": "token"}
    for container in our_containers(template):
        assert "argo-token" not in [mount["name"] for mount in container["volumeMounts"]]


@pytest.mark.parametrize("template", list(pod_templates((*of_run(), of_kits(), of_line()))))
def test_no_two_pods_of_kexbench_are_on_a_node_at_once(template: Manifest) -> None:
    (term,) = template["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()


@pytest.mark.parametrize("template", list(pod_templates((*of_run(), of_kits(), of_line(), of_schedule()))))
def test_no_registry_is_asked_what_to_start(template: Manifest) -> None:
    assert all(
        container["command"][:3] == ["python3", "-m", "kexbench.agent"] for container in our_containers(template)
    )


def test_a_kit_is_built_on_the_first_pool_of_its_architecture() -> None:
    spare = AMD.model_copy(update={"name": "spare", "node_selector": {"kexbench.dev/pool": "spare"}})
    manifest = kits_workflow("r", 1, KITS, {**POOLS, "spare": spare}, SETTINGS)
    selectors = [template["nodeSelector"] for template in pod_templates((manifest,))]
    assert selectors == [ARM.node_selector, AMD.node_selector]
    assert job_ids((manifest,)) == ["fake@1.0", "fake@1.0", "fake@1.1"]


def test_a_pod_may_take_a_few_times_what_was_estimated_and_never_more_than_the_spec_allows() -> None:
    plan = a_cluster_run().plan
    slow = plan.model_copy(update={"measure": plan.measure.model_copy(update={"batches": 10**6})})
    job_id = plan.jobs[0].job_id
    assert job_deadlines_s(plan)[job_id] == AROUND_MEASURING_S + round(4 * plan.estimated_s / 4)
    assert job_deadlines_s(slow)[job_id] == AROUND_MEASURING_S + plan.measure.max_duration_s


@pytest.mark.parametrize("run_id", ["Ünfit/für DNS", "x" * 200, "-", "a.b"])
def test_a_name_is_always_one_that_kubernetes_takes_and_its_own(run_id: str) -> None:
    found = names.job_workflow_name(run_id, 1, 0)
    assert len(found) <= 63
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert found[0].isalpha()
    assert found[-1].isalnum()
    assert found != names.job_workflow_name(run_id + "x", 1, 0)


def test_what_builds_reaches_no_token_and_nothing_that_another_container_runs() -> None:
    """Sources bring scripts of their own: what they could write to is their own, but for the archive that is sent."""
    for template in pod_templates((of_kits(),)):
        (building,) = template["initContainers"]
        volumes = {volume["name"]: volume for volume in template["volumes"]}
        mounted = {mount["name"] for mount in building["volumeMounts"]}
        assert mounted == {"work", "scratch", "built"}
        assert not any("projected" in volumes[name] for name in mounted)
        variables = {variable["name"] for variable in building["env"]}
        assert not any(word in name for name in variables for word in ("TOKEN", "URL"))

        main = {mount["name"]: mount for mount in template["container"]["volumeMounts"]}
        assert main.keys() == {"built", "token"}
        assert main["built"]["readOnly"] is True
        (patch,) = (
            one for one in json.loads(template["podSpecPatch"])["initContainers"] if one["name"] == building["name"]
        )
        assert patch["volumeMounts"] == [{"name": "var-run-argo", "mountPath": "/var/run/argo", "readOnly": True}]
        assert json.loads(template["podSpecPatch"])["automountServiceAccountToken"] is False


def test_a_pod_that_builds_names_the_one_kit_that_its_token_may_send() -> None:
    for template in pod_templates((of_kits(),)):
        annotations = template["metadata"]["annotations"]
        assert annotations["kexbench.dev/reference"] == "{{inputs.parameters.reference}}"
        assert template["name"] == f"build-{annotations['kexbench.dev/architecture'].replace('_', '-')}"


@pytest.mark.parametrize(
    ("message", "ended"),
    [
        ("main: Error (exit code 3)", True),
        ('main: Error (exit code 143): time="2026-01-01T00:00:00Z" level=info msg="sub-process exited"', True),
        ("main: OOMKilled (exit code 137)", False),
        ("main: Error (exit code 1): nobody answers", False),
        ("wait: Error (exit code 143)", False),
    ],
)
def test_a_pod_that_somebody_ended_is_tried_again_wherever_it_was(message: str, ended: bool) -> None:
    assert bool(re.search(ENDED, message)) is ended
