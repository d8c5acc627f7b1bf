"""What the report says beside its figures."""

from dataclasses import dataclass

HEAD = """\
# What the measuring costs and what it can detect

Written by `make bench`, each section in one run on the machine that it names; other machines give other figures.
[measurement.md](measurement.md) says what is measured, [statistics.md](statistics.md) how it is judged. Intervals
are 95%."""
OVERHEAD = """\
## What timing adds

*Split against unsplit*: all CPU time of batches with tick readings around every turn, against batches without any,
from the same live workers, paired over fresh processes. *Clocks alone*: what the readings cost a handshake, by the
worker's own measurement at its start. *Left out*: making, comparing and freeing of objects, which is in no number.
The goal is 0.3%. Resumption by ticket in TLS 1.2, which does no public-key operation, is the fastest case there is.

"""
PEERS = """\
## The same handshakes, made by others

`plain_openssl.c` shares no code with the worker. It takes turns of 2 ms with a worker, in fresh processes; compared is
all CPU time a handshake, making and freeing of objects included, and on our side the proof of what was negotiated.
By itself OpenSSL also looks for the issuers of the server's certificate and tries to verify it on the client, which the
worker leaves out (measurement.md, "What is proven"); *chainless*, the loop leaves them out too, so the difference
between its two rows is theirs.
`gnutls-cli --benchmark-tls-kx` is stopped every 50 ms for a turn of a worker of the same length on the same core. Each
reads its own CPU clock; its average time of a handshake stands beside the worker's turns, the interval is over rounds.
With *its certificate* the worker shows the very certificate that the program shows, with *our certificate* the one of
every run. The difference is the certificate's: it is larger, has more extensions, and expires in the year 9999, to
which GnuTLS counts year by year whenever it reads it. Of 7.64 million instructions of a handshake in gnutls-cli 0.07
million count years, 0.05 read the rest of the certificate and 0.07 hash what is longer; a worker with a certificate of
its own takes 7.38 million (ECDSA P-256 with X25519, GnuTLS 3.7.9, counted with valgrind's callgrind).

"""
LEVELS = """\
## Whether a level is what a handshake costs

The chainless loop of the part above makes {handshakes:,} handshakes a case or more, in turns of 2 ms beside a worker,
in fresh processes each invocation. *Level* is what kexbench stores and shows: over invocations the median of the CPU
time of all batches by their handshakes. The loop's is worked out in the same way. The *median* of batches leaves out
what only some of them pay, such as new RSA blinding every 32 operations. Only what goes into turns is compared, and no
round in which the worker was preempted.

"""
BUILDS = """\
## Kits beside a distribution's packages

Upstream's sources of a Debian suite's version, as they are built here, against that suite's package,
which brings its own C library, Nettle and GMP. Both sides of a handshake together, judged as every comparison is.

"""
NO_CAUSE = "not found"


@dataclass(frozen=True)
class Cause:
    """Why kits built here cost more or less than a package, as was found out by swapping one thing at a time."""

    text: str
    least: float
    most: float
    """The differences that it explains, as shares. Anything beyond has another cause, which nobody knows yet."""

    def explains(self, difference: float) -> bool:
        return self.least <= difference <= self.most


