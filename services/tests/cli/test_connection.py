"""`kexbench run` of connections: every part of the cost, from the worker's clocks to the table."""

from pathlib import Path

import pytest
import yaml

from tests.builders import BENCH_SPECS
from tests.cli.conftest import Cli, stock
from tests.conftest import FakeKit
from tests.golden import GOLDEN, assert_texts

pytestmark = pytest.mark.thorough

STEADY, SLOWER = "1.0+noise=0", "1.1+noise=0+step=1.02"


@pytest.fixture
def cli(cli: Cli, fake_kit: FakeKit) -> Cli:
    stock(cli, fake_kit, STEADY, SLOWER)
    return cli


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The shipped spec, for the fake."""
    document = yaml.safe_load((BENCH_SPECS / "connections.yaml").read_text())
    document |= {
        "subjects": [{"fake": [STEADY, SLOWER]}],
        "measure": {"invocations": 6, "batches": 4},
    }
    path = tmp_path / "connections.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def test_the_shipped_spec_ends_in_a_table_of_all_parts(cli: Cli, spec: Path) -> None:
    done = cli("run", str(spec))
    assert done.status == 0, done.err
    table = done.out[done.out.index("What a connection costs") :]
    assert_texts(
        GOLDEN / "connection.txt", {"the shipped spec": "\n".join(line.rstrip() for line in table.splitlines())}
    )
    run_id = cli("runs", "list", "--json").json()["runs"][0]["run_id"]
    (connection,) = cli("runs", "show", run_id, "--json").json()["connections"]
    parts = {part["label"]: part for part in connection["parts"]}
    assert len(parts) == len(connection["parts"])
    base = {cost["subject"].split("~")[0]: cost for cost in parts["handshake"]["costs"]}
    # The fake's client takes 100 µs and its server 300; the slower one takes 2% more.
    assert [base[name]["server"]["value"] for name in ("fake@1.0", "fake@1.1")] == [300_000, 306_000]
    transfer = parts["transfer of 1 MiB, AES-128-GCM"]["costs"][0]
    assert transfer["server"]["value"] == pytest.approx(2**20 / 4, rel=0.01)
    assert parts["verification, 2 + 1 certificates"]["costs"][0]["client"]["value"] == 0
    # A millisecond-long handshake of four threads on four processors takes a quarter of it.
    wall = {label: parts[label]["costs"][0]["wall"]["value"] for label in ("handshake", "4 threads, one context")}
    assert wall["4 threads, one context"] == pytest.approx(wall["handshake"] / 4, rel=0.01)
