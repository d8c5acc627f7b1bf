"""Variants stand behind a source, each once, in ranges that the error names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.variants import Variant, split_variant


@pytest.mark.parametrize(
    ("source", "origin", "variant"),
    [
        ("system", "system", Variant()),
        ("system+relink=3", "system", Variant(relink=3)),
        ("debian/trixie+burn=3000", "debian/trixie", Variant(burn=3000)),
        ("system+burn=0+relink=99", "system", Variant(relink=99, burn=0)),
        ("prefix:/opt/c++/x", "prefix:/opt/c++/x", Variant()),
        ("prefix:/opt/a=b/x+burn=1", "prefix:/opt/a=b/x", Variant(burn=1)),
        ("crate/3.5.5+no-asm", "crate/3.5.5", Variant(flags=("no-asm",))),
        (
            "git:/o#main+enable-ec_nistp_64_gcc_128+no-asm+copy=2",
            "git:/o#main",
            Variant(copy=2, flags=("enable-ec_nistp_64_gcc_128", "no-asm")),
        ),
        ("tarball:/a+b.tar.gz#sha256=00+no-asm", "tarball:/a+b.tar.gz#sha256=00", Variant(flags=("no-asm",))),
        ("prefix:/opt/with+openssl", "prefix:/opt/with+openssl", Variant()),
    ],
)
def test_a_source_and_its_variants_come_apart(source: str, origin: str, variant: Variant) -> None:
    assert split_variant(source) == (origin, variant)


@pytest.mark.parametrize(
    "suffix",
    ["+relink=0", "+relink=100", "+relink=", "+relink=1.5", "+relink=01", "+burn=50001", "+burn=-1", "+speed=2"],
)
def test_what_is_no_variant_is_refused_with_those_there_are(suffix: str) -> None:
    with pytest.raises(ValueError, match="there are relink=1 to 99, burn=0 to 50000, copy=2 to 9"):
        split_variant(f"system{suffix}")


def test_a_variant_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="relink is given twice"):
        split_variant("system+relink=1+relink=1")
    with pytest.raises(ValueError, match="the flag no-asm is given twice"):
        split_variant("crate/3.5.5+no-asm+no-asm")


@given(st.integers(1, 99), st.integers(0, 50_000), st.sampled_from(["system", "debian/sid", "prefix:/a+b"]))
def test_what_was_put_together_comes_apart(relink: int, burn: int, origin: str) -> None:
    assert split_variant(f"{origin}+relink={relink}+burn={burn}") == (origin, Variant(relink, burn))