_PLT = "links without -Bsymbolic, so that calls inside the library go through a table"
_BUILT_SO = "the same sources built so here cost what the package does"
_GCC_10 = Cause(
    f"Debian compiles with -O2 where OpenSSL says -O3, {_PLT}, and has GCC 10: with its flags GCC 12 makes -5 to -7%",
    -0.17,
    -0.03,
)
_GCC_15 = Cause(
    "Debian compiles with -O2 where OpenSSL says -O3, half of it, and with GCC 15: with its flags GCC 12 makes "
    "-7 to -10%",
    -0.22,
    -0.03,
)
_GMP = Cause("GMP: with the package's in its place the kit costs what the package does, within 0.3%", 0.03, 0.06)
_C_LIBRARY = Cause(
    "the C library, and how Debian compiled GnuTLS, with GCC 14: with the package's C library the kit makes +2 to +5%, "
    "with its GnuTLS and Nettle too 0%",
    0.03,
    0.11,
)
_NETTLE = Cause(
    "Nettle: with the package's in its place the kit costs what the package does, within 2%; resumption by ticket of "
    "3.7.1 5% less",
    -0.12,
    -0.03,
)
_448 = ("TLS 1.2 ECDHE-RSA, RSA 2048, X448", "TLS 1.3 ECDHE-Ed448, P-256")
_P_384 = (
    "TLS 1.2 ECDHE-RSA, RSA 2048, P-384",
    "TLS 1.2 ECDHE-ECDSA, ECDSA P-384, X25519",
    "TLS 1.3 ECDHE-ECDSA, ECDSA P-384, X25519",
    "TLS 1.3 ECDHE-RSA, RSA 2048, P-384",
    "TLS 1.3 ECDHE-RSA, RSA 2048, SecP384r1MLKEM1024",
)
_FFDHE = (
    "TLS 1.2 DHE-RSA, RSA 2048, ffdhe2048",
    "TLS 1.2 DHE-RSA, RSA 2048, ffdhe3072",
    "TLS 1.3 DHE-RSA, RSA 2048, ffdhe2048",
)
_RESUMED = (
    "TLS 1.2 ECDHE-RSA, RSA 2048, P-256, resumed by ticket",
    "TLS 1.2 ECDHE-RSA, RSA 2048, P-256, resumed by session id",
    "TLS 1.3 ECDHE-RSA, RSA 2048, P-256, resumed with PSK",
)
CAUSES: dict[tuple[str, str], Cause] = {
    ("openssl@debian/bullseye", ""): Cause(
        f"Debian compiles with -O2 where OpenSSL says -O3, and {_PLT}; {_BUILT_SO}, within 1%", -0.20, -0.03
    ),
    ("openssl@debian/bookworm", ""): Cause(
        f"Debian compiles with -O2 where OpenSSL says -O3 and with -fzero-call-used-regs=used-gpr, and {_PLT}; "
        f"{_BUILT_SO}, within 1%, Ed448 within 3%",
        -0.15,
        -0.03,
    ),
    ("openssl@debian/experimental", ""): Cause(
        "Debian compiles with -O2 where OpenSSL says -O3; with -O2 GCC 12 makes +2 to +4%", -0.12, -0.03
    ),
    ("gnutls@debian/bullseye", ""): _NETTLE,
    ("gnutls@debian/bookworm", ""): _NETTLE,
    **{("openssl@debian/bullseye", case): _GCC_10 for case in _448},
    **{("openssl@debian/experimental", case): _GCC_15 for case in _P_384},
    **{("gnutls@debian/trixie", case): _GMP for case in _FFDHE},
    **{("gnutls@debian/trixie", case): _C_LIBRARY for case in _RESUMED},
}
"""By the package's kit and a case's label, or "" for all its other cases."""


DETECTION = """\
## What is detected

Workers that burn a known share of every turn run beside the same worker that burns nothing, interleaved in pairs as
the two sides of a comparison are, {batches} batches each an invocation as specs have that say nothing of it, through
the path of every run. Groups of invocations are drawn from the pool at random and judged as every comparison is: by the
trimmed mean of paired log ratios and its t interval.
All start from the same files. A kit's files lie in pages of memory of their own for as long as the machine keeps them,
and that alone can make a difference between kits of the same content, which no number of invocations makes smaller:
it is part of the layout floor that `kexbench qualify` measures, and stands below the table.

"""
COMMITS = """\
## From a commit to a run

A spec is committed and pushed to a bare repository that is watched at the usual pace, each time at another moment
between two looks. Measured is from the end of `git push` until the API tells a run that names the commit. The goal is
30 s. A webhook makes it two seconds at most.

"""
SCALE = """\
## At scale, by simulation

A generated spec is planned and handed to the dispatcher, which submits it to a Kubernetes without machines. Real are
the planner, the dispatcher, etcd, the API server, the scheduler and its fellow controllers, and Argo's controller,
told to look at a workflow again after one second instead of ten. KWOK stands for the nodes: it renews their leases,
every 75 s instead of 10, and says of each pod that it runs and has ended as soon as it is bound. So nothing is
measured, images and kits cost nothing, and the small object is missing by which Argo's executor tells what came of a
pod. What the API would answer is made up, as long as it ever gets. Everything shares the CPUs of this machine, so
times are those of a small control plane. Argo compresses what it holds of a workflow beyond 1 MiB, and the dispatcher
does not read that: a workflow has at most 200 jobs to stay below.

"""
