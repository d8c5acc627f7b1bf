"""The differences between two kits, and between two probes of one kit. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from kexbench.domain.differences import Difference
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import KitManifest
from kexbench.domain.probes import DEFAULTS, DefaultHandshake, Feature, KitProbe

BYTES_TOLERANCE = 4
"""ECDSA signatures vary in length, the certificate's and the mean of the handshakes': of 200,000 simulated pairs of
probes with P-256, 0.06% differ by more than three bytes, two by more than four."""


class DefaultChange(Difference):
    """A default that differs: a negotiated field, bytes, or round trips."""

    case_id: str

    @property
    def label(self) -> str:
        """The title for people: `Default settings, RSA 2048: group`."""
        names = {case.case_id: case.label for case in DEFAULTS}
        return f"{names.get(self.case_id, self.case_id)}: {self.what}"


class SetupCost(Frozen):
    """The cost of setting a case up, from one probe of each kit: a hint, not a benchmark."""

    case_id: str
    before_cpu_ns: float
    after_cpu_ns: float
    ratio: float


class ProbeChanges(Frozen):
    """The differences between two probes."""

    gained: tuple[Feature, ...] = Field(description="supported only after, as probed after")
    lost: tuple[Feature, ...] = Field(description="supported only before, as probed after, with the reason")
    defaults: tuple[DefaultChange, ...]

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost or self.defaults)

    def lines(self) -> tuple[str, ...]:
        """One text per change."""
        return (
            *(f"gained {feature.label}" for feature in self.gained),
            *(f"lost {feature.label}: {feature.why}" for feature in self.lost),
            *(f"{change.label}: {change.before} before, {change.after} now" for change in self.defaults),
        )


class KitChanges(Frozen):
    """Two kits side by side. `probe` is null where one of them has no probe."""

    before: str = Field(description="kit id")
    after: str = Field(description="kit id")
    build: tuple[Difference, ...] = Field(description="version, build profile, configuration and worker")
    packages: tuple[Difference, ...]
    probe: ProbeChanges | None
    setup: tuple[SetupCost, ...]


def compare_kits(before: tuple[KitManifest, KitProbe | None], after: tuple[KitManifest, KitProbe | None]) -> KitChanges:
    """The differences from one kit to another."""
    (old, old_probe), (new, new_probe) = before, after
    both = (old_probe, new_probe) if old_probe and new_probe else None
    return KitChanges(
        before=old.kit_id,
        after=new.kit_id,
        build=differences(_build(old), _build(new)),
        packages=differences(_packages(old), _packages(new)),
        probe=compare_probes(*both) if both else None,
        setup=tuple(_setup_costs(*both)) if both else (),
    )


def compare_probes(before: KitProbe, after: KitProbe) -> ProbeChanges:
    """Features and defaults that differ. A feature that only one of the two tried is skipped."""
    old = {(feature.dimension, feature.case_id): feature for feature in before.features}
    tried_twice = [
        (old[key], feature) for feature in after.features if (key := (feature.dimension, feature.case_id)) in old
    ]
    return ProbeChanges(
        gained=tuple(now for then, now in tried_twice if now.supported and not then.supported),
        lost=tuple(now for then, now in tried_twice if then.supported and not now.supported),
        defaults=tuple(change for then, now in _pairs(before, after) for change in _default_changes(then, now)),
    )


def _pairs(before: KitProbe, after: KitProbe) -> list[tuple[DefaultHandshake, DefaultHandshake]]:
    old = {default.case_id: default for default in before.defaults}
    return [(old[default.case_id], default) for default in after.defaults if default.case_id in old]


def _default_changes(then: DefaultHandshake, now: DefaultHandshake) -> Iterable[DefaultChange]:
    changes = list(differences(_comparable(then), _comparable(now)))
    for name in ("client_bytes", "server_bytes"):
        old, new = getattr(then, name), getattr(now, name)
        if None not in (old, new) and abs(old - new) > BYTES_TOLERANCE:
            changes.append(Difference(what=name, before=f"{old:.0f}", after=f"{new:.0f}"))
    return (DefaultChange(case_id=then.case_id, **change.model_dump()) for change in changes)


def _comparable(default: DefaultHandshake) -> dict[str, str]:
    """All values except numbers that vary."""
    negotiated: dict[str, Any] = default.negotiated.model_dump(exclude_none=True) if default.negotiated else {}
    round_trips = {} if default.round_trips is None else {"round_trips": f"{default.round_trips:g}"}
    return {"result": default.result, **{name: str(value) for name, value in negotiated.items()}, **round_trips}


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


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Difference, ...]:
    """The names whose values differ, in their order."""
    return tuple(
        Difference(what=name, before=before.get(name), after=after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )
