"""Models of the spec (`kind: Benchmark`) and the catalogue (`kind: Catalogue`) as people write them.

Field names are camelCase in YAML, as in Kubernetes, and snake_case in Python.
"""

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from kexbench.domain.alerts import CHANNEL_NAME, AlertRule
from kexbench.domain.cases import DIMENSIONS, Case
from kexbench.domain.dimensions import (
    DH_BITS,
    RSA_BITS_MAX,
    RSA_BITS_MIN,
    Cipher,
    Curve,
    DhGroup,
    EllipticGroup,
    HybridGroup,
    KeyExchange,
    Method,
    MlkemGroup,
    PairingGroup,
    Protocol,
)
from kexbench.domain.instruments import COUNTING, Instrument
from kexbench.domain.kits import SOURCE_PATTERN, SubjectRef
from kexbench.domain.libraries import Library
from kexbench.domain.metrics import OF_EMULATOR, Metric
from kexbench.domain.plans import (
    BATCHES,
    BLOCK_SUBJECTS,
    JOBS_PER_CELL,
    LEAST_AGED,
    MOST_AGED,
    MOST_BLOCK_SUBJECTS,
    PATH_CONNECTIONS,
    Isolation,
)
from kexbench.domain.pools import LOCAL, PoolName
from kexbench.domain.samples import Side
from kexbench.domain.security import SecurityModel
from kexbench.domain.security_levels import SECURITY_LEVELS
from kexbench.planning.cron import Cron
from kexbench.planning.written import KIND, ApiVersion, Day, Distinct, Duration, Share, Written

TRACKED = "tracked"
USUAL_GROUPS = {Method.ECDHE: "P-256", Method.MLKEM: "MLKEM768", Method.DHE: "ffdhe2048", Method.BFE: "BLS12-381"}
MAX_INVOCATIONS = 1000
MAX_BATCHES = 1000
MAX_JOBS_PER_CELL = 100
MIN_CONNECTIONS, MAX_CONNECTIONS = 20, 5000
"""Over a path, in an invocation: enough for a percentile, and few enough for one upload of results."""
MAX_STARTS = 1000
"""The worker's own limit."""
MAX_REFERENCE_TABLES = 20
MAX_REFERENCE_ROWS = 100
MAX_EVERY = 10_000
MIN_CONFIRMED = 3
"""Fewer invocations give no interval."""
_USUAL_RULE = AlertRule()


def _one_or_more(value: Any) -> Any:
    return [value] if isinstance(value, (str, dict)) else value


def _known_dh_bits(bits: int) -> int:
    if bits not in DH_BITS:
        raise ValueError(f"there are no DH parameters of {bits} bits: choose from {', '.join(map(str, DH_BITS))}")
    return bits


def _known_level(bits: int) -> int:
    if bits not in SECURITY_LEVELS:
        raise ValueError(f"there is no level of {bits} bits: choose from {', '.join(map(str, SECURITY_LEVELS))}")
    return bits


def _channel(name: str) -> str:
    if not re.fullmatch(CHANNEL_NAME, name):  # not quoted, since it may be an address with a secret
        raise ValueError(
            "must be the name of a channel, of lower-case letters, digits and hyphens: "
            "put addresses and secrets in the file of channels"
        )
    return name


Group = Literal[EllipticGroup, HybridGroup, MlkemGroup, PairingGroup]
DhBits = Annotated[int, AfterValidator(_known_dh_bits)]
SecurityLevel = Annotated[
    int,
    AfterValidator(_known_level),
    Field(json_schema_extra={"enum": [form for level in SECURITY_LEVELS for form in (level, str(level))]}),
]
SET_BY_LEVELS = ("cipher", "rsa_bits", "curve", "group", "dh_bits", "dh_group")
"""What securityBits sets, so that a matrix with it names none of them."""
RsaBits = Annotated[int, Field(ge=RSA_BITS_MIN, le=RSA_BITS_MAX, multiple_of=8)]
ChannelName = Annotated[str, AfterValidator(_channel), Field(json_schema_extra={"pattern": CHANNEL_NAME})]
Note = Annotated[str, Field(min_length=1, max_length=200)]


class Metadata(Written):
    name: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
            description="lower-case letters, digits and hyphens; lists of runs show it",
        ),
    ]
    description: Annotated[str, Field(max_length=2000, description="the question that the spec answers")] = ""


