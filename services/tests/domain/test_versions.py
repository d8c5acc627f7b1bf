"""The order of versions, by examples people know and by laws that hold for all."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.domain.versions import upstream_version, version_key

IN_ORDER = [
    "0.9.8z", "0.9.8za", "0.9.8zh", "1.0.2u", "1.1.0f", "1.1.1-pre9", "1.1.1", "1.1.1a", "1.1.1t", "1.1.1w",
    "3.0.0-dev", "3.0.0-alpha1", "3.0.0-beta2-dev", "3.0.0-beta2", "3.0.0-rc1", "3.0.0", "3.0.8", "3.0.20",
    "3.5.7", "3.6.5", "3.6.5+quic", "3.7.9", "3.8.9", "3.8.13", "3.9", "3.9.0", "3.10",
    "4.0.0-alpha1", "4.0.0-alpha10", "4.0.0-beta1", "4.0.0", "4.0.0-42-gabc123", "4.0.1",
]  # fmt: skip


def sign(difference: int) -> int:
    return (difference > 0) - (difference < 0)


numbers = st.lists(st.integers(0, 20_261_231), min_size=1, max_size=5)
letters = st.from_regex(r"[a-z]{0,2}", fullmatch=True)
pre_releases = st.none() | st.tuples(st.sampled_from(["alpha", "beta", "pre", "rc"]), st.integers(0, 200))
versions = st.tuples(numbers, letters, pre_releases)
Version = tuple[list[int], str, tuple[str, int] | None]


def text_of(version: Version) -> str:
    parts, suffix, pre_release = version
    end = f"-{pre_release[0]}{pre_release[1]}" if pre_release else ""
    return ".".join(map(str, parts)) + suffix + end


def compare(left: Version, right: Version) -> int:
    """The meaning of the order, worked out in another way than the key does it."""
    for my_number, their_number in zip(left[0], right[0], strict=False):
        if my_number != their_number:
            return sign(my_number - their_number)
    if len(left[0]) != len(right[0]):
        return sign(len(left[0]) - len(right[0]))
    if left[1] != right[1]:
        return 1 if left[1] > right[1] else -1
    mine, theirs = (left[2] or ("~", 0)), (right[2] or ("~", 0))
    return (mine > theirs) - (mine < theirs)


@pytest.mark.parametrize(("older", "newer"), list(pairwise(IN_ORDER)))
def test_known_versions_sort_as_they_were_released(older: str, newer: str) -> None:
    assert version_key(older).encode() < version_key(newer).encode()


@given(versions, versions)
def test_the_bytes_of_keys_compare_as_the_versions_do(left: Version, right: Version) -> None:
    # A pre-release of a lettered or shorter version is not compared with longer ones: none was ever made.
    if left[0] != right[0] and (left[0][: len(right[0])] == right[0] or right[0][: len(left[0])] == left[0]):
        left, right = (left[0], "", None), (right[0], "", None)
    if left[0] == right[0] and left[1] != right[1]:
        left, right = (left[0], left[1], None), (right[0], right[1], None)
    keys = [version_key(text_of(version)).encode() for version in (left, right)]
    assert (keys[0] > keys[1]) - (keys[0] < keys[1]) == compare(left, right)


@given(st.lists(numbers, max_size=20))
def test_sorting_by_key_sorts_numbers_as_numbers(several: list[list[int]]) -> None:
    texts = [".".join(map(str, parts)) for parts in several]
    assert sorted(texts, key=version_key) == sorted(texts, key=lambda text: [int(part) for part in text.split(".")])


@given(versions)
def test_a_key_is_printable_text_without_quotes(version: Version) -> None:
    key = version_key(text_of(version))
    assert key.isascii()
    assert key.isprintable()
    assert not set(key) & set("'\"\\ ,")


@pytest.mark.parametrize("wrong", ["", "v1.0", "1..2", "1.", "latest", "1.0 ", "1.0~rc1", "1.1234567890"])
def test_what_is_no_version_is_refused_in_words(wrong: str) -> None:
    with pytest.raises(ValueError, match="version"):
        version_key(wrong)


@pytest.mark.parametrize(
    ("debian", "upstream"),
    [
        ("3.5.4-1~deb13u1", "3.5.4"),
        ("3.7.9-2+deb12u6", "3.7.9"),
        ("1.1.1w-0+deb11u8", "1.1.1w"),
        ("1:3.5.4-1~deb13u1", "3.5.4"),
        ("4.0.0~beta1-1", "4.0.0-beta1"),
        ("1:1.3.dfsg+really1.3.1-1+deb13u1", "1.3.1"),
        ("1.5.7+dfsg-1", "1.5.7"),
        ("3.8.9", "3.8.9"),
        ("4.0.0-alpha1", "4.0.0-alpha1"),
    ],
)
def test_the_upstream_version_of_a_debian_version(debian: str, upstream: str) -> None:
    assert upstream_version(debian) == upstream


@given(versions, st.integers(1, 99), st.sampled_from(["", "~deb13u1", "+deb12u6", "+b1"]), st.sampled_from(["", "1:"]))
def test_epoch_and_revision_never_reach_the_key(version: Version, revision: int, suffix: str, epoch: str) -> None:
    upstream = text_of(version)
    debian = f"{epoch}{upstream.replace('-', '~')}-{revision}{suffix}"
    assert upstream_version(debian) == upstream
    assert version_key(upstream_version(debian)) == version_key(upstream)
