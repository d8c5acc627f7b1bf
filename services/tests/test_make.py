"""What each target of the Makefile installs before it needs it."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("target", "package", "needed_by"),
    [
        ("check", "clang-format", "format-check"),
        ("format", "clang-format", "workers/handshake format"),
        ("test", "chromium", "-m browser"),
        ("bench", "gnutls-bin", "-m bench"),
        ("bench", "perl", "-m bench"),
        ("kits", "libgmp-dev", "kits add"),
    ],
)
def test_a_target_installs_what_it_needs_first(target: str, package: str, needed_by: str) -> None:
    steps = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lists = [path for path in (ROOT / "infra" / "bootstrap").glob("packages-*.txt") if package in path.read_text()]
    assert any(f"{path.name}\n" in steps.partition(needed_by)[0] for path in lists)
    assert needed_by in steps
