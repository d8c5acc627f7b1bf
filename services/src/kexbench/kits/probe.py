"""What a kit proves of itself: handshakes, before it is admitted, and features, which are kept beside its manifest.

A probe is no part of a kit's identity: signatures vary in length, and set-up costs with the machine.
"""

from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from kexbench.domain.kits import KitManifest, Launch, Library
from kexbench.domain.probes import FULL_HANDSHAKES, KitProbe, ProbeCutShort, ProbeFailed
from kexbench.domain.samples import OutcomeKind
from kexbench.files import sync
from kexbench.kits.errors import StepFailed
from kexbench.kits.fake import without_faults
from kexbench.kits.target import Target

PROBE_NAME = "probe.json"


class Prober(Protocol):
    """Makes handshakes with a worker. `material` is the folder with the keys that it takes for them."""

    @property
    def material(self) -> Path: ...

    def probe(self, launch: Launch, library: Library, log: Path, *, fips: bool) -> KitProbe:
        """Try everything there is to try. The worker's words for people are added to `log`. Raises ProbeFailed."""
        ...


def prove(kit: Path, manifest: KitManifest, prober: Prober, log: Path, target: Target) -> KitProbe:
    """Handshakes with the kit in the folder `kit`. Raises StepFailed when it made none in TLS 1.2 or none in TLS 1.3.

    A library that was built without one of the two because its reference says so has to make the other.
    """
    # The fake is told to fail in the middle of a measurement; that it can begin with one is to be proven too.
    launch = without_faults(manifest).launch(kit, prober.material)
    launch = launch.model_copy(update={"arguments": tuple(target.command(launch.arguments))})
    try:
        probe = prober.probe(launch, manifest.library, log, fips=manifest.fips)
    except ProbeCutShort as error:
        raise StepFailed("self-test", f"{error} while it was tried", "try again", cut_short=True) from error
    except ProbeFailed as error:
        raise StepFailed("self-test", f"the worker can't make handshakes: {error}") from error
    findings = [(case, probe.of(case)) for case in FULL_HANDSHAKES]
    for case, found in findings:
        left_out = manifest.ref.variant.flags and found.result is OutcomeKind.UNSUPPORTED
        if not found.supported and not left_out:
            raise StepFailed("self-test", f"no handshake with {case.label}: {found.why}")
    if not any(found.supported for _, found in findings):
        flags = ", ".join(manifest.ref.variant.flags)
        raise StepFailed("self-test", f"with {flags} there is neither a TLS 1.2 nor a TLS 1.3 handshake with ECDHE")
    return probe


def read_probe(kit: Path) -> KitProbe | None:
    """What the kit in this folder proved, or None where it is of a time before probes. Raises ValueError."""
    try:
        return KitProbe.model_validate_json((kit / PROBE_NAME).read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise ValueError(f"{PROBE_NAME} is unreadable or was changed") from error


def write_probe(path: Path, probe: KitProbe) -> None:
    """A file that can't be written to, whole once this returns."""
    path.write_text(probe.model_dump_json(indent=2) + "\n", encoding="utf-8")
    sync(path)
    path.chmod(0o444)