class FirstDimensions(Written):
    """Every combination of the values is a case. A dimension that a key exchange lacks is left out, and impossible
    combinations are skipped. A dimension that is left out has its default value only."""

    model_config = ConfigDict(
        json_schema_extra={
            "not": {"required": ["securityBits"], "anyOf": [{"required": [to_camel(name)]} for name in SET_BY_LEVELS]},
            "dependentRequired": {"securityModel": ["securityBits"]},
        }
    )

    protocol: Annotated[
        Distinct[Protocol],
        Field(description="versions of the protocol; default is what both sides choose unconfigured"),
    ]
    key_exchange: Annotated[
        Distinct[KeyExchange],
        Field(
            description="key exchanges, with a hyphen before the certificate's key, such as ECDHE-RSA, or with PSK, an "
            "external pre-shared key in its place"
        ),
    ]
    cipher: Distinct[Cipher] = Field(
        [Cipher.AES_128_GCM], description="ciphers of the connection; those with CBC are of TLS 1.2 alone"
    )
    rsa_bits: Distinct[RsaBits] = Field([2048], description="key sizes of the RSA and RSA-PSS certificates")
    curve: Distinct[Curve] = Field(["P-256"], description="curves of the ECDSA certificates")
    group: Distinct[Group] = Field(
        [], description="groups of ECDHE, MLKEM and BFE key exchanges; default: P-256, MLKEM768 and BLS12-381"
    )
    dh_bits: Distinct[DhBits] = Field([], description="sizes of custom DH parameters")
    dh_group: Distinct[DhGroup] = Field([], description="named groups of DHE; default without dhBits: ffdhe2048")
    security_bits: Distinct[SecurityLevel] = Field(
        [],
        description="levels of security; each sets cipher, key sizes, curves and groups to the weakest that reach it",
    )
    security_model: SecurityModel = Field(
        SecurityModel.NIST, description="the authority that says which sizes reach a level of securityBits"
    )


def _values(field: FieldInfo) -> tuple[Any, Any]:
    """A matrix field that lists values of a case's field."""
    value = cast(Any, Annotated)[field.annotation, *field.metadata, Field(json_schema_extra=field.json_schema_extra)]
    return cast(Any, Distinct)[value], Field([field.default], description=field.description)


if TYPE_CHECKING:
    Matrix = FirstDimensions
else:
    Matrix = create_model(
        "Matrix",
        __base__=FirstDimensions,
        __doc__=FirstDimensions.__doc__,
        **{name: _values(Case.model_fields[name]) for name in DIMENSIONS},
    )

Matrices = Annotated[list[Matrix], Field(min_length=1)]
Selectors = Annotated[Distinct[str], BeforeValidator(_one_or_more, json_schema_input_type=str | Distinct[str])]
OneLibrary = Annotated[dict[Library, Selectors], Field(min_length=1, max_length=1)]
"""One library per entry, so that subjects keep the order of the list."""


class MeasureSpec(Written):
    """How much is measured: a number of invocations, or as many as detect changes of the share `resolve`."""

    model_config = ConfigDict(
        json_schema_extra={
            "not": {
                "anyOf": [
                    {"required": ["invocations", "resolve"]},
                    {
                        "required": ["instrument", "resolve"],
                        "properties": {"instrument": {"enum": [str(each) for each in COUNTING]}},
                    },
                    {"required": ["instrument", "age"], "properties": {"instrument": {"not": {"const": "time"}}}},
                ]
            }
        }
    )

    invocations: Annotated[
        int, Field(ge=2, le=MAX_INVOCATIONS, description="how often each case is measured with fresh processes")
    ] = 10
    resolve: Annotated[
        Share | None,
        Field(
            description="instead of invocations: as many as it takes to detect a change of this size; default: "
            "invocations decides"
        ),
    ] = None
    batches: Annotated[int, Field(ge=2, le=MAX_BATCHES, description="turns of each invocation")] = BATCHES
    max_duration: Annotated[
        Duration,
        Field(
            json_schema_extra={"default": "60m"},
            description="a spec with a longer estimate is refused; measuring that takes longer stops",
        ),
    ] = 3600
    sentinel: Annotated[bool, Field(description="whether the sentinel, which never changes, is measured too")] = True
    isolation: Annotated[
        Isolation,
        Field(
            description="exclusive: a cluster measures only on CPUs that no other pod may use; "
            "best-effort: shared CPUs are used and recorded. Outside a cluster neither is enforced"
        ),
    ] = Isolation.EXCLUSIVE
    instrument: Annotated[
        Instrument,
        Field(
            description="what decides: time is CPU time; instructions are counted by callgrind, allocations and "
            "atomics (atomic operations on memory that threads share) by the worker, function by function. Counts "
            "need no quiet machine"
        ),
    ] = Instrument.TIME
    jobs: Annotated[
        int,
        Field(
            ge=2,
            le=MAX_JOBS_PER_CELL,
            description="the fewest jobs that share the invocations of each case, if there are as many; with few "
            "cases, six resolve more where the load changes",
        ),
    ] = JOBS_PER_CELL
    block_subjects: Annotated[
        int,
        Field(
            ge=3,
            le=MOST_BLOCK_SUBJECTS,
            description="the most subjects whose turns interleave, the sentinel among them; further ones are measured "
            "in other blocks, each with the first subject",
        ),
    ] = BLOCK_SUBJECTS
    connections: Annotated[
        int,
        Field(
            ge=MIN_CONNECTIONS,
            le=MAX_CONNECTIONS,
            description="connections over the path in each invocation of a case that has one",
        ),
    ] = PATH_CONNECTIONS
    starts: Annotated[
        int,
        Field(
            ge=0,
            le=MAX_STARTS,
            description="fresh processes of each subject that each invocation starts and times step by step, to the "
            "end of their first handshake; with instrument instructions, a start is counted if there are any",
        ),
    ] = 0
    age: Annotated[
        int,
        Field(
            ge=LEAST_AGED,
            le=MOST_AGED,
            json_schema_extra={"default": 0},
            description="connections that age a context in each invocation, one after the other; default: none",
        ),
    ] = 0


