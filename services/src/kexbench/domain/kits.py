"""What a kit is: the reference of its subject, how it was built, and the manifest that identifies it."""

import re
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kexbench.domain.canonical import content_hash
from kexbench.domain.components import components_of
from kexbench.domain.frozen import Frozen
from kexbench.domain.libraries import LIBRARIES, MADE_UP, Library
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.variants import Variant, split_variant
from kexbench.domain.versions import commit_key, version_key

__all__ = ["Library"]

KIT_PLACEHOLDER = "{kit}"
"""Stands in a manifest's environment for the folder the kit lies in."""


def _inside_the_kit(path: str) -> str:
    if not path or path.startswith("/") or ".." in path.split("/") or "\n" in path:
        raise ValueError(f"not a path inside a kit: {path!r}")
    return path


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
RelativePath = Annotated[str, AfterValidator(_inside_the_kit)]
SOURCE_MAX_LENGTH = 300
_PATH = r"(?:/\.?[A-Za-z0-9_+=~@%-][A-Za-z0-9._+=~@%-]*)+"
SOURCE_PATTERN = (
    r"^(?:[a-z0-9][A-Za-z0-9._+=~-]*(?:/[A-Za-z0-9][A-Za-z0-9._+=~-]*)*"
    rf"|prefix:{_PATH}"
    rf"|(?:tarball|git):(?:https?://[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?)?{_PATH}#[A-Za-z0-9][A-Za-z0-9._/+=-]*)$"
)
"""Words with slashes between them; or `prefix:` and an absolute path; or `tarball:` or `git:`, an absolute path or an
address, `#`, and what is meant of it. Never `..` as a part of a path, a blank or an empty part."""


class BuildProfile(Frozen):
    """How a kit was made. Series of different profiles never join: relinking alone moves timings."""

    provider: str = Field(description="where the binaries or their sources are from, such as debian or crate")
    linkage: Literal["shared", "static"] = "shared"
    compiler: str = Field(description="of the library; `distribution` for a distribution's binaries")
    flags: str = Field(description="of the library's build; `distribution` for a distribution's binaries")
    libc: str
    architecture: str = Field(description="as the kernel names it, such as x86_64")

    @property
    def id(self) -> str:
        """A short content hash, equal for equal profiles."""
        return content_hash(self.model_dump(mode="json"), length=8)

    @property
    def label(self) -> str:
        """What a person reads: `debian shared x86_64`; flags only where they are known and the builder's own choice."""
        own = [word for word in (self.compiler, self.flags) if word not in ("distribution", "none", "unknown")]
        return " ".join([self.provider, self.linkage, *own, self.architecture])


class SubjectRef(Frozen):
    """A library from a source, as people write it: `openssl@system`, `openssl@debian/trixie+burn=3000`, `fake@1.0`."""

    library: Library
    source: str

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_source(self.library, self.source)
        return self

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError with what is wrong, in words for the person who wrote it."""
        library, at, source = text.partition("@")
        if not at:
            raise ValueError(f"{text!r} names no source; write it as {library or 'openssl'}@system")
        if library not in LIBRARIES:
            raise ValueError(f"unknown library {library!r}; there are {', '.join(LIBRARIES)}")
        _check_source(library, source)  # first, since pydantic would put words of its own before the reason
        return cls.model_validate({"library": library, "source": source})

    @property
    def origin(self) -> str:
        """The source without its variants."""
        return self._split[0]

    @property
    def variant(self) -> Variant:
        """How the source is built differently on purpose."""
        return self._split[1]

    @property
    def told_version(self) -> str | None:
        """The version that the source names itself, or None where that depends on what the source has now."""
        return self.origin.removeprefix("crate/") if self.origin.startswith("crate/") else None

    @property
    def _split(self) -> tuple[str, Variant]:
        return (self.source, Variant()) if self.library in MADE_UP else split_variant(self.source)

    def __str__(self) -> str:
        return f"{self.library}@{self.source}"


_EXAMPLES = {
    "tarball:": "a tarball is an absolute path or an address with its SHA-256, as in tarball:/src/a.tar.gz#sha256=…",
    "git:": "a repository is an absolute path or an address with a ref, as in git:/src/openssl#master",
    "prefix:": "a prefix is an absolute path of letters, digits and ._+=~@- such as prefix:/opt/openssl",
}


def _check_source(library: str, source: str) -> None:
    if len(source) > SOURCE_MAX_LENGTH:
        raise ValueError(f"{source[:40]!r}… is not a source; it has more than {SOURCE_MAX_LENGTH} characters")
    if not re.fullmatch(SOURCE_PATTERN, source):
        for kind, example in _EXAMPLES.items():
            if source.startswith(kind):
                raise ValueError(f"{source!r} is not a source; {example}")
        raise ValueError(f"{source!r} is not a source; sources look like system or debian/trixie")
    if library not in MADE_UP:  # whose settings look like variants
        split_variant(source)


class Package(Frozen):
    """What gave files to a kit: a distribution's package, or an archive of sources."""

    name: str
    version: str
    sha256: Sha256 | None = Field(description="of the file that was fetched; null when there was none to fetch")


