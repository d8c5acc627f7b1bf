"""The texts of the report next to its figures."""

from dataclasses import dataclass

HEAD = """\
# Overhead and resolution of measurements

`make bench` writes this page. Each section comes from one run on the machine that it names. Other machines give other
figures. [Measurement](../understand/measurement.md) describes what is measured,
[statistics](../understand/statistics.md) how changes are decided. Intervals are 95%."""
OVERHEAD = """\
## Overhead of timing

*Split / unsplit* compares all CPU time of batches with tick readings around every turn with batches without any. Both
come from the same live workers, paired over fresh processes. *Clocks* is the cost of the readings per handshake, as
the worker measures it at its start. *Outside turns* is the creation, comparison and freeing of objects, which no metric
includes. The goal is 0.3%. The fastest case is resumption by ticket in TLS 1.2, without any public-key operation.

"""
PEERS = """\
## The same handshakes in other programs

`plain_openssl.c` shares no code with the worker. Both are interleaved in turns of 2 ms, in fresh processes. The table
compares all CPU time per handshake, including the creation and freeing of objects, and for the worker the check of the
negotiated parameters. By default, OpenSSL also looks for the issuers of the server's certificate and tries to verify it
on the client. The worker skips both ([why](../understand/measurement/same-work.md#certificate-chains)). With
*chainless* the loop skips them too, so the difference between its two rows is their cost.
`gnutls-cli --benchmark-tls-kx` is stopped every 50 ms for a worker's turn of the same length on the same core. Each
reads its own CPU clock. The table compares its average time per handshake with the worker's turns, and the interval is
over rounds. With *its certificate* the worker uses the certificate of gnutls-cli, with *our certificate* that of every
run. gnutls-cli's certificate is larger, has more extensions, and expires in the year 9999. GnuTLS counts to that year
in steps of one whenever it reads the certificate. A handshake in gnutls-cli takes 7.64 million instructions: 0.07
million count years, 0.05 read the rest of the certificate and 0.07 hash the additional bytes. With our certificate, a
worker takes 7.38 million (ECDSA P-256 with X25519, GnuTLS 3.7.9, counted with valgrind's callgrind).

"""
LEVELS = """\
## Accuracy of levels

The chainless loop of the previous section makes {handshakes:,} handshakes or more for each case, interleaved with a
worker in turns of 2 ms, in fresh processes for each invocation. *Level* is the value that kexbench stores and shows:
the median over invocations of total CPU time divided by handshakes. The loop's level is computed in the same way. The
*median* of batches omits costs of few batches, such as new RSA blinding every 32 operations. Only turns are compared.
Rounds in which the worker was preempted are ignored.

"""
CONNECTIONS = """\
## The parts of a connection in an independent loop

`plain_connection.c` shares no code with the worker. It makes whole TLS 1.3 connections (ECDHE-ECDSA, ECDSA P-256,
X25519, AES-128-GCM) with the same files. It is compiled against the library of each kit, and the kit's own loader
starts it. It configures the library as the worker does, and checks each connection before it transfers data.
Both are interleaved in turns of 2 ms on one CPU, in fresh processes for each invocation. The table compares the CPU
time of both sides in a part ([what is timed](../../workers/handshake/PROTOCOL.md#what-is-timed)). The ratio is the
median over invocations of the median ratio of their rounds. Rounds in which either was preempted are ignored.

The command fails if the whole interval of a part differs by more than {tolerance:.0%}. A part below {short_us:g} µs
may also cost the worker up to {call_us:g} µs more for each timed call. The worker's own work counts there: it reads the
clock and calls the library through tables. Its check of the negotiated parameters is longer than the loop's, so the
next part begins with colder caches. A worker without this check needs the loop's time for objects and short transfers,
within 1%. Its instructions for objects are the loop's, within 1% (OpenSSL 4.0.3, counted with valgrind's callgrind).

"""
METRICS = """\
## Every metric beside an independent program

Each metric beside a program that shares no code with the worker (`workers/handshake/bench`), with OpenSSL. *kexbench*
is what kexbench stores, so the runner's arithmetic is compared too. `plain_counts.c` counts the heap in OpenSSL's own
allocation functions, records in its message callback and bytes in its own transport, and holds {held} connections
open. Callgrind counts instructions in its functions that take a turn. `plain_connection.c` takes turns of 2 ms with
the worker on one CPU. `plain_client.c` keeps the time of each connection to an nginx, and takes turns with the
worker's loads. `plain_age.c` makes 20,000 resumptions on one context, or 2,000 full handshakes whose sessions stay in
the server's cache, in time and beside OpenSSL's own allocation functions, and takes turns with invocations.

Of what takes turns, the ratio is the median of the turns' ratios, and not the quotient of the medians beside it.

The command fails if records or round trips are not the same, or if bytes, heap, growth or instructions differ by more
than {close:.0%}, or what lives with a context by more than {near:.0%}.

"""
THREADS = """\
## Threads in an independent loop

`plain_threads.c` shares no code with the worker. Its threads are made once and share a client's and a server's
context, a pool of them, or have library contexts of their own, as the worker's do: TLS 1.3, ECDHE-ECDSA, ECDSA P-256,
X25519, AES-128-GCM, compiled against the library of each kit. Both have the same CPUs, one for each thread, and are
interleaved in turns of {turn_ms:g} ms, in fresh processes for each invocation. The rates are handshakes a second of
wall time, all threads together. The ratio is the median over invocations of the median ratio of their rounds. The
efficiency is the worker's: its rate divided by as many times the rate of one of its threads alone, each in turn.
Rounds in which other programs took over 1% of the worker's CPU time are ignored. How much rates vary from round to
round is a median over invocations: of the loop the standard deviation, of the worker what kexbench stores.

The command fails if the whole interval of a ratio differs by more than {tolerance:.0%}.

"""
BUILDS = """\
## Kits compared with a distribution's packages

Kits built here from upstream's sources, compared with Debian's package of the same version, which has its own C
library, Nettle and GMP. The CPU time is that of both sides of a handshake. The method is that of every comparison.

"""
NO_CAUSE = "not found"


