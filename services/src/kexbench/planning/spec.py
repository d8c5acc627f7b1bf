"""The spec (`kind: Benchmark`) and the catalogue (`kind: Catalogue`) as people write them.

Field names are camelCase in YAML, as everywhere in Kubernetes, and snake_case in Python.
"""

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, create_model
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
    MlkemGroup,
    Protocol,
)
from kexbench.domain.kits import SOURCE_PATTERN, SubjectRef
from kexbench.domain.libraries import Library
from kexbench.domain.plans import BATCHES, Isolation
from kexbench.domain.pools import LOCAL, PoolName
from kexbench.planning.cron import Cron
from kexbench.planning.written import Day, Distinct, Duration, Share, Written

TRACKED = "tracked"
MAX_INVOCATIONS = 1000
MAX_BATCHES = 1000
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
        raise ValueError(f"no parameters of {bits} bits are shipped: choose from {', '.join(map(str, DH_BITS))}")
    return bits


def _channel(name: str) -> str:
    if not re.fullmatch(CHANNEL_NAME, name):  # not quoted: an address with a secret would be told to everybody
        raise ValueError(
            "must be the name of a channel, of lower-case letters, digits and hyphens: "
            "its address and secrets belong in the file of channels"
        )
    return name


Group = Literal[EllipticGroup, HybridGroup, MlkemGroup]
DhBits = Annotated[int, AfterValidator(_known_dh_bits)]
RsaBits = Annotated[int, Field(ge=RSA_BITS_MIN, le=RSA_BITS_MAX, multiple_of=8)]
ChannelName = Annotated[str, AfterValidator(_channel), Field(json_schema_extra={"pattern": CHANNEL_NAME})]
Note = Annotated[str, Field(min_length=1, max_length=200)]


class Metadata(Written):
    name: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
    description: Annotated[str, Field(max_length=2000)] = ""


class FirstDimensions(Written):
    """Every combination of the values is a case; a dimension that a key exchange lacks is left out of it, and
    combinations that can't exist are skipped. What is not written has one value only, the first one allowed."""

    protocol: Distinct[Protocol]
    key_exchange: Distinct[KeyExchange]
    cipher: Distinct[Cipher] = Field([Cipher.AES_128_GCM])
    rsa_bits: Distinct[RsaBits] = Field([2048], description="key sizes of the RSA and RSA-PSS certificates")
    curve: Distinct[Curve] = Field(["P-256"], description="curves of the ECDSA certificates")
    group: Distinct[Group] = Field(
        [], description="groups of ECDHE and MLKEM key exchanges; P-256 and MLKEM768 where none is given"
    )
    dh_bits: Distinct[DhBits] = Field([], description="sizes of custom DH parameters")
    dh_group: Distinct[DhGroup] = Field([], description="named groups of DHE; ffdhe2048 where neither is given")


def _values(field: FieldInfo) -> tuple[Any, Any]:
    """The field of a matrix that names values of a case's field."""
    one = cast(Any, Annotated)[field.annotation, *field.metadata, Field(json_schema_extra=field.json_schema_extra)]
    return cast(Any, Distinct)[one], Field([field.default], description=field.description)


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
"""One library an entry, so that the order of subjects is the order of a list."""


class MeasureSpec(Written):
    """How much is measured: a number of invocations, or until changes of the share `resolve` can be told."""

    model_config = ConfigDict(json_schema_extra={"not": {"required": ["invocations", "resolve"]}})

    invocations: Annotated[int, Field(ge=2, le=MAX_INVOCATIONS)] = 10
    resolve: Share | None = None
    batches: Annotated[int, Field(ge=2, le=MAX_BATCHES)] = BATCHES
    max_duration: Annotated[Duration, Field(json_schema_extra={"default": "60m"})] = 3600
    sentinel: Annotated[bool, Field(description="whether a workload that never changes is measured along")] = True
    isolation: Annotated[
        Isolation,
        Field(
            description="exclusive: on a cluster nothing is measured on CPUs that other pods may use as well; "
            "best-effort: it is measured and said. A machine that measures by itself enforces neither"
        ),
    ] = Isolation.EXCLUSIVE


