"""The chart as Helm renders it, in every example: valid, restricted, least privileged.

`make test-charts` runs these; they need Go, which builds Helm and the validator once.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.channels import read_channels
from kexbench.planning.job_pods import JobPods, PathPods, read_job_pods
from kexbench.planning.repositories import read_repositories
from kexbench.planning.views import read_views
from kexbench.settings import Settings
from tests.charts.test_chart import CHART, ROOT

EXAMPLES = sorted((CHART / "ci").glob("*.yaml"))
NAMESPACE, JOBS = "kexbench", "kexbench-jobs"
RIGHTS = {
    ("ClusterRole", None): {"tokenreviews: create", "nodes: get list"},
    ("Role", NAMESPACE): {"leases: create", "leases: get update", "serviceaccounts: get"},
    ("Role", JOBS): {
        "pods: get",
        "workflows: create get list watch patch delete",
        "cronworkflows: create list patch delete",
        "pods: get list watch",
        "serviceaccounts: get",
        "workflowtaskresults: create patch",
    },
}
"""All that anybody may do in Kubernetes, by kind of role and namespace."""

pytestmark = [pytest.mark.charts]
every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
Object = dict[str, Any]


@dataclass(frozen=True)
class Tools:
    folder: Path

    def render(self, values: Path) -> list[Object]:
        found: Iterator[Object] = yaml.load_all(_rendered(self.folder / "helm", values), yaml.CSafeLoader)
        return [each for each in found if each]

    def faults(self, objects: list[Object]) -> str:
        """What the API server would refuse, that of the devcluster and the newest; nothing where all is well."""
        text: str = yaml.dump_all(objects, Dumper=yaml.CSafeDumper)
        return "".join(self._faults(text, self.folder / release) for release in ("schemas", "schemas-newest"))

    def _faults(self, text: str, schemas: Path) -> str:
        location = schemas / "{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json"
        command: list[str | Path] = [self.folder / "kubeconform", "-strict", "-schema-location", location]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr


@cache
def _rendered(helm: Path, values: Path) -> str:
    """Once for all tests of an example."""
    command: list[str | Path] = [helm, "template", "kexbench", CHART, "--namespace", NAMESPACE, "--values", values]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def tools() -> Tools:
    built = subprocess.run([ROOT / "charts" / "tools" / "build.sh"], check=True, stdout=subprocess.PIPE, text=True)
    return Tools(Path(built.stdout.strip()))


def of_kind(objects: list[Object], *kinds: str) -> list[Object]:
    return [found for found in objects if found["kind"] in kinds]


def pods(objects: list[Object]) -> Iterator[Object]:
    for found in of_kind(objects, "Deployment", "StatefulSet", "Job"):
        yield found["spec"]["template"]


def name_of(found: Object) -> str:
    return str(found["metadata"]["name"])


def selects(selector: Object, labels: Object) -> bool:
    if not (selector.get("matchLabels") or {}).items() <= labels.items():
        return False
    return all(labels.get(term["key"]) in term["values"] for term in selector.get("matchExpressions", []))


@every_example
def test_an_example_is_what_kubernetes_takes(tools: Tools, example: Path) -> None:
    assert tools.faults(tools.render(example)) == ""


def test_a_field_that_kubernetes_does_not_know_would_be_found(tools: Tools) -> None:
    objects = tools.render(EXAMPLES[0])
    next(pods(objects))["spec"]["containers"][0]["securityContext"]["readOnlyRootFileSystem"] = True
    assert "readOnlyRootFileSystem" in tools.faults(objects)


@every_example
def test_nobody_has_other_rights_than_those_listed(tools: Tools, example: Path) -> None:
    jobs = yaml.safe_load(example.read_text()).get("jobs", {}).get("namespace", {}).get("name", JOBS)
    found: dict[tuple[str, str | None], set[str]] = {}
    for role in of_kind(tools.render(example), "Role", "ClusterRole"):
        namespace = role["metadata"].get("namespace")
        key = (role["kind"], JOBS if namespace == jobs else namespace)
        for rule in role["rules"]:
            found.setdefault(key, set()).add(f"{' '.join(rule['resources'])}: {' '.join(rule['verbs'])}")
    assert found == RIGHTS


@every_example
def test_every_binding_is_of_a_role_and_an_account_that_the_chart_makes(tools: Tools, example: Path) -> None:
    objects = tools.render(example)
    roles = {(role["kind"], name_of(role)) for role in of_kind(objects, "Role", "ClusterRole")}
    accounts = {(found["metadata"]["namespace"], name_of(found)) for found in of_kind(objects, "ServiceAccount")}
    for binding in of_kind(objects, "RoleBinding", "ClusterRoleBinding"):
        assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) in roles
        for subject in binding["subjects"]:
            assert (subject["namespace"], subject["name"]) in accounts
    for pod in pods(objects):
        assert (NAMESPACE, pod["spec"]["serviceAccountName"]) in accounts


@every_example
def test_what_the_site_wants_of_the_pods_of_jobs_is_what_the_dispatcher_reads(tools: Tools, example: Path) -> None:
    (data,) = (
        found["data"] for found in of_kind(tools.render(example), "ConfigMap") if "job-pods.yaml" in found["data"]
    )
    site = read_job_pods(data["job-pods.yaml"], "job-pods.yaml")
    if example.stem != "real-site":
        assert site == JobPods(env=({"name": "KEXBENCH_LOG", "value": "json"},))
        return
    assert {one["name"] for one in site.env} >= {"SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "TZ"}
    assert [one["name"] for one in site.volumes] == [one["name"] for one in site.volume_mounts] == ["site-ca", "krb5"]
    assert (site.priority_class_name, site.user_from_platform, site.pending_seconds) == (
        "kexbench-measuring",
        True,
        7200,
    )
    assert site.paths == PathPods(seccompProfile="kexbench-paths.json", device="squat.ai/tun")


@every_example
def test_no_container_is_without_limits_or_restrictions(tools: Tools, example: Path) -> None:
    for pod in pods(tools.render(example)):
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in spec["containers"] + spec.get("initContainers", []):
            security = container["securityContext"]
            assert security["readOnlyRootFilesystem"] is True
            assert security["allowPrivilegeEscalation"] is False
            assert security["capabilities"] == {"drop": ["ALL"]}
            for kind in ("requests", "limits"):
                assert set(container["resources"][kind]) == {"cpu", "memory"}


@every_example
def test_every_pod_has_network_policies_that_say_what_it_may_do(tools: Tools, example: Path) -> None:
    objects = tools.render(example)
    policies = [
        found["spec"]["podSelector"]
        for found in of_kind(objects, "NetworkPolicy")
        if found["metadata"]["namespace"] == NAMESPACE
    ]
    for pod in pods(objects):
        chosen = [selector for selector in policies if selector and selects(selector, pod["metadata"]["labels"])]
        assert chosen, pod["metadata"]["labels"]


@every_example
def test_every_service_leads_to_a_port_of_a_pod(tools: Tools, example: Path) -> None:
    objects = tools.render(example)
    for service in of_kind(objects, "Service"):
        selector = {"matchLabels": service["spec"]["selector"]}
        [pod] = [pod for pod in pods(objects) if selects(selector, pod["metadata"]["labels"])]
        ports = {port["name"]: port["containerPort"] for port in pod["spec"]["containers"][0]["ports"]}
        for port in service["spec"]["ports"]:
            assert ports[port["targetPort"]] == port["port"]


@every_example
def test_no_secret_stands_in_what_is_rendered(tools: Tools, example: Path) -> None:
    objects = tools.render(example)
    assert of_kind(objects, "Secret") == []
    for pod in pods(objects):
        for variable in pod["spec"]["containers"][0]["env"]:
            given = re.sub(r"\$\(\w+\)", "", str(variable.get("value", "")))
            assert not re.search(r"://[^/@]*:[^/@]+@", given), variable["name"]
            if re.search("PASSWORD|SECRET|KEY", variable["name"]):
                assert "value" not in variable


@every_example
def test_every_setting_is_one_that_the_service_reads(tools: Tools, example: Path) -> None:
    known = {f"KEXBENCH_{name.upper()}" for name in Settings.model_fields}
    for pod in pods(tools.render(example)):
        given = {variable["name"] for variable in pod["spec"]["containers"][0]["env"]}
        assert {name for name in given if name.startswith("KEXBENCH_")} <= known


@every_example
def test_the_mounted_catalogue_is_one_that_the_service_reads(tools: Tools, example: Path) -> None:
    [mounted] = [found for found in of_kind(tools.render(example), "ConfigMap") if name_of(found).endswith("catalogue")]
    text = mounted["data"]["libraries.yaml"]
    assert read_catalogue(text, "libraries.yaml").libraries


def test_the_mounted_repositories_are_some_that_the_service_reads(tools: Tools) -> None:
    maps = of_kind(tools.render(CHART / "ci" / "ingress-and-monitoring.yaml"), "ConfigMap")
    [mounted] = [found for found in maps if name_of(found).endswith("repositories")]
    (repository,) = read_repositories(mounted["data"]["repositories.yaml"], "repositories.yaml")
    assert repository.branches == ("main", "next")


def test_the_mounted_channels_are_some_that_the_service_reads(tools: Tools) -> None:
    maps = of_kind(tools.render(CHART / "ci" / "ingress-and-monitoring.yaml"), "ConfigMap")
    [mounted] = [found for found in maps if name_of(found).endswith("channels")]
    found = read_channels(mounted["data"]["channels.yaml"], "channels.yaml")
    assert [(one.rule.name, one.rule.digest_hour) for one in found] == [("crypto-team", None), ("crypto-daily", 6)]


def test_the_mounted_views_are_some_that_the_service_reads(tools: Tools) -> None:
    maps = of_kind(tools.render(CHART / "ci" / "ingress-and-monitoring.yaml"), "ConfigMap")
    [mounted] = [found for found in maps if name_of(found).endswith("views")]
    (view,) = read_views(mounted["data"]["views.yaml"], "views.yaml")
    assert view.name == "Post-quantum handshakes"


def test_pods_start_anew_when_a_pool_has_changed(tools: Tools, tmp_path: Path) -> None:
    values = yaml.safe_load((CHART / "ci" / "embedded.yaml").read_text())
    values["pools"][0]["memory"] = "2Gi"
    changed = tmp_path / "values.yaml"
    changed.write_text(yaml.safe_dump(values))
    before, after = tools.render(CHART / "ci" / "embedded.yaml"), tools.render(changed)
    for old, new in zip(pods(before), pods(after), strict=True):
        assert old["metadata"]["annotations"] != new["metadata"]["annotations"]
