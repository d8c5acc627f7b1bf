"""A watched repository of specs: its branches, commits and relevant files."""

from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from stat import S_IFDIR, S_ISDIR, S_ISREG

from dulwich.errors import NotTreeError
from dulwich.graph import find_merge_base
from dulwich.object_store import iter_tree_contents, tree_lookup_path
from dulwich.objects import Blob, ObjectID

from kexbench.domain.commits import Commit
from kexbench.domain.moments import moment_of
from kexbench.domain.repositories import Repository
from kexbench.planning.commits import Files
from kexbench.planning.documents import MAX_DOCUMENT_BYTES
from kexbench.watch.errors import SourceError
from kexbench.watch.gitcopy import GitCopy

SPECS_MAX_CHARACTERS = 64 * 1024 * 1024
_BRANCH = "refs/heads/"
_BRANCH_MAX = 255
_USER = "git"
_SUFFIXES = (".yaml", ".yml")


class GitSource(GitCopy):
    """`folder` keeps every commit ever fetched, so that a rewritten history can be compared with the old one."""

    remedy_if_locked = "set passwordFile to a file with a token that may read it, and username to the token's user"

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository = repository
        super().__init__(repository.url, folder, f"repository {repository.name} ({repository.url})")

    def heads(self) -> dict[str, str]:
        """Fetch the watched and the planned branches, and return their heads."""
        fetched = self._fetch(_BRANCH, lambda ref: self._counts(ref.removeprefix(_BRANCH)))
        heads = {ref.removeprefix(_BRANCH): head for ref, head in fetched.items()}
        for branch in heads.keys() & set(self.repository.branches):
            self._keep(f"{_BRANCH}{branch}", heads[branch])
        return heads

    def fetch(self, refs: Collection[str]) -> dict[str, str]:
        """The same for other references, such as the heads of pull requests."""
        return self._fetch("refs/", lambda ref: ref in refs)

    def merge_base(self, commit: str, others: Collection[str]) -> str | None:
        """The newest common ancestor with any of the others, or None."""
        with self._source_errors():
            bases = find_merge_base(self._repo, [ObjectID(name.encode()) for name in (commit, *others)])
        return bases[0].decode() if bases and others else None

    def new_commits(self, head: str, handled: str) -> list[str]:
        """The commits of a branch after the handled one, from the oldest to the head. A merge counts as one."""
        commits = self.commits_since(handled, head)
        return self.commits_since_rewriting(handled, head)[0] if commits is None else commits

    def commit(self, branch: str, commit: str) -> Commit:
        stored = self._commit(commit)
        return Commit(
            repository=self.repository.name,
            branch=branch,
            commit=commit,
            title=self.message(commit).strip().partition("\n")[0][:500],
            author=stored.author.partition(b" <")[0].decode(errors="replace")[:200],
            committed_at=moment_of(stored.commit_time),
        )

    def files(self, commit: str | None) -> Files:
        """None stands for the state before the first commit, without files."""
        if commit is None:
            return Files({}, None)
        with self._source_errors():
            tree = self._commit(commit).tree
            specs = dict(self._bounded(self._texts(tree)))
            catalogue = specs.pop(self.repository.catalogue, None)
            if catalogue is None:
                catalogue = self._text(tree, self.repository.catalogue)
            return Files(specs, catalogue)

    def _counts(self, branch: str) -> bool:
        patterns = self.repository.planned_branches if len(branch) <= _BRANCH_MAX else ()
        return branch in self.repository.branches or any(fnmatchcase(branch, pattern) for pattern in patterns)

    def _credentials(self) -> tuple[str | None, str | None]:
        if self.repository.password_file is None:
            return self.repository.username, None
        password = Path(self.repository.password_file).read_text(encoding="utf-8").strip()
        return self.repository.username or _USER, password

    def _bounded(self, texts: Iterable[tuple[str, str | None]]) -> Iterator[tuple[str, str | None]]:
        """Limits the memory that a pull request can take. Raises SourceError."""
        length = 0
        for path, text in texts:
            length += len(path) + len(text or "")
            if length > SPECS_MAX_CHARACTERS:
                fault = f"repository {self.repository.name} has more than {SPECS_MAX_CHARACTERS:,} characters of specs"
                raise SourceError(f"{fault}\n  remedy: remove other files, or set specs to a smaller folder")
            yield path, text

    def _texts(self, tree: ObjectID) -> Iterator[tuple[str, str | None]]:
        """Path in the repository and text of each document in the folder of specs."""
        folder = self.repository.specs
        mode, top = (S_IFDIR, tree) if folder == "." else self._entry(tree, folder)
        if not S_ISDIR(mode):
            return
        for entry in iter_tree_contents(self._repo.object_store, top):
            path = str(PurePosixPath(folder, (entry.path or b"").decode(errors="replace")))
            if entry.sha and S_ISREG(entry.mode or 0) and path.endswith(_SUFFIXES):
                yield path, self._blob(entry.sha)

    def _text(self, tree: ObjectID, path: str) -> str | None:
        mode, name = self._entry(tree, path)
        return self._blob(name) if S_ISREG(mode) else None

    def _entry(self, tree: ObjectID, path: str) -> tuple[int, ObjectID]:
        """Mode and object of a path; mode 0 if there is nothing."""
        try:
            return tree_lookup_path(self._repo.__getitem__, tree, path.encode())
        except (KeyError, NotTreeError):
            return 0, tree

    def _blob(self, name: ObjectID) -> str | None:
        """The text, or None for other content. A text that is too large is cut just above the limit."""
        blob = self._repo[name]
        if not isinstance(blob, Blob):
            return None
        if len(blob.data) > MAX_DOCUMENT_BYTES:
            return blob.data[: MAX_DOCUMENT_BYTES + 4].decode(errors="ignore")
        try:
            return blob.data.decode()
        except UnicodeDecodeError:
            return None
