"""The way of a new user through the pages, from a commit to a published site, in a real browser."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kexbench.api.calling import sign_role_token
from kexbench.store.lock import StoreLock
from tests.cli.conftest import Cli, stock
from tests.cli.queueing import Serving, serving, until
from tests.conftest import FakeKit
from tests.e2e.test_dashboard import is_shown
from tests.e2e.test_published import file_server
from tests.watch.repositories import Shared

OLD, SLOW = "1.0", "1.1+server_ns=312000+seed=2"
REPOSITORIES = """\
apiVersion: kexbench.dev/v1
kind: Repositories
repositories:
  - {{ name: benchmarks, url: {url} }}
"""
SPEC = f"""\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: journey, description: "Two versions of a made-up library, of which the newer is slower." }}
subjects:
  - fake: ["{OLD}", "{SLOW}"]
matrix:
  protocol: [TLSv1.2]
  keyExchange: [RSA, ECDHE-ECDSA]
measure: {{ invocations: 40, batches: 4 }}
alerts: {{ relevant: 1%, confirmInvocations: 10, notify: [crypto-team] }}
"""


@dataclass(frozen=True)
class WatchingCli(Cli):
    """Whose service polls repositories often."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "KEXBENCH_WATCH_INTERVAL_S": "0.5"}


def heads(served: Serving) -> dict[str, str]:
    """What the service has seen of the repository: commits of later pushes are measured."""
    address = StoreLock(served.home / "store.lock").read()
    assert address is not None
    token = sign_role_token("watcher", "dispatcher", address.secret, now=datetime.now(UTC))
    answer = served.http.get("/repositories/benchmarks/heads", headers={"Authorization": f"Bearer {token}"})
    known: dict[str, str] = answer.raise_for_status().json()
    return known


@pytest.mark.thorough
def test_a_new_user_gets_from_a_commit_to_a_published_site_by_clicking(fake_kit: FakeKit, tmp_path: Path) -> None:
    cli, shared, published = WatchingCli(tmp_path), Shared(tmp_path), tmp_path / "published"
    stock(cli, fake_kit, OLD, SLOW)
    (tmp_path / "home" / "repositories.yaml").write_text(REPOSITORIES.format(url=shared.bare))
    shared.pushed({"README.md": "Benchmarks of the team"}, "Begin")
    published.mkdir()
    with serving(cli) as served, file_server(published) as site_url:
        until(lambda: "main" in heads(served))
        environment = {
            **cli.environment,
            "KEXBENCH_COMMAND": cli.command()[0],
            "KEXBENCH_E2E_CLONE": str(shared.clone),
            "KEXBENCH_E2E_SPEC": SPEC,
            "KEXBENCH_E2E_SITE": str(published / "results"),
            "KEXBENCH_E2E_SITE_URL": f"{site_url}/results/",
        }
        assert is_shown("journey", str(served.http.base_url.join("/")), tmp_path, environment)
