"""Builds wolfSSL from source: a static build with assembly, the same for every version from 5.6 on.

The options are those of the crate's build.rs (wolfssl-sys 5.3.0, `build_wolfssl`) with its default feature, so that
numbers are those of the crate's users. Older versions go without the options that they do not know yet: ML-KEM comes
with 5.8. The compiler's options are those of cargo's release profile for C: -O3, and a section for each function.

Three things are added: session tickets, Ed25519, and a call of the verify callback with each peer's first certificate,
which is how the worker sees it. The crate's two patches are left out: one is of DTLS, the other of host names without a
dot. So is -g.
"""

import shutil
from pathlib import Path

from kexbench.kits.autotools import Autotools, knows, refuse_unknown
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, Recipe, need_tools, refuse_foreign
from kexbench.kits.target import Target
from kexbench.kits.tree import Linkage

_MACROS = (
    "DTLS13_MIN_RTX_INTERVAL=100",
    "USE_CERT_BUFFERS_256",
    "USE_CERT_BUFFERS_4096",
    "WOLFSSL_ALLOW_SINGLE_LABEL_HOSTNAME",
    "WOLFSSL_ALWAYS_VERIFY_CB",  # ours
    "WOLFSSL_DTLS13_ECHO_LEGACY_SESSION_ID",
    "WOLFSSL_DTLS_ALLOW_FUTURE",
    "WOLFSSL_MIN_ECC_BITS=256",
    "WOLFSSL_MIN_RSA_BITS=2048",
    "WOLFSSL_ML_KEM_USE_OLD_IDS",
    "WOLFSSL_NO_SPHINCS",
    "WOLFSSL_TLS13_MIDDLEBOX_COMPAT",
)
_USUAL = (
    "--disable-shared",
    "--enable-static",
    "--disable-aesccm",
    "--disable-benchmark",
    "--disable-dh",
    "--disable-dilithium",
    "--disable-examples",
    "--disable-oldtls",
    "--disable-opensslall",
    "--disable-opensslextra",
    "--disable-psk",
    "--disable-singlethreaded",
    "--disable-sys-ca-certs",
    "--enable-aes-bitsliced",
    "--enable-curve25519",
    "--enable-dtls",
    "--enable-dtls-frag-ch",
    "--enable-dtls-mtu",
    "--enable-dtls13",
    "--enable-ed25519",  # ours
    "--enable-experimental",
    "--enable-extra-pqc-hybrids",
    "--enable-mlkem=yes,all",
    "--enable-secure-renegotiation",
    "--enable-session-ticket",  # ours
    "--enable-sha3",
    "--enable-sni",
    "--enable-sp=yes,4096",
    "--enable-supportedcurves",
    "--enable-tls13",
    f"CFLAGS={' '.join(('-O3 -ffunction-sections -fdata-sections -fPIC', *(f'-D{macro}' for macro in _MACROS)))}",
)
_ASSEMBLY = {
    "x86_64": ("--enable-sp-asm", "--enable-intelasm", "--enable-aesni"),
    "aarch64": ("--enable-sp-asm", "--enable-armasm"),
}
_NO_ASSEMBLY, _FLAGS = "no-asm", ("enable-", "disable-")
_TOOLS = {"autoreconf": "autoconf", "automake": "automake", "libtoolize": "libtool"}


class WolfsslRecipe(Recipe):
    """`jobs` is the number of parallel compilers, over all builds."""

    linkage: Linkage = "static"
    revision = 1

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def words(self, version: str, flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
        refuse_foreign("wolfSSL", target)
        own = [flag for flag in flags if flag != _NO_ASSEMBLY]
        wrong = [flag for flag in own if not flag.startswith(_FLAGS)]
        if wrong:
            raise StepFailed(
                "resolve",
                f"wolfSSL's flags are {_NO_ASSEMBLY} and what starts with one of {', '.join(_FLAGS)}, "
                f"unlike {', '.join(wrong)}",
            )
        assembly = ("--disable-asm",) if _NO_ASSEMBLY in flags else _ASSEMBLY.get(target.machine, ())
        return (*_USUAL, *assembly, *(f"--{flag}" for flag in own))

    def build(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        if not (source / "configure.ac").is_file():
            raise StepFailed("compile", "the sources of wolfSSL have no configure.ac", "")
        need_tools(_TOOLS)
        attempt.run(["autoreconf", "-if"], stage="compile", timeout_s=600, folder=source)
        configure = (source / "configure").read_text(encoding="utf-8", errors="replace")
        refuse_unknown(tuple(word for word in words if word not in _USUAL), configure)
        known = tuple(word for word in words if not word.startswith("--") or knows(configure, word))
        Autotools(
            attempt.target.compiler,
            self._jobs,
            (),
            built=("src/libwolfssl.la",),
            installed=("install-libLTLIBRARIES", "install-nobase_includeHEADERS"),
        ).install(source, known, installed, attempt)
        # Not installed: what its native interface does not tell is read by this header.
        shutil.copy2(source / "wolfssl" / "internal.h", installed / INSTALLED / "include" / "wolfssl")


def recipe(_cache: Path, jobs: int) -> WolfsslRecipe:
    return WolfsslRecipe(jobs)
