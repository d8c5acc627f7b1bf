"""`kexbench bisect`: the commit of a library that made handshakes slower.

One repository and two refs in it, as with `git bisect`: a good and a bad *reference* (`openssl@git:…#REF`, as `compare`
takes) would write the repository twice and could name two of them, which have no history in common. The repository
is the folder one stands in unless `--repository` says otherwise.
"""

from typing import Annotated

import typer

from kexbench.analysis.bisect import Found, most_builds
from kexbench.analysis.bisect_answer import answer
from kexbench.analysis.bisect_notes import Notes, NotMeasured
from kexbench.api.bisection_models import BisectionWanted
from kexbench.cli.bisect_notes import NotesFile
from kexbench.cli.bisect_search import find
from kexbench.cli.bisect_words import print_answer
from kexbench.cli.bisections import CANNOT_SAY, begin_and_follow
from kexbench.cli.compare import Cases, SpecMatrix, matrices_of
from kexbench.cli.compose import cases_for
from kexbench.cli.console import err, print_json, say
from kexbench.cli.plan import AsJson
from kexbench.cli.references import typed_reference
from kexbench.domain.kits import SubjectRef
from kexbench.kits.git import GitOrigin
from kexbench.pipeline import read_spec
from kexbench.planning.bisection import usual_invocations
from kexbench.planning.compose import USUAL
from kexbench.settings import Settings
from kexbench.wiring import Installation


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
        typer.Option("--queued", help="Have the service see to it, and follow it. So it is with KEXBENCH_API_URL."),
    ] = False,
    pool: Annotated[str | None, typer.Option(help="Of a cluster, where it has several.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Find the commit between GOOD and BAD that made handshakes slower (or faster).

    GOOD must be an ancestor of BAD. Commits are those of the first parents: a merge counts as one. Some of them are
    built, and measured beside both ends on one core; those that do not build are passed over. What is known is kept:
    started again with the same arguments it goes on.

    With --queued the `kexbench serve` of this machine does all of it in the turns of its queue, or a cluster where
    KEXBENCH_API_URL says where it is; Ctrl-C ends the following alone. See `kexbench bisections`.

    Exit status: 0 the commit is found, or a few of which all but the last do not build; 4 it cannot say; 1 it could not
    be measured.

    Examples:

        cd ~/src/openssl && kexbench bisect openssl openssl-3.5.0 openssl-3.5.4 --case '*rsa-2048*'
        kexbench bisect openssl $(git rev-parse HEAD~40) HEAD --builds 14
        kexbench bisect openssl openssl-3.5.0 openssl-3.5 --repository https://github.com/openssl/openssl.git
        kexbench bisect openssl openssl-3.5.0 openssl-3.5.4 --queued
    """
    ends = (_commit(library, repository, good), _commit(library, repository, bad))
    settings = Settings()
    address = ends[0].source.removeprefix("git:").partition("#")[0]
    if queued or settings.api_url is not None:
        wanted = BisectionWanted(
            library=ends[0].library,
            repository=address,
            good=good,
            bad=bad,
            cases=case or [],
            spec_text=read_spec(spec) if spec else None,
            pool=pool,
            invocations=invocations,
            builds=builds,
            anew=anew,
        )
        raise typer.Exit(begin_and_follow(wanted, as_json=as_json))
    cases = cases_for(matrices_of(spec) if spec else list(USUAL), case or ())
    installation = Installation(settings)
    commits = GitOrigin(installation.settings.cache).commits(*ends, say)
    if len(commits) == 1:
        raise typer.BadParameter(f"{good} and {bad} are the same commit, {commits[0].hash}")
    asked = Notes(
        library=ends[0].library,
        address=address,
        commits=commits,
        case_ids=tuple(each.case_id for each in cases),
        invocations=invocations or usual_invocations(cases),
    )
    file = NotesFile(installation.settings.home, asked)
    most = builds or most_builds(asked.last)
    with file.held():
        if not anew:
            file.read()
        say(f"{len(commits)} commits from {good} to {bad}, at most {most} builds; notes are in {file.path}")
        try:
            found = find(installation, file, cases, most)
        except NotMeasured as error:
            err.print(str(error), markup=False)
            raise typer.Exit(1) from None
    told = answer(file.notes, cases, (good, bad), most, found)
    if as_json:
        print_json(told.model_dump(mode="json"))
    else:
        print_answer(told)
    raise typer.Exit(0 if isinstance(found, Found) else CANNOT_SAY)


def _commit(library: str, repository: str, name: str) -> SubjectRef:
    """Raises BadParameter."""
    ref = typed_reference(f"{library}@git:{repository}#{name}")
    if ref.origin != ref.source:
        raise typer.BadParameter(f"{name!r} is not a branch, tag or hash")
    return ref
