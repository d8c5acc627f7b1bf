"""`kexbench bisect`: the commit of a library that made handshakes slower.

One repository and two refs in it, as with `git bisect`: a good and a bad *reference* (`openssl@git:…#REF`, as `compare`
takes) would write the repository twice and could name two of them, which have no history in common. The repository
is the folder one stands in unless `--repository` says otherwise.
"""

from typing import Annotated

import typer

from kexbench.bisection.models import BisectionWanted
from kexbench.cli.bisections import search
from kexbench.cli.compare import Cases, SpecMatrix
from kexbench.cli.plan import AsJson
from kexbench.cli.references import typed_reference
from kexbench.domain.kits import SubjectRef
from kexbench.pipeline import read_spec


def bisect(
    library: Annotated[str, typer.Argument(help="Such as openssl.", show_default=False)],
    good: Annotated[str, typer.Argument(help="A branch, tag or hash, before the change.", show_default=False)],
    bad: Annotated[str, typer.Argument(help="A later one, behind it.", show_default=False)],
    repository: Annotated[str, typer.Option(metavar="DIR|URL", help="The library's git repository.")] = ".",
    case: Cases = None,
    spec: SpecMatrix = None,
    invocations: Annotated[
        int | None,
        typer.Option(min=6, max=500, help="Of one measurement. Default: as many as fit a minute.", show_default=False),
    ] = None,
    builds: Annotated[
        int | None, typer.Option(min=3, help="At most. Default: 10 for 64 commits, one more to double them.")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Forget what is known from before.")] = False,
    queued: Annotated[
        bool,
        typer.Option("--queued", help="Only where a service sees to it, and never in this process."),
    ] = False,
    pool: Annotated[str | None, typer.Option(help="Of a cluster, where it has several.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Find the commit between GOOD and BAD that made handshakes slower (or faster).

    GOOD must be an ancestor of BAD. Commits are those of the first parents: a merge counts as one. Some of them are
    built, and measured beside both ends on one core; those that do not build are passed over. What is known is kept:
    started again with the same arguments it goes on.

    Where a `kexbench serve` runs on this machine, it does all of it in the turns of its queue, and so does a cluster
    where KEXBENCH_API_URL says where it is; Ctrl-C ends the following alone. Elsewhere this command does it itself.
    `kexbench bisections` lists them, and so does the page of that name.

    Exit status: 0 the commit is found, or a few of which all but the last do not build; 4 it cannot say; 1 it could not
    be measured.

    Examples:

        cd ~/src/openssl && kexbench bisect openssl openssl-3.5.0 openssl-3.5.4 --case '*rsa-2048*'
        kexbench bisect openssl $(git rev-parse HEAD~40) HEAD --builds 14
        kexbench bisect openssl openssl-3.5.0 openssl-3.5 --repository https://github.com/openssl/openssl.git
        kexbench bisect openssl openssl-3.5.0 openssl-3.5.4 --queued
    """
    first, _ = (_commit(library, repository, name) for name in (good, bad))
    wanted = BisectionWanted(
        library=first.library,
        repository=first.source.removeprefix("git:").partition("#")[0],
        good=good,
        bad=bad,
        cases=case or [],
        spec_text=read_spec(spec) if spec else None,
        pool=pool,
        invocations=invocations,
        builds=builds,
        anew=anew,
    )
    raise typer.Exit(search(wanted, lasting=queued, as_json=as_json))


def _commit(library: str, repository: str, name: str) -> SubjectRef:
    """The subject that a name of a commit means. Raises BadParameter."""
    ref = typed_reference(f"{library}@git:{repository}#{name}")
    if ref.origin != ref.source:
        raise typer.BadParameter(f"{name!r} is not a branch, tag or hash")
    return ref
