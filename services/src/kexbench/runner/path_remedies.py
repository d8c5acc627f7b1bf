"""What helps where a machine refuses to emulate a path."""

from collections.abc import Mapping

_ON_A_CLUSTER = "on a cluster the chart's jobs.paths"
_DEVICE = f"give the machine or container the device (modprobe tun; docker run --device /dev/net/tun; {_ON_A_CLUSTER})"
REMEDIES: Mapping[str, str] = {
    "making a network namespace": "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu "
    "kernel.apparmor_restrict_unprivileged_userns=0, in a container its seccomp profile, "
    f"{_ON_A_CLUSTER}), or measure as root",
    "opening /dev/net/tun": _DEVICE,
    "making a TUN device": _DEVICE,
}
"""By the step that is refused."""
