"""What /proc/cpuinfo and firmware show on machines of several makers, as files of a tree."""

_FEATURES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm"


def arm(implementer: str, variant: str, part: str, revision: int, *, processor: int = 0) -> str:
    """A processor as the arm64 kernel lists it."""
    return f"""\
processor\t: {processor}
BogoMIPS\t: 243.75
Features\t: {_FEATURES}
CPU implementer\t: {implementer}
CPU architecture: 8
CPU variant\t: {variant}
CPU part\t: {part}
CPU revision\t: {revision}

"""


def x86(*, flags: str = "fpu tsc aes avx2", microcode: str = "0xa101154", stepping: int = 1) -> str:
    return f"""\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC 9R14
stepping\t: {stepping}
microcode\t: {microcode}
flags\t\t: {flags}

"""


def dmi(vendor: str, product: str) -> dict[str, str]:
    return {"sys/class/dmi/id/sys_vendor": f"{vendor}\n", "sys/class/dmi/id/product_name": f"{product}\n"}


GRAVITON2 = {"proc/cpuinfo": arm("0x41", "0x3", "0xd0c", 1), **dmi("Amazon EC2", "c6g.large")}
GRAVITON2_METAL = GRAVITON2 | dmi("Amazon EC2", "c6g.metal")
GRAVITON3 = {"proc/cpuinfo": arm("0x41", "0x1", "0xd40", 1), **dmi("Amazon EC2", "c7g.large")}
GRAVITON4 = {"proc/cpuinfo": arm("0x41", "0x0", "0xd4f", 1), **dmi("Amazon EC2", "c8g.24xlarge")}
ALTRA = {"proc/cpuinfo": arm("0x41", "0x3", "0xd0c", 1), **dmi("GIGABYTE", "R152-P30-00")}
ALTRA_OF_GOOGLE = ALTRA | dmi("Google", "Google Compute Engine")
COBALT = {"proc/cpuinfo": arm("0x6d", "0x0", "0xd49", 0), **dmi("Microsoft Corporation", "Virtual Machine")}
APPLE_M1 = {
    "proc/cpuinfo": arm("0x61", "0x1", "0x022", 1) + arm("0x61", "0x1", "0x023", 1, processor=1),
    "proc/device-tree/compatible": "apple,j274\0apple,t8103\0apple,arm-platform\0",
}
QEMU_WITH_DEVICE_TREE = {
    "proc/cpuinfo": arm("0x00", "0x0", "0x051", 0),
    "proc/device-tree/compatible": "linux,dummy-virt\0",
    "proc/device-tree/hypervisor/compatible": "linux,kvm\0",
}
EPYC_OF_AMAZON = {"proc/cpuinfo": x86(flags="fpu tsc hypervisor aes avx2"), **dmi("Amazon EC2", "m7a.large")}
EPYC = {"proc/cpuinfo": x86(), **dmi("Dell Inc.", "PowerEdge R7625")}
