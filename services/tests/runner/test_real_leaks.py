"""Memory that connections leave in a real library: what is planted is found, with the function that planted it."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kexbench.analysis.why import explain
from kexbench.domain.instruments import Instrument
from kexbench.domain.profiles import Profile
from kexbench.domain.samples import Invocation, Metric
from kexbench.material.store import MaterialStore
from kexbench.runner.counting import count_invocation
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.order import Turn
from kexbench.settings import Settings
from tests.runner.conftest import QUIET, UNPINNED
from tests.runner.real import OPENSSL, RealKits, a_case, a_job_input, real_kits, real_servers, values

__all__ = ["real_kits", "real_servers"]
pytestmark = pytest.mark.real
CASE = a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519")
Planted = Callable[[str], Invocation]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, real_kits: RealKits) -> Planted:
    """`planted("LEAK")` counts a worker that is linked to a small library before libssl (planted.c)."""
    root = tmp_path_factory.mktemp("planted")
    workers, build = Settings().workers, root / "build"
    build.mkdir()
    library, source = build / "libplanted.so", Path(__file__).with_name("planted.c")
    compile_library = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(compile_library, check=True, timeout=60)
    link = f"LIBS_openssl=-L{build} -Wl,--no-as-needed -lplanted -lssl -lcrypto"
    make = ["make", "-s", "-C", str(workers), "BACKEND=openssl", f"BUILD={build}", link, f"{build}/worker"]
    subprocess.run(make, check=True, timeout=600)

    def count(plant: str) -> Invocation:
        subprocess.run([*compile_library, f"-D{plant}"], check=True, timeout=60)
        kit = real_kits[OPENSSL]
        folder = root / plant
        shutil.copytree(kit.folder, folder, symlinks=True)
        shutil.copy(build / "worker", folder / "bin" / "worker")
        shutil.copy(library, folder / "lib")
        kits = {OPENSSL: JobInputKit(folder=folder, manifest=kit.manifest)}
        job_input = a_job_input(kits, MaterialStore(root / "material"), root / "results.ndjson", CASE, OPENSSL)
        measure = job_input.measure.model_copy(update={"instrument": Instrument.ALLOCATIONS})
        job_input = job_input.model_copy(update={"measure": measure})
        turn = Turn(CASE.case_id, (OPENSSL,), 0, examines=True)
        return count_invocation(job_input, turn, UNPINNED, root / "worker.log", lambda: QUIET)

    return count


def kept(invocation: Invocation) -> Profile:
    assert invocation.outcomes == ()
    return next(profile for profile in invocation.profiles[OPENSSL] if profile.side == "kept")


def test_a_leak_and_a_list_that_grows_are_named_and_equal_builds_keep_nothing(planted: Planted) -> None:
    """A connection has two sides, and each is planted with one."""
    nothing, leak, grows = (planted(plant) for plant in ("NOTHING", "LEAK", "LIST"))
    assert values(nothing, OPENSSL, Metric.KEPT_BYTES) == (0,)
    assert not explain(kept(nothing), kept(nothing)).has_changed
    for invocation, function, size in ((leak, "leak_of_sixteen_bytes", 16), (grows, "list_that_grows", 32)):
        (cost,) = kept(invocation).functions
        assert (cost.name, cost.library, cost.amount, cost.calls) == (function, "libplanted", 2 * size, 2)
        assert values(invocation, OPENSSL, Metric.KEPT_BYTES) == (2 * size,)
        explained = explain(kept(nothing), kept(invocation))
        assert explained.has_changed
        assert explained.place is not None
        assert explained.place.name == function
