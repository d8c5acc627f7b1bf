"""The port on git, read with dulwich: no git program runs, no hook, and nobody's settings are read."""

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path, PurePosixPath
from stat import S_IFDIR, S_ISDIR, S_ISREG

import urllib3.exceptions
from dulwich.client import HTTPUnauthorized, get_transport_and_path
from dulwich.config import ConfigDict, StackedConfig
from dulwich.errors import FileFormatException, GitProtocolError, HangupException, NotGitRepository, NotTreeError
from dulwich.graph import find_merge_base
from dulwich.object_store import iter_tree_contents, tree_lookup_path
from dulwich.objects import Blob, ObjectID
from dulwich.objects import Commit as GitCommit
from dulwich.refs import Ref
from dulwich.repo import Repo

from kexbench.domain.commits import NO_COMMIT, Commit
from kexbench.domain.moments import moment_of
from kexbench.domain.repositories import Repository
from kexbench.planning.commits import Files
from kexbench.planning.documents import MAX_DOCUMENT_BYTES
from kexbench.watch.source import SourceError

SPECS_MAX_CHARACTERS = 64 * 1024 * 1024
_BRANCH = "refs/heads/"
_BRANCH_MAX = 255
_USER = "git"
_SUFFIXES = (".yaml", ".yml")