class ReferenceRowSpec(Written):
    case_id: Annotated[str, Field(description="the case that the figure is of, as kexbench plan prints it")]
    rate: Annotated[float, Field(gt=0, allow_inf_nan=False, description="handshakes per second")]


class ReferenceTableSpec(Written):
    title: Annotated[str, Field(description="the heading of the table")]
    baseline: Annotated[str, Field(description="the caseId of the row that the others are compared with")]
    rows: Annotated[
        list[ReferenceRowSpec],
        Field(min_length=2, max_length=MAX_REFERENCE_ROWS, description="published rates, in the table's order"),
    ]


class ReferenceRatioSpec(Written):
    case_id: Annotated[str, Field(description="the case that the ratio is of, as kexbench plan prints it")]
    relative_to: Annotated[str, Field(description="the case that it is compared with")]
    ratio: Annotated[
        float, Field(gt=0, allow_inf_nan=False, description="of the cases' rates; above 1: caseId is the faster one")
    ]


class ReferenceRatiosSpec(Written):
    """Published ratios, for articles that give no rates."""

    title: Annotated[str, Field(description="the heading of the table")]
    side: Annotated[Side, Field(description="whose CPU time the ratios compare: one side's, or both added up")] = "both"
    rows: Annotated[
        list[ReferenceRatioSpec],
        Field(min_length=1, max_length=MAX_REFERENCE_ROWS, description="published ratios, in the table's order"),
    ]


class ReferenceSpec(Written):
    """Published figures, which the report shows next to the measured ones: handshakes per second, or ratios."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["tables"]}, {"required": ["ratios"]}]})

    title: Annotated[str, Field(description="the publication that the figures are from")]
    notes: Annotated[str, Field(description="how the published figures were measured")] = ""
    tables: Annotated[
        tuple[ReferenceTableSpec, ...],
        Field(min_length=1, max_length=MAX_REFERENCE_TABLES, description="published rates"),
    ] = ()
    ratios: Annotated[
        tuple[ReferenceRatiosSpec, ...],
        Field(min_length=1, max_length=MAX_REFERENCE_TABLES, description="published ratios"),
    ] = ()


class FollowSpec(Written):
    """A branch of a library's git repository. Each new commit is compared with the one measured before it."""

    library: Annotated[Library, Field(description="the library that the repository has the sources of")]
    repository: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="one of the catalogue's repositories of the library: an absolute path, http:// or https://",
        ),
    ]
    branch: Annotated[str, Field(min_length=1, max_length=200, description="the name of the branch")]
    every: Annotated[
        int, Field(ge=1, le=MAX_EVERY, description="measure every n-th new commit; a merge counts as one")
    ] = 1


def _of_libraries(metrics: list[Metric]) -> list[Metric]:
    """Raises ValueError."""
    for metric in metrics:
        if metric in OF_EMULATOR:
            raise ValueError(f"{metric} says what the emulated path did, and no library changes it: leave it out")
    return metrics


