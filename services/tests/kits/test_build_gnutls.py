"""What GnuTLS's configuration is given, what is refused before it is compiled, and that a build tells no place."""

from dataclasses import replace
from pathlib import Path

import pytest

from kexbench.kits.autotools import Autotools
from kexbench.kits.build_gnutls import GnutlsRecipe
from kexbench.kits.build_nettle import NETTLE
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.target import target_for

CONFIGURE = "#!/bin/sh\nac_user_opts='\nenable_option_checking\nenable_static\nwith_zlib\n'\n"

TINY = r"""
for word; do case $word in CFLAGS=*) flags=${word#CFLAGS=} ;; CC=*) compiler=${word#CC=} ;; esac; done
printf 'all:\n\t%s %s -g -c $(CURDIR)/tiny.c\n' "$compiler" "$flags" > Makefile
printf 'install:\n\tmkdir -p $(DESTDIR)/kexbench\n\tcp tiny.o $(DESTDIR)/kexbench\n' >> Makefile
"""
"""A configure script, as far as the build asks anything of one."""


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    (tmp_path / "scratch").mkdir()
    return Attempt(tmp_path / "scratch", tmp_path / "log", lambda _: None)


HERE = target_for()


@pytest.fixture
def recipe(tmp_path: Path) -> GnutlsRecipe:
    return GnutlsRecipe(tmp_path / "cache", jobs=1)


def sources(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_flags_become_words_of_configure_behind_the_usual_ones(recipe: GnutlsRecipe) -> None:
    usual = recipe.words("3.8.9", (), HERE)
    assert recipe.words("3.8.9", ("disable-padlock", "with-zlib"), HERE) == (*usual, "--disable-padlock", "--with-zlib")
    assert recipe.words("3.7.1", (), HERE) == usual


def test_openssls_kind_of_flag_is_refused(recipe: GnutlsRecipe) -> None:
    with pytest.raises(StepFailed, match="start with one of enable-, disable-, with-, without-, unlike no-asm"):
        recipe.words("3.8.9", ("no-asm",), HERE)


def test_a_checkout_without_configure_is_refused_with_what_to_name_instead(
    recipe: GnutlsRecipe, attempt: Attempt, tmp_path: Path
) -> None:
    source = sources(tmp_path / "source", bootstrap="", README="")
    with pytest.raises(StepFailed, match="no configure script") as caught:
        recipe.build(source, recipe.words("3.8.9", (), HERE), tmp_path / "installed", attempt)
    assert "archive of a release" in caught.value.remedy


@pytest.mark.parametrize("flag", ["enable-hpke", "without-leancrypto"])
def test_a_flag_that_the_version_does_not_know_is_refused_and_not_ignored(
    flag: str, recipe: GnutlsRecipe, attempt: Attempt, tmp_path: Path
) -> None:
    source = sources(tmp_path / "source", configure=CONFIGURE)
    with pytest.raises(StepFailed, match=f"no option --{flag}"):
        recipe.build(
            source, recipe.words("3.7.1", ("enable-static", "with-zlib", flag), HERE), tmp_path / "there", attempt
        )


def test_a_build_is_the_same_bytes_wherever_it_is_made(tmp_path: Path) -> None:
    contents = []
    for name in ("here", "another-folder"):
        scratch = tmp_path / name
        scratch.mkdir()
        source = sources(scratch / "source", configure=TINY)
        (source / "tiny.c").write_text("const char *tiny(void) { return __FILE__; }\n")
        attempt = Attempt(scratch, tmp_path / "log", lambda _: None)
        Autotools("cc", 1, ()).install(source, ("CFLAGS=-O2",), scratch / "installed", attempt)
        contents.append((scratch / "installed/kexbench/tiny.o").read_bytes())
    assert contents[0] == contents[1]
    assert str(tmp_path).encode() not in contents[0]


def test_a_tool_that_is_missing_is_named_with_its_package(attempt: Attempt, tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="m5 is not installed") as caught:
        Autotools("cc", 1, ("m5",)).install(tmp_path, (), tmp_path / "installed", attempt)
    assert caught.value.remedy == "apt-get install m5"


def test_without_gmps_headers_the_package_to_install_is_named(
    recipe: GnutlsRecipe, attempt: Attempt, tmp_path: Path
) -> None:
    compiler = tmp_path / "bare-cc"
    compiler.write_text('#!/bin/sh\nexec cc -nostdinc "$@"\n')
    compiler.chmod(0o755)
    with pytest.raises(StepFailed, match="no development files of GMP") as caught:
        recipe.ingredients(replace(attempt, target=replace(HERE, compiler=str(compiler))))
    assert "libgmp-dev" in caught.value.remedy


def test_the_ingredients_are_this_machines_gmp_and_the_one_nettle(recipe: GnutlsRecipe, attempt: Attempt) -> None:
    gmp, nettle = recipe.ingredients(attempt)
    assert (gmp.name, gmp.version.count("."), gmp.sha256) == ("gmp", 2, None)
    assert nettle == NETTLE
