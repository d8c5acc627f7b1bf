"""Tries what the emulator of a path needs, in a process of its own, and how late its timers are. It leaves nothing
behind: a namespace and a device live no longer than the process. Prints one line of JSON."""

import ctypes
import errno
import json
import os
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from fcntl import ioctl

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_SET_TIMER_SLACK = 29
_TUNSETIFF, _TUN_WITHOUT_INFO = 0x400454CA, 0x0001 | 0x1000
_SLEEP_S, _SLEEPS = 0.002, 200
_TIMEOUT_S = 10


@dataclass(frozen=True)
class PathProbe:
    refused: str | None
    """The step that this machine refuses, as REMEDIES has it, or None."""
    error: str | None
    """The name of the step's error, such as `EPERM`."""
    late_ns: int | None
    """The 99th percentile of how late a sleep ends."""


def probe() -> PathProbe:
    """In a process of its own. Unknown where that fails."""
    with suppress(OSError, ValueError, TypeError, subprocess.SubprocessError):
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name], capture_output=True, timeout=_TIMEOUT_S, check=True, text=True
        )
        return PathProbe(**json.loads(done.stdout))
    return PathProbe("starting a process", None, None)


def _tried() -> PathProbe:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_TIMER_SLACK, 1, 0, 0, 0)
    late_ns = _late_ns()
    try:
        if libc.unshare(_NEW_NET) and libc.unshare(_NEW_USER | _NEW_NET):  # the first takes a privilege
            raise OSError(ctypes.get_errno(), "making a network namespace")
        device = _opened()
        _make_device(device)
        os.close(device)
    except OSError as error:
        return PathProbe(error.strerror, errno.errorcode.get(error.errno or 0), late_ns)
    return PathProbe(None, None, late_ns)


def _opened() -> int:
    try:
        return os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise OSError(error.errno, "opening /dev/net/tun") from None


def _make_device(device: int) -> None:
    try:
        ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"", _TUN_WITHOUT_INFO))
    except OSError as error:
        raise OSError(error.errno, "making a TUN device") from None


def _late_ns() -> int:
    late = []
    for _ in range(_SLEEPS):
        due_ns = time.monotonic_ns() + round(_SLEEP_S * 1e9)
        time.sleep(_SLEEP_S)
        late.append(time.monotonic_ns() - due_ns)
    return sorted(late)[round(0.99 * _SLEEPS) - 1]


if __name__ == "__main__":
    print(json.dumps(asdict(_tried())))
