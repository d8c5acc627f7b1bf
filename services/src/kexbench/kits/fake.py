"""Kits of the fake backend, for tests and demonstrations: `fake@1.0`, `fake@1.1+step=1.02+noise=0.01`.

The source is the reported version and settings of the backend. Nothing is fetched.
"""

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import THIS_MACHINE, Materials, Provider, Resolution, distribution_profile

FAULTS = ("unsupported", "fail_after", "mismatch_after", "crash_after", "hang_after")
SETTINGS = (
    *("seed", "client_ns", "server_ns", "overhead_ns", "background_ns"),
    *("noise", "step", "step_after", "contention", "coherency"),
    *("client_hello_bytes", "server_hello_bytes", "start_ns", "age_ns", "leak_bytes"),
    *FAULTS,
)
"""The settings in workers/handshake/backend_fake.c."""


class FakeProvider(Provider):
    """Any version of a library that doesn't exist."""

    def describe(self) -> str:
        return "fake@VERSION[+SETTING=VALUE…]: a made-up library with known timings"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library == "fake"

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        version, *settings = ref.source.split("+")
        for setting in settings:
            name, equals, value = setting.partition("=")
            if name not in SETTINGS or not (equals and value):
                raise StepFailed(
                    "resolve",
                    f"unknown setting {setting!r} of the fake backend",
                    f"settings are {', '.join(f'{supported}=…' for supported in SETTINGS)}",
                )
        built = distribution_profile("fake", attempt.target.machine)
        profile = built.model_copy(update={"compiler": "none", "flags": "none"})
        return Resolution(
            ref=ref,
            version=version,
            profile=profile,
            fingerprint=content_hash(["fake", version, settings], length=64),
            arguments=("--fake", ",".join([f"version={version}", *settings])),
        )

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        return THIS_MACHINE


def without_faults(kit: KitManifest) -> KitManifest:
    """The kit without its fault settings. Kits of other libraries are returned unchanged."""
    if kit.library != "fake":
        return kit
    option, settings = kit.arguments
    sound = [setting for setting in settings.split(",") if setting.partition("=")[0] not in FAULTS]
    return kit.model_copy(update={"arguments": (option, ",".join(sound))})
