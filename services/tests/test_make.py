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
        ("test", "chromium", "real browser"),
        ("test-long", "qemu-user-static", '-m "long and not cluster"'),
        ("test-all", "perl", '-m "(builds or thorough) and not long"'),
        ("test-long", "chromium", '-m "long and not cluster"'),
        ("test-long", "perl", '-m "long and not cluster"'),
        ("test-long", "clang", "workers/handshake fuzz"),
        ("test-libraries", "qemu-user-static", "-m builds"),
        ("bench", "gnutls-bin", "-m bench"),
        ("bench", "perl", "-m bench"),
        ("kits", "perl", "kits add"),
        ("test-faults", "strace", "-m tests.faults"),
        ("bisect-real", "perl", "-m bench.bisection"),
        ("try-ci", "perl", "-m bench.in_ci"),
        ("scorecard", "perl", "-m bench.scorecard"),
        ("articles", "perl", "kexbench run"),
        ("beside", "curl", "-m bench.beside"),
        ("merkle", "perl", "-m bench.merkle"),
        ("python", "libgmp-dev", "sync"),
        ("install", "libgmp-dev", "installed; next"),
        ("generate", "libssl-dev", "kexbench schema"),
        ("screenshots", "chromium", "screenshots.mjs"),
        ("screenshots", "perl", "kexbench run"),
        ("devcluster", "debootstrap", "devcluster up"),
        ("test-cluster", "debootstrap", '-m "cluster"'),
        ("test-charts", "libgmp-dev", "-m charts"),
        ("test-infra", "libgmp-dev", "-m infra"),
        ("docs", "libgmp-dev", "sitemaker stage"),
        ("test-docs", "chromium", "-m docs"),
        ("test-all", "chromium", "-m docs"),
        ("outdated", "libgmp-dev", "-m parts.outdated"),
        ("audit", "libgmp-dev", "-m parts.audit"),
    ],
)
def test_a_target_installs_what_it_needs_first(target: str, package: str, needed_by: str) -> None:
    steps = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lists = [
        path for path in (ROOT / "infra" / "bootstrap").glob("packages-*.txt") if package in path.read_text().split()
    ]
    assert any(f"{path.name}\n" in steps.partition(needed_by)[0] for path in lists)
    assert needed_by in steps
