"""What GnuTLS's configuration is told, and which sources are refused before anything is compiled."""

from pathlib import Path

import pytest

from kexbench.kits.build_gnutls import GnutlsRecipe
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt

CONFIGURE = "#!/bin/sh\nac_user_opts='\nenable_option_checking\nenable_static\nwith_zlib\n'\n"


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    (tmp_path / "scratch").mkdir()
    return Attempt(tmp_path / "scratch", tmp_path / "log", lambda _: None)


@pytest.fixture
def recipe(tmp_path: Path) -> GnutlsRecipe:
    return GnutlsRecipe(tmp_path / "cache", jobs=1)


def sources(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_flags_become_words_of_configure_behind_the_usual_ones(recipe: GnutlsRecipe) -> None:
    usual = recipe.words("3.8.9", ())
    assert recipe.words("3.8.9", ("disable-padlock", "with-zlib")) == (*usual, "--disable-padlock", "--with-zlib")
    assert recipe.words("3.7.1", ()) == usual


def test_openssls_kind_of_flag_is_refused(recipe: GnutlsRecipe) -> None:
    with pytest.raises(StepFailed, match=r"begin with enable-, disable-, with-, without-, not as no-asm"):
        recipe.words("3.8.9", ("no-asm",))


def test_a_checkout_without_configure_is_refused_with_what_to_name_instead(
    recipe: GnutlsRecipe, attempt: Attempt, tmp_path: Path
) -> None:
    source = sources(tmp_path / "source", bootstrap="", README="")
    with pytest.raises(StepFailed, match="no configure script") as caught:
        recipe.build(source, recipe.words("3.8.9", ()), tmp_path / "installed", attempt)
    assert "release's archive" in caught.value.remedy


@pytest.mark.parametrize("flag", ["enable-hpke", "without-leancrypto"])
def test_a_flag_that_the_version_does_not_know_is_refused_and_not_ignored(
    flag: str, recipe: GnutlsRecipe, attempt: Attempt, tmp_path: Path
) -> None:
    source = sources(tmp_path / "source", configure=CONFIGURE)
    with pytest.raises(StepFailed, match=f"no option --{flag}"):
        recipe.build(source, recipe.words("3.7.1", ("enable-static", "with-zlib", flag)), tmp_path / "there", attempt)