@dataclass(frozen=True)
class Cause:
    """Why kits built here differ in cost from a package, determined by changing one thing at a time."""

    text: str
    least: float
    most: float
    """The range of differences that it explains, as shares. Other differences have an unknown cause."""

    def explains(self, difference: float) -> bool:
        return self.least <= difference <= self.most


_O2 = "Debian compiles with -O2 instead of OpenSSL's -O3"
_PLT = "links without -Bsymbolic, so calls inside the library go through a table"
_SAME_FLAGS = "with Debian's flags the kit equals the package"
_GCC_10 = Cause(
    f"{_O2}, {_PLT}, and uses GCC 10: with Debian's flags and GCC 12 the difference is -5 to -7%", -0.17, -0.03
)
_GCC_15 = Cause(
    f"{_O2}, half of the difference, and uses GCC 15: with Debian's flags and GCC 12 the difference is -7 to -10%",
    -0.22,
    -0.03,
)
_GMP = Cause("GMP: with the package's GMP the kit equals the package, within 0.3%", 0.03, 0.06)
_C_LIBRARY = Cause(
    "the C library, and Debian's build of GnuTLS with GCC 14: with the package's C library the difference is +2 to "
    "+5%, and with its GnuTLS and Nettle too 0%",
    0.03,
    0.11,
)
_NETTLE = Cause(
    "Nettle: with the package's Nettle the kit equals the package, within 2%, except 3.7.1 with resumption by ticket: "
    "5% less",
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
    ("openssl@debian/bullseye", ""): Cause(f"{_O2}, and {_PLT}; {_SAME_FLAGS}, within 1%", -0.20, -0.03),
    ("openssl@debian/bookworm", ""): Cause(
        f"{_O2} and with -fzero-call-used-regs=used-gpr, and {_PLT}; {_SAME_FLAGS}, within 1%, Ed448 within 3%",
        -0.15,
        -0.03,
    ),
    ("openssl@debian/experimental", ""): Cause(f"{_O2}: with -O2 and GCC 12 the difference is +2 to +4%", -0.12, -0.03),
    ("gnutls@debian/bullseye", ""): _NETTLE,
    ("gnutls@debian/bookworm", ""): _NETTLE,
    **{("openssl@debian/bullseye", case): _GCC_10 for case in _448},
    **{("openssl@debian/experimental", case): _GCC_15 for case in _P_384},
    **{("gnutls@debian/trixie", case): _GMP for case in _FFDHE},
    **{("gnutls@debian/trixie", case): _C_LIBRARY for case in _RESUMED},
}
"""Causes by the package's kit and a case's label, or "" for all its other cases."""


