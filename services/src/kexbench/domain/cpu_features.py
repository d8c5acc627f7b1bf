"""CPU feature masks: named sets of instruction set extensions that a library may use, as environment variables.

A mask only removes features, so it is safe on every x86-64 machine. The switches are for x86-64 only.

- OpenSSL selects code by a bit vector that `OPENSSL_ia32cap` changes (OPENSSL_ia32cap(3)): 64-bit words, separated by
  colons. `~` clears the bits that follow, an empty word is unchanged, and all words after the last one are zero. Word
  0 is CPUID 1 (EDX, ECX), word 1 is CPUID 7.0 (EBX, ECX). OpenSSL 3.5 added words 2 to 4 (SHA512, SM4, AVX-IFMA,
  AVX10). Older versions read only the first two.
  AWS-LC, which s2n-tls stands on, reads the first two as well (crypto/fipsmodule/cpucap/cpu_intel.c). So does BoringSSL
  (crypto/cpu_intel.cc), which ignores the second word if a third follows.
- GnuTLS reads `GNUTLS_CPUID_OVERRIDE` (manual, "Debugging and auditing"): features to use if the CPU has them: 0x2
  AES-NI, 0x4 SSSE3, 0x8 PCLMUL, 0x10 AVX, 0x20 SHA. It covers GnuTLS's own ciphers and hashes, which GnuTLS prefers.
- Nettle, below GnuTLS, reads `NETTLE_FAT_OVERRIDE`, names of features that it does not check. A feature that the CPU
  lacks would kill the process, so masks name none.
- GMP, which does RSA and finite fields for GnuTLS, has no such switch, so masks do not affect it.
"""

import re
from collections.abc import Collection
from enum import StrEnum

ARCHITECTURE = "x86_64"
"""The architecture of all masks."""


class CpuFeatures(StrEnum):
    """AES-NI, PCLMULQDQ, ADX and SHA are in no x86-64 level (System V psABI, section 3.1.1). Level 2 here keeps the
    first two, as CPUs of its time do (Westmere, 2010). Level 3 keeps all four (Zen, 2017)."""

    NATIVE = "native"
    X86_64_V2 = "x86-64-v2"
    X86_64_V3 = "x86-64-v3"
    NO_AES = "no-aes"


WORD_0 = {"PCLMULQDQ": 33, "XOP": 43, "FMA": 44, "MOVBE": 54, "AES": 57, "AVX": 60, "F16C": 61}
WORD_1 = {"AVX512F": 16, "AVX512DQ": 17, "AVX512IFMA": 21, "AVX512PF": 26, "AVX512ER": 27, "AVX512CD": 28}
WORD_1 |= {"AVX512BW": 30, "AVX512VL": 31, "AVX512VBMI": 33, "AVX512VBMI2": 38, "GFNI": 40, "VAES": 41}
WORD_1 |= {"VPCLMULQDQ": 42, "AVX512VNNI": 43, "AVX512BITALG": 44, "AVX512VPOPCNTDQ": 46}
"""Bit positions, from OPENSSL_ia32cap(3) or, where it lacks them, from Intel's manual of CPUID."""


def mask(word: dict[str, int], *names: str) -> str:
    """`~0x…`, which clears the bits of these names, or all bits of the word without names."""
    return f"~{sum(1 << word[name] for name in names or word):#x}"


ENVIRONMENTS: dict[CpuFeatures, dict[str, str]] = {
    CpuFeatures.NATIVE: {},
    CpuFeatures.X86_64_V2: {
        # Level 2 has no features of CPUID 7, so word 1 is zero: AVX2, BMI1, BMI2, ADX, SHA and all later ones.
        "OPENSSL_ia32cap": f"{mask(WORD_0, 'XOP', 'FMA', 'MOVBE', 'AVX', 'F16C')}:0",
        "GNUTLS_CPUID_OVERRIDE": "0xe",
        "NETTLE_FAT_OVERRIDE": "none",
    },
    CpuFeatures.X86_64_V3: {
        "OPENSSL_ia32cap": f":{mask(WORD_1)}",
        "GNUTLS_CPUID_OVERRIDE": "0x3e",  # GnuTLS and Nettle have no code for AVX-512 or VAES
    },
    CpuFeatures.NO_AES: {
        # Carry-less multiplication came with AES-NI, so it is removed too. Empty words are unchanged.
        "OPENSSL_ia32cap": f"{mask(WORD_0, 'AES', 'PCLMULQDQ')}:{mask(WORD_1, 'VAES', 'VPCLMULQDQ')}::::",
        "GNUTLS_CPUID_OVERRIDE": "0x34",
        "NETTLE_FAT_OVERRIDE": "none",
    },
}

_FLAGS = {
    "aes": "AES",
    "pclmulqdq": "PCLMULQDQ",
    "pmull": "PMULL",
    "avx2": "AVX2",
    "bmi2": "BMI2",
    "adx": "ADX",
    "sha_ni": "SHA",
    "sha2": "SHA-256",
    "sha512": "SHA-512",
    "sha3": "SHA-3",
    "avx512f": "AVX512F",
    "avx512ifma": "AVX512IFMA",
    "vaes": "VAES",
    "vpclmulqdq": "VPCLMULQDQ",
    "gfni": "GFNI",
    "sve": "SVE",
    "sve2": "SVE2",
}
"""Flags of /proc/cpuinfo for which OpenSSL, Nettle or GMP have code, with the names that manuals use."""
_VECTOR = ({"PCLMULQDQ": 33, "AES": 57}, {"AVX2": 5, "BMI2": 8, "ADX": 19, "SHA": 29} | WORD_1)
"""Bits of the first two words of `OPENSSL_ia32cap` for the same features."""


def accelerating(flags: Collection[str]) -> list[str]:
    """The features of a CPU that TLS libraries have code for."""
    return [name for flag, name in _FLAGS.items() if flag in flags]


def reported_features(text: str) -> list[str]:
    """The same features by a library's own report, such as `OPENSSL_ia32cap=0x…:0x…`. Empty for other texts."""
    if not (found := re.search(r"OPENSSL_ia32cap=((?:0x[0-9a-f]+:?)+)", text)):
        return []
    words = [int(word, 16) for word in found[1].rstrip(":").split(":")]
    return [name for word, bits in zip(words, _VECTOR, strict=False) for name, bit in bits.items() if word >> bit & 1]
