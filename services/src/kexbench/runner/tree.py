"""Reads files under /sys and /proc for several modules. A value that cannot be read is None."""

import re
from pathlib import Path

CPU = "sys/devices/system/cpu"
_DMI = "sys/class/dmi/id"
_MAKERS_OF_VIRTUAL_MACHINES = re.compile(
    r"Alibaba Cloud|Amazon EC2|Apple Virtualization|BHYVE|Bochs|DigitalOcean|Google Compute Engine|Hetzner|KubeVirt|KVM"
    r"|Nutanix AHV|OpenStack|Parallels|QEMU|VirtualBox|Virtual Machine|VMware|Xen|innotek GmbH|vServer"
)
"""Vendor and product names in guests. Microsoft and Google also make hardware, so their product names decide."""
_BARE_METAL = re.compile(r"[.]metal\b")
"""Amazon's bare-metal instances have the same vendor name: `c7g.metal`, `m8g.metal-24xl`."""


class Tree:
    """The root folder of /sys and /proc."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def text(self, path: str) -> str | None:
        try:
            return (self._root / path).read_text(errors="replace").strip("\0 \n")
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        text = self.text(path)
        return int(text) if text and re.fullmatch(r"-?\d+", text) else None

    def cpus(self, path: str) -> frozenset[int]:
        return parse_cpus(self.text(path) or "")

    def has(self, path: str) -> bool:
        return (self._root / path).exists()


def parse_cpus(text: str) -> frozenset[int]:
    """A CPU list of the kernel, such as `0-3,8`. Any other text, such as `(null)`, is empty."""
    cpus: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def cpuinfo(tree: Tree, cpu: int) -> dict[str, str]:
    """The processor's fields in /proc/cpuinfo, or those of the first one if it is not listed. The processors of an Arm
    machine may differ."""
    text = tree.text("proc/cpuinfo") or ""
    blocks = [dict(re.findall(r"^(\S[^\t:]*?)\s*:[ \t]*(.*)$", block, re.MULTILINE)) for block in text.split("\n\n")]
    return next((block for block in blocks if block.get("processor") == str(cpu)), blocks[0])


def ticks_of(stat: str) -> dict[str, list[int]]:
    """Ticks of all CPUs together (`cpu`) and of each (`cpu3`), from the text of /proc/stat: user, nice, system, idle,
    iowait, irq, softirq and stolen. Guest time, which follows them, is part of user time."""
    lines = [line.split() for line in stat.splitlines() if line.startswith("cpu")]
    return {name: [int(value) for value in values[:8]] for name, *values in lines if len(values) >= 8}


def siblings_of(tree: Tree, cpu: int) -> frozenset[int] | None:
    """The online CPUs of a CPU's core, including itself."""
    return tree.cpus(f"{CPU}/cpu{cpu}/topology/thread_siblings_list") or None


def governor_of(tree: Tree, cpu: int) -> str | None:
    return tree.text(f"{CPU}/cpu{cpu}/cpufreq/scaling_governor")


def turbo_of(tree: Tree) -> tuple[bool | None, str | None]:
    """Whether turbo is on, and the file that controls it."""
    for path, on in ((f"{CPU}/cpufreq/boost", "1"), (f"{CPU}/intel_pstate/no_turbo", "0")):
        if (text := tree.text(path)) is not None:
            return text == on, f"/{path}"
    return None, None


def hypervisor_of(tree: Tree, fields: dict[str, str]) -> str | None:
    """The name of a virtual machine's hypervisor, `hypervisor` if it is unknown, `none` on bare metal.

    On x86 a CPU flag decides. Elsewhere the firmware does: a device tree has a node for the hypervisor, and DMI names
    the vendor. `fields` come from /proc/cpuinfo. A container sees the values of its machine."""
    vendor, product = (tree.text(f"{_DMI}/{name}") or "" for name in ("sys_vendor", "product_name"))
    named = re.sub(r"[^\w .-]", "", vendor)
    kind = tree.text("sys/hypervisor/type") or _in_device_tree(tree)
    if "flags" in fields:
        is_virtual = "hypervisor" in fields["flags"].split() or bool(kind)
        return (named or kind or "hypervisor") if is_virtual else "none"
    if not vendor:
        return kind or ("none" if tree.has("proc/device-tree/compatible") else None)
    made_virtual = any(_MAKERS_OF_VIRTUAL_MACHINES.search(text) for text in (vendor, product))
    return named if kind or (made_virtual and not _BARE_METAL.search(product)) else "none"


def _in_device_tree(tree: Tree) -> str | None:
    if text := tree.text("proc/device-tree/hypervisor/compatible"):
        return text.split("\0")[0].rpartition(",")[2]
    return "qemu" if tree.has("proc/device-tree/fw-cfg") else None
