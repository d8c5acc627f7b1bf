"""How somebody's own library was compiled, as far as the library and its tree tell.

OpenSSL carries its compiler's command line as text. Compilers leave their names in the section `.comment`,
unless it was stripped. Of the flags only those that change the code are kept: paths and warnings don't.
"""

import re
from pathlib import Path

UNKNOWN = "unknown"
_COMMAND = re.compile(rb"compiler: ([ -~]{1,8000})\0")
_CLANG = re.compile(rb"clang version ([0-9][0-9.]*)")
_GCC = re.compile(rb"GCC: \([^)\0]*\) ([0-9][0-9.]*)")
_MAKEFILE_FLAGS = re.compile(r"^CFLAGS = (.*)$", re.MULTILINE)
_CHANGES_CODE = re.compile(r"-(?:O.*|m.+|f(?!\w+-prefix-map=).+|D_FORTIFY_SOURCE=.*)")


def build_words(library: Path, makefile: str) -> tuple[str, str]:
    """Compiler and flags, such as `gcc 12.2.0` and `-fPIC -m64 -O3`; each `unknown` where nothing tells it.

    `library` is the file with the cryptography in it, shared or static; `makefile` the tree's, or empty.
    """
    content = library.read_bytes()
    command = _COMMAND.search(content)
    words = command[1].decode().split() if command else []
    at = next((index for index, word in enumerate(words) if word.startswith("-")), len(words))
    named = Path(words[at - 1]).name if at else ""
    flags = words[at:]
    if not words and (found := _MAKEFILE_FLAGS.search(makefile)):
        flags = found[1].split()
    kept = dict.fromkeys(flag for flag in flags if _CHANGES_CODE.fullmatch(flag))
    return _compiler(content) or named or UNKNOWN, " ".join(kept) if flags else UNKNOWN


def _compiler(content: bytes) -> str | None:
    """The C library's start files leave their compiler's name too: first, and always GCC's."""
    for name, pattern in (("clang", _CLANG), ("gcc", _GCC)):
        if found := pattern.findall(content):
            return f"{name} {found[-1].decode()}"
    return None
