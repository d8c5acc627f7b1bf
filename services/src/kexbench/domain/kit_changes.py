"""What differs between two kits, and between two probes of one kit. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import KitManifest
from kexbench.domain.probes import DEFAULTS, DefaultHandshake, Feature, KitProbe

BYTES_TOLERANCE = 3
"""ECDSA signatures vary in length by two bytes, the certificate's and the handshake's mean."""


class Change(Frozen):
    """One thing that is not alike. Null is what one of the two doesn't have."""

    what: str
    before: str | None
    after: str | None


class DefaultChange(Change):
    """A default that is not alike: a field of what was negotiated, bytes, or round trips."""

    case_id: str

    @property
    def label(self) -> str:
        """What a person reads: `Default settings, RSA 2048: group`."""
        names = {case.case_id: case.label for case in DEFAULTS}
        return f"{names.get(self.case_id, self.case_id)}: {self.what}"


class SetupCost(Frozen):
    """What setting a case up takes, from one probe of each kit: a hint, and no benchmark."""

    case_id: str
    before_cpu_ns: float
    after_cpu_ns: float
    ratio: float


class ProbeChanges(Frozen):
    """What one probe found and the other did not."""

    gained: tuple[Feature, ...] = Field(description="supported after, and not before; as found after")
    lost: tuple[Feature, ...] = Field(description="supported before, and not after; as found after, with the reason")
    defaults: tuple[DefaultChange, ...]

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost or self.defaults)

    def lines(self) -> tuple[str, ...]:
        """In words, one a change."""
        return (
            *(f"gained {found.label}" for found in self.gained),
            *(f"lost {found.label}: {found.why}" for found in self.lost),
            *(f"{change.label}: {change.before} before, {change.after} now" for change in self.defaults),
        )


class KitChanges(Frozen):
    """Two kits side by side. `probe` is null where one of them has no probe."""

    before: str = Field(description="kit id")
    after: str = Field(description="kit id")
    build: tuple[Change, ...] = Field(description="version, build profile, configuration and worker")
    packages: tuple[Change, ...]
    probe: ProbeChanges | None
    setup: tuple[SetupCost, ...]


def compare_kits(before: tuple[KitManifest, KitProbe | None], after: tuple[KitManifest, KitProbe | None]) -> KitChanges:
    """What became different on the way from one kit to another."""
    (old, old_probe), (new, new_probe) = before, after
    both = (old_probe, new_probe) if old_probe and new_probe else None
    return KitChanges(
        before=old.kit_id,
        after=new.kit_id,
        build=_changes(_build(old), _build(new)),
        packages=_changes(_packages(old), _packages(new)),
        probe=compare_probes(*both) if both else None,
        setup=tuple(_setup_costs(*both)) if both else (),
    )


def compare_probes(before: KitProbe, after: KitProbe) -> ProbeChanges:
    """Features and defaults that differ; a feature that was tried in one of the two only is passed over."""
    old = {(found.dimension, found.case_id): found for found in before.features}
    known = [(old[key], found) for found in after.features if (key := (found.dimension, found.case_id)) in old]
    return ProbeChanges(
        gained=tuple(now for then, now in known if now.supported and not then.supported),
        lost=tuple(now for then, now in known if then.supported and not now.supported),
        defaults=tuple(change for then, now in _pairs(before, after) for change in _default_changes(then, now)),
    )


def _pairs(before: KitProbe, after: KitProbe) -> list[tuple[DefaultHandshake, DefaultHandshake]]:
    old = {found.case_id: found for found in before.defaults}
    return [(old[found.case_id], found) for found in after.defaults if found.case_id in old]


def _default_changes(then: DefaultHandshake, now: DefaultHandshake) -> Iterable[DefaultChange]:
    found = list(_changes(_told(then), _told(now)))
    for name in ("client_bytes", "server_bytes"):
        old, new = getattr(then, name), getattr(now, name)
        if None not in (old, new) and abs(old - new) > BYTES_TOLERANCE:
            found.append(Change(what=name, before=f"{old:.0f}", after=f"{new:.0f}"))
    return (DefaultChange(case_id=then.case_id, **change.model_dump()) for change in found)


def _told(found: DefaultHandshake) -> dict[str, str]:
    """All but the numbers that vary."""
    negotiated: dict[str, Any] = found.negotiated.model_dump(exclude_none=True) if found.negotiated else {}
    round_trips = {} if found.round_trips is None else {"round_trips": f"{found.round_trips:g}"}
    return {"result": found.result, **{name: str(value) for name, value in negotiated.items()}, **round_trips}


def _setup_costs(before: KitProbe, after: KitProbe) -> Iterable[SetupCost]:
    for then, now in _pairs(before, after):
        if then.setup_cpu_ns and now.setup_cpu_ns:
            yield SetupCost(
                case_id=then.case_id,
                before_cpu_ns=then.setup_cpu_ns,
                after_cpu_ns=now.setup_cpu_ns,
                ratio=now.setup_cpu_ns / then.setup_cpu_ns,
            )


def _build(kit: KitManifest) -> dict[str, str]:
    return {
        "library": kit.library,
        "version": kit.version,
        **kit.build_profile.model_dump(),
        **{f"configure {word}": "yes" for word in kit.configure},
        "FIPS module": "yes" if kit.fips else "no",
        "licence": kit.licence.library if kit.licence else "unknown",
        "worker's compiler": kit.worker_compiler,
        "worker's sources": kit.worker_source_sha256[:16],
    }


def _packages(kit: KitManifest) -> dict[str, str]:
    return {package.name: package.version for package in kit.packages}


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    return tuple(
        Change(what=name, before=before.get(name), after=after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )
