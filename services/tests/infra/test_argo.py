"""What users install Argo Workflows with: the version that the tests run, for the jobs' namespace, configured alike."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.binaries import ARGO_LINES
from devcluster.cache import HERE
from kexbench.execution.argo.pods import JobSettings
from kexbench.execution.argo.workflows import KEPT_S, POD_KEPT
from tests.infra.conftest import Tools
from tests.infra.pools import CHART, ROOT

ARGO = ROOT / "infra" / "argo"
RELEASE = re.compile(r"https://github\.com/\S+/releases/download/(v[\d.]+)/namespace-install\.yaml")
Object = dict[str, Any]


def configuration() -> Object:
    """What the controller reads: the ConfigMap's texts, parsed."""
    config_map = yaml.safe_load((ARGO / "controller" / "workflow-controller-configmap.yaml").read_text())
    return {key: yaml.safe_load(text) for key, text in config_map["data"].items()}


def seconds(duration: str) -> int:
    assert duration.endswith("s")
    return int(duration[:-1])


def jobs_namespace() -> str:
    name: str = yaml.safe_load((CHART / "values.yaml").read_text())["jobs"]["namespace"]["name"]
    return name


def installed_release() -> str:
    (release,) = RELEASE.findall((ARGO / "controller" / "kustomization.yaml").read_text())
    return str(release)


def compiled_release() -> str:
    """What the devcluster runs."""
    return str(re.findall(rf"{ARGO_LINES['3.7']} (v\S+)", (HERE / "programs" / "go.mod").read_text())[0])


def test_the_version_is_of_the_line_that_the_devcluster_compiles_and_no_older_one() -> None:
    installed, compiled = (
        [int(number) for number in release[1:].split(".")] for release in (installed_release(), compiled_release())
    )
    assert installed[:2] == compiled[:2]
    assert installed >= compiled


@pytest.mark.infra
def test_the_manifests_are_those_of_the_release_that_the_devcluster_compiles() -> None:
    installed, compiled = (
        module_folder(release) / "manifests" for release in (installed_release(), compiled_release())
    )
    assert texts_in(installed) == texts_in(compiled)


def texts_in(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("line", "first"), [("3.7", (3, 7, 15)), ("4.0", (4, 0, 7))])
def test_the_releases_that_the_tests_run_are_without_known_vulnerabilities(line: str, first: tuple[int, ...]) -> None:
    """Those before have CVE-2026-31892 and CVE-2026-40886."""
    modules = (HERE / "crds" / "go.mod").read_text()
    (release,) = re.findall(rf"{ARGO_LINES[line]} v([\d.]+)", modules)
    assert tuple(map(int, release.split("."))) >= first


@pytest.mark.parametrize("document", [CHART / "README.md", CHART / "templates" / "NOTES.txt", ARGO / "README.md"])
def test_the_document_names_the_releases_that_the_tests_run_since_earlier_ones_are_vulnerable(document: Path) -> None:
    modules = (HERE / "crds" / "go.mod").read_text()
    releases = [re.findall(rf"{ARGO_LINES[line]} v(\S+)", modules)[0] for line in ("3.7", "4.0")]
    assert "{}, or {}".format(*releases) in document.read_text()


def test_argos_own_containers_are_guaranteed_and_as_large_as_in_kexbenchs_workflows() -> None:
    resources = configuration()["executor"]["resources"]
    ours = JobSettings("", "", "", "")
    assert resources["requests"] == resources["limits"] == {"cpu": ours.executor_cpu, "memory": ours.executor_memory}


def test_what_says_nothing_itself_is_kept_longer_than_kexbenchs_workflows() -> None:
    spec = configuration()["workflowDefaults"]["spec"]
    assert spec["ttlStrategy"]["secondsAfterCompletion"] > KEPT_S
    assert seconds(spec["podGC"]["deleteDelayDuration"]) > seconds(POD_KEPT)
    # Whatever else stood here, kexbench's workflows would get as well.
    assert set(spec) == {"ttlStrategy", "podGC"}


