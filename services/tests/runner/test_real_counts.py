"""Instructions of a real library, whose private key needs random numbers in its first use."""

from pathlib import Path

import pytest

from kexbench.material.store import MaterialStore
from kexbench.runner.counting import count
from kexbench.runner.participant import Setting
from tests.runner.conftest import UNPINNED
from tests.runner.real import OPENSSL, RealKits, a_case, a_job_input, real_kits, real_servers

__all__ = ["real_kits", "real_servers"]
pytestmark = [pytest.mark.real, pytest.mark.thorough]


def test_what_an_rsa_key_draws_when_it_is_first_used_is_not_counted(tmp_path: Path, real_kits: RealKits) -> None:
    case = a_case("TLSv1.2", "RSA")
    job_input = a_job_input(real_kits, MaterialStore(tmp_path / "material"), tmp_path / "results", case, OPENSSL)
    setting = Setting(job_input, case, UNPINNED, tmp_path / "worker.log")
    amounts = [count(setting, OPENSSL, "server")[0].amount for _ in range(3)]
    assert min(amounts) > 1_000_000
    assert max(amounts) / min(amounts) - 1 < 3e-4
