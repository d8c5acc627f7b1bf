"""`kexbench paths`: from a run over emulated paths to a table. Whether this machine holds them is not asserted."""

import pytest

from kexbench.answers.paths_shapes import Paths
from tests.cli.conftest import Cli, stock
from tests.conftest import FakeKit

SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: waiting }
subjects: [{ fake: ["1.0"] }]
matrix: { protocol: [TLSv1.2], keyExchange: [ECDHE-ECDSA], path: [20ms, 20ms-loss-2] }
measure: { invocations: 2, batches: 2, connections: 20, sentinel: false }
"""


@pytest.fixture
def measured(cli: Cli, fake_kit: FakeKit) -> Cli:
    stock(cli, fake_kit, "1.0")
    spec = cli.folder / "waiting.yaml"
    spec.write_text(SPEC)
    assert cli("run", str(spec)).status == 0
    return cli


def test_a_run_over_paths_is_shown_by_case_and_path(measured: Cli) -> None:
    answer = Paths.model_validate(measured("paths", "--json").json())
    assert [case.path.text for case in answer.cases] == ["20ms", "20ms-loss-2"]
    done = measured("paths", "--path", "20ms")
    cells = [cell for case in answer.cases for cell in case.cells]
    assert done.status == (0 if cells[0].handshake else 1)
    assert "20 ms" in done.out
    assert "TLS 1.2 ECDHE-ECDSA" in done.out.replace("\n", " ")
    for cell in cells:
        if cell.handshake is None:
            assert cell.outcome
            assert "did not hold the path" in cell.outcome.reason
        assert (cell.computing_ns is None) == (cell.handshake is None)
    assert ("computing" in done.out) == (cells[0].computing_ns is not None)
    if cells[0].handshake:
        assert cells[0].predicted
        assert (cells[0].predicted.before_request, cells[0].agreement) == (2, "as predicted")
        assert "1 + 2 round trips" in done.out


def test_what_no_machine_or_library_has_is_refused_with_what_there_is(measured: Cli) -> None:
    refused = measured("paths", "--library", "faek")
    assert (refused.status, refused.out) == (2, "")
    assert "there are fake, on" in " ".join(refused.err.replace("│", " ").split())


def test_nothing_measured_names_the_command_that_measures(cli: Cli) -> None:
    done = cli("paths")
    assert (done.status, done.out) == (1, "")
    assert "kexbench run paths" in done.err
