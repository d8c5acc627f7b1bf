"""Files under /sys and /proc, and what more than one reader wants to know from them. What cannot be read is None."""

import re
from pathlib import Path

CPU = "sys/devices/system/cpu"
_DMI = "sys/class/dmi/id"
_MAKERS_OF_VIRTUAL_MACHINES = re.compile(
    r"Alibaba Cloud|Amazon EC2|Apple Virtualization|BHYVE|Bochs|DigitalOcean|Google Compute Engine|Hetzner|KubeVirt|KVM"
    r"|Nutanix AHV|OpenStack|Parallels|QEMU|VirtualBox|Virtual Machine|VMware|Xen|innotek GmbH|vServer"
)
"""As they name themselves to their guests: Microsoft and Google make hardware too, and so tell it by the product."""
_BARE_METAL = re.compile(r"[.]metal\b")
"""Amazon's instances without a hypervisor name it all the same: `c7g.metal`, `m8g.metal-24xl`."""


class Tree:
    """The root folder under which /sys and /proc stand."""

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
    """The kernel's lists, such as `0-3,8`; anything else, as `(null)`, is empty."""
    found: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def cpuinfo(tree: Tree, cpu: int) -> dict[str, str]:
    """That processor's fields of /proc/cpuinfo, of the first one where it is not listed. On Arm, processors of one
    machine may be of several kinds."""
    text = tree.text("proc/cpuinfo") or ""
    blocks = [dict(re.findall(r"^(\S[^\t:]*?)\s*:[ \t]*(.*)$", block, re.MULTILINE)) for block in text.split("\n\n")]
    return next((block for block in blocks if block.get("processor") == str(cpu)), blocks[0])


def ticks_of(stat: str) -> dict[str, list[int]]:
    """From the text of /proc/stat, of all CPUs together (`cpu`) and of each (`cpu3`): ticks spent as user, nice,
    system, idle, iowait, irq, softirq and stolen. Guest time, behind them, is part of user time."""
    lines = [line.split() for line in stat.splitlines() if line.startswith("cpu")]
    return {name: [int(value) for value in values[:8]] for name, *values in lines if len(values) >= 8}


def siblings_of(tree: Tree, cpu: int) -> frozenset[int] | None:
    """The online CPUs that share a CPU's core, with itself."""
    return tree.cpus(f"{CPU}/cpu{cpu}/topology/thread_siblings_list") or None


def governor_of(tree: Tree, cpu: int) -> str | None:
    return tree.text(f"{CPU}/cpu{cpu}/cpufreq/scaling_governor")


def turbo_of(tree: Tree) -> tuple[bool | None, str | None]:
    """Whether turbo is on, and the file that switches it."""
    for path, on in ((f"{CPU}/cpufreq/boost", "1"), (f"{CPU}/intel_pstate/no_turbo", "0")):
        if (text := tree.text(path)) is not None:
            return text == on, f"/{path}"
    return None, None


def hypervisor_of(tree: Tree, fields: dict[str, str]) -> str | None:
    """The name of what a virtual machine runs on, `hypervisor` where it has none, `none` on bare metal.

    On x86 the CPU's flag says so. Elsewhere firmware does: a device tree has a node for the hypervisor, and DMI names
    who made the machine. `fields` are of /proc/cpuinfo. In a container all of this is the machine's."""
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
