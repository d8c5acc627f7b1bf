"""Whose fault it is that a kit cannot be made."""

import pytest

from kexbench.kits import KitError
from kexbench.kits.errors import Likely, Stage, StepFailed, likely_cause


@pytest.mark.parametrize(
    ("stage", "output", "again"),
    [
        ("compile", "crypto/x.c:1:2: error: expected ';'", True),
        ("self-test", "the worker said nothing", True),
        ("compile", "cc: fatal error: x.o: No space left on device", False),
        ("compile", "cc: fatal error: Killed signal terminated program cc1", False),
        ("fetch", "fatal: Could not resolve host: example.org", False),
    ],
)
def test_sources_fail_again_but_not_for_want_of_network_disk_or_memory(stage: Stage, output: str, again: bool) -> None:
    likely = likely_cause(output) or Likely(output)
    failed = StepFailed(stage, likely.reason, lack=likely.lack)
    assert KitError.of("openssl@git:/x#y", failed).is_of_the_sources is again
