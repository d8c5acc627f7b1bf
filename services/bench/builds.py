"""Compares kits built here with a distribution's packages of the same version."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from bench.detection import no_load
from bench.machine import Machine, Scale
from kexbench.analysis.estimates import compare
from kexbench.analysis.pairs import batches_of
from kexbench.domain.cases import Case
from kexbench.domain.components import changed_components
from kexbench.domain.differences import Difference
from kexbench.domain.intervals import Ratio
from kexbench.domain.probes import tried
from kexbench.domain.samples import Invocation, Metric, OutcomeKind
from kexbench.kits import KitError
from kexbench.planning.expand import expand
from kexbench.planning.spec import Matrix
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.order import Turn

PAIRS = (
    *((f"openssl@deb-source/{suite}", f"openssl@debian/{suite}") for suite in ("bullseye", "bookworm", "trixie")),
    ("openssl@crate/4.0.3", "openssl@debian/experimental"),
    *((f"gnutls@deb-source/{suite}", f"gnutls@debian/{suite}") for suite in ("bullseye", "bookworm", "trixie")),
)
"""Kits built here, each with the package of the same version. If a mirror lacks a suite's sources, or experimental has
a newer version, the report lists the pair as not compared, with the reason."""
ALIKE = 0.03
"""The report names the cause of a larger difference."""
_CASES = [
    {"protocol": ["TLSv1.2"], "keyExchange": ["RSA"], "rsaBits": [2048, 3072, 4096]},
    {"protocol": ["TLSv1.2"], "keyExchange": ["DHE-RSA"], "dhGroup": ["ffdhe2048", "ffdhe3072"]},
    {"protocol": ["TLSv1.2"], "keyExchange": ["ECDHE-RSA"], "group": ["P-256", "P-384", "P-521", "X25519", "X448"]},
    {
        "protocol": ["TLSv1.2", "TLSv1.3"],
        "keyExchange": ["ECDHE-ECDSA"],
        "curve": ["P-256", "P-384", "P-521"],
        "group": ["X25519"],
    },
    {"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-RSA", "ECDHE-RSA-PSS", "ECDHE-Ed25519", "ECDHE-Ed448"]},
    {"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-ECDSA"], "cipher": ["CHACHA20-POLY1305"]},
    {"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-ECDSA"], "group": ["P-256", "X25519MLKEM768"]},
    {"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-ML-DSA-65"], "group": ["X25519"]},
    {"protocol": ["TLSv1.2"], "keyExchange": ["ECDHE-RSA"], "resumption": ["session-id", "ticket"]},
    {"protocol": ["TLSv1.3"], "keyExchange": ["ECDHE-RSA"], "resumption": ["psk-dhe"]},
]
CASES: tuple[Case, ...] = tuple(
    dict.fromkeys(
        [
            *expand([Matrix.model_validate(matrix) for matrix in _CASES], {})[0],
            *(case for _, case in tried(fips=False)),
        ]
    )
)
"""The common cases in all sizes, and one case for every feature that a kit is probed for."""


@dataclass(frozen=True)
class Built:
    """A kit built here from upstream's sources, compared with Debian's package of the same version."""

    library: str
    version: str
    packaged: str
    """The reference of the package's kit."""
    case: Case
    packaged_ns: float
    ratio: Ratio
    """CPU time of both sides: built divided by packaged."""
    components: tuple[Difference, ...]
    """Components below the library whose versions differ here."""

    @property
    def differs(self) -> bool:
        return abs(self.ratio.ratio - 1) > ALIKE


Costs = tuple[float, Ratio]
"""The package's cost in nanoseconds, and the ratio to it."""


@dataclass(frozen=True)
class NotBuilt:
    """A pair or a case that cannot be compared here."""

    built: str
    packaged: str
    reason: str


def compare_builds(machine: Machine, scale: Scale) -> Iterator[str | Built | NotBuilt]:
    """Yields progress texts and results. Omits cases that one of the two lacks."""
    for built, packaged in PAIRS:
        yield f"{built} compared with {packaged}"
        try:
            kits = {reference: machine.kit(reference) for reference in (built, packaged)}
        except KitError as error:
            yield NotBuilt(built, packaged, f"{error.ref}: {error.stage} failed: {error.reason}")
            continue
        versions = sorted({kit.manifest.version for kit in kits.values()})
        if len(versions) > 1:
            yield NotBuilt(built, packaged, f"their versions differ: {' and '.join(versions)}")
            continue
        library = kits[built].manifest.library
        components = changed_components(kits[packaged].manifest.components, kits[built].manifest.components)
        for case in CASES:
            costs = _compare(machine, scale, kits, case)
            if isinstance(costs, str):
                yield NotBuilt(built, packaged, f"{case.label}: {costs}")
            elif costs:
                yield Built(library, versions[0], packaged, case, *costs, components)


def _compare(machine: Machine, scale: Scale, kits: Mapping[str, JobInputKit], case: Case) -> Costs | str | None:
    """The costs. A text is the reason why they cannot be compared, None means that one of the two lacks the case."""
    built, packaged = kits
    job_input = machine.job_input([case], dict(kits), scale.batches)
    invocations: list[Invocation] = []
    for number in range(scale.builds):
        turn = Turn(case.case_id, (built, packaged), number)
        invocations.append(measure_invocation(job_input, turn, machine.cpus, machine.log, no_load))
        for outcome in invocations[-1].outcomes:
            is_unsupported = outcome.kind is OutcomeKind.UNSUPPORTED
            return None if is_unsupported else f"{outcome.subject}: {outcome.kind}: {outcome.reason}"
    ours, theirs = (batches_of(invocations, case.case_id, reference, Metric.CPU_NS) for reference in (built, packaged))
    packaged_costs = [
        sample.cost
        for invocation in invocations
        for sample in invocation.samples
        if (sample.subject, sample.metric) == (packaged, Metric.CPU_NS)
    ]
    ratio = compare(ours, theirs)
    return (median(packaged_costs), ratio) if ratio else "too few invocations"
