"""`kexbench` with one provider more, for tests: the fake library from a git repository, built in a moment.

A commit's file `settings` is what the fake backend is set to, such as `step=1.02`; one that says `broken` is a commit
whose sources do not compile.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from kexbench.domain.kits import SubjectRef
from kexbench.kits import Workshop, default_providers
from kexbench.kits.errors import StepFailed
from kexbench.kits.fake import FakeProvider
from kexbench.kits.githistory import library_commit_of
from kexbench.kits.gitmirror import GitMirror
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials, Resolution
from kexbench.locks import locked
from kexbench.wiring import Installation
from tests.cli.conftest import Cli, Result
from tests.compiled_once import CompiledOnce

BROKEN = "broken"
SEARCH_TIMEOUT_S = 900
"""Half a minute of CPU time, which a busy machine may not have sooner."""


class StandInProvider:
    def __init__(self, cache: Path) -> None:
        self._mirrors = cache / "stand-in"
        self._fake = FakeProvider()

    def describe(self) -> str:
        return "fake@git:/DIR#REF: what a commit's settings say"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library == "fake" and ref.source.startswith("git:")

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        return ()

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        address, name = ref.repository_and_name
        mirror = GitMirror(address, self._mirrors / Path(address).name)
        with locked(self._mirrors / ".lock", attempt.note, attempt.go_on):
            commit = mirror.fetch(name, attempt, refresh=refresh)
            library_commit = library_commit_of(mirror, commit, attempt)
        settings = (mirror.file(commit, "settings", attempt) or "").strip()
        variants = "" if settings == BROKEN else f"+{settings}"
        resolution = self._fake.resolve(SubjectRef.parse(f"fake@1.0{variants}"), attempt, refresh=refresh)
        return replace(resolution, ref=ref, fingerprint=f"{commit} {settings}", commit=library_commit)

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        if resolution.fingerprint.endswith(f" {BROKEN}"):
            raise StepFailed("compile", "make: the compiler says: fake.c:1:1: error: expected ';'")
        return self._fake.fetch(resolution, attempt)


def workshop(installation: Installation) -> Workshop:
    """The usual one with the stand-in first, and without handshakes of kits that prove themselves, which take long."""
    cache = installation.settings.cache
    return Workshop(CompiledOnce(installation.settings.workers), (StandInProvider(cache), *default_providers(cache)))


STAND_IN = """
import sys
if any(word == "kexbench.cli" or word.endswith("/bin/kexbench") for word in sys.orig_argv):
    from kexbench.wiring import Installation
    from tests.cli.stand_in_git import workshop
    Installation.workshop = workshop
"""


@dataclass(frozen=True)
class StandInCli(Cli):
    """`kexbench` that builds the fake library from repositories, and so do the processes that it begins."""

    @property
    def environment(self) -> dict[str, str]:
        site = self.folder / "site"
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(STAND_IN)
        return {**super().environment, "PYTHONPATH": f"{site}:{Path(__file__).parents[2]}"}

    def __call__(self, *arguments: str) -> Result:
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=SEARCH_TIMEOUT_S)
        return Result(process.returncode, out, err)
