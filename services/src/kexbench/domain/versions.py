"""One order for the versions of every library: OpenSSL's letters, pre-releases and plain numbers.

A key is text whose byte order is the order of the versions, because the database sorts it as text.

    version     = numbers, then letters or not, then any "-word" (pre-release), "-number" or "+word" (later)
    key         = one token a piece, and "+" at the end

Each token begins with a mark, and the marks' byte order is the meaning:
`!` pre-release  <  `+` end  <  `-` letters and later additions  <  `.` one more number.
A number is written with its count of digits before it (`3` -> `13`, `10` -> `210`), so 9 sorts below 10.
"""

import re
from datetime import UTC, datetime

_END, _PRE_RELEASE, _LATER, _NUMBER = "+", "!", "-", "."
_HEAD = re.compile(r"(?P<numbers>\d+(?:\.\d+)*)(?P<letters>[a-z]*)")
_TAIL = re.compile(r"(?P<separator>[-+.])(?P<word>[a-z0-9]+)")
_WORD_AND_NUMBER = re.compile(r"([a-z]+)(\d+)")
_DEVELOPMENT = ("dev", "git")
"""Snapshots from before the first pre-release; their names would sort after `alpha`."""


def version_key(version: str) -> str:
    """Text that sorts by bytes as versions do: `1.1.1w` -> `11.11.11-w+`, `4.0.0-beta1` -> `14.10.10!beta.11+`.

    Leading zeros of a number are ignored. Raises ValueError when the version doesn't begin with a
    number or holds a character that no version has.
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
    """Text that sorts a commit of a version behind the version itself, and by its place in history: by when it came to
    its branch; of commits that came together, which a rebase makes, by when they were written. Raises ValueError."""
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

    A revision begins with a digit, so that an upstream version such as `4.0.0-alpha1` stays as it is.
    What Debian adds behind a `+` or as `.dfsg` tells how the source was repacked and is left out, but `+really1.3.1`
    is what the version really is.
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
