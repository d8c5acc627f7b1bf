"""What a process had the system write to the disk before each line that it printed."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

SERVICES = Path(__file__).parents[1]
_CALL = re.compile(r"(\d+) +(?:fsync|fdatasync)\(\d+<([^>]*)>(.*)")
_RESUMED = re.compile(r"(\d+) +<\.\.\. (?:fsync|fdatasync) resumed>.* = 0$")


def strace_or_skip() -> str:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("there is no strace: make packages-test installs it")
    tried = subprocess.run([strace, "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"processes cannot be traced here: {tried.stderr.strip()}")
    return strace


def synced_before_each_line(command: Sequence[str | Path], scratch: Path) -> tuple[list[str], list[set[Path]]]:
    """The lines that a command printed, and for each of them the files and folders that were synced since the line
    before. Skips where there is no strace, or where it may not trace."""
    strace = strace_or_skip()
    trace, printed = scratch / "trace", scratch / "printed"
    options: list[str | Path] = ["-f", "-qq", "-y", "-s", "9", "-e", "trace=fsync,fdatasync,write", "-o", trace]
    with printed.open("wb") as out:
        subprocess.run([strace, *options, *command], cwd=SERVICES, stdout=out, check=True)
    since_line: list[set[Path]] = [set()]
    under_way: dict[str, Path] = {}
    for line in trace.read_text(errors="replace").splitlines():
        if call := _CALL.match(line):
            process, path, rest = call.groups()
            if "<unfinished" in rest:
                under_way[process] = Path(path)
            elif rest.endswith("= 0"):
                since_line[-1].add(Path(path))
        elif resumed := _RESUMED.match(line):
            since_line[-1].add(under_way.pop(resumed[1]))
        elif f"<{printed}>" in line and '\\n"' in line:
            since_line.append(set())
    lines = printed.read_text().splitlines()
    assert len(since_line) == len(lines) + 1
    return lines, since_line[: len(lines)]
