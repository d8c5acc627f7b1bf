"""`python -m bench.merkle`: the bytes of certificate chains and of Merkle tree certificates in their place, with the
round trips that follow, and docs/results/merkle-tree-certificates.md from it.

Chains and flights are made and counted here, in memory. Of Merkle tree certificates only the format is known
(draft-ietf-plants-merkle-tree-certs, section 6.2), so theirs are made here from a leaf of the same key, with zeros.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from bench.machine import BenchError, Machine
from bench.tables import markdown_table
from kexbench.analysis.flights import Flights, predict
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.numbers import listed
from kexbench.domain.paths import NetworkPath
from kexbench.files import write_whole
from kexbench.kits import KitError
from kexbench.material.der import BIT_STRING, SEQUENCE, children, element
from kexbench.runner.participant import Dropped, Participant

PAGE = Path(__file__).parents[2] / "docs/results/merkle-tree-certificates.md"
SUBJECT = "openssl@crate/3.5.5"
CHAINS = (1, 2, 3)
WINDOWS = (10, 30)
ML_DSA = {
    "ML-DSA-44": KeyExchange.ECDHE_ML_DSA_44,
    "ML-DSA-65": KeyExchange.ECDHE_ML_DSA_65,
    "ML-DSA-87": KeyExchange.ECDHE_ML_DSA_87,
}
KEYS = {"ECDSA P-256": KeyExchange.ECDHE_ECDSA, **ML_DSA}
HASH_BYTES = 32
CHECKPOINT, LANDMARK_LEAVES = 2_500, 4_400_000
"""Certificates that a subtree has, of one large authority with certificates of a week: section 6.5 of the draft."""
STANDALONE = "Merkle tree certificate, standalone"
LANDMARK = "Merkle tree certificate, relative to a landmark"
COSIGNERS, COSIGNATURE_BYTES, COSIGNER_ID_BYTES = 2, 2420, 5
"""Two signatures of ML-DSA-44 (FIPS 204, table 2), by cosigners with an id such as 32473.1.2."""
PROOF_OID = bytes.fromhex("060a2b0601040182da4b2f00")
"""1.3.6.1.4.1.44363.47.0, which stands for id-alg-mtcProof until that has a number."""
CERTIFICATE_HEADERS_BYTES = 4 + 1 + 3
"""Of a Certificate message: its type and length, an empty context, the length of its list (RFC 8446, section 4.4.2)."""
ENTRY_HEADERS_BYTES = 3 + 2
"""Of each certificate in it: its length, and that of its extensions, of which there are none."""


@dataclass(frozen=True)
class Measured:
    """A handshake with a chain."""

    key: str
    certificates: tuple[bytes, ...]
    """DER, as the server sends them."""
    hello_bytes: int
    flight_bytes: int
    """Of the server: from its ServerHello to its Finished, with the headers of records."""


@dataclass(frozen=True)
class Row:
    title: str
    message_bytes: int
    """Of the Certificate message."""
    flight_bytes: int
    hello_bytes: int

    def further(self, window: int) -> int:
        """Round trips that the flight waits because it does not fit the initial window."""
        path = NetworkPath(round_trip_ms=50, initial_window=window)
        steps = predict(Protocol.TLS_1_3, path, Flights(self.hello_bytes, self.flight_bytes)).steps
        return sum(step.round_trips for step in steps if step.kind == "server flight")


def message_bytes(certificates: Sequence[int]) -> int:
    """Of a Certificate message with certificates of so many bytes."""
    return CERTIFICATE_HEADERS_BYTES + sum(size + ENTRY_HEADERS_BYTES for size in certificates)


def hashes(leaves: int) -> int:
    """Of an inclusion proof in a tree of so many leaves."""
    return ceil(log2(leaves))


def proof_bytes(leaves: int, cosignatures: int) -> int:
    """Of an MTCProof without extensions: start and end of 48 bits each, the hashes, the signatures."""
    signatures = cosignatures * (1 + COSIGNER_ID_BYTES + 2 + COSIGNATURE_BYTES)
    return 2 + 6 + 6 + 2 + hashes(leaves) * HASH_BYTES + 2 + signatures


def with_proof(leaf: bytes, proof_bytes: int) -> bytes:
    """This certificate with a proof of so many bytes, all zero, instead of its signature. Issuer and serial number
    stay."""
    signed, algorithm, _ = children(leaf)
    proven = element(SEQUENCE, PROOF_OID)
    fields = [proven if field == algorithm else field for field in children(signed)]
    return element(SEQUENCE, element(SEQUENCE, *fields), proven, element(BIT_STRING, bytes(1 + proof_bytes)))


def measure(machine: Machine) -> list[Measured]:
    """Raises BenchError."""
    kits = {SUBJECT: machine.kit(SUBJECT)}
    measured = []
    for key, exchange in KEYS.items():
        for length in CHAINS:
            case = Case(
                protocol=Protocol.TLS_1_3,
                key_exchange=exchange,
                curve="P-256" if exchange is KeyExchange.ECDHE_ECDSA else "-",
                group="X25519MLKEM768",
                chain_length=length,
            )
            setting = machine.setting(case, kits, 1)
            try:
                with Participant(setting, SUBJECT) as participant:
                    batch = participant.batch(1)
            except Dropped as fault:
                raise BenchError(f"{case.label}: {fault.reason}") from None
            pem = (setting.job_input.material_folder / setting.files.certificate).read_bytes()
            certificates = tuple(each.public_bytes(Encoding.DER) for each in x509.load_pem_x509_certificates(pem))
            sizes = (round(size / batch.handshakes) for size in (batch.client_bytes, batch.server_bytes))
            measured.append(Measured(key, certificates, *sizes))
    return measured


def rows(measured: Sequence[Measured]) -> Iterator[Row]:
    """Chains as measured, and after those of each post-quantum key what Merkle tree certificates would make of them."""
    for each in measured:
        certificates = [len(der) for der in each.certificates]
        count = len(certificates)
        title = f"{each.key}, chain of {count}" if count > 1 else f"{each.key}, one certificate"
        yield Row(title, message_bytes(certificates), each.flight_bytes, each.hello_bytes)
        if each.key in ML_DSA and count == CHAINS[-1]:
            (alone,) = (one for one in measured if one.key == each.key and len(one.certificates) == 1)
            yield from _merkle_rows(alone)


def _merkle_rows(alone: Measured) -> Iterator[Row]:
    (leaf,) = alone.certificates
    usual = message_bytes([len(leaf)])
    for title, leaves, cosignatures in ((STANDALONE, CHECKPOINT, COSIGNERS), (LANDMARK, LANDMARK_LEAVES, 0)):
        message = message_bytes([len(with_proof(leaf, proof_bytes(leaves, cosignatures)))])
        yield Row(f"{alone.key}, {title}", message, alone.flight_bytes - usual + message, alone.hello_bytes)


def table(all_rows: Sequence[Row]) -> str:
    header = ("server's key", "Certificate message, bytes", "server's flight, bytes")
    further = [f"further round trips, window {window}" for window in WINDOWS]
    cells = [
        [row.title, f"{row.message_bytes:,}", f"{row.flight_bytes:,}", *(str(row.further(each)) for each in WINDOWS)]
        for row in all_rows
    ]
    return markdown_table((*header, *further), cells)


def sizes_sentence(all_rows: Sequence[Row]) -> str:
    """How many times as large a chain of two is."""
    sizes = {row.title: row.message_bytes for row in all_rows}
    ratios = {
        title: [f"{sizes[f'{key}, chain of 2'] / sizes[f'{key}, {title}']:.1f}" for key in ML_DSA]
        for title in (STANDALONE, LANDMARK)
    }
    alone, landmark = map(listed, ratios.values())
    return (
        f"With {listed(tuple(ML_DSA))}, the Certificate message of a chain of two is {landmark} times as large as that "
        f"of a certificate relative to a landmark, and {alone} times as large as that of a standalone one."
    )


HEAD = f"""\
# Merkle tree certificates beside chains

