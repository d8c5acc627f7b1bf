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

LIBRARIES, SUITES = ("openssl", "gnutls"), ("bullseye", "bookworm", "trixie")
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
    suite: str
    case: Case
    packaged_ns: float
    ratio: RatioEstimate
    """Built by packaged, of the CPU time of both sides."""
    components: tuple[ComponentChange, ...]
    """What the library stands on that is another here."""

    @property
    def differs(self) -> bool:
        return abs(self.ratio.ratio - 1) > ALIKE


Found = tuple[float, RatioEstimate]
"""The package's cost in nanoseconds, and the ratio to it."""


@dataclass(frozen=True)
class NotBuilt:
    """A pair or a case that cannot be had here."""

    library: str
    suite: str
    reason: str


def compare_builds(lab: Lab, scale: Scale) -> Iterator[str | Built | NotBuilt]:
    """Yields what is under way, and what was found. Cases that one of the two lacks are left out."""
    for library in LIBRARIES:
        for suite in SUITES:
            built, packaged = f"{library}@deb-source/{suite}", f"{library}@debian/{suite}"
            yield f"{built} against {packaged}"
            try:
                kits = {reference: lab.kit(reference) for reference in (built, packaged)}
            except KitError as error:
                yield NotBuilt(library, suite, str(error))
                continue
            versions = sorted({kit.manifest.version for kit in kits.values()})
            if len(versions) > 1:
                yield NotBuilt(library, suite, f"sources and package are of two versions: {' and '.join(versions)}")
                continue
            components = changed_components(*(kits[one].manifest.components for one in (packaged, built)))
            for case in CASES:
                found = _compare(lab, scale, kits, case)
                if isinstance(found, str):
                    yield NotBuilt(library, suite, f"{case.label}: {found}")
                elif found:
                    yield Built(library, versions[0], suite, case, *found, components)


def _compare(lab: Lab, scale: Scale, kits: Mapping[str, TicketKit], case: Case) -> Found | str | None:
    """A text says why there is nothing to compare, None that one of the two lacks the case."""
    built, packaged = kits
    ticket = lab.ticket([case], dict(kits), scale.batches)
    done: list[Invocation] = []
    for number in range(scale.invocations):
        turn = Turn(case.case_id, (built, packaged), number)
        done.append(measure_invocation(ticket, turn, lab.cpus, lab.log, no_load))
        for outcome in done[-1].outcomes:
            lacking = outcome.kind is OutcomeKind.UNSUPPORTED
            return None if lacking else f"{outcome.subject}: {outcome.kind}: {outcome.reason}"
    ours, theirs = (batches_of(done, case.case_id, reference, Metric.CPU_NS) for reference in (built, packaged))
    costs = [
        one.cost for each in done for one in each.samples if (one.subject, one.metric) == (packaged, Metric.CPU_NS)
    ]
    ratio = compare(ours, theirs)
    return (median(costs), ratio) if ratio else "too few invocations"
