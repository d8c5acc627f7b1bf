"""A git repository of a library's sources with the changes of three pull requests, each a branch of `master`.

`slower` makes each side of a handshake spin for a while, `same` moves line numbers, and `broken` does not compile. The
same sources make the same repository.
"""

from dataclasses import dataclass
from pathlib import Path

from bench.planted import BRANCH, DOES_NOT_COMPILE, Repository, edit
from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import Library

SLOWER, SAME, BROKEN = "slower", "same", "broken"
_SPINS = """\
static __attribute__((noinline)) unsigned spin(void)
{{
    volatile unsigned sum = 0;
    unsigned turn;

    for (turn = 0; turn < {turns}; turn++)
        sum += turn;
    return sum;
}}

"""


@dataclass(frozen=True)
class Place:
    """Where a library's Finished message is made: the first line of the function, and a statement of it. `turns` of
    spinning on each side are 0.3% to 0.5% of a handshake's instructions."""

    sources: SubjectRef
    file: str
    function: str
    statement: str
    turns: int


PLACES: dict[Library, Place] = {
    "openssl": Place(
        sources=SubjectRef.parse("openssl@crate/3.0.8"),
        file="ssl/statem/statem_lib.c",
        function="int tls_construct_finished(SSL *s, WPACKET *pkt)\n{\n",
        statement="    if (s->server) {\n        sender = s->method->ssl3_enc->server_finished_label;\n",
        turns=2000,
    ),
    "gnutls": Place(
        sources=SubjectRef.parse("gnutls@deb-source/bookworm"),
        file="lib/tls13/finished.c",
        function="int _gnutls13_send_finished(gnutls_session_t session, unsigned again)\n{\n",
        statement="\tif (again == 0) {\n\t\tif (unlikely(session->security_parameters.prf == NULL))\n",
        turns=2000,
    ),
}


def plant_branches(sources: Path, library: Library) -> None:
    """Make a repository of the folder `sources`. Raises BenchError."""
    place = PLACES[library]
    file = sources / place.file
    repository = Repository(sources)
    repository.commit(0, f"Import {place.sources.source}")

    def begin(branch: str) -> None:
        repository.git("checkout", "--quiet", "-b", branch, BRANCH)

    begin(SLOWER)
    edit(file, place.function, _SPINS.format(turns=place.turns) + place.function)
    edit(file, place.statement, "    (void)spin();\n\n" + place.statement)
    repository.commit(1, "Spin in each handshake")
    begin(SAME)
    edit(file, "", "/* This comment moves line numbers. */\n")
    repository.commit(1, "Add a comment")
    begin(BROKEN)
    edit(file, "", DOES_NOT_COMPILE)
    repository.commit(1, "Write no C")
    repository.git("checkout", "--quiet", BRANCH)
