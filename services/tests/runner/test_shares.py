"""How many connections each kind of client of a web server makes in a batch."""

from hypothesis import given
from hypothesis import strategies as st

from kexbench.runner.serving import MAX_CONNECTIONS, shared_counts


@given(st.integers(1, 99), st.integers(1, 32), st.floats(1e4, 1e9), st.integers(1, 10**10))
def test_both_kinds_have_their_exact_share_and_fill_the_connections_at_once(
    percent: int, concurrency: int, pace_ns: float, min_ns: int
) -> None:
    rsa, ecdsa = shared_counts([100 - percent, percent], concurrency, pace_ns, min_ns)
    assert ecdsa * 100 == percent * (rsa + ecdsa)
    assert min(rsa, ecdsa) >= concurrency
    assert rsa + ecdsa <= MAX_CONNECTIONS


def test_a_batch_is_as_long_as_wanted_where_enough_connections_fit() -> None:
    assert shared_counts([90, 10], 8, 1e6, 10**8) == [90, 10]
    assert shared_counts([50, 50], 8, 1e6, 10**8) == [50, 50]
    assert shared_counts([90, 10], 32, 1e6, 10**8) == [288, 32]
    assert shared_counts([63, 37], 8, 1e6, 10**6) == [63, 37]
