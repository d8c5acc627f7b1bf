"""A short real run, served, and read off the pages by a real browser."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

FRONTEND = Path(__file__).parents[3] / "frontend"
TIMEOUT_S = 600
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata:
  name: browser
  description: Two real libraries and two versions of a made-up one with a step of two percent.
subjects:
  - openssl: system
  - gnutls: system
  - fake: [1.0+noise=0.001, 1.1+noise=0.001+step=1.02]
matrix:
  protocol: [TLSv1.2]
  keyExchange: [RSA, ECDHE-ECDSA]
measure: { invocations: 6, batches: 4 }
"""


@pytest.mark.browser
def test_the_dashboard_shows_the_numbers_of_a_real_run(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    spec = tmp_path / "browser.yaml"
    spec.write_text(SPEC)
    with cli.serving() as (_, url):
        measured = cli("run", str(spec))
        assert measured.status == 0, measured.err
        shown = subprocess.run(
            ["npm", "run", "--silent", "e2e"],
            cwd=FRONTEND,
            env={**os.environ, "KEXBENCH_URL": url},
            timeout=TIMEOUT_S,
            check=False,
        )
    assert shown.returncode == 0
