"""A build tree or an installation of your own: `openssl@prefix:/home/me/openssl`, `gnutls@prefix:/opt/gnutls`.

The folder is only read, never changed. Other libraries, such as the zlib that the library was built with, come from
this machine. Kits contain copies: if the tree is built again, the next kit is a new one.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import BuildProfile, SubjectRef
from kexbench.domain.libraries import LAYOUTS
from kexbench.kits.buildwords import build_words
from kexbench.kits.closure import needed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials, Provider, Resolution, file_hashes, native_only, no_flags
from kexbench.kits.relink import StaticParts, relinked_profile, static_parts
from kexbench.kits.tree import Tree, find_tree

_PREFIX = "prefix:"


class PrefixProvider(Provider):
    """Folders of the user."""

    def describe(self) -> str:
        names = ", ".join(f"{name}@prefix:/DIR" for name in LAYOUTS)
        return f"{names}: a build tree or an installation of your own"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in LAYOUTS and ref.origin.startswith(_PREFIX)

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        native_only(ref, attempt)
        no_flags(ref, "configure the tree with them, or choose a source that is built here, such as crate/3.5.5")
        tree = _tree(ref)
        files = {*tree.files, *_libraries(tree, attempt).values()}
        compiler, flags = build_words(tree.files[-1], tree.makefile)
        profile = BuildProfile(
            provider="prefix",
            linkage=tree.linkage,
            compiler=compiler,
            flags=flags,
            libc="glibc",
            architecture=attempt.target.machine,
        )
        if ref.variant.relink is not None:
            files |= set(_parts(ref, tree, attempt).archives)
            profile = relinked_profile(profile)
        return Resolution(
            ref=ref,
            version=tree.version,
            profile=profile,
            fingerprint=content_hash([tree.version, file_hashes(files), file_hashes(tree.headers.values())], length=64),
        )

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        return materials_of(resolution.ref, _tree(resolution.ref), attempt)


def materials_of(ref: SubjectRef, tree: Tree, attempt: Attempt) -> Materials:
    """What links a worker to a tree. Only the library's own headers are copied, so that no other header of the folder
    is used."""
    include = attempt.scratch / "include"
    for name, path in tree.headers.items():
        (include / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, include / name)
    if ref.variant.relink is not None:
        words = _parts(ref, tree, attempt).shuffled(ref.variant.relink, attempt.scratch / "objects")
    else:
        words = (*map(str, tree.files), *(tree.private_libraries() if tree.linkage == "static" else ()))
    return replace(
        _surroundings(tree),
        compile_flags=(f"-I{include}",),
        link_flags=(f"-Wl,-rpath-link,{tree.library_folder}",),
        library_words=words,
    )


def _parts(ref: SubjectRef, tree: Tree, attempt: Attempt) -> StaticParts:
    if tree.linkage == "static":
        return StaticParts(tree.files, tree.private_libraries())
    return static_parts(ref.library, _libraries(tree, attempt))


def _libraries(tree: Tree, attempt: Attempt) -> dict[str, Path]:
    """The library's files and their dependencies. Those of a static library are known only after linking."""
    libraries = {path.name: path for path in tree.files}
    if tree.linkage == "shared":
        for path in tree.files:
            libraries |= needed(path, attempt, _surroundings(tree))
    return libraries


def _tree(ref: SubjectRef) -> Tree:
    return find_tree(ref.library, Path(ref.origin.removeprefix(_PREFIX)))


def _surroundings(tree: Tree) -> Materials:
    """Where libraries are searched at run time: in the tree, then on this machine."""
    return Materials(libraries=tree.library_folder, rest_from_host=True)
