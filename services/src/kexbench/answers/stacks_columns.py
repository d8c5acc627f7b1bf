"""What a server does, from the fields of a case: the columns of the table of stacks, and the case that stands for each.
Pure."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, get_args

from kexbench.answers.connection import size_text
from kexbench.domain.cases import Case, case_order
from kexbench.domain.dimensions import NOTHING, Cipher, Key, Method, Protocol, Resumption
from kexbench.domain.strength import has_post_quantum_authentication, has_post_quantum_key_exchange

WorkKind = Literal["full", "group", "resumed", "post-quantum", "data", "verified", "client", "threads"]
KINDS: Mapping[WorkKind, str] = {
    "full": "Full handshake",
    "group": "Key exchange group",
    "resumed": "Resumed",
    "post-quantum": "Post-quantum",
    "data": "With data",
    "verified": "Client verifies",
    "client": "Client certificate",
    "threads": "Threads",
}
"""In the order of the columns, with their titles."""
PROTOCOLS = (Protocol.TLS_1_3, Protocol.TLS_1_2)
"""Each has a table of its own. The first one that was measured is shown unless another is asked for."""
RESUMPTIONS = (Resumption.PSK_DHE, Resumption.TICKET, Resumption.SESSION_ID, Resumption.PSK)
"""The ways that a mix resumes by, the first one that was measured."""
_METHODS = (Method.ECDHE, Method.MLKEM)
_CHAIN_FIELDS = frozenset({"verification", "chain_length"})
_USUAL_KEYS = ("ECDSA P-256", "RSA 2048", "Ed25519", "ECDSA P-384")
_USUAL_GROUPS = ("X25519", "P-256", "X25519MLKEM768")
"""What servers have most, first. Others follow in the order of cases."""


class Work(NamedTuple):
    """What a server does in a case, whatever else is free: a full handshake leaves the group free, a resumed one the
    certificate as well."""

    kind: WorkKind
    name: str


class Column(NamedTuple):
    work: Work
    case: Case


def work_of(case: Case) -> Work | None:
    """None for a case with other settings, such as another cipher, a web server or several variations."""
    has_certificate = case.key_exchange.key is not Key.PSK
    is_usual = case.key_exchange.method in _METHODS and case.cipher is Cipher.AES_128_GCM and has_certificate
    if not is_usual or case.protocol not in PROTOCOLS:
        return None
    varied = frozenset(case.variation)
    if has_post_quantum_key_exchange(case) or has_post_quantum_authentication(case):
        return None if varied else Work("post-quantum", _post_quantum_name(case))
    if case.client_authentication and varied <= _CHAIN_FIELDS | {"client_authentication"}:
        return Work("client", "verified" if case.verification else "not verified")
    if case.verification and varied <= _CHAIN_FIELDS:
        return Work("verified", str(case.chain_length))
    works: dict[frozenset[str], Work] = {
        frozenset(): Work("full", certificate_of(case)),
        frozenset({"resumption"}): Work("resumed", str(case.resumption)),
        frozenset({"transfer_bytes"}): Work("data", size_text(case.transfer_bytes)),
        frozenset({"threads"}): Work("threads", str(case.threads)),
    }
    return works.get(varied)


def certificate_of(case: Case) -> str:
    """`ECDSA P-256`, `RSA 2048`, `Ed25519`."""
    parameter = str(case.rsa_bits or case.curve)
    key: Key = case.key_exchange.key
    return str(key) if parameter == NOTHING else f"{key} {parameter}"


def same_certificate(text: str, case: Case) -> bool:
    """Whether a text such as `ecdsa-p256` means the certificate of a case."""
    return _letters(text) == _letters(certificate_of(case))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _post_quantum_name(case: Case) -> str:
    return f"{case.group}, {certificate_of(case)}" if has_post_quantum_authentication(case) else case.group


def columns_of(measured: Mapping[str, int], cases: Iterable[Case]) -> list[Column]:
    """One for each work, in their order. `measured`: how many stacks have numbers of a case, by its id. The case of a
    column is the one that most stacks have; of several, the one that servers have most. Groups that no full handshake
    stands for have columns of their own."""
    usable = [(work, case) for case in cases if (work := work_of(case))]
    columns = _chosen(measured, usable)
    shown = {case.group for work, case in columns if work.kind == "full"}
    others = [
        (Work("group", case.group), case) for work, case in usable if work.kind == "full" and case.group not in shown
    ]
    return sorted([*columns, *_chosen(measured, others)], key=_column_order)


def _chosen(measured: Mapping[str, int], usable: Iterable[tuple[Work, Case]]) -> list[Column]:
    by_work: dict[Work, list[Case]] = {}
    for work, case in usable:
        by_work.setdefault(work, []).append(case)
    return [
        Column(work, min(of_work, key=lambda case: (-measured.get(case.case_id, 0), _usual(case), case_order(case))))
        for work, of_work in by_work.items()
    ]


def _usual(case: Case) -> tuple[int, int]:
    return _place(_USUAL_GROUPS, case.group), _place(_USUAL_KEYS, certificate_of(case))


def _place(usual: tuple[str, ...], name: str) -> int:
    return usual.index(name) if name in usual else len(usual)


def _column_order(column: Column) -> tuple[object, ...]:
    case = column.case
    kind = get_args(WorkKind).index(column.work.kind)
    size = case.transfer_bytes or max(case.threads, case.chain_length)
    group, key = _usual(case)
    return (kind, key, case_order(case)) if column.work.kind == "full" else (kind, size, group, case_order(case))