DETECTION = """\
## Smallest detectable change

Workers that burn a known extra share of every turn are compared with the same worker without it. They are interleaved
in pairs, like the two sides of a comparison, with {batches} batches in each invocation, the default of specs. The code
is that of every run. Groups of invocations are drawn from the pool at random and evaluated like every comparison: by
the trimmed mean of paired log ratios and its t interval.
All workers start from the same files. The files of a kit stay in the same pages of memory as long as the machine caches
them. This alone can make kits with the same content differ, and more invocations do not reduce the difference. It is
part of the layout floor that `kexbench qualify` measures. Its size is below the table.

"""
MIXED = """\
## Traffic mixes, predicted and measured

`kexbench capacity` adds up the costs of a mix's cases, each measured alone ([capacity](../use/capacity.md)). Here nginx
with {subject} serves each mix itself ([web servers](../use/web-servers.md)), and invocations of the mix and of
its parts are interleaved. *Per core* is how many connections a second take one core: a second, divided by the server's
CPU time for a connection, kernel included. The goal is {goal:.0%}.

"""
COMMITS = """\
## From a commit to a run

Specs are committed and pushed to a bare repository that is watched at the default interval, at random times within it.
The delay is from the end of `git push` until the API lists the commit's run. The goal is 30 s. With a webhook it is at
most two seconds.

"""
ANSWERS = """\
## Answers of a large store

CPU time of every route that answers GET, in a service with an embedded store, all threads together, as the median of
several. Routes are those of the API's document; the ones that are left out are
{left_out}. A made-up store has 28 versions of a library in 30 cases on four hosts, with 16 metrics, and a few runs of
other kinds. *First* is the first request of a service that has just been started, for each route again. *Changed* is
the request after an invocation was stored that the answer is about, *fresh* after something else was stored, and
*again* the same request once more. The goals are 1.5 s, 500 ms, 100 ms and 5 ms.

"""
LOAD = """\
## Many readers at once

Readers ask a service with the store of the previous section for every route there, about all its hosts, at a fixed
rate whether or not earlier requests were answered. Meanwhile a run is delivered to it, and every delivery changes some
of these pages.
Times are wall times at the readers, which share the CPUs with the service. They accept
[outdated answers](../adr/0039-pages-accept-outdated-answers.md) as pages do. The goal is 150 ms for 99% of the
requests.

"""
PAGES = """\
## Pages in a browser

A headless Chromium opens pages of a service with a made-up store on the same machine, which share its CPUs. A page is
*useful* when the element that a reader came for is painted: a cell of the matrix, the line of a chart, a row of a
table. *First* is the first visit of each page after the service started, in the order of the table. *Cold* visits find
nothing in the browser's cache, *warm* ones what the visit before left. Both are medians of wall times from navigation.
*JavaScript* is what arrived before the first paint, *transferred* everything until the page was useful, both compressed
and of cold visits. The goals are {useful_s:g} s and {script_kb:g} kB.

"""
SCALE = """\
## Scale, on a simulated cluster

A generated spec is planned, and the dispatcher submits it to a Kubernetes cluster without machines. The planner, the
dispatcher, etcd, the API server, the scheduler, the other controllers and Argo's controller are real. Argo's controller
checks a workflow again after one second instead of ten. KWOK simulates the nodes: it renews their leases every 75 s
instead of 10 s, and reports each pod as running and finished as soon as it is bound. Nothing is measured, and no images
and kits are loaded. The small object is missing in which Argo's executor reports the result of a pod. The API's answers
are simulated, with the largest possible size. Everything shares the CPUs of this machine, so times are those of a small
control plane. Argo compresses the status of a workflow above 1 MiB, which the dispatcher does not read. A workflow
therefore has at most 200 jobs.

"""
SHARDING = """\
## Jobs shared by many simulated nodes

`measure: {jobs: …}` deals the invocations of a small matrix to many jobs, and a node takes one job at a time. The
cluster is the one above, but each simulated job lasts as long as the table says, on any node. *Nodes' time used* is the
part of all nodes' time, from submission to the end of the last job, in which a job ran. What is missing is what the
planner, the dispatcher, the scheduler and Argo take. That does not depend on the length of a job, so it is a small part
where jobs last twenty minutes.

"""
COUNTS = """\
## Counted instructions beside a load

The server's instructions in one handshake, counted {counts} times by callgrind while another program keeps every CPU
busy. *Spread* is the largest count divided by the smallest, less one. A count of one side takes two runs of the worker.

"""
