"""What is installed from a package: all that a person without a checkout needs, and no more."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from kexbench.cli.main import VERBS
from kexbench.kits import WorkerSource
from kexbench.shipped import ROOT, shipped_mixes, shipped_specs

SERVICES = ROOT / "services"
PROJECT = tomllib.loads((SERVICES / "pyproject.toml").read_text())


def built(project: Path, target: str, folder: Path) -> Path:
    """A package, by the backend of this environment."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    return next(folder.iterdir())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(SERVICES, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As an installation has it, beside the packages of this environment."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.unpack_archive(wheel, folder, "zip")
    return folder


def files_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_has_the_dashboard_the_worker_and_the_specs(wheel: Path, installed: Path) -> None:
    files = files_in(wheel)
    shipped = {name.removeprefix("kexbench/shipped/") for name in files if name.startswith("kexbench/shipped/")}
    dashboard = {path.relative_to(ROOT).as_posix() for path in (ROOT / "frontend/dist").rglob("*") if path.is_file()}
    assert "frontend/dist/index.html" in dashboard <= shipped
    specs = {path.relative_to(ROOT).as_posix() for path in (*shipped_specs().values(), *shipped_mixes().values())}
    assert specs | {"bench-specs/libraries.yaml", "bench-specs/schema/benchmark.schema.json"} <= shipped
    assert any(name.startswith("docs/results/scorecards/") for name in shipped)
    modules = {path.relative_to(SERVICES / "src").as_posix() for path in (SERVICES / "src").rglob("*.py")}
    assert modules <= files
    workers = "workers/handshake"
    assert WorkerSource(installed / "kexbench/shipped" / workers).sha256() == WorkerSource(ROOT / workers).sha256(), (
        "kits of an installation and of a checkout are the same"
    )


def test_the_wheel_installs_the_manual_page(wheel: Path, installed: Path) -> None:
    (page,) = (name for name in files_in(wheel) if name.endswith(".data/data/share/man/man1/kexbench.1"))
    assert (installed / page).read_bytes() == (SERVICES / "kexbench.1").read_bytes()


def test_the_wheel_has_neither_tests_nor_benchmarks_nor_what_was_built_here(wheel: Path) -> None:
    parts = {part for name in files_in(wheel) for part in Path(name).parts}
    assert not parts & {"tests", "bench", "checks", "build", "node_modules", "__pycache__", ".venv", "results.db"}
    assert wheel.stat().st_size < 4_000_000


def test_a_wheel_made_from_the_sdist_is_the_same(wheel: Path, tmp_path: Path) -> None:
    """Installers that find no wheel make one so."""
    shutil.unpack_archive(built(SERVICES, "sdist", tmp_path / "sdist"), tmp_path, "gztar", filter="data")
    project = next(path for path in tmp_path.iterdir() if path.name.startswith("kexbench-"))
    assert files_in(built(project, "wheel", tmp_path / "wheel")) == files_in(wheel)


def test_commands_of_an_installation_find_what_came_with_it(installed: Path, tmp_path: Path) -> None:
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(installed),
        "KEXBENCH_HOME": str(tmp_path / "home"),
        "KEXBENCH_CACHE": str(tmp_path / "cache"),
        "COLUMNS": "200",
    }

    def kexbench(*arguments: str) -> str:
        command = [sys.executable, "-m", "kexbench.cli", *arguments]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
        )
        return done.stdout

    assert str(installed) in kexbench("specs", "list", "--json")
    assert "7 cases" in kexbench("plan", "quickstart")
    assert "fake@1.0" in kexbench("kits", "add", "fake@1.0")
    page = "from kexbench.settings import Settings; print((Settings().pages / 'index.html').read_text())"
    done = subprocess.run([sys.executable, "-c", page], env=environment, capture_output=True, text=True, check=True)
    assert "<title>kexbench" in done.stdout


IMPORTED = {"clickhouse-connect": "clickhouse_connect", "prometheus-client": "prometheus_client"}
"""The modules of packages, where their names differ."""
WITHOUT_EXTRAS = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def without_extras() -> str:
    """Python code, after which packages of the extras cannot be imported."""
    extras = PROJECT["project"]["optional-dependencies"]
    names = {requirement.partition("==")[0] for extra in extras.values() for requirement in extra}
    return WITHOUT_EXTRAS.format(absent={IMPORTED.get(name, name) for name in names if "[" not in name})


def test_clients_and_pods_that_measure_need_no_extra() -> None:
    verbs = VERBS.keys() - {"serve", "schema"}
    agent = "import kexbench.agent.measure, kexbench.agent.build, kexbench.runner.__main__"
    code = f"{without_extras()}\nfrom kexbench.cli.main import app_with\napp_with({verbs})\n{agent}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_service_of_this_machine_says_which_extra_it_needs(tmp_path: Path) -> None:
    code = f"{without_extras()}\nimport sys; sys.argv = ['kexbench', 'runs', 'list']\nimport kexbench.cli.__main__"
    environment = {"PATH": "/usr/bin:/bin", "KEXBENCH_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "install kexbench[local]" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_backend_that_tests_use_is_the_one_that_builds() -> None:
    (backend,) = PROJECT["build-system"]["requires"]
    assert backend in PROJECT["dependency-groups"]["dev"]
