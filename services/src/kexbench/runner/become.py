"""`python become.py PARENT CPUS PROGRAM…`: becomes a program that the kernel ends together with its parent.

A worker ends by itself when its input does. A web server reads no input, so the kernel has to end it, even where its
runner is killed. CPUS are those that it may use, with commas, or nothing for all.
"""

import ctypes
import os
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2). It stays in force when the process runs another program."""


def main(parent: str, cpus: str, *command: str) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL) != 0:
        sys.exit(f"the kernel refuses to end {command[0]} together with its runner: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != int(parent):
        sys.exit("the runner ended before its web server started")
    if cpus:
        os.sched_setaffinity(0, {int(cpu) for cpu in cpus.split(",")})
    os.execv(command[0], command)  # noqa: S606  # there is no shell to want


if __name__ == "__main__":
    main(*sys.argv[1:])
