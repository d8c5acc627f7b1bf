"""HAProxy, built against a kit's library: an event loop that answers from memory, as a load balancer does.

3.0.11 is a version with long-term support. Lua and regular expressions of its own are left out by default, crypt()
here, so it needs no library besides the kit's.
"""

from pathlib import Path

from kexbench.domain.dimensions import Server
from kexbench.domain.kits import Package
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials
from kexbench.kits.server_builds import ServerBuild


class HaproxyBuild(ServerBuild):
    server = Server.HAPROXY
    package = Package(
        name="haproxy", version="3.0.11", sha256="a133e2d550c5fd9a849b5c7ab17bb945bcdad209ca140d41f45ebf31943ae783"
    )
    suite = "trixie"
    words = ("TARGET=linux-glibc", "USE_OPENSSL=1", "USE_LIBCRYPT=", "USE_CRYPT_H=", "ARCH_FLAGS=")
    flags = ("-O2",)
    version_words = ("-vv",)

    def is_built_with(self, version: str, said: str, program: bytes) -> bool:
        return all(f"{verb} OpenSSL version : OpenSSL {version} " in said for verb in ("Built with", "Running on"))

    def compiled(self, materials: Materials, attempt: Attempt) -> Path:
        source = self.unpacked(self.package, attempt)
        libraries = ("-lssl", "-lcrypto") if materials.library_words is None else materials.library_words
        words = [
            *("haproxy", f"CC={attempt.target.compiler}", f"OPT_CFLAGS={' '.join(self.flags)}", *self.words),
            f"SSL_CFLAGS={' '.join(materials.compile_flags)}",
            f"SSL_LDFLAGS={' '.join([*materials.link_flags, *libraries])}",
        ]
        self.make(source, words, attempt)
        return self.built(source / "haproxy")
