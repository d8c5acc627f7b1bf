"""Points of the whole space of cases, possible or not."""

import random
from itertools import product
from typing import Any

from hypothesis import strategies as st

from kexbench.domain.cases import Case, CpuFeatures
from kexbench.domain.dimensions import (
    CURVES,
    DH_BITS,
    DH_GROUPS,
    EC_GROUPS,
    HYBRID_GROUPS,
    MLKEM_GROUPS,
    PAIRING_GROUPS,
    RSA_KEYS,
    Cipher,
    ContextUse,
    Key,
    KeyExchange,
    Method,
    Protocol,
    Resumption,
    Server,
    Tickets,
    TrustStore,
    custom_dh_group,
)

GROUPS_OF: dict[Method, list[str]] = {
    Method.RSA: ["-"],
    Method.DHE: [*DH_GROUPS, *map(custom_dh_group, DH_BITS)],
    Method.ECDHE: [*EC_GROUPS, *HYBRID_GROUPS],
    Method.MLKEM: [*MLKEM_GROUPS],
    Method.DEFAULT: ["-"],
    Method.BFE: [*PAIRING_GROUPS],
    Method.PSK: ["-"],
}


def first_points() -> list[Case]:
    """Every combination of the six first dimensions that does not contradict itself, possible or not."""
    found = []
    for protocol, exchange, cipher in product(Protocol, KeyExchange, Cipher):
        defaults = [exchange.method is Method.DEFAULT, protocol is Protocol.DEFAULT, cipher is Cipher.DEFAULT]
        bfe = [protocol is Protocol.BFE_0RTT, exchange is KeyExchange.BFE]
        if any(defaults) != all(defaults) or any(bfe) != all(bfe):
            continue
        if all(bfe) and cipher is not Cipher.AES_128_GCM:
            continue
        curves: list[str] = list(CURVES) if exchange.key is Key.ECDSA else ["-"]
        sizes = [1024, 2048] if exchange.key in RSA_KEYS else [0]
        for group, bits, curve in product(GROUPS_OF[exchange.method], sizes, curves):
            found.append(
                Case.model_construct(
                    protocol=protocol,
                    key_exchange=exchange,
                    cipher=cipher,
                    group=group,
                    rsa_bits=bits,
                    curve=curve,
                    punctures=100 if all(bfe) else 0,
                )
            )
    return found


VARIATIONS: dict[str, list[Any]] = {
    "chain_length": [1, 3],
    "client_authentication": [False, True],
    "resumption": list(Resumption),
    "early_data_bytes": [0, 1024],
    "anti_replay": [False, True],
    "hello_retry": [False, True],
    "ocsp_bytes": [0, 2048],
    "fips": [False, True],
    "threads": [1, 2, 4],
    "cpu_features": list(CpuFeatures),
    "peer": ["-", "server:openssl@system", "client:gnutls@debian/trixie", "server:fake@1.0+step=1.02"],
    "verification": [False, True],
    "trust_anchors": [1, 140],
    "tickets": list(Tickets),
    "transfer_bytes": [0, 4096],
    "context": list(ContextUse),
    "server": list(Server),
    "concurrency": [8, 1],
    "punctures": [0, 100],
    "false_positive_bits": [10, 8],
    "requests_per_connection": [1, 10],
    "resumed_percent": [100, 50],
    "ecdsa_percent": [0, 10],
    "certificate_names": [1, 100],
    "certificate_policies": [0, 2],
    "crl_distribution_points": [0, 3],
    "intermediate_bytes": [0, 8192],
    "path": ["-", "continent", "50ms-loss-1-window-30"],
    "trust_store": list(TrustStore),
    "reload_every": [0, 100],
    "server_names": [1, 100],
}
"""Values of the later dimensions, the default first."""


@st.composite
def points(draw: st.DrawFn) -> Case:
    """A point whose parts may contradict each other. Most differ from a usual case in a few dimensions only, since
    of independent draws nearly all would be impossible for several reasons at once."""
    case = draw(st.sampled_from(FIRST_POINTS))
    anything: dict[str, st.SearchStrategy[Any]] = {
        "protocol": st.sampled_from(Protocol),
        "key_exchange": st.sampled_from(KeyExchange),
        "cipher": st.sampled_from(Cipher),
        "group": st.sampled_from([group for groups in GROUPS_OF.values() for group in groups]),
        "rsa_bits": st.sampled_from([0, 2048]),
        "curve": st.sampled_from(["-", *CURVES]),
        **{name: st.sampled_from(values) for name, values in VARIATIONS.items()},
    }
    changed = draw(st.sets(st.sampled_from(sorted(anything)), max_size=3))
    return case.model_copy(update={name: draw(anything[name]) for name in sorted(changed)})


def sample(count: int) -> list[Case]:
    """Always the same cases, which differ from a usual or a resumed one in up to three dimensions each, so that all
    rules are met."""
    chance = random.Random(1)
    early = {"resumption": Resumption.PSK_DHE, "early_data_bytes": 1024, "anti_replay": True}
    usual = [point for point in FIRST_POINTS if not point.cipher.is_cbc]  # most protocols lack CBC: it is a change
    bases = usual + [point.model_copy(update=early) for point in usual]
    anything: dict[str, list[object]] = {
        **VARIATIONS,
        "key_exchange": list(KeyExchange),
        "group": [group for groups in GROUPS_OF.values() for group in groups],
        "curve": ["-", "P-256", "secp192r1"],
        "rsa_bits": [0, 2048],
        **{name: list({getattr(point, name) for point in FIRST_POINTS}) for name in ("protocol", "cipher")},
    }
    changes = [chance.sample(sorted(anything), chance.randint(0, 3)) for _ in range(count)]
    return [
        chance.choice(bases).model_copy(update={name: chance.choice(sorted(anything[name], key=str)) for name in names})
        for names in changes
    ]


FIRST_POINTS = first_points()
