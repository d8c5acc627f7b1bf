"""How OpenSSL is built from its sources: the words of its Configure, without building anything."""

from dataclasses import replace

import pytest

from kexbench.kits.build_openssl import OpensslRecipe
from kexbench.kits.errors import StepFailed
from kexbench.kits.target import target_for

FAST_CURVES = "enable-ec_nistp_64_gcc_128"
HERE = target_for()
RECIPE = OpensslRecipe(1)


@pytest.mark.parametrize(
    ("machine", "fast"),
    [("x86_64", True), ("aarch64", True), ("riscv64", True), ("ppc64le", True), ("s390x", False)],
)
def test_the_fast_curves_of_distributions_are_built_where_these_have_them(machine: str, fast: bool) -> None:
    """Without them P-521 costs five times as much. They are part of the build profile, which results of builds without
    them do not share."""
    target = replace(HERE, machine=machine)
    for version in ("1.1.1w", "3.5.4", "4.0.0"):
        words = RECIPE.words(version, ("no-ssl3",), target)
        assert (FAST_CURVES in words) is fast
        assert words[-1] == "no-ssl3", "what a reference says comes last, so that it can take the curves out again"
    assert (FAST_CURVES in RECIPE.distinctions(target)) is fast


def test_the_fips_module_is_built_where_a_reference_asks_for_it() -> None:
    assert "no-module" in RECIPE.words("3.0.22", (), HERE)
    assert "no-module" not in RECIPE.words("3.0.22", ("enable-fips",), HERE), "it would leave out the module"


def test_flags_of_other_libraries_are_refused() -> None:
    with pytest.raises(StepFailed, match="OpenSSL's flags start with no- or enable-, unlike --disable-padlock"):
        RECIPE.words("3.5.4", ("--disable-padlock",), HERE)