class ReferenceRowSpec(Written):
    case_id: str
    rate: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ReferenceTableSpec(Written):
    title: str
    baseline: str
    rows: Annotated[list[ReferenceRowSpec], Field(min_length=2, max_length=MAX_REFERENCE_ROWS)]


class ReferenceSpec(Written):
    """Published figures, in handshakes per second, that the report sets beside the measured ones."""

    title: str
    notes: str = ""
    tables: Annotated[list[ReferenceTableSpec], Field(min_length=1, max_length=MAX_REFERENCE_TABLES)]


class FollowSpec(Written):
    """A branch of a library's git repository whose new commits are measured, each beside the one measured before it."""

    library: Library
    repository: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="one of the catalogue's repositories of the library: an absolute path, http:// or https://",
        ),
    ]
    branch: Annotated[str, Field(min_length=1, max_length=200)]
    every: Annotated[
        int, Field(ge=1, le=MAX_EVERY, description="one of so many new commits; a merge counts as one")
    ] = 1


class AlertsSpec(Written):
    """That the upgrades which a spec measures are watched over, and what is told of them. What is measured does not
    depend on it."""

    relevant: Annotated[
        Share,
        Field(
            description="smaller changes are not called any, wherever its runs are judged",
            json_schema_extra={"default": "0.5%"},
        ),
    ] = _USUAL_RULE.relevant
    notify: Annotated[
        Distinct[ChannelName],
        BeforeValidator(_one_or_more, json_schema_input_type=ChannelName | Distinct[ChannelName]),
        Field(description="names of channels; where left out all that are configured"),
    ] = Field([])
    confirm_invocations: Annotated[
        int,
        Field(ge=MIN_CONFIRMED, le=MAX_INVOCATIONS, description="of the run that has to confirm a suspicion"),
    ] = _USUAL_RULE.confirm_invocations
    stale_after: Annotated[
        Duration | None, Field(description="without a finished run for so long it is told; where left out never")
    ] = None

    @property
    def rule(self) -> AlertRule:
        return AlertRule(
            relevant=self.relevant,
            notify=tuple(self.notify),
            confirm_invocations=self.confirm_invocations,
            stale_after_s=self.stale_after,
        )


class Spec(Written):
    """A benchmark: what is measured, on which libraries, where and how much. It has subjects, or follows a branch."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["subjects"]}, {"required": ["follow"]}]})

    api_version: Literal["kexbench.dev/v1"]
    kind: Literal["Benchmark"]
    metadata: Metadata
    subjects: Annotated[list[OneLibrary], Field(min_length=1)] = Field([])
    follow: FollowSpec | None = None
    pools: Annotated[
        Distinct[PoolName],
        Field(description="names of pools; on a machine that measures by itself there is one, local"),
    ] = Field([LOCAL])
    matrix: Annotated[Matrices, BeforeValidator(_one_or_more, json_schema_input_type=Matrix | Matrices)]
    measure: MeasureSpec = Field(default_factory=MeasureSpec)
    schedule: Annotated[Cron, Field(description="when a cluster measures it again, in UTC; kexbench schedules add")] = (
        None
    )
    alerts: AlertsSpec | None = None
    reference: ReferenceSpec | None = None


class CatalogueEntry(Written):
    """One tracked version: where it comes from and the version it is known to be, as a prefix."""

    source: Annotated[str, Field(pattern=SOURCE_PATTERN)]
    version: str | None = None
    released: Annotated[Day | None, Field(description="when its makers released it, such as 2025-04-08")] = None
    notes: str = ""
    security: Distinct[Note] = Field([], description="what it mends, such as CVE-2023-0361 and a clause on it")
    defaults: Distinct[Note] = Field([], description="what those get who configure nothing, where that has changed")


class Catalogue(Written):
    api_version: Literal["kexbench.dev/v1"]
    kind: Literal["Catalogue"]
    sentinel: Annotated[str, AfterValidator(lambda text: str(SubjectRef.parse(text)))] | None = Field(
        None, description="the reference that is frozen and measured beside all others, such as openssl@system"
    )
    libraries: dict[Library, list[CatalogueEntry]]
    repositories: Annotated[
        dict[Library, Distinct[str]],
        Field(
            description="git repositories of each library whose branches specs may follow, and which on a cluster "
            "bisections and backfills may search; what is in them is run"
        ),
    ] = Field({})
