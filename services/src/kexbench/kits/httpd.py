"""Apache httpd with mod_ssl, built against a kit's library.

2.4.68 with the event MPM. Only what serves files over TLS is compiled. The libraries that it needs besides the kit's
are built here too and linked statically: once for each compiler, since they know nothing of TLS.

Its sources are from Debian's bookworm. Newer suites replace httpd by its newest version more often.
"""

import shutil
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.dimensions import Server
from kexbench.domain.kits import Package
from kexbench.kits.builds import BuildCache
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials
from kexbench.kits.server_builds import EMPTY_ARCHIVE, ServerBuild
from kexbench.kits.source import compiler_name

_APR = Package(name="apr", version="1.7.2", sha256="75e77cc86776c030c0a5c408dfbd0bf2a0b75eed5351e52d5439fa1e5509a43e")
_APR_UTIL = Package(
    name="apr-util", version="1.6.3", sha256="a41076e3710746326c3945042994ad9a4fcac0ce0277dd8fea076fec3c9772b5"
)
_PCRE2 = Package(
    name="pcre2", version="10.42", sha256="c33b418e3b936ee3153de2c61cc638e7e4fe3156022a5c77d0711bcbb9d64f1f"
)
_EXPAT = Package(
    name="expat", version="2.5.0", sha256="ab00ee05c7067fd10a35c5d2a4922ebba746ddd50ff83b79c828da17bbdf1757"
)
_FLAGS = ("-O2", "-g0")
_WITHOUT_PKG_CONFIG = {"PKGCONFIG": "/bin/false"}
"""pkg-config would add this machine's OpenSSL."""
_APR_WORDS = (
    *("--disable-shared", "--disable-dso"),
    # This machine's libcrypt and libuuid are not in kits.
    *("ac_cv_search_crypt=no", "ac_cv_search_uuid_create=no", "ac_cv_search_uuid_generate=no"),
)
_DATABASES = ("berkeley-db", "gdbm", "mysql", "ndbm", "odbc", "oracle", "pgsql", "sqlite2", "sqlite3")
_APR_UTIL_WORDS = (
    *("--disable-util-dso", "--without-iconv", "ac_cv_search_crypt=no"),
    *(f"--without-{name}" for name in _DATABASES),
)
_EXPAT_WORDS = ("-DXML_NS", "-DXML_DTD", "-DXML_CONTEXT_BYTES=1024", "-DHAVE_GETRANDOM")
_EXPAT_PARTS = ("xmlparse", "xmltok", "xmlrole")
_PLACE = "@folder@"
"""Where the cached libraries are, in the text files that name it."""
_TEXTS = ("bin/*-config", "build-1/*", "lib/*.la")


class HttpdBuild(ServerBuild):
    server = Server.HTTPD
    package = Package(
        name="apache2", version="2.4.68", sha256="ed9a9d4500fb48bb28eaffb3ba71d06ccf86d498fa13ab9f781da010cc488498"
    )
    suite = "bookworm"
    ingredients = (_APR, _APR_UTIL, _PCRE2, _EXPAT)
    words = (
        *("--with-mpm=event", "--enable-modules=none"),
        *(f"--enable-{name}=static" for name in ("authz-core", "socache-shmcb", "ssl", "unixd")),
    )
    # As root, it serves as root, like the other servers: it reads files of this user, and only loopback reaches it.
    flags = (*_FLAGS, "-DBIG_SECURITY_HOLE")
    version_words = ("-v",)

    def is_built_with(self, version: str, said: str, program: bytes) -> bool:
        """It does not say its library, but contains the text of the library's version from the headers."""
        return f"Apache/{self.package.version} " in said and f"OpenSSL {version} ".encode() in program

    def compiled(self, materials: Materials, attempt: Attempt) -> Path:
        libraries = self._libraries(attempt)
        source = self.unpacked(self.package, attempt)
        link_flags = ["-Wl,--defsym=crypt=0", *materials.link_flags]  # apr-util would check passwords with it
        if materials.library_words is not None:
            # httpd asks for -lssl and -lcrypto: it finds a linker script and an empty archive.
            words = ["-lpthread" if word == "-pthread" else word for word in materials.library_words]
            (source.parent / "libssl.a").write_text(f"INPUT ( {' '.join(words)} )\n", encoding="utf-8")
            (source.parent / "libcrypto.a").write_bytes(EMPTY_ARCHIVE)
            link_flags.append(f"-L{source.parent}")
        environment = {
            **_WITHOUT_PKG_CONFIG,
            "CC": attempt.target.compiler,
            "CFLAGS": " ".join(self.flags),
            "CPPFLAGS": " ".join(materials.compile_flags),
            "LDFLAGS": " ".join(link_flags),
        }
        places = [
            f"--with-apr={libraries}",
            f"--with-apr-util={libraries}",
            f"--with-pcre={libraries}/bin/pcre2-config",
        ]
        self.configure(source, [*places, *self.words], attempt, environment)
        for folder in ("os", "server", "modules"):  # everything else is programs besides httpd
            self.make(source, ["-C", folder], attempt)
        self.make(source, ["httpd"], attempt)
        return self.built(source / "httpd")

    def _libraries(self, attempt: Attempt) -> Path:
        """The libraries besides OpenSSL, from the cache or built now, in the attempt's scratch folder."""
        hashes = [package.sha256 for package in self.ingredients]
        words = [_FLAGS, _APR_WORDS, _APR_UTIL_WORDS, _EXPAT_WORDS]
        decisive = [*hashes, *words, compiler_name(attempt.target.compiler, attempt), attempt.target.machine]
        name = f"httpd-libraries-{content_hash(decisive, length=16)}"

        def build(installed: Path) -> None:
            attempt.note("building the libraries of httpd")
            self._build_expat(installed, attempt)
            self._build(_PCRE2, ["--disable-shared"], installed, attempt)
            self._build(_APR, list(_APR_WORDS), installed, attempt)
            places = [f"--with-apr={installed}", f"--with-expat={installed}"]
            self._build(_APR_UTIL, [*places, *_APR_UTIL_WORDS], installed, attempt)
            _replace(installed, str(installed), _PLACE)

        cached = BuildCache(self.cache / "builds").built(name, build, attempt)
        libraries = attempt.scratch / "httpd-libraries"
        shutil.copytree(cached, libraries, symlinks=True)
        _replace(libraries, _PLACE, str(libraries))
        return libraries

    def _build(self, package: Package, words: list[str], installed: Path, attempt: Attempt) -> None:
        source = self.unpacked(package, attempt)
        environment = {**_WITHOUT_PKG_CONFIG, "CC": attempt.target.compiler, "CFLAGS": " ".join(_FLAGS)}
        self.configure(source, [f"--prefix={installed}", *words], attempt, environment)
        self.make(source, [], attempt)
        self.make(source, ["install"], attempt)

    def _build_expat(self, installed: Path, attempt: Attempt) -> None:
        """Its archive has no configure script."""
        source = self.unpacked(_EXPAT, attempt) / "expat/lib"
        for name in ("include", "lib"):
            (installed / name).mkdir()
        (source / "expat_config.h").touch()
        files = [f"{part}.c" for part in _EXPAT_PARTS]
        compile_words = [attempt.target.compiler, *_FLAGS, *_EXPAT_WORDS, "-I.", "-c", *files]
        attempt.run(compile_words, stage="compile", timeout_s=300, folder=source)
        objects = [f"{part}.o" for part in _EXPAT_PARTS]
        archive = str(installed / "lib/libexpat.a")
        attempt.run(["ar", "rcs", archive, *objects], stage="compile", timeout_s=60, folder=source)
        for name in ("expat.h", "expat_external.h"):
            shutil.copyfile(source / name, installed / "include" / name)


def _replace(folder: Path, old: str, new: str) -> None:
    """In the text files that name the folder they were installed to."""
    for pattern in _TEXTS:
        for path in folder.glob(pattern):
            path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
