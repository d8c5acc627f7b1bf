"""Kits: the reference of a subject, the build profile, and the manifest that identifies a kit."""

import re
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kexbench.domain.canonical import content_hash
from kexbench.domain.components import components_of
from kexbench.domain.frozen import Frozen
from kexbench.domain.libraries import CRATES, LIBRARIES, MADE_UP, REAL, Library
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.variants import Variant, split_variant
from kexbench.domain.versions import commit_key, version_key

__all__ = ["Library"]

KIT_PLACEHOLDER = "{kit}"
"""The kit's folder in a manifest's environment."""


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
    rf"|deb:{_PATH}#[a-z][a-z0-9+=-]*"
    rf"|(?:tarball|git):(?:https?://[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?)?{_PATH}#[A-Za-z0-9][A-Za-z0-9._/+=-]*)$"
)
"""Words separated by slashes; or `prefix:` and an absolute path; or `deb:`, an absolute path, `#`, and a suite; or
`tarball:` or `git:`, an absolute path or an address, `#`, and a hash or ref. Blanks, empty parts and `..` in paths are
not allowed."""


class BuildProfile(Frozen):
    """How a kit was built. Series of different profiles never join, since relinking alone changes timings."""

    provider: str = Field(description="origin of the binaries or their sources, such as debian or crate")
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
        """The title for people: `debian shared x86_64`, with flags where they are known and the builder's choice."""
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
        """Raises ValueError with a text for the person who wrote the reference."""
        library, at, source = text.partition("@")
        if not at:
            raise ValueError(f"{text!r} has no {_missing_part(text)}")
        if library not in LIBRARIES:
            raise ValueError(f"unknown library {library!r}; there are {', '.join(REAL)}")
        _check_source(library, source)  # first, since pydantic would put its own text before the reason
        return cls.model_validate({"library": library, "source": source})

    @property
    def origin(self) -> str:
        """The source without its variants."""
        return self._split[0]

    @property
    def variant(self) -> Variant:
        """The variant of the source."""
        return self._split[1]

    @property
    def repository_and_name(self) -> tuple[str, str]:
        """For a git source: the repository's address, and the branch, tag or commit."""
        address, _, name = self.origin.removeprefix("git:").partition("#")
        return address, name

    @property
    def is_local(self) -> bool:
        """Whether the source is a path of this machine."""
        return re.match(r"(?:prefix|deb|git|tarball):/", self.origin) is not None

    @property
    def told_version(self) -> str | None:
        """The version in the source's name, or None where the version depends on what the source has now."""
        if self.origin.startswith("toolchain/"):
            return self.origin.removeprefix("toolchain/")
        crate = CRATES.get(self.library)
        tells = crate is not None and crate.tells_version and self.origin.startswith("crate/")
        return self.origin.removeprefix("crate/") if tells else None

    @property
    def _split(self) -> tuple[str, Variant]:
        return (self.source, Variant()) if self.library in MADE_UP else split_variant(self.source)

    def __str__(self) -> str:
        return f"{self.library}@{self.source}"


_EXAMPLES = {
    "tarball:": "a tarball is an absolute path or an address with its SHA-256, as in tarball:/src/a.tar.gz#sha256=…",
    "git:": "a repository is an absolute path or an address with a ref, as in git:/src/openssl#master",
    "deb:": "packages are an absolute path with a suite in small letters, as in deb:/build/debs#bookworm",
    "prefix:": "a prefix is an absolute path of letters, digits and ._+=~@- such as prefix:/opt/openssl",
}


def _missing_part(text: str) -> str:
    """What a reference without `@` lacks, with the remedy."""
    if text in LIBRARIES:
        return f"source; write it as {text}@system"
    if text == "system" or "/" in text or ":" in text:
        return f"library; write it as {REAL[0]}@{text}"
    return f"source; write it like {REAL[0]}@system"


def _check_source(library: str, source: str) -> None:
    if len(source) > SOURCE_MAX_LENGTH:
        raise ValueError(f"{source[:40]!r}… is not a source: it has more than {SOURCE_MAX_LENGTH} characters")
    if not re.fullmatch(SOURCE_PATTERN, source):
        for kind, example in _EXAMPLES.items():
            if source.startswith(kind):
                raise ValueError(f"{source!r} is not a source; {example}")
        raise ValueError(f"{source!r} is not a source; sources look like system or debian/trixie")
    if library not in MADE_UP:  # settings of made-up libraries look like variants
        split_variant(source)


class Package(Frozen):
    """A package of a distribution, or an archive of sources, with files of a kit."""

    name: str
    version: str
    sha256: Sha256 | None = Field(description="of the fetched file; null if none was fetched")


class Licence(Frozen):
    """The licences for distributing a kit, as SPDX expressions."""

    library: str
    bundled: dict[str, str] = Field({}, description="by file of the kit or package; unknown ones are left out")


