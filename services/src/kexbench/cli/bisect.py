"""`kexbench bisect`: finds the commit of a library that made handshakes slower.

It takes one repository and two refs in it, as `git bisect` does. Two references as in `compare` (`openssl@git:…#REF`)
could name repositories without a common history. The default repository is the current folder.
"""

from typing import Annotated

import typer

from kexbench.bisection.models import BisectionWanted
from kexbench.cli.bisections import search
from kexbench.cli.compare import ByCount, Cases, instrument_of
from kexbench.cli.options import AsJson, SpecMatrix
from kexbench.cli.references import typed_reference
from kexbench.domain.kits import SubjectRef
from kexbench.planning.documents import read_spec


def bisect(
    library: Annotated[str, typer.Argument(help="Such as openssl.", show_default=False)],
    good: Annotated[str, typer.Argument(help="A branch, tag or hash before the change.", show_default=False)],
    bad: Annotated[str, typer.Argument(help="A later branch, tag or hash, after the change.", show_default=False)],
    repository: Annotated[str, typer.Option(metavar="DIR|URL", help="The library's git repository.")] = ".",
    case: Cases = None,
    spec: SpecMatrix = None,
    invocations: Annotated[
        int | None,
        typer.Option(min=6, max=500, help="Per measurement. Default: as many as fit into 1 min.", show_default=False),
    ] = None,
    count: ByCount = False,
    builds: Annotated[
        int | None, typer.Option(min=3, help="Maximum. Default: 10 for 64 commits, 11 for 128, and so on.")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Start a new bisection and ignore earlier results.")] = False,
    queued: Annotated[
        bool,
        typer.Option("--queued", help="Use only a service's queue; never measure in this process."),
    ] = False,
    pool: Annotated[str | None, typer.Option(help="The pool, if a cluster has several.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Find the commit between GOOD and BAD that made handshakes slower (or faster).

    GOOD must be an ancestor of BAD. Only first parents count: a merge is one commit. Some commits are built and each
    is measured together with both ends on one core. Commits that do not build are skipped. Results are kept: the same
    command again continues the bisection.

    The bisection runs in the queue of the cluster that KEXBENCH_API_URL names, or of this machine's `kexbench serve`.
    Ctrl-C then only stops following it. Without either, this command measures. `kexbench bisections` and the
    page Bisections list all bisections.

    Examples:

        cd ~/src/openssl && kexbench bisect openssl openssl-3.5.0 openssl-3.5.4 --case '*rsa-2048*'
        kexbench bisect openssl openssl-3.5.0 openssl-3.5.4 --count
        kexbench bisect openssl $(git rev-parse HEAD~40) HEAD --builds 14
        kexbench bisect openssl openssl-3.5.0 openssl-3.5 --repository https://github.com/openssl/openssl.git
        kexbench bisect openssl openssl-3.5.0 openssl-3.5.4 --queued
    """
    first, _ = (_commit(library, repository, name) for name in (good, bad))
    question = BisectionWanted(
        library=first.library,
        repository=first.repository_and_name[0],
        good=good,
        bad=bad,
        cases=case or [],
        spec_text=read_spec(spec) if spec else None,
        pool=pool,
        instrument=instrument_of(count),
        invocations=invocations,
        builds=builds,
        anew=anew,
    )
    raise typer.Exit(search(question, lasting=queued, as_json=as_json))


def _commit(library: str, repository: str, name: str) -> SubjectRef:
    """The subject of a commit name. Raises BadParameter."""
    ref = typed_reference(f"{library}@git:{repository}#{name}")
    if ref.origin != ref.source:
        raise typer.BadParameter(f"{name!r} is not a branch, tag or hash")
    return ref
