"""The compiler and flags of a user's own build, as far as the library and its tree show them.

OpenSSL contains its compiler's command line as text. Compilers write their names to the section `.comment`,
unless it was stripped. Only flags that change the code are kept, not paths and warnings.
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
    """Compiler and flags, such as `gcc 12.2.0` and `-fPIC -m64 -O3`, or `unknown`.

    `library` is the shared or static file with the cryptography. `makefile` is the text of the tree's, or empty.
    """
    content = library.read_bytes()
    command = _COMMAND.search(content)
    words = command[1].decode().split() if command else []
    first_flag = next((index for index, word in enumerate(words) if word.startswith("-")), len(words))
    name = Path(words[first_flag - 1]).name if first_flag else ""
    flags = words[first_flag:]
    if not words and (match := _MAKEFILE_FLAGS.search(makefile)):
        flags = match[1].split()
    kept = dict.fromkeys(flag for flag in flags if _CHANGES_CODE.fullmatch(flag))
    return _compiler(content) or name or UNKNOWN, " ".join(kept) if flags else UNKNOWN


def _compiler(content: bytes) -> str | None:
    """The last match counts. The first may be the GCC of the C library's start files."""
    for name, pattern in (("clang", _CLANG), ("gcc", _GCC)):
        if versions := pattern.findall(content):
            return f"{name} {versions[-1].decode()}"
    return None
