"""Whether a kit built here costs what a distribution's package of the same version does."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from bench.detection import no_load
from bench.lab import Lab, Scale
from kexbench.analysis.estimates import RatioEstimate, compare
from kexbench.analysis.pairs import batches_of
from kexbench.domain.cases import Case
from kexbench.domain.components import ComponentChange, changed_components
from kexbench.domain.probes import tried
from kexbench.domain.samples import Invocation, Metric, OutcomeKind
from kexbench.kits import KitError
from kexbench.planning.expand import expand
from kexbench.planning.spec import Matrix
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn
from kexbench.runner.ticket import TicketKit

PAIRS = (
    *((f"openssl@deb-source/{suite}", f"openssl@debian/{suite}") for suite in ("bullseye", "bookworm", "trixie")),
    ("openssl@crate/4.0.3", "openssl@debian/experimental"),
    *((f"gnutls@deb-source/{suite}", f"gnutls@debian/{suite}") for suite in ("bullseye", "bookworm", "trixie")),
)
"""Kits built here, each with the package of the same version. Where a mirror lacks a suite's sources, or experimental
has moved on, the report names the pair and why it was not compared."""
ALIKE = 0.03
"""A case whose cost differs by more is named with its cause."""
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
            *expand([Matrix.model_validate(one) for one in _CASES], {})[0],
            *(case for _, case in tried(fips=False)),
        ]
    )
)
"""The usual ones in all sizes, and one for every feature that a kit is tried for."""


@dataclass(frozen=True)
class Built:
    """Upstream's sources as they are built here, against Debian's package of the same version."""

    library: str
    version: str
    packaged: str
    """The reference of the package's kit."""
    case: Case
    packaged_ns: float
    ratio: RatioEstimate
    """Built by packaged, of the CPU time of both sides."""
    components: tuple[ComponentChange, ...]
    """What the library stands on that is another here."""

    @property
    def differs(self) -> bool:
        return abs(self.ratio.ratio - 1) > ALIKE


Costs = tuple[float, RatioEstimate]
"""The package's cost in nanoseconds, and the ratio to it."""


@dataclass(frozen=True)
class NotBuilt:
    """A pair or a case that cannot be had here."""

    built: str
    packaged: str
    reason: str


def compare_builds(lab: Lab, scale: Scale) -> Iterator[str | Built | NotBuilt]:
    """Yields what is under way, and what was found. Cases that one of the two lacks are left out."""
    for built, packaged in PAIRS:
        yield f"{built} against {packaged}"
        try:
            kits = {reference: lab.kit(reference) for reference in (built, packaged)}
        except KitError as error:
            yield NotBuilt(built, packaged, f"{error.ref}: {error.stage} failed: {error.reason}")
            continue
        versions = sorted({kit.manifest.version for kit in kits.values()})
        if len(versions) > 1:
            yield NotBuilt(built, packaged, f"they are of two versions: {' and '.join(versions)}")
            continue
        library = kits[built].manifest.library
        components = changed_components(kits[packaged].manifest.components, kits[built].manifest.components)
        for case in CASES:
            costs = _compare(lab, scale, kits, case)
            if isinstance(costs, str):
                yield NotBuilt(built, packaged, f"{case.label}: {costs}")
            elif costs:
                yield Built(library, versions[0], packaged, case, *costs, components)


def _compare(lab: Lab, scale: Scale, kits: Mapping[str, TicketKit], case: Case) -> Costs | str | None:
    """A text says why there is nothing to compare, None that one of the two lacks the case."""
    built, packaged = kits
    ticket = lab.ticket([case], dict(kits), scale.batches)
    invocations: list[Invocation] = []
    for number in range(scale.builds):
        turn = Turn(case.case_id, (built, packaged), number)
        invocations.append(measure_invocation(ticket, turn, lab.cpus, lab.log, no_load))
        for outcome in invocations[-1].outcomes:
            lacking = outcome.kind is OutcomeKind.UNSUPPORTED
            return None if lacking else f"{outcome.subject}: {outcome.kind}: {outcome.reason}"
    ours, theirs = (batches_of(invocations, case.case_id, reference, Metric.CPU_NS) for reference in (built, packaged))
    packaged_costs = [
        sample.cost
        for invocation in invocations
        for sample in invocation.samples
        if (sample.subject, sample.metric) == (packaged, Metric.CPU_NS)
    ]
    ratio = compare(ours, theirs)
    return (median(packaged_costs), ratio) if ratio else "too few invocations"
