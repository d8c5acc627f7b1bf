"""The mirror of Debian's packages: the one this machine uses, or Debian's default."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path
from typing import Literal

DEFAULT_ARCHIVE = "http://deb.debian.org/debian"
DEFAULT_SECURITY = "http://deb.debian.org/debian-security"
DEBIAN_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

Contents = Literal["deb", "deb-src"]
"""Binary or source packages, in the words of sources.list."""

_ONE_LINE = re.compile(r"^deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)")
_SUITES_WITHOUT_UPDATES = ("sid", "unstable", "experimental", "rc-buggy")


@dataclass(frozen=True)
class Mirror:
    """An archive and its security archive, if it has one. Without a keyring, packages are trusted unsigned."""

    archive: str = DEFAULT_ARCHIVE
    security: str | None = DEFAULT_SECURITY
    keyring: Path | None = DEBIAN_KEYRING

    def source_lines(self, suite: str, contents: Contents = "deb") -> dict[str, str]:
        """The lines of a sources.list by suite, including the suite's updates and security suites."""
        option = f"signed-by={self.keyring}" if self.keyring else "trusted=yes"
        places = {suite: self.archive}
        if suite in ("experimental", "rc-buggy"):  # incomplete by design, completed by sid
            places["sid"] = self.archive
        if suite not in _SUITES_WITHOUT_UPDATES:
            places[f"{suite}-updates"] = self.archive
            if self.security:
                places[f"{suite}-security"] = self.security
        return {name: f"{contents} [{option}] {uri} {name} main" for name, uri in places.items()}


@dataclass(frozen=True)
class _Source:
    uri: str
    suite: str
    signed_by: str

    @property
    def is_debian(self) -> bool:
        """Third parties use Debian's suite names too, but sign with their own keys."""
        if self.signed_by:
            return "debian-archive" in self.signed_by
        return self.uri.rstrip("/").rpartition("/")[2] in ("debian", "debian-security")

    @property
    def is_security(self) -> bool:
        return self.suite.endswith(("-security", "/updates")) or "debian-security" in self.uri


def host_mirror(apt_folder: Path = Path("/etc/apt")) -> Mirror:
    """The mirror in this machine's apt sources, or Debian's default addresses."""
    sources = [source for source in _sources(apt_folder) if source.is_debian]
    archives = [source.uri for source in sources if not source.is_security]
    security = [source.uri for source in sources if source.is_security]
    return Mirror(
        archive=archives[0].rstrip("/") if archives else DEFAULT_ARCHIVE,
        security=security[0].rstrip("/") if security else DEFAULT_SECURITY,
    )


def _sources(apt_folder: Path) -> Iterator[_Source]:
    parts = apt_folder / "sources.list.d"
    for path in (apt_folder / "sources.list", *sorted(parts.glob("*.list"))):
        for line in _text(path).splitlines():
            if match := _ONE_LINE.match(line.strip()):
                options = dict(option.partition("=")[::2] for option in (match["options"] or "").split())
                yield _Source(match["uri"], match["suite"], options.get("signed-by", ""))
    for path in sorted(parts.glob("*.sources")):
        for stanza in re.split(r"\n\s*\n", _text(path)):
            fields = _fields(stanza)
            if "deb" not in fields["types"].split() or fields["enabled"].strip().lower() == "no":
                continue
            for uri in fields["uris"].split():
                for suite in fields["suites"].split():
                    yield _Source(uri, suite, fields["signed-by"])


def _fields(stanza: str) -> defaultdict[str, str]:
    """Stanzas have the form of mail headers, except for comments."""
    lines = [line for line in stanza.strip().splitlines() if not line.startswith("#")]
    return defaultdict(str, {name.lower(): value for name, value in message_from_string("\n".join(lines)).items()})


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