def test_the_jobs_namespace_is_the_charts_with_the_same_pod_security() -> None:
    namespace = yaml.safe_load((ARGO / "jobs-namespace.yaml").read_text())
    template = (CHART / "templates" / "jobs-namespace.yaml").read_text()
    assert namespace["metadata"]["name"] == jobs_namespace()
    assert namespace["metadata"]["labels"] == dict(re.findall(r"(pod-security\S+): (\w+)", template))


@pytest.fixture(scope="session")
def installed(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> list[Object]:
    """All objects of `kubectl apply -k infra/argo`, with the release's manifest made of Argo's published module in the
    way in which Argo makes it."""
    folder = tmp_path_factory.mktemp("argo")
    version = installed_release()
    shutil.copytree(module_folder(version) / "manifests", folder / "manifests", copy_function=shutil.copyfile)
    manifest = tools.kustomized(folder / "manifests" / "namespace-install").replace(":latest", f":{version}")
    here = shutil.copytree(ARGO, folder / "here")
    (here / "controller" / "release.yaml").write_text(manifest)
    kustomization = here / "controller" / "kustomization.yaml"
    kustomization.write_text(RELEASE.sub("release.yaml", kustomization.read_text()))
    return [found for found in yaml.safe_load_all(tools.kustomized(here)) if found]


def module_folder(release: str) -> Path:
    """Outside of any module, Go checks what it downloads against its checksum database."""
    command = ["go", "mod", "download", "-json", f"{ARGO_LINES['3.7']}@{release}"]
    done = subprocess.run(command, cwd="/", check=True, capture_output=True, text=True)
    return Path(json.loads(done.stdout)["Dir"])


def of_kind(objects: list[Object], kind: str) -> list[Object]:
    return [found for found in objects if found["kind"] == kind]


@pytest.mark.infra
def test_everything_is_in_argos_namespace_or_in_that_of_jobs(installed: list[Object]) -> None:
    cluster_wide = {"Namespace", "CustomResourceDefinition", "PriorityClass"}
    places = {found["metadata"].get("namespace") for found in installed if found["kind"] not in cluster_wide}
    assert places == {"argo", jobs_namespace()}
    assert {found["metadata"]["name"] for found in of_kind(installed, "Namespace")} == places
    assert not [found for found in installed if found["kind"].startswith("ClusterRole")]


@pytest.mark.infra
def test_argos_server_is_left_out(installed: list[Object]) -> None:
    assert [found["metadata"]["name"] for found in of_kind(installed, "Deployment")] == ["workflow-controller"]
    assert [found for found in installed if "server" in found["metadata"]["name"]] == []


@pytest.mark.infra
def test_the_controller_looks_at_the_jobs_namespace_only(installed: list[Object]) -> None:
    [deployment] = of_kind(installed, "Deployment")
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["--namespaced", f"--managed-namespace={jobs_namespace()}"]
    assert set(container["resources"]) == {"requests", "limits"}
    assert container["image"].endswith(installed_release())


@pytest.mark.infra
def test_the_controller_is_given_what_the_file_says(installed: list[Object]) -> None:
    [config_map] = of_kind(installed, "ConfigMap")
    assert {key: yaml.safe_load(text) for key, text in config_map["data"].items()} == configuration()
    assert config_map["metadata"] == {"name": "workflow-controller-configmap", "namespace": "argo"}


@pytest.mark.infra
def test_the_controllers_account_has_no_right_that_the_release_does_not_give_it(installed: list[Object]) -> None:
    rights: dict[str, set[tuple[str, str, str]]] = {}
    for role in of_kind(installed, "Role"):
        for rule in role["rules"]:
            rights.setdefault(role["metadata"]["namespace"], set()).update(
                (group, resource, verb)
                for group in rule["apiGroups"]
                for resource in rule["resources"]
                for verb in rule["verbs"]
            )
    assert rights[jobs_namespace()] < rights["argo"]
    for binding in of_kind(installed, "RoleBinding"):
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "argo", "namespace": "argo"}]
    assert [account["metadata"]["name"] for account in of_kind(installed, "ServiceAccount")] == ["argo"]