class AlertsSpec(Written):
    """Which upgrades raise alerts, and who is notified. It does not change what is measured."""

    metrics: Annotated[
        Distinct[Metric],
        BeforeValidator(_one_or_more, json_schema_input_type=Metric | Distinct[Metric]),
        Field(min_length=1, description="what raises alerts when it becomes more"),
        AfterValidator(_of_libraries),
    ] = Field(list(_USUAL_RULE.metrics))
    relevant: Annotated[
        Share,
        Field(
            description="smaller changes are ignored wherever runs of the spec are evaluated; exact metrics "
            "and the variation of throughput have limits of their own",
            json_schema_extra={"default": "0.5%"},
        ),
    ] = _USUAL_RULE.relevant
    notify: Annotated[
        Distinct[ChannelName],
        BeforeValidator(_one_or_more, json_schema_input_type=ChannelName | Distinct[ChannelName]),
        Field(description="names of channels; default: all configured channels"),
    ] = Field([])
    confirm_invocations: Annotated[
        int,
        Field(ge=MIN_CONFIRMED, le=MAX_INVOCATIONS, description="invocations of a confirmation run"),
    ] = _USUAL_RULE.confirm_invocations
    stale_after: Annotated[
        Duration | None, Field(description="alert if no run finishes within this time; default: never")
    ] = None

    @property
    def rule(self) -> AlertRule:
        return AlertRule(
            metrics=tuple(self.metrics),
            relevant=self.relevant,
            notify=tuple(self.notify),
            confirm_invocations=self.confirm_invocations,
            stale_after_s=self.stale_after,
        )


class Spec(Written):
    """A benchmark: what to measure, for which libraries, where and how much. It has either subjects or follow."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["subjects"]}, {"required": ["follow"]}]})

    api_version: ApiVersion
    kind: Annotated[Literal["Benchmark"], KIND]
    metadata: Annotated[Metadata, Field(description="the spec's name, and what it is for")]
    subjects: Annotated[list[OneLibrary], Field(min_length=1)] = Field(
        [], description="the versions of libraries to measure: a library with selectors, such as openssl: [system, 3.5]"
    )
    follow: Annotated[
        FollowSpec | None,
        Field(description="instead of subjects: a branch of a library whose new commits are measured"),
    ] = None
    pools: Annotated[
        Distinct[PoolName],
        Field(description="names of pools; outside a cluster the only pool is local"),
    ] = Field([LOCAL])
    matrix: Annotated[
        Matrices,
        BeforeValidator(_one_or_more, json_schema_input_type=Matrix | Matrices),
        Field(description="the cases: one matrix or several, of which each gives every combination of its values"),
    ]
    measure: MeasureSpec = Field(default_factory=MeasureSpec, description="how much is measured")
    schedule: Annotated[Cron, Field(description="when a cluster measures it, in UTC; see kexbench schedules add")] = (
        None
    )
    alerts: Annotated[
        AlertsSpec | None, Field(description="makes regressions raise alerts; default: they raise none")
    ] = None
    reference: Annotated[
        ReferenceSpec | None, Field(description="published figures to show next to the measured ones")
    ] = None


class CatalogueEntry(Written):
    """One tracked version: its source, and the version as a prefix."""

    source: Annotated[str, Field(pattern=SOURCE_PATTERN, description="where its kit comes from, such as crate/3.5.5")]
    version: Annotated[
        str | None,
        Field(description="its version, whose beginning selects it in specs; default: specs name the source"),
    ] = None
    released: Annotated[Day | None, Field(description="the date of its release, such as 2025-04-08")] = None
    notes: Annotated[str, Field(description="a remark for readers of the catalogue")] = ""
    security: Distinct[Note] = Field([], description="security fixes, such as CVE-2023-0361 with a few words")
    defaults: Distinct[Note] = Field([], description="changed defaults")


class Catalogue(Written):
    api_version: ApiVersion
    kind: Annotated[Literal["Catalogue"], KIND]
    sentinel: Annotated[str, AfterValidator(lambda text: str(SubjectRef.parse(text)))] | None = Field(
        None, description="a frozen reference that is measured along with all others, such as openssl@system"
    )
    libraries: Annotated[
        dict[Library, list[CatalogueEntry]], Field(description="tracked versions by library, the oldest first")
    ]
    repositories: Annotated[
        dict[Library, Distinct[str]],
        Field(
            description="git repositories by library. Specs may follow their branches, and bisections and backfills "
            "on a cluster may search them. Building runs code from them"
        ),
    ] = Field({})
