"""Programs that benchmarks start run where the worker would."""

import os
import subprocess

import pytest

from bench.machine import pin


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a single CPU is shared without pinning")
def test_a_program_keeps_any_cpu_the_first_one_included() -> None:
    allowed = os.sched_getaffinity(0)
    affinities = []
    with subprocess.Popen(["sleep", "60"]) as process:
        for cpu in (None, min(allowed)):
            pin(process.pid, cpu)
            affinities.append(os.sched_getaffinity(process.pid))
        process.terminate()
    assert affinities == [allowed, {min(allowed)}]
