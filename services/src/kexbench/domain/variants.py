"""Variants of a source: the same library, built differently on purpose. `system+relink=3`, `crate/3.5.5+no-asm`.

Flags configure a library that is built from sources. The others test the measurement itself: a relink shows the effect
of code layout alone, a burn is a slowdown of known size, and a copy shows how far a kit differs from itself.
"""

import re
from dataclasses import dataclass

_FLAG = r"(?:no|enable|disable|with|without)-[a-z0-9][a-z0-9_-]*"
_SUFFIX = re.compile(rf"(?P<origin>.+?)(?P<variants>(?:\+[a-z]+=[^+/]*|\+{_FLAG})*)", re.DOTALL)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,6}")
_RANGES = {"relink": range(1, 100), "burn": range(50_001), "copy": range(2, 10)}


@dataclass(frozen=True)
class Variant:
    """`relink` seeds the order of a static link. `burn` is the extra cost of every timed turn, in millionths. `copy` is
    the same files under another name, to compare a kit with itself. `flags` keep their order."""

    relink: int | None = None
    burn: int | None = None
    copy: int | None = None
    flags: tuple[str, ...] = ()


def split_variant(source: str) -> tuple[str, Variant]:
    """The source without its variants, and the variants. Raises ValueError with a text for people."""
    match = _SUFFIX.fullmatch(source)
    if match is None:
        return source, Variant()
    settings: dict[str, int] = {}
    flags: list[str] = []
    for text in match["variants"].split("+")[1:]:
        name, equals, value = text.partition("=")
        if not equals:
            if text in flags:
                raise ValueError(f"the flag {text} is given twice")
            flags.append(text)
            continue
        allowed = _RANGES.get(name)
        if allowed is None or not _NUMBER.fullmatch(value) or int(value) not in allowed:
            ranges = ", ".join(f"{name}={values[0]} to {values[-1]}" for name, values in _RANGES.items())
            raise ValueError(f"unknown variant {text!r}; there are {ranges}")
        if name in settings:
            raise ValueError(f"the variant {name} is given twice")
        settings[name] = int(value)
    return match["origin"], Variant(**settings, flags=tuple(flags))
