"""The articles whose measurements this project repeats, each with its spec in `bench-specs/`."""

from typing import NamedTuple


class Article(NamedTuple):
    spec_name: str
    """As in the spec's metadata."""
    spec: str
    """The spec's file in the repository."""
    title: str
    published: str
    question: str


ARTICLES = (
    Article(
        spec_name="forward-secrecy-2011",
        spec="bench-specs/articles/forward-secrecy-2011.yaml",
        title="The cost of forward secrecy in GnuTLS",
        published="by a maintainer of GnuTLS, 2011",
        question="What does a key exchange with forward secrecy cost, compared with plain RSA?",
    ),
    Article(
        spec_name="equal-security",
        spec="bench-specs/articles/equal-security.yaml",
        title="Forward secrecy at equal security",
        published="the question with which the article of 2011 ends",
        question="What does forward secrecy cost if all parts of a handshake are equally strong?",
    ),
    Article(
        spec_name="loaded-server",
        spec="bench-specs/articles/loaded-server.yaml",
        title="RSA and ECDSA performance",
        published="with Apache httpd 2.4.10 and OpenSSL 1.0.1e on an Atom D525",
        question="How many connections does a loaded web server take, with which certificate and key exchange?",
    ),
    Article(
        spec_name="zero-rtt",
        spec="bench-specs/articles/zero-rtt.yaml",
        title="Forward-Secure 0-RTT Goes Live",
        published="IACR ePrint 2020/824, CANS 2020",
        question="What does a server pay for early data that stays secret and cannot be replayed?",
    ),
    Article(
        spec_name="paquin-2020",
        spec="bench-specs/articles/paquin-2020.yaml",
        title="Benchmarking Post-Quantum Cryptography in TLS",
        published="Paquin, Stebila and Tamvada, PQCrypto 2020, IACR ePrint 2019/1447",
        question="How long does a handshake take over four networks, with and without loss?",
    ),
    Article(
        spec_name="sosnowski-2023",
        spec="bench-specs/articles/sosnowski-2023.yaml",
        title="The Performance of Post-Quantum TLS 1.3",
        published="Sosnowski and others, CoNEXT 2023 Companion",
        question="How long does a handshake take over constrained networks, by key exchange and by signature?",
    ),
)
