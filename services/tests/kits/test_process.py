"""Tools get what they need of our environment and no more, end in time, and their failures are explained."""

import errno
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from kexbench.kits.errors import Likely, StepFailed, likely_cause
from kexbench.kits.process import Attempt
from tests.golden import GOLDEN, assert_texts


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return Attempt(tmp_path, tmp_path / "log", lambda _: None)


def test_settings_that_would_change_the_build_do_not_reach_a_tool(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CFLAGS", "CPATH", "LD_PRELOAD_X", "MAKEFLAGS", "LANG", "https_proxy"):
        monkeypatch.setenv(name, "http://proxy" if name == "https_proxy" else "mine")
    lines = attempt.run(["env"], stage="compile", timeout_s=5).splitlines()
    assert "https_proxy=http://proxy" in lines
    assert "LANG=C" in lines
    assert not any(line.endswith("=mine") for line in lines)


def test_a_tool_that_hangs_is_ended_with_its_children(attempt: Attempt) -> None:
    started = time.monotonic()
    with pytest.raises(StepFailed, match=r"took longer than 0\.2 s"):
        attempt.run(["sh", "-c", "sleep 30 & sleep 30"], stage="fetch", timeout_s=0.2)
    assert time.monotonic() - started < 5


def test_an_absent_tool_is_named(attempt: Attempt) -> None:
    with pytest.raises(StepFailed, match="no-such-tool can't be started"):
        attempt.run(["no-such-tool"], stage="compile", timeout_s=5)


def test_everything_said_is_in_the_log(attempt: Attempt) -> None:
    with pytest.raises(StepFailed, match="second"):
        attempt.run(["sh", "-c", "echo first; echo second >&2; exit 3"], stage="compile", timeout_s=5)
    log = attempt.log.read_text()
    assert "first" in log
    assert "exit status 3" in log


def test_a_tool_that_the_kernel_kills_was_out_of_memory(attempt: Attempt) -> None:
    with pytest.raises(StepFailed, match="killed, probably because memory ran out"):
        attempt.run(["sh", "-c", "echo half a line; kill -9 $$"], stage="compile", timeout_s=5)


def test_a_remedy_names_the_program_to_install() -> None:
    assert likely_cause("/bin/sh: 1: perl: not found") == Likely("the program perl is missing", "install perl")


def test_words_without_a_known_cause_have_none() -> None:
    assert likely_cause("checking for perl... not found\nmake: *** [all] Error 2") is None


_FAILURES = (
    "x.c:1:10: fatal error: openssl/ssl.h: No such file or directory",
    "/usr/bin/ld: cannot find -lssl: No such file",
    "lib/libc.so.6: version `GLIBC_2.38' not found (required by x)",
    "E: The repository 'http://x/debian foo Release' does not have a Release file.",
    "The following packages have unmet dependencies:\n libssl3 : Depends: libc6 (>= 9.99) but 2.41 is to be installed",
    "Err: Temporary failure resolving 'x'",
    "write: No space left on device",
    "ld: undefined reference to `SSL_new'",
    "x.c:3:5: error: unknown type name 'y'",
    "cc1: fatal error: Killed signal terminated program cc1",
    "cc1: out of memory\nvirtual memory exhausted: Cannot allocate memory",
    "bignum.c:2:10: fatal error: gmp.h: No such file or directory",
    "checking for __gmpz_getlimbn... no\nconfigure: error: no C compiler",
    "Can't locate FindBin.pm in @INC (you may need",
    "/bin/sh: 1: perl: not found",
    "./configure: line 12: m4: command not found",
    "make[2]: cargo: No such file or directory",
    "env: \u2018python3\u2019: No such file or directory",
    "sh: 1: makeinfo: not found\nconfigure: error: Libnettle was not found",
    "error: rustup could not choose a version of cargo to run",
)


def test_known_failures_are_put_into_words() -> None:
    likely = {output: likely_cause(output) for output in _FAILURES}
    texts = {output: f"{cause.reason}\n{cause.remedy}" if cause else "unknown" for output, cause in likely.items()}
    assert_texts(GOLDEN / "failed-builds.txt", texts)


def test_a_program_that_is_still_open_for_writing_is_started_once_it_is_closed(
    attempt: Attempt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "true"
    shutil.copy("/bin/true", program)
    descriptor = os.open(program, os.O_WRONLY)
    refusals: list[int | None] = []
    start = subprocess.Popen

    def started(*arguments: Any, **options: Any) -> "subprocess.Popen[str]":
        try:
            return start(*arguments, **options)
        except OSError as error:
            refusals.append(error.errno)
            os.close(descriptor)
            raise

    monkeypatch.setattr(subprocess, "Popen", started)
    assert attempt.run([str(program)], stage="compile", timeout_s=5) == ""
    assert refusals == [errno.ETXTBSY]
