"""The script that installs Debian packages: it asks before it uses sudo, and does nothing where nothing is missing."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "infra" / "bootstrap" / "system-packages.sh"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Stand-ins for the system's tools; what would be installed ends up in a file."""
    folder = tmp_path / "tools"
    folder.mkdir()
    _tool(folder, "dpkg-query", 'case "$4" in here) printf installed ;; *) exit 1 ;; esac')
    _tool(folder, "python3", "exit 0")
    _tool(folder, "apt-get", f'echo "$@" >> {tmp_path}/calls')
    _tool(folder, "sudo", f'echo sudo >> {tmp_path}/calls; exec "$@"')
    _tool(folder, "id", "echo 1000")
    return folder


def _tool(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def install(tools: Path, *packages: str, answer: str = "") -> "subprocess.CompletedProcess[str]":
    listed = tools.parent / "packages.txt"
    listed.write_text("\n".join(packages))
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": os.environ["HOME"]}
    if answer:
        environment["KEXBENCH_YES"] = answer
    return subprocess.run(
        [SCRIPT, listed], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_where_nothing_is_missing_nothing_is_called(tools: Path) -> None:
    assert install(tools, "here").returncode == 0
    assert not (tools.parent / "calls").exists()


def test_an_ordinary_user_without_a_terminal_reads_what_is_missing_and_sudo_is_not_used(tools: Path) -> None:
    done = install(tools, "here", "gone", "lost")
    assert done.returncode == 1
    assert "gone lost" in done.stderr
    assert not (tools.parent / "calls").exists()


def test_with_leave_sudo_installs_what_is_missing_only(tools: Path) -> None:
    assert install(tools, "here", "gone", answer="1").returncode == 0
    calls = (tools.parent / "calls").read_text()
    assert calls == "sudo\nupdate -qq\nsudo\ninstall -y -qq --no-install-recommends gone\n"


def test_root_needs_no_sudo(tools: Path) -> None:
    _tool(tools, "id", "echo 0")
    assert install(tools, "gone").returncode == 0
    assert "sudo" not in (tools.parent / "calls").read_text()


def test_a_python_without_venv_gets_its_package(tools: Path) -> None:
    _tool(tools, "python3", "exit 1")
    _tool(tools, "id", "echo 0")
    install(tools, "here")
    assert "python3-venv" in (tools.parent / "calls").read_text()
