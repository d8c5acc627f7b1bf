"""Reads a mix of connections (`kind: TrafficMix`), with every fault at its place."""

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import ConfigDict, Field, create_model, model_validator

from kexbench.domain.cases import DIMENSIONS, Case
from kexbench.domain.dimensions import RSA_KEYS, Cipher, Curve, DhGroup, Key, KeyExchange, Method, Protocol
from kexbench.domain.mixes import CostOf, MixPart, TrafficMix
from kexbench.planning.documents import Document, DocumentError, Fault, parse_document, validate
from kexbench.planning.expand import expand
from kexbench.planning.spec import DhBits, Group, Matrix, RsaBits
from kexbench.planning.written import KIND, ApiVersion, Written

MOST_PARTS = 50
MIX_MAX_CHARACTERS = 1 << 16
"""Limit of a mix that is sent to the API."""
_ROUNDING = 0.001
"""Shares such as 0.333 may miss 1 by as much."""


class FirstOfCase(Written):
    """A case, written as one point of a spec's matrix. A field that is left out has its default value."""

    protocol: Annotated[Protocol, Field(description="version of the protocol")]
    key_exchange: Annotated[
        KeyExchange, Field(description="key exchange, with a hyphen before the certificate's key, such as ECDHE-RSA")
    ]
    cipher: Annotated[Cipher, Field(description="cipher of the connection")] = Cipher.AES_128_GCM
    rsa_bits: Annotated[RsaBits, Field(description="size of the RSA or RSA-PSS certificate's key")] = 2048
    curve: Annotated[Curve, Field(description="curve of the ECDSA certificate")] = "P-256"
    group: Annotated[
        Group | None, Field(description="group of an ECDHE or MLKEM key exchange; default: P-256 or MLKEM768")
    ] = None
    dh_bits: Annotated[DhBits | None, Field(description="size of custom DH parameters")] = None
    dh_group: Annotated[DhGroup | None, Field(description="named group of DHE; default: ffdhe2048")] = None


if TYPE_CHECKING:
    CaseOfMix = FirstOfCase
else:
    CaseOfMix = create_model(
        "CaseOfMix",
        __base__=FirstOfCase,
        __doc__=FirstOfCase.__doc__,
        **{
            name: (cast(Any, Annotated)[field.annotation, *field.metadata], field)
            for name, field in Case.model_fields.items()
            if name in DIMENSIONS
        },
    )