class Licence(Frozen):
    """Under which licences a kit can be passed on, as SPDX expressions."""

    library: str
    bundled: dict[str, str] = Field({}, description="by file of the kit or package; what isn't known is left out")


class Launch(Frozen):
    """How to start a kit's worker: nothing of the caller's environment is to be added."""

    arguments: tuple[str, ...]
    environment: dict[str, str]
    folder: str = Field(description="the working directory; the kit's own paths are relative to it")


class KitManifest(Frozen):
    """All that decides what a kit measures. Equal contents have equal ids, wherever and whenever made."""

    format_version: Literal[1] = 1
    kit_id: str = Field(pattern=r"^[0-9a-f]{16}$")
    library: Library
    version: str = Field(description="as the library reports it, without a distribution's revision")
    version_key: str = Field(description="sorts as text in version order, commits of one version by their history")
    source: str
    build_profile: BuildProfile
    worker: tuple[str, ...] = Field(min_length=1, description="arguments; paths are relative to the kit's folder")
    arguments: tuple[str, ...] = Field((), description="more arguments, such as the fake backend's settings")
    environment: dict[str, str] = Field(description=f"the worker's whole environment; {KIT_PLACEHOLDER} is the folder")
    packages: tuple[Package, ...] = ()
    worker_compiler: str
    worker_flags: str
    worker_source_sha256: Sha256
    files: dict[RelativePath, Sha256] = Field(min_length=1, description="every file but the manifest itself")
    heap_counter: RelativePath | None = Field(
        None, description="the shared object to preload when the heap is to be counted; null in kits from before it"
    )

    configure: tuple[str, ...] = Field((), description="words for the library's own configuration, where it was built")
    fips: bool = Field(False, description="whether it holds OpenSSL's FIPS module, with ossl-modules/fips.cnf for it")
    licence: Licence | None = Field(None, description="null in kits from before it")
    commit: LibraryCommit | None = Field(None, description="that it was built from; null where it is of no commit")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.version_key != _order(self.version, self.commit):
            raise ValueError(f"version_key {self.version_key!r} is not that of version {self.version!r}")
        if self.heap_counter is not None and self.heap_counter not in self.files:
            raise ValueError(f"heap_counter {self.heap_counter!r} is not among the kit's files")
        if self.kit_id != (expected := _identity(self.model_dump(mode="json"))):
            raise ValueError(f"kit_id {self.kit_id} doesn't match the manifest's contents, which give {expected}")
        return self

    @classmethod
    def sealed(cls, **fields: Any) -> Self:
        """A manifest with `kit_id` and `version_key` worked out from the other fields."""
        blank = {**fields, "kit_id": "0" * 16, "version_key": _order(fields["version"], fields.get("commit"))}
        draft = cls.model_construct(**blank)
        return cls.model_validate({**blank, "kit_id": _identity(draft.model_dump(mode="json"))})

    @property
    def ref(self) -> SubjectRef:
        return SubjectRef(library=self.library, source=self.source)

    @property
    def components(self) -> dict[str, str]:
        """What the library stands on, each with its version: nettle, GMP, libc, zlib and its compiler, where known."""
        return components_of(((one.name, one.version) for one in self.packages), self.build_profile.compiler)

    @property
    def folder_name(self) -> str:
        """Readable first, unique by the id: `openssl-3.5.7-0123456789abcdef`."""
        return f"{self.library}-{self.version}-{self.kit_id}"

    def launch(self, kit: PurePath, material: PurePath, *more: str, count_heap: bool = False) -> Launch:
        """How to start the worker of the kit that lies in `kit`. Both folders must be absolute.

        `count_heap` makes the worker count its heap, which costs time: not for what is timed. Raises ValueError.
        """
        if not (kit.is_absolute() and material.is_absolute()):
            raise ValueError("the folders of kit and material must be absolute: the worker starts inside the kit")
        environment = {name: value.replace(KIT_PLACEHOLDER, str(kit)) for name, value in self.environment.items()}
        if count_heap:
            if self.heap_counter is None:
                raise ValueError(f"kit {self.kit_id} has no heap counter: add {self.ref} again")
            # Relative, as the worker is: of an absolute path the loader would split one with a blank or a colon.
            environment["LD_PRELOAD"] = self.heap_counter
        return Launch(
            arguments=(
                str(kit / self.worker[0]),
                *self.worker[1:],
                "--material",
                str(material),
                *self.arguments,
                *more,
            ),
            environment=environment,
            folder=str(kit),
        )


def _order(version: str, commit: LibraryCommit | None) -> str:
    return commit_key(version, commit.committed_at, commit.authored_at) if commit else version_key(version)


_WITHOUT: dict[str, Any] = {"heap_counter": None, "configure": [], "fips": False, "licence": None, "commit": None}
"""Later fields and what their absence means: with that value they don't count, so older manifests keep their ids."""


def _identity(manifest: dict[str, Any]) -> str:
    return content_hash(
        {
            name: value
            for name, value in manifest.items()
            if name != "kit_id" and not (name in _WITHOUT and value == _WITHOUT[name])
        }
    )
