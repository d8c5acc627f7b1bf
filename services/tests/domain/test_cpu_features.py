"""Masks of CPU features: each takes from the library exactly what its name says."""

import platform
import re
import shutil
import subprocess

import pytest

from kexbench.domain.cpu_features import ENVIRONMENTS, WORD_0, WORD_1, CpuFeatures, mask
from tests.domain.test_cases import a_case

ALWAYS_SET = 1 << 10
"""OpenSSL's own mark that the vector is filled in."""


def test_every_name_has_an_environment_of_masks_only() -> None:
    assert set(ENVIRONMENTS) == set(CpuFeatures)
    assert a_case().environment == {}
    for feature in set(CpuFeatures) - {CpuFeatures.NATIVE}:
        words = ENVIRONMENTS[feature]["OPENSSL_ia32cap"].split(":")
        assert all(re.fullmatch(r"|0|~0x[0-9a-f]+", word) for word in words), "only taking away is safe everywhere"


def test_a_case_carries_its_environment() -> None:
    assert a_case(cpu_features="no-aes").environment == ENVIRONMENTS[CpuFeatures.NO_AES]


def test_a_mask_clears_the_named_bits_or_all() -> None:
    assert mask(WORD_0, "AES") == "~0x200000000000000"
    assert mask({"first": 0, "second": 5}) == "~0x21"


def vector(**environment: str) -> list[int]:
    """The capability vector that OpenSSL's own tool prints: as many words as the version has."""
    done = subprocess.run(["openssl", "version", "-c"], env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"OPENSSL_ia32cap=(\S+)", done.stdout)
    assert found
    return [int(word, 16) for word in found[1].split(":")]


def without(word: int, bits: dict[str, int], *names: str) -> int:
    return word & ~sum(1 << bits[name] for name in names or bits)


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not shutil.which("openssl"), reason="OpenSSL on an x86-64 machine"
)
@pytest.mark.parametrize(
    ("feature", "lost_0", "kept_1"),
    [
        (CpuFeatures.X86_64_V2, ("XOP", "FMA", "MOVBE", "AVX", "F16C"), lambda _: 0),
        (CpuFeatures.X86_64_V3, (), lambda word: without(word, WORD_1)),
        (CpuFeatures.NO_AES, ("AES", "PCLMULQDQ"), lambda word: without(word, WORD_1, "VAES", "VPCLMULQDQ")),
    ],
    ids=("v2", "v3", "no-aes"),
)
def test_openssl_loses_exactly_the_masked_bits(feature: CpuFeatures, lost_0: tuple[str, ...], kept_1: object) -> None:
    assert callable(kept_1)
    native = vector()
    masked = vector(OPENSSL_ia32cap=ENVIRONMENTS[feature]["OPENSSL_ia32cap"])
    assert masked[0] == (without(native[0], WORD_0, *lost_0) if lost_0 else native[0]) | ALWAYS_SET
    assert masked[1] == kept_1(native[1])
    if feature is CpuFeatures.NO_AES:
        assert masked[2:] == native[2:]
    else:
        assert not any(masked[2:])