class PartOfMix(Written):
    """Connections of one case."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["case"]}, {"required": ["caseId"]}]})

    share: Annotated[
        float, Field(gt=0, le=1, allow_inf_nan=False, description="of the connections; the shares sum to 1")
    ]
    case: Annotated[CaseOfMix | None, Field(description="the case that these connections are of")] = None
    case_id: Annotated[
        str | None, Field(min_length=1, max_length=300, description="instead of case: the id of a measured case")
    ] = None

    @model_validator(mode="after")
    def _one_case(self) -> Self:
        if (self.case is None) == (self.case_id is None):
            raise ValueError("needs either case, as in a spec's matrix, or caseId, the id of a measured case")
        return self


Parts = Annotated[list[PartOfMix], Field(min_length=1, max_length=MOST_PARTS)]


class Mix(Written):
    """The connections that a server serves, for `kexbench capacity`."""

    api_version: ApiVersion
    kind: Annotated[Literal["TrafficMix"], KIND]
    connections_per_second: Annotated[
        float, Field(gt=0, le=1e9, allow_inf_nan=False, description="connections that the server serves, at its peak")
    ]
    utilisation: Annotated[
        float, Field(gt=0, le=1, allow_inf_nan=False, description="the share of a core that may be used, such as 0.6")
    ]
    cores_per_machine: Annotated[
        int | None, Field(ge=1, le=100_000, description="without it, only cores are reported")
    ] = None
    cost: Annotated[
        CostOf,
        Field(
            description="what the server's CPU time contains: connection is the handshake with its objects, "
            "application data and closing; handshake is the handshake alone"
        ),
    ] = CostOf.CONNECTION
    parts: Annotated[Parts, Field(description="which connections these are")]
    against: Annotated[
        Parts | None, Field(description="what would serve the same connections otherwise, such as another certificate")
    ] = None


def read_mix(text: str, file: str) -> TrafficMix:
    """Raises DocumentError with every fault."""
    document = parse_document(text, file)
    written, faults = validate(document, Mix)
    if written is None:
        raise DocumentError(file, faults)
    parts = _parts(document, "parts", written.parts, written.cost, faults)
    against = _parts(document, "against", written.against or [], written.cost, faults)
    if faults:
        raise DocumentError(file, faults)
    return TrafficMix(
        connections_per_s=written.connections_per_second,
        utilisation=written.utilisation,
        cores_per_machine=written.cores_per_machine,
        cost=written.cost,
        parts=parts,
        against=against,
    )


def _parts(
    document: Document, field: str, written: Sequence[PartOfMix], cost: CostOf, faults: list[Fault]
) -> tuple[MixPart, ...]:
    """The parts of a list; adds to `faults`."""
    total = fsum(part.share for part in written)
    if written and abs(total - 1) > _ROUNDING:
        faults.append(document.fault((field,), f"the shares sum to {total:g}: make them sum to 1", at_key=True))
    parts: dict[str, MixPart] = {}
    for number, part in enumerate(written):
        path = (field, number, "case" if part.case else "caseId")
        if part.case is None:
            case, case_id = None, str(part.case_id)
        elif (case := _case(document, path, part.case, faults)) is None:
            continue
        else:
            case_id = case.case_id
        if case_id in parts:
            faults.append(document.fault(path, "the case is given twice: add up the shares", at_key=True))
        if case and (reason := not_served(case, cost)):
            faults.append(document.fault(path, reason, at_key=True))
        parts[case_id] = MixPart(share=part.share / total, case_id=case_id, case=case)
    return tuple(parts.values())


def not_served(case: Case, cost: CostOf) -> str:
    """Why a case has no such cost of a server; empty if it has."""
    if case.roles == "client":
        return "the peer serves: leave peer out, or name a client such as client:openssl@system"
    if case.is_whole_connection and cost is CostOf.HANDSHAKE:
        return "its CPU time is that of the whole connection: set cost: connection"
    return ""


def _case(document: Document, path: tuple[str | int, ...], written: FirstOfCase, faults: list[Fault]) -> Case | None:
    """None if there is no such case; adds to `faults`."""
    fields = written.model_dump(mode="json", by_alias=True, exclude_unset=True)
    surplus = [name for name in fields if name in _lacking(written.key_exchange)]
    faults += [
        document.fault((*path, name), f"{written.key_exchange} has no {name}: leave it out", at_key=True)
        for name in surplus
    ]
    if written.dh_bits and written.dh_group:
        faults.append(document.fault((*path, "dhBits"), "give either dhBits or dhGroup", at_key=True))
        return None
    if surplus:
        return None
    matrix = Matrix.model_validate({name: [value] for name, value in fields.items()})
    cases, skipped = expand([matrix], {})
    faults += [document.fault(path, f"no such handshake: {each.reason}", at_key=True) for each in skipped]
    return cases[0] if cases else None


def _lacking(key_exchange: KeyExchange) -> set[str]:
    """The fields that do not apply to a key exchange."""
    method = key_exchange.method
    applies = {
        "cipher": method is not Method.DEFAULT,
        "rsaBits": key_exchange.key in RSA_KEYS,
        "curve": key_exchange.key is Key.ECDSA,
        "group": method in (Method.ECDHE, Method.MLKEM),
        "dhBits": method is Method.DHE,
        "dhGroup": method is Method.DHE,
    }
    return {name for name, does in applies.items() if not does}
