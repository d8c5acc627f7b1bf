"""nginx, built against a kit's library.

1.26.3 compiles with all of OpenSSL from 1.1.1 to 4.0, without its OCSP client, which cases with a server don't use.
Only what serves files over TLS is compiled, so it needs no library besides the kit's.
"""

import os
from pathlib import Path

from kexbench.domain.dimensions import Server
from kexbench.domain.kits import Package
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials
from kexbench.kits.server_builds import EMPTY_ARCHIVE, ServerBuild

_LEFT_OUT = (
    *("access", "auth_basic", "autoindex", "browser", "charset", "empty_gif", "fastcgi", "geo", "grpc", "gzip"),
    *("limit_conn", "limit_req", "map", "memcached", "mirror", "proxy", "referer", "rewrite", "scgi"),
    *("split_clients", "ssi", "userid", "uwsgi"),
    *(f"upstream_{name}" for name in ("hash", "ip_hash", "keepalive", "least_conn", "random", "zone")),
)


class NginxBuild(ServerBuild):
    server = Server.NGINX
    package = Package(
        name="nginx", version="1.26.3", sha256="69ee2b237744036e61d24b836668aad3040dda461fe6f570f1787eab570c75aa"
    )
    suite = "trixie"
    words = (
        "--with-http_ssl_module",
        "--without-pcre",
        *(f"--without-http_{name}_module" for name in _LEFT_OUT),
    )
    flags = ("-O2", "-g0", "-Wno-error", "-DOPENSSL_NO_OCSP")
    version_words = ("-V",)

    def is_built_with(self, version: str, said: str, program: bytes) -> bool:
        return f"built with OpenSSL {version} " in said and "running with" not in said

    def compiled(self, materials: Materials, attempt: Attempt) -> Path:
        source = self.unpacked(self.package, attempt)
        # Relative paths, since nginx contains the words of its configuration.
        here = os.path.relpath(attempt.scratch, source)

        def written(*words: str) -> str:
            return " ".join(words).replace(str(attempt.scratch), here)

        libraries = materials.link_flags
        if materials.library_words is not None:
            # nginx asks for -lssl and -lcrypto after these words, which have everything: it finds empty ones.
            for library in ("libssl.a", "libcrypto.a"):
                (source.parent / library).write_bytes(EMPTY_ARCHIVE)
            libraries = (*libraries, *materials.library_words, f"-L{source.parent}")
        configure = [
            f"--with-cc={attempt.target.compiler}",
            f"--with-cc-opt={written(*self.flags, *materials.compile_flags)}",
            f"--with-ld-opt={written(*libraries)}",
            *self.words,
        ]
        self.configure(source, configure, attempt, {})
        self.make(source, [], attempt)
        return self.built(source / "objs/nginx")
