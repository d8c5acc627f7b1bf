"""The fake keeps the contract that Kubernetes keeps (tests/cluster/test_contract.py)."""

from pathlib import Path

import pytest

from tests.execution.leases import FileLeases, LeasesContract


class FileBed:
    def __init__(self, file: Path) -> None:
        self._now = 1_000.0
        self.leases = FileLeases(file, lambda: self._now)

    def pass_s(self, seconds: float) -> None:
        self._now += seconds


class TestFileLeases(LeasesContract):
    @pytest.fixture
    def lease_bed(self, tmp_path: Path) -> FileBed:
        return FileBed(tmp_path / "leases.json")