`make merkle` writes this page: the bytes of a server's certificates, and the round trips that a client waits because
they do not fit TCP's initial window. Chains and flights are measured: TLS 1.3 with X25519MLKEM768 and OpenSSL 3.5.5.
Round trips follow from [the model](../understand/measurement/paths.md#the-model) with an MTU of 1,500.

Merkle tree certificates are computed: no library here has them. Their sizes follow from the format of
[draft-ietf-plants-merkle-tree-certs](https://datatracker.ietf.org/doc/draft-ietf-plants-merkle-tree-certs/) (text of
2026-08-20), with our leaf's names and key, and with the draft's estimates for one large authority (section 6.5). A
standalone certificate proves that it is one of {CHECKPOINT:,} by {hashes(CHECKPOINT)} hashes, and has {COSIGNERS}
signatures of cosigners with ML-DSA-44. One that is relative to a landmark proves that it is one of
{LANDMARK_LEAVES:,} by {hashes(LANDMARK_LEAVES)} hashes, and has no signature."""
FOOT = """\
Chou and Cao (*Network Impact of Post-Quantum Certificate Chain sizes on Time to First Byte in TLS Deployments*, arXiv
2604.24869) report discrete steps of the time to the first byte where chains pass the window, and that Merkle tree
certificates allow chains two to three times as large. Only the abstract was read, so which chains they compare is not
known here. As in the draft, the gain depends on what is left out: certificates of the Web have two timestamps of logs
besides, which ours do not have. With ML-DSA-44 these add two signatures of 2,420 bytes to each chain, and nothing to
Merkle tree certificates, which are log entries themselves."""


def main() -> int:
    try:
        measured = measure(Machine())
    except (BenchError, KitError) as error:
        print(f"not measured: {error}", file=sys.stderr)
        return 1
    all_rows = list(rows(measured))
    write_whole(PAGE, ("\n\n".join([HEAD, table(all_rows), sizes_sentence(all_rows), FOOT]) + "\n").encode())
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
