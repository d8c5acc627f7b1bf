"""One order for the versions of all libraries: OpenSSL's letters, pre-releases and plain numbers.

A key is text whose byte order is the order of the versions, since the database sorts it as text.

    version     = numbers, then letters or not, then any "-word" (pre-release), "-number" or "+word" (later)
    key         = one token per part, and "+" at the end

Each token begins with a mark, and the byte order of the marks is the order of versions:
`!` pre-release  <  `+` end  <  `-` letters and later additions  <  `.` one more number.
A number is preceded by its count of digits (`3` -> `13`, `10` -> `210`), so 9 sorts below 10.
"""

import re
from datetime import UTC, datetime

_END, _PRE_RELEASE, _LATER, _NUMBER = "+", "!", "-", "."
_HEAD = re.compile(r"(?P<numbers>\d+(?:\.\d+)*)(?P<letters>[a-z]*)")
_TAIL = re.compile(r"(?P<separator>[-+.])(?P<word>[a-z0-9]+)")
_WORD_AND_NUMBER = re.compile(r"([a-z]+)(\d+)")
_DEVELOPMENT = ("dev", "git")
"""Snapshots before the first pre-release, although their names would sort after `alpha`."""


def version_key(version: str) -> str:
    """Text whose byte order is that of versions: `1.1.1w` -> `11.11.11-w+`, `4.0.0-beta1` -> `14.10.10!beta.11+`.

    Leading zeros of a number are ignored. Raises ValueError if the version doesn't begin with a number, or has a
    character that no version has.
    """
    text = version.lower()
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(f"not a version: {version!r}")
    key = _NUMBER.join(_number(part) for part in head["numbers"].split("."))
    if head["letters"]:
        key += _LATER + head["letters"]
    position = head.end()
    while position < len(text):
        tail = _TAIL.match(text, position)
        if tail is None:
            raise ValueError(f"not a version: {version!r}, at {version[position:]!r}")
        key += _addition(tail["separator"], tail["word"])
        position = tail.end()
    return key + _END


def commit_key(version: str, committed_at: datetime, authored_at: datetime) -> str:
    """Text that sorts a commit after the version itself, and by history: by the time of committing, then by the time
    of writing, since a rebase commits many at once. Raises ValueError."""
    moments = (moment.astimezone(UTC) for moment in (committed_at, authored_at))
    return version_key(version) + ".".join(f"{moment:%Y%m%d%H%M%S}" for moment in moments)


def covers(version: str, other: str) -> bool:
    """Whether `other` is the version or one of its series: `3.5` covers `3.5` and `3.5.7`, not `3.50`."""
    return other == version or other.startswith(f"{version}.")


def series_of(version: str) -> str:
    """The minor series, two numbers: `3.5` of `3.5.4`, `1.1` of `1.1.1w`. Raises ValueError."""
    head = _HEAD.match(version.lower())
    if head is None:
        raise ValueError(f"not a version: {version!r}")
    return ".".join(head["numbers"].split(".")[:2])


def is_pre_release(version: str) -> bool:
    """Whether it comes before a version of the same numbers: `4.0.0-beta1`. Raises ValueError."""
    return _PRE_RELEASE in version_key(version)


def upstream_version(debian_version: str) -> str:
    """The upstream part of a Debian version: `1:3.5.4-1~deb13u1` -> `3.5.4`, `4.0.0~beta1-1` -> `4.0.0-beta1`.

    A revision begins with a digit, so an upstream version such as `4.0.0-alpha1` is unchanged. Debian's additions after
    a `+` or as `.dfsg` describe the repacking and are left out, except that `+really1.3.1` is the actual version.
    """
    without_epoch = debian_version.partition(":")[2] or debian_version
    upstream, hyphen, revision = without_epoch.rpartition("-")
    if not (hyphen and revision[:1].isdigit()):
        upstream = without_epoch
    upstream = upstream.rpartition("+really")[2]
    upstream = re.sub(r"[.~+](?:dfsg|ds|repack).*$", "", upstream.partition("+")[0])
    return upstream.replace("~", "-")


def _number(digits: str) -> str:
    plain = digits.lstrip("0") or "0"
    if len(plain) > 9:
        raise ValueError(f"a number of more than 9 digits in a version: {digits}")
    return f"{len(plain)}{plain}"


def _addition(separator: str, word: str) -> str:
    if separator == "+":
        return f"{_LATER}+{word}"
    if word.isdigit():
        return _LATER + _number(word)
    pieces = _WORD_AND_NUMBER.fullmatch(word)
    name, number = (pieces[1], _NUMBER + _number(pieces[2])) if pieces else (word, "")
    if name in _DEVELOPMENT:
        name = f"0{name}"
    return _PRE_RELEASE + name + number
