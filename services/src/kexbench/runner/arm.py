"""The Arm core of a processor, from the four fields of its main ID register (MIDR_EL1) in /proc/cpuinfo."""

from dataclasses import dataclass

_ARM, _AMPERE, _APPLE, _CAVIUM, _FUJITSU = 0x41, 0xC0, 0x61, 0x43, 0x46
_HISILICON, _MICROSOFT, _QUALCOMM = 0x48, 0x6D, 0x51
NAMES = {
    (_ARM, 0xD03): "Cortex-A53",
    (_ARM, 0xD04): "Cortex-A35",
    (_ARM, 0xD05): "Cortex-A55",
    (_ARM, 0xD07): "Cortex-A57",
    (_ARM, 0xD08): "Cortex-A72",
    (_ARM, 0xD09): "Cortex-A73",
    (_ARM, 0xD0A): "Cortex-A75",
    (_ARM, 0xD0B): "Cortex-A76",
    (_ARM, 0xD0C): "Neoverse-N1",
    (_ARM, 0xD0D): "Cortex-A77",
    (_ARM, 0xD40): "Neoverse-V1",
    (_ARM, 0xD41): "Cortex-A78",
    (_ARM, 0xD44): "Cortex-X1",
    (_ARM, 0xD49): "Neoverse-N2",
    (_ARM, 0xD4A): "Neoverse-E1",
    (_ARM, 0xD4F): "Neoverse-V2",
    (_ARM, 0xD84): "Neoverse-V3",
    (_ARM, 0xD8E): "Neoverse-N3",
    (_AMPERE, 0xAC3): "Ampere-1",
    (_AMPERE, 0xAC4): "Ampere-1A",
    (_APPLE, 0x022): "Apple M1 Icestorm",
    (_APPLE, 0x023): "Apple M1 Firestorm",
    (_APPLE, 0x032): "Apple M2 Blizzard",
    (_APPLE, 0x033): "Apple M2 Avalanche",
    (_CAVIUM, 0x0AF): "ThunderX2",
    (_FUJITSU, 0x001): "A64FX",
    (_HISILICON, 0xD01): "TaiShan v110",
    (_MICROSOFT, 0xD49): "Azure Cobalt 100",
    (_QUALCOMM, 0x001): "Oryon",
}
"""Names by implementer and part, from the vendors' manuals and the kernel's cputype.h."""


@dataclass(frozen=True)
class ArmCore:
    model: str
    """The core's name, or its numbers if the name is unknown."""
    family: str
    """Implementer and part: `0x41/0xd0c`."""
    stepping: str
    """Variant and revision, as Arm writes them: `r3p1`."""


def arm_core(fields: dict[str, str]) -> ArmCore | None:
    """The core that a processor's fields in /proc/cpuinfo describe. None if it is not an Arm core."""
    try:
        implementer, variant, part = (int(fields[f"CPU {name}"], 16) for name in ("implementer", "variant", "part"))
        revision = int(fields["CPU revision"])
    except (KeyError, ValueError):
        return None
    family = f"{implementer:#04x}/{part:#05x}"
    return ArmCore(NAMES.get((implementer, part), f"Arm core {family}"), family, f"r{variant}p{revision}")
