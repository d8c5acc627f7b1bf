"""CPUs that a library is told it runs on: named masks of instruction set extensions, as environment variables.

A mask only ever takes away, so that it is safe on every x86-64 machine; the switches are of that architecture alone.
What it takes:

- OpenSSL picks its code by a vector of bits that `OPENSSL_ia32cap` changes (OPENSSL_ia32cap(3)): words of 64 bits
  between colons. `~` clears the bits that follow, a word that is left empty stays as it is, and all words
  behind the last one written are zero. Word 0 is CPUID 1 (EDX, ECX), word 1 is CPUID 7.0 (EBX, ECX). Since
  OpenSSL 3.5 there are words 2 to 4 (SHA512, SM4, AVX-IFMA, AVX10); older versions read the first two and stop.
- GnuTLS has a set of its own in `GNUTLS_CPUID_OVERRIDE` (manual, "Debugging and auditing"): what may be used if the
  CPU has it: 0x2 AES-NI, 0x4 SSSE3, 0x8 PCLMUL, 0x10 AVX, 0x20 SHA. It covers GnuTLS's own ciphers and hashes.
- Nettle below it takes `NETTLE_FAT_OVERRIDE`, the names of what it shall believe in, unchecked: naming what a CPU
  lacks would kill the process, so only nothing is ever named. Of what masks leave, GnuTLS uses its own code first.
- GMP, in which GnuTLS does RSA and finite fields, has no such switch: there a mask changes nothing.
"""

from enum import StrEnum

ARCHITECTURE = "x86_64"
"""Of all masks."""


class CpuFeatures(StrEnum):
    """AES-NI, PCLMULQDQ, ADX and SHA belong to no x86-64 level (System V psABI, section 3.1.1). Level 2 here keeps the
    first two, as CPUs of its time have them (Westmere, 2010); level 3 keeps all four (Zen, 2017)."""

    NATIVE = "native"
    X86_64_V2 = "x86-64-v2"
    X86_64_V3 = "x86-64-v3"
    NO_AES = "no-aes"


WORD_0 = {"PCLMULQDQ": 33, "XOP": 43, "FMA": 44, "MOVBE": 54, "AES": 57, "AVX": 60, "F16C": 61}
WORD_1 = {"AVX512F": 16, "AVX512DQ": 17, "AVX512IFMA": 21, "AVX512PF": 26, "AVX512ER": 27, "AVX512CD": 28}
WORD_1 |= {"AVX512BW": 30, "AVX512VL": 31, "AVX512VBMI": 33, "AVX512VBMI2": 38, "GFNI": 40, "VAES": 41}
WORD_1 |= {"VPCLMULQDQ": 42, "AVX512VNNI": 43, "AVX512BITALG": 44, "AVX512VPOPCNTDQ": 46}
"""Positions of bits, from OPENSSL_ia32cap(3) where it names them, else from Intel's manual of CPUID."""


def mask(word: dict[str, int], *names: str) -> str:
    """`~0x…`, which clears the bits of these names; of all where none is named."""
    return f"~{sum(1 << word[name] for name in names or word):#x}"


ENVIRONMENTS: dict[CpuFeatures, dict[str, str]] = {
    CpuFeatures.NATIVE: {},
    CpuFeatures.X86_64_V2: {
        # Level 2 has nothing of CPUID 7, so word 1 is zero: AVX2, BMI1, BMI2, ADX, SHA and all that came later.
        "OPENSSL_ia32cap": f"{mask(WORD_0, 'XOP', 'FMA', 'MOVBE', 'AVX', 'F16C')}:0",
        "GNUTLS_CPUID_OVERRIDE": "0xe",
        "NETTLE_FAT_OVERRIDE": "none",
    },
    CpuFeatures.X86_64_V3: {
        "OPENSSL_ia32cap": f":{mask(WORD_1)}",
        "GNUTLS_CPUID_OVERRIDE": "0x3e",  # GnuTLS and Nettle have no code for AVX-512 or VAES
    },
    CpuFeatures.NO_AES: {
        # Carry-less multiplication came with AES-NI and goes with it. The empty words keep what is in them.
        "OPENSSL_ia32cap": f"{mask(WORD_0, 'AES', 'PCLMULQDQ')}:{mask(WORD_1, 'VAES', 'VPCLMULQDQ')}::::",
        "GNUTLS_CPUID_OVERRIDE": "0x34",
        "NETTLE_FAT_OVERRIDE": "none",
    },
}