class GitSource:
    """Implements Source. `folder` keeps a bare copy with every commit that was ever seen, so that history which was
    rewritten can still be compared with. For one process at a time."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository = repository
        with _telling(repository):
            self._copy = _opened(folder)

    def close(self) -> None:
        self._copy.close()

    def heads(self) -> dict[str, str]:
        found = self._fetch(lambda ref: ref.startswith(_BRANCH) and self._counts(ref.removeprefix(_BRANCH)))
        heads = {ref.removeprefix(_BRANCH): head for ref, head in found.items()}
        with _telling(self.repository):
            for branch in heads.keys() & set(self.repository.branches):  # what is had already is told by references
                self._copy.refs[Ref(f"{_BRANCH}{branch}".encode())] = ObjectID(heads[branch].encode())
        return heads

    def fetch(self, refs: Collection[str]) -> dict[str, str]:
        return self._fetch(lambda ref: ref in refs)

    def merge_base(self, commit: str, others: Collection[str]) -> str | None:
        with _telling(self.repository):
            found = find_merge_base(self._copy, [ObjectID(one.encode()) for one in (commit, *others)])
        return found[0].decode() if found and others else None

    def new_commits(self, head: str, handled: str) -> list[str]:
        line = list(takewhile(lambda commit: commit != handled, self._first_parents(head)))
        if handled == NO_COMMIT or self.parent(line[-1]) == handled:
            return line[::-1]
        with _telling(self.repository):  # history was rewritten
            if ObjectID(handled.encode()) not in self._copy.object_store:
                return [head]
            walker = self._copy.get_walker(include=[ObjectID(handled.encode())])
            known = {entry.commit.id.decode() for entry in walker}
        return list(takewhile(lambda commit: commit not in known, line))[::-1]

    def commit(self, branch: str, commit: str) -> Commit:
        found = self._commit(commit)
        return Commit(
            repository=self.repository.name,
            branch=branch,
            commit=commit,
            title=self.message(commit).strip().partition("\n")[0][:500],
            author=found.author.partition(b" <")[0].decode(errors="replace")[:200],
            committed_at=moment_of(found.commit_time),
        )

    def message(self, commit: str) -> str:
        text: bytes = self._commit(commit).message
        return text.decode(errors="replace")

    def parent(self, commit: str) -> str | None:
        return next((parent.decode() for parent in self._commit(commit).parents), None)

    def files(self, commit: str | None) -> Files:
        if commit is None:
            return Files({}, None)
        with _telling(self.repository):
            tree = self._commit(commit).tree
            specs = dict(self._bounded(self._texts(tree)))
            catalogue = specs.pop(self.repository.catalogue, None)
            if catalogue is None:
                catalogue = self._text(tree, self.repository.catalogue)
            return Files(specs, catalogue)

    def _counts(self, branch: str) -> bool:
        patterns = self.repository.planned_branches if len(branch) <= _BRANCH_MAX else ()
        return branch in self.repository.branches or any(fnmatchcase(branch, pattern) for pattern in patterns)

    def _fetch(self, counts: Callable[[str], bool]) -> dict[str, str]:
        """Where the references lead to that count, with all that is there."""

        def wanted(refs: Mapping[Ref, ObjectID | None]) -> dict[str, ObjectID]:
            named = {name.decode(errors="replace"): head for name, head in refs.items() if head is not None}
            return {name: head for name, head in named.items() if counts(name)}

        def missing(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:  # noqa: ARG001 (dulwich's)
            return [head for head in set(wanted(refs).values()) if head not in self._copy.object_store]

        with _telling(self.repository):
            username, password = _credentials(self.repository)
            client, path = get_transport_and_path(
                self.repository.url, config=ConfigDict(), quiet=True, username=username, password=password
            )
            found = client.fetch(path, self._copy, determine_wants=missing)
        return {name: head.decode() for name, head in wanted(found.refs).items()}

    def _bounded(self, texts: Iterable[tuple[str, str | None]]) -> Iterator[tuple[str, str | None]]:
        """So that nobody who proposes something fills the memory."""
        length = 0
        for path, text in texts:
            length += len(path) + len(text or "")
            if length > SPECS_MAX_CHARACTERS:
                what = f"repository {self.repository.name} has more than {SPECS_MAX_CHARACTERS:,} characters of specs"
                raise SourceError(f"{what}\n  remedy: take out what is none, or name a smaller folder as specs")
            yield path, text

    def _first_parents(self, commit: str) -> Iterator[str]:
        """A commit and its ancestors, of merges the first."""
        newest: str | None = commit
        while newest is not None:
            yield newest
            newest = self.parent(newest)

    def _commit(self, commit: str) -> GitCommit:
        with _telling(self.repository):
            found = self._copy[ObjectID(commit.encode())]
            assert isinstance(found, GitCommit), "branches lead to commits"
            return found

    def _texts(self, tree: ObjectID) -> Iterator[tuple[str, str | None]]:
        """Every document in the folder of specs, by its path in the repository."""
        folder = self.repository.specs
        mode, top = (S_IFDIR, tree) if folder == "." else self._entry(tree, folder)
        if not S_ISDIR(mode):
            return
        for entry in iter_tree_contents(self._copy.object_store, top):
            path = str(PurePosixPath(folder, (entry.path or b"").decode(errors="replace")))
            if entry.sha and S_ISREG(entry.mode or 0) and path.endswith(_SUFFIXES):
                yield path, self._blob(entry.sha)

    def _text(self, tree: ObjectID, path: str) -> str | None:
        mode, found = self._entry(tree, path)
        return self._blob(found) if S_ISREG(mode) else None

    def _entry(self, tree: ObjectID, path: str) -> tuple[int, ObjectID]:
        """Mode and name of what is at a path; mode 0 where there is nothing."""
        try:
            return tree_lookup_path(self._copy.__getitem__, tree, path.encode())
        except (KeyError, NotTreeError):
            return 0, tree

    def _blob(self, name: ObjectID) -> str | None:
        """The text; None of what is none. Of one that is too large, as much as shows that it is."""
        found = self._copy[name]
        if not isinstance(found, Blob):
            return None
        if len(found.data) > MAX_DOCUMENT_BYTES:
            return found.data[: MAX_DOCUMENT_BYTES + 4].decode(errors="ignore")
        try:
            return found.data.decode()
        except UnicodeDecodeError:
            return None


def _opened(folder: Path) -> Repo:
    """One that was made by half is made anew: everything in it can be fetched again."""
    try:
        return Repo(str(folder))
    except NotGitRepository:
        shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return Repo.init_bare(str(folder), mkdir=True, config=StackedConfig([]))


def _credentials(repository: Repository) -> tuple[str | None, str | None]:
    """Name and password. Raises OSError."""
    if repository.password_file is None:
        return repository.username, None
    return repository.username or _USER, Path(repository.password_file).read_text(encoding="utf-8").strip()


@contextmanager
def _telling(repository: Repository) -> Iterator[None]:
    """Every error of git as a SourceError."""
    named = f"repository {repository.name} ({repository.url})"
    try:
        yield
    except HTTPUnauthorized as error:
        remedy = "name a file with a token that may read it as passwordFile, and its user as username"
        raise SourceError(f"{named} asks for a password\n  remedy: {remedy}") from error
    except NotGitRepository as error:
        raise SourceError(f"{named} is no git repository\n  remedy: correct its url") from error
    except (FileFormatException, NotTreeError) as error:
        raise SourceError(
            f"{named} has an object that is none of git's: {error}\n  remedy: git fsck finds it"
        ) from error
    except (GitProtocolError, HangupException, urllib3.exceptions.HTTPError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise SourceError(
            f"{named} can't be read: {reason}\n  remedy: is it up, and may this process reach it?"
        ) from error
    except KeyError as error:
        remedy = "delete the copy that the watcher keeps of it; it is fetched anew"
        raise SourceError(f"{named} lacks object {error}\n  remedy: {remedy}") from error