class Launch(Frozen):
    """How to start a kit's worker. The caller's environment must not be added."""

    arguments: tuple[str, ...]
    environment: dict[str, str]
    folder: str = Field(description="the working directory; the kit's own paths are relative to it")


class KitManifest(Frozen):
    """Everything that decides what a kit measures. Equal contents have equal ids, wherever and whenever built."""

    format_version: Literal[1] = 1
    kit_id: str = Field(pattern=r"^[0-9a-f]{16}$")
    library: Library
    version: str = Field(description="as the library reports it, without a distribution's revision")
    version_key: str = Field(description="sorts as text by version, and commits of a version by history")
    source: str
    build_profile: BuildProfile
    worker: tuple[str, ...] = Field(min_length=1, description="arguments; paths are relative to the kit's folder")
    arguments: tuple[str, ...] = Field((), description="further arguments, such as settings of the fake backend")
    environment: dict[str, str] = Field(description=f"the worker's whole environment; {KIT_PLACEHOLDER} is the folder")
    packages: tuple[Package, ...] = ()
    worker_compiler: str
    worker_flags: str
    worker_source_sha256: Sha256
    files: dict[RelativePath, Sha256] = Field(min_length=1, description="every file but the manifest itself")
    heap_counter: RelativePath | None = Field(
        None, description="shared object to preload for counting the heap; null in older kits"
    )

    configure: tuple[str, ...] = Field((), description="configuration words of a library that was built from sources")
    fips: bool = Field(False, description="whether it has OpenSSL's FIPS module, with its ossl-modules/fips.cnf")
    licence: Licence | None = Field(None, description="null in older kits")
    commit: LibraryCommit | None = Field(None, description="the source commit; null where there is none")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.version_key != _order(self.version, self.commit):
            raise ValueError(f"version_key {self.version_key!r} does not match version {self.version!r}")
        if self.heap_counter is not None and self.heap_counter not in self.files:
            raise ValueError(f"heap_counter {self.heap_counter!r} is not among the kit's files")
        if self.kit_id != (expected := _identity(self.model_dump(mode="json"))):
            raise ValueError(f"kit_id {self.kit_id} does not match the manifest's contents, which give {expected}")
        return self

    @classmethod
    def sealed(cls, **fields: Any) -> Self:
        """A manifest with `kit_id` and `version_key` computed from the other fields."""
        blank = {**fields, "kit_id": "0" * 16, "version_key": _order(fields["version"], fields.get("commit"))}
        draft = cls.model_construct(**blank)
        return cls.model_validate({**blank, "kit_id": _identity(draft.model_dump(mode="json"))})

    @property
    def ref(self) -> SubjectRef:
        return SubjectRef(library=self.library, source=self.source)

    @property
    def components(self) -> dict[str, str]:
        """Versions of the library's components: nettle, GMP, libc, zlib and the compiler, where known."""
        packages = ((package.name, package.version) for package in self.packages)
        return components_of(packages, self.build_profile.compiler)

    @property
    def folder_name(self) -> str:
        """A readable name, unique by the id: `openssl-3.5.7-0123456789abcdef`."""
        return f"{self.library}-{self.version}-{self.kit_id}"

    def launch(self, kit: PurePath, material: PurePath, *more: str, count_heap: bool = False) -> Launch:
        """How to start the worker of the kit in the folder `kit`. Both folders must be absolute. `count_heap` makes the
        worker count its heap, which costs time, so don't use it for timing. Raises ValueError."""
        if not (kit.is_absolute() and material.is_absolute()):
            raise ValueError("the folders of kit and material must be absolute: the worker starts inside the kit")
        environment = self._environment(kit)
        if count_heap:
            if self.heap_counter is None:
                raise ValueError(f"kit {self.kit_id} has no heap counter: add {self.ref} again")
            # Relative, since the loader would split an absolute path with a blank or a colon.
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

    def launch_program(self, kit: PurePath, program: PurePath, *arguments: str) -> Launch:
        """How to start another program with the libraries of the kit in the folder `kit`, which must be absolute."""
        loader = (str(kit / self.worker[0]), *self.worker[1:-1]) if len(self.worker) > 1 else ()
        return Launch(
            arguments=(*loader, str(program), *arguments), environment=self._environment(kit), folder=str(kit)
        )

    def _environment(self, kit: PurePath) -> dict[str, str]:
        return {name: value.replace(KIT_PLACEHOLDER, str(kit)) for name, value in self.environment.items()}


def _order(version: str, commit: LibraryCommit | None) -> str:
    return commit_key(version, commit.committed_at, commit.authored_at) if commit else version_key(version)


_WITHOUT: dict[str, Any] = {"heap_counter": None, "configure": [], "fips": False, "licence": None, "commit": None}
"""Later fields with their neutral values, which are left out of the hash, so that older manifests keep their ids."""


def _identity(manifest: dict[str, Any]) -> str:
    return content_hash(
        {
            name: value
            for name, value in manifest.items()
            if name != "kit_id" and not (name in _WITHOUT and value == _WITHOUT[name])
        }
    )
