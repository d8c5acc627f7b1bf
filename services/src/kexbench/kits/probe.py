"""Probes a new kit: it must make handshakes, and its features are stored next to its manifest.

A probe is not part of a kit's identity: signatures vary in length, and set-up costs depend on the machine.
"""

from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from kexbench.domain.kits import KitManifest, Launch, Library
from kexbench.domain.probes import KitProbe, ProbeCutShort, ProbeFailed, full_handshakes
from kexbench.domain.samples import OutcomeKind
from kexbench.files import sync
from kexbench.kits.errors import StepFailed
from kexbench.kits.fake import without_faults
from kexbench.kits.target import Target

PROBE_NAME = "probe.json"


class Prober(Protocol):
    """Makes handshakes with a worker. `material` is the folder of its keys."""

    @property
    def material(self) -> Path: ...

    def probe(self, launch: Launch, library: Library, log: Path, *, fips: bool) -> KitProbe:
        """Try all features. The worker's diagnostics are appended to `log`. Raises ProbeFailed."""
        ...


def prove(kit: Path, manifest: KitManifest, prober: Prober, log: Path, target: Target) -> KitProbe:
    """Probe the kit in the folder `kit`. Raises StepFailed if one of its library's `full_handshakes` fails.

    If the reference excludes one of the two, the kit has to make handshakes with the other.
    """
    # The fake fails only during a measurement if its reference says so. Its start must work.
    launch = without_faults(manifest).launch(kit, prober.material)
    launch = launch.model_copy(update={"arguments": tuple(target.command(launch.arguments))})
    try:
        probe = prober.probe(launch, manifest.library, log, fips=manifest.fips)
    except ProbeCutShort as error:
        raise StepFailed("self-test", f"{error} during the probe", "try again", cut_short=True) from error
    except ProbeFailed as error:
        raise StepFailed("self-test", f"the worker can't make handshakes: {error}") from error
    features = [(case, probe.of(case)) for case in full_handshakes(manifest.library)]
    for case, feature in features:
        left_out = manifest.ref.variant.flags and feature.result is OutcomeKind.UNSUPPORTED
        if not feature.supported and not left_out:
            raise StepFailed("self-test", f"no handshake with {case.label}: {feature.why}")
    if not any(feature.supported for _, feature in features):
        flags = ", ".join(manifest.ref.variant.flags)
        raise StepFailed("self-test", f"with {flags}, neither a TLS 1.2 nor a TLS 1.3 handshake with ECDHE succeeds")
    return probe


def read_probe(kit: Path) -> KitProbe | None:
    """The probe of the kit in this folder, or None if the kit is older than probes. Raises ValueError."""
    try:
        return KitProbe.model_validate_json((kit / PROBE_NAME).read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise ValueError(f"{PROBE_NAME} is unreadable or was changed") from error


def write_probe(path: Path, probe: KitProbe) -> None:
    """Write the probe as a complete, read-only file."""
    path.write_text(probe.model_dump_json(indent=2) + "\n", encoding="utf-8")
    sync(path)
    path.chmod(0o444)
