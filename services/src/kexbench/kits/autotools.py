"""Libraries with a `configure` script: configured for a prefix that doesn't exist, and installed with DESTDIR."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import INSTALLED, need_tools

_OPTIONS = re.compile(r"^ac_user_opts='(.*?)'", re.MULTILINE | re.DOTALL)
_OPTION_WORD = re.compile(r"--(?:(?:en|dis)able-(?P<feature>[^=]+)|with(?:out)?-(?P<package>[^=]+))")


@dataclass(frozen=True)
class Autotools:
    """The common part of these builds. `tools` are required programs besides compiler and make."""

    compiler: str
    jobs: int
    tools: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    built: tuple[str, ...] = ("all",)
    installed: tuple[str, ...] = ("install",)
    """Targets of make, for libraries whose usual ones build programs that no kit needs."""

    def install(self, source: Path, words: tuple[str, ...], installed: Path, attempt: Attempt) -> None:
        """Build `source` and install it into `installed`, below the prefix's name. Raises StepFailed."""
        need_tools({tool: tool for tool in self.tools})
        # The binaries must not contain the build folder, so that the same sources give the same bytes everywhere.
        mapped = [
            f"{word} -ffile-prefix-map={attempt.scratch}=." if word.startswith("CFLAGS=") else word for word in words
        ]
        places = [f"--prefix=/{INSTALLED}", f"--libdir=/{INSTALLED}/lib", "--disable-dependency-tracking"]
        make = ["make", "--silent"]
        self._run(source, attempt, "sh", "configure", *places, f"CC={self.compiler}", *mapped)
        self._run(source, attempt, *make, f"-j{attempt.share_of(self.jobs)}", *self.built)
        self._run(source, attempt, *make, f"DESTDIR={installed}", *self.installed)

    def _run(self, source: Path, attempt: Attempt, *arguments: str) -> None:
        attempt.run(arguments, stage="compile", timeout_s=3600, folder=source, environment=self.environment)


def refuse_unknown(words: tuple[str, ...], configure: str) -> None:
    """Raises StepFailed for the first option that the script `configure` doesn't know and would ignore."""
    for word in words:
        if not knows(configure, word):
            raise StepFailed("compile", f"configure has no option {word}", "see ./configure --help in the sources")


def knows(configure: str, word: str) -> bool:
    """Whether the script `configure` has an option, such as `--enable-tls13` or `--with-zlib=no`."""
    listed = _OPTIONS.search(configure)
    options = set(listed[1].split()) if listed else set()
    match = _OPTION_WORD.fullmatch(word.partition("=")[0])
    assert match, "`words` checks them"
    name = f"enable_{match['feature']}" if match["feature"] else f"with_{match['package']}"
    return re.sub(r"[-+.]", "_", name) in options
