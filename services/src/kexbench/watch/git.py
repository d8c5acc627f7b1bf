"""A watched repository of specs: its branches, commits and relevant files."""

from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from posixpath import normpath
from stat import S_IFDIR, S_ISDIR, S_ISLNK, S_ISREG

from dulwich.graph import find_merge_base
from dulwich.object_store import iter_tree_contents
from dulwich.objects import S_ISGITLINK, Blob, ObjectID, Tree, TreeEntry

from kexbench.domain.commits import Commit
from kexbench.domain.moments import moment_of
from kexbench.domain.repositories import Repository
from kexbench.planning.commits import Files, Unusable
from kexbench.planning.documents import MAX_DOCUMENT_BYTES
from kexbench.watch.errors import SourceError
from kexbench.watch.gitcopy import GitCopy

SPECS_MAX_CHARACTERS = 64 * 1024 * 1024
_BRANCH, _DEFAULT = "refs/heads/", "HEAD"
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

    def start(self) -> str | None:
        """Fetch what a branch that does not exist yet will probably be made from: the default branch, or the newest of
        all if HEAD leads nowhere. Returns its head, or None without commits."""
        default = self._fetch(_DEFAULT, lambda ref: ref == _DEFAULT).get(_DEFAULT)
        if default is not None:
            return default
        heads = self._fetch(_BRANCH, lambda _: True).values()
        return max(heads, key=lambda head: self._commit(head).commit_time, default=None)

    def unwatched_heads(self) -> Collection[str]:
        """Fetch all branches that are not watched, and return their heads."""
        return self._fetch(_BRANCH, lambda ref: ref.removeprefix(_BRANCH) not in self.repository.branches).values()

    def merge_base(self, commit: str, others: Collection[str]) -> str | None:
        """The newest common ancestor with any of the others, or None."""
        with self._source_errors():
            bases = find_merge_base(self._repo, [ObjectID(name.encode()) for name in (commit, *others)])
        return bases[0].decode() if bases and others else None

    def new_commits(self, head: str, handled: Collection[str]) -> list[str] | None:
        """The commits of a branch that are in the history of no handled commit, oldest first. A merge counts as one.
        None if the branch and the handled commits have nothing in common."""
        new, fork = self._outside(head, handled)
        return new if fork is not None or not handled else None

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
                catalogue = self._text(tree, self.repository.catalogue, specs)
            return Files(specs, catalogue)

    def _counts(self, branch: str) -> bool:
        patterns = self.repository.planned_branches if len(branch) <= _BRANCH_MAX else ()
        return branch in self.repository.branches or any(fnmatchcase(branch, pattern) for pattern in patterns)

    def _credentials(self) -> tuple[str | None, str | None]:
        if self.repository.password_file is None:
            return self.repository.username, None
        password = Path(self.repository.password_file).read_text(encoding="utf-8").strip()
        return self.repository.username or _USER, password

    def _bounded(self, texts: Iterable[tuple[str, str | Unusable]]) -> Iterator[tuple[str, str | Unusable]]:
        """Limits the memory that a pull request can take. Raises SourceError."""
        length = 0
        for path, text in texts:
            length += len(path) + (len(text) if isinstance(text, str) else 0)
            if length > SPECS_MAX_CHARACTERS:
                fault = f"repository {self.repository.name} has more than {SPECS_MAX_CHARACTERS:,} characters of specs"
                raise SourceError(f"{fault}\n  remedy: remove other files, or set specs to a smaller folder")
            yield path, text

    def _texts(self, tree: ObjectID) -> Iterator[tuple[str, str | Unusable]]:
        """Path in the repository and text of each document in the folder of specs."""
        folder, mode, top = self._entry(tree, self.repository.specs)
        if _is_elsewhere(mode):
            yield folder, Unusable.NO_FILE
        if not S_ISDIR(mode):
            return
        for entry in iter_tree_contents(self._repo.object_store, top):
            name = (entry.path or b"").decode(errors="backslashreplace")
            path, mode = str(PurePosixPath(folder, name)), entry.mode or 0
            if not entry.sha or not (path.endswith(_SUFFIXES) or self._leads_outside(tree, path, entry)):
                continue
            if not path.isprintable() or name.encode() != entry.path:
                yield path.encode("unicode_escape").decode(), Unusable.NAME
            elif S_ISREG(mode):
                yield path, self._blob(entry.sha)
            elif _is_elsewhere(mode):
                yield path, Unusable.NO_FILE

    def _leads_outside(self, tree: ObjectID, path: str, entry: TreeEntry) -> bool:
        """Whether specs may be behind it that are not read: a submodule, or a link to anything but a file or what is
        below the folder of specs."""
        if not S_ISLNK(entry.mode or 0) or not entry.sha:
            return S_ISGITLINK(entry.mode or 0)
        target = normpath(PurePosixPath(path).parent / self._repo[entry.sha].as_raw_string().decode(errors="replace"))
        if target.startswith(("/", "..")):
            return True
        mode = self._entry(tree, target)[1]
        is_read = PurePosixPath(target).is_relative_to(self.repository.specs)
        return not is_read and (S_ISDIR(mode) or _is_elsewhere(mode))

    def _text(self, tree: ObjectID, path: str, specs: Collection[str]) -> str | Unusable | None:
        """None also if the folder on the way is a link that is reported among the specs."""
        place, mode, name = self._entry(tree, path)
        if _is_elsewhere(mode):
            return None if place in specs else Unusable.NO_FILE
        return self._blob(name) if S_ISREG(mode) else None

    def _entry(self, tree: ObjectID, path: str) -> tuple[str, int, ObjectID]:
        """Path, mode and object of a path, or of the first link or submodule on the way there. Mode 0 if there is
        nothing."""
        place, mode, name = PurePosixPath(), S_IFDIR, tree
        for part in PurePosixPath(path).parts:
            if _is_elsewhere(mode):
                break
            folder = self._repo[name]
            if not isinstance(folder, Tree) or part.encode() not in folder:
                return path, 0, tree
            place, (mode, name) = place / part, folder[part.encode()]
        return str(place), mode, name

    def _blob(self, name: ObjectID) -> str | Unusable:
        """The text. One that is too large is cut just above the limit."""
        blob = self._repo[name]
        assert isinstance(blob, Blob), "regular files are blobs"
        if len(blob.data) > MAX_DOCUMENT_BYTES:
            return blob.data[: MAX_DOCUMENT_BYTES + 4].decode(errors="ignore")
        try:
            return blob.data.decode()
        except UnicodeDecodeError:
            return Unusable.NOT_UTF8


def _is_elsewhere(mode: int) -> bool:
    return S_ISLNK(mode) or S_ISGITLINK(mode)
