"""Callgrind's output becomes the costs of functions: names are compressed, set-up is subtracted."""

import pytest

from kexbench.domain.profiles import UNNAMED
from kexbench.runner.callgrind import MalformedProfile, profile_of, read_counts

FILE = """\
# callgrind format
version: 1
positions: line
events: Ir
summary: 1000

ob=(1) /kit/lib/libcrypto.so.3
fl=(1) ???
fn=(1) EVP_DigestSign
0 100
cfn=(2) sha256_block.constprop.0
calls=4 0
0 600
+3 20

fn=(3) 0x00000000002712c0
0 50
cob=(2) /kit/lib/libc.so.6
cfn=(4) malloc@@GLIBC_2.2.5
calls=2 0
* 30
cfn=(2)
calls=1 0
0 5

fn=(2)
0 600

ob=(2)
fn=(4)
0 30
totals: 1000
"""
CRYPTO, LIBC = "libcrypto", "libc"
SIGN, SHA, MALLOC = ("EVP_DigestSign", CRYPTO), ("sha256_block", CRYPTO), ("malloc", LIBC)


def test_names_are_written_once_and_lose_what_compilers_and_linkers_add() -> None:
    counts = read_counts(FILE.splitlines())
    assert dict(counts.own) == {SIGN: 120, (UNNAMED, CRYPTO): 50, SHA: 600, MALLOC: 30}
    assert counts.instructions == 800
    assert counts.calls == {
        (SIGN, SHA): (4, 600),
        ((UNNAMED, CRYPTO), MALLOC): (2, 30),
        ((UNNAMED, CRYPTO), SHA): (1, 5),
    }


def test_a_profile_is_the_difference_of_two_runs_per_handshake() -> None:
    fewer = read_counts(FILE.splitlines())
    more = read_counts(
        FILE.replace("\n0 100\n", "\n0 300\n").replace("calls=4 0\n0 600", "calls=14 0\n0 1600").splitlines()
    )
    profile = profile_of("client", fewer, more, 10)
    assert profile.amount == 20
    costs = {cost.name: cost for cost in profile.functions}
    assert costs["EVP_DigestSign"].amount == 20
    assert {(call.caller, call.callee): call.inclusive for call in profile.calls}[SIGN, SHA] == 100
    assert "sha256_block" not in costs, "it costs nothing more"


def test_what_happened_more_often_in_the_shorter_run_is_no_negative_count() -> None:
    fewer = read_counts(FILE.splitlines())
    text = (
        FILE.replace("\n0 100\n", "\n0 900\n")
        .replace("\n0 50\n", "\n0 30\n")
        .replace("calls=2 0\n* 30", "calls=1 0\n* 9")
    )
    profile = profile_of("client", fewer, read_counts(text.splitlines()), 10)
    assert profile.amount == 78, "the whole side was counted"
    assert {(cost.name, cost.amount) for cost in profile.functions} == {("EVP_DigestSign", 80)}
    assert all(call.inclusive >= 0 and call.calls >= 0 for call in profile.calls)


@pytest.mark.parametrize("line", ["fn=(9)", "0 many", "calls=some 0", "12"])
def test_what_callgrind_would_not_write_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(MalformedProfile, match="line 3"):
        read_counts(["version: 1", "fn=(1) f", line])
