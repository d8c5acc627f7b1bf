"""What helps where a machine refuses to emulate a path."""

from collections.abc import Mapping

_DEVICE = "give the machine or container the device (modprobe tun; docker run --device /dev/net/tun)"
REMEDIES: Mapping[str, str] = {
    "making a network namespace": "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu "
    "kernel.apparmor_restrict_unprivileged_userns=0, in a container its seccomp profile), or measure as root",
    "opening /dev/net/tun": _DEVICE,
    "making a TUN device": _DEVICE,
}
"""By the step that is refused."""
