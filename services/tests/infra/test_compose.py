"""kexbench in Compose: the file is read as Docker Compose reads it, and its commands run here as processes."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kexbench.settings import Settings
from kexbench.store.rights import grants
from tests.infra.conftest import Tools
from tests.infra.pools import CHART, ROOT

FOLDER = ROOT / "infra" / "compose"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text())
SERVICES = ROOT / "services"
PASSWORD = "p@ss/word"


@pytest.fixture
def compose(tools: Tools) -> dict[str, Any]:
    """As the library of Docker Compose understands it. It refuses what its schema does not know."""
    words = "-format", "json", "compose.yaml"
    done = subprocess.run([tools.folder / "compose", *words], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.infra
@pytest.mark.parametrize("file", sorted(ROOT.glob("infra/*/compose.yaml")), ids=lambda path: path.parent.name)
def test_every_compose_file_is_valid(tools: Tools, file: Path) -> None:
    subprocess.run([tools.folder / "compose", file.name], cwd=file.parent, capture_output=True, check=True)


@pytest.mark.infra
def test_only_this_machine_reaches_the_pages_and_nobody_the_database(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert [(port["host_ip"], port["target"]) for port in services["kexbench"]["ports"]] == [("127.0.0.1", 8350)]
    assert "ports" not in services["clickhouse"]
    assert list(services["clickhouse"]["networks"]) == ["store"]
    assert compose["networks"]["store"]["internal"]


@pytest.mark.infra
def test_the_password_is_in_a_file_that_git_ignores_and_in_no_environment(compose: dict[str, Any]) -> None:
    file = Path(compose["secrets"]["clickhouse-password"]["file"])
    assert subprocess.run(["git", "check-ignore", "-q", file], cwd=ROOT, check=False).returncode == 0
    for service in compose["services"].values():
        (secret,) = service["secrets"]
        passwords = {value for name, value in service["environment"].items() if "PASSWORD" in name}
        assert passwords == {secret["target"]}


@pytest.mark.infra
def test_the_image_is_built_from_this_checkout_and_its_settings_exist(compose: dict[str, Any]) -> None:
    build = compose["services"]["kexbench"]["build"]
    assert Path(build["context"]) == ROOT
    dockerfile = (ROOT / build["dockerfile"]).read_text()
    assert re.search(rf"^FROM \w+ AS {build['target']}$", dockerfile, re.MULTILINE)
    names = {name.removeprefix("KEXBENCH_").lower() for name in compose["services"]["kexbench"]["environment"]}
    assert names <= set(Settings.model_fields)


def test_the_image_has_the_packages_of_a_service_and_the_compilers_of_a_builder() -> None:
    stages = dict(
        re.findall(r"^FROM \w+ AS (\S+)\n((?:(?!FROM).*\n)*)", (ROOT / "infra/images/Dockerfile").read_text(), re.M)
    )
    assert "COPY --from=packages-service" in stages["host"]
    assert "--extra service" in stages["packages-service"]
    assert "packages-kits.txt" in stages["builder"]


def test_the_server_is_that_of_the_chart() -> None:
    charts = yaml.safe_load((CHART / "values.yaml").read_text())["store"]["clickhouse"]["image"]
    assert COMPOSE["services"]["clickhouse"]["image"] == charts


@pytest.mark.infra
def test_the_service_starts_with_these_settings_on_a_server_and_is_healthy(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    """The server is a double with the same engine. Addresses and paths are those of this machine."""
    service = compose["services"]["kexbench"]
    (tmp_path / "password").write_text(PASSWORD)
    double = [sys.executable, "-m", "tests.store.clickhouse_double", str(tmp_path / "server"), *grants("kexbench")]
    with subprocess.Popen(double, cwd=SERVICES, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = service["environment"]["KEXBENCH_STORE_URL"].replace(
            "clickhouse:8123", f"127.0.0.1:{int(server.stdout.readline())}"
        )
        here = {
            "PATH": f"{SERVICES / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "KEXBENCH_HOME": str(tmp_path / "home"),
            "KEXBENCH_CACHE": str(tmp_path / "cache"),
            "KEXBENCH_HOST": "127.0.0.1",
            "KEXBENCH_PORT": "0",
            "KEXBENCH_STORE_URL": url,
            "KEXBENCH_STORE_PASSWORD_FILE": str(tmp_path / "password"),
        }
        with subprocess.Popen(
            service["command"], env={**service["environment"], **here}, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            address = next(match[1] for line in process.stderr if (match := re.search(r"serving http://(\S+)", line)))
            kind, *check = service["healthcheck"]["test"]
            assert kind == "CMD"
            check = [word.replace("127.0.0.1:8350", address) for word in check]
            assert f"http://{address}/api/v1/health" in check[-1]
            subprocess.run(check, check=True)
            process.terminate()
            process.stderr.read()
        server.terminate()
    assert process.returncode == -signal.SIGTERM
    assert not (tmp_path / "home" / "store").exists()
