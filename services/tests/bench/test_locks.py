"""The page of locks: what is read of profiles, and the order that is foretold."""

from bench.locks import Counted, counted, table
from kexbench.domain.instruments import INSTRUMENTS, CountedSide, Instrument
from kexbench.domain.profiles import UNNAMED, FunctionCost, Profile


def profile(side: CountedSide, **operations: tuple[float, float]) -> Profile:
    """Functions with their shared operations and all of them."""
    return Profile(
        instrument=Instrument.ATOMICS,
        side=side,
        handshakes=20,
        amount=sum(shared for shared, _ in operations.values()),
        functions=tuple(
            FunctionCost(name=name, library="libcrypto", amount=shared, calls=every)
            for name, (shared, every) in operations.items()
        ),
        calls=(),
    )


def test_shared_operations_are_those_of_all_parts_and_the_busiest_object_is_apart() -> None:
    parts = [
        profile("client", decode=(30, 40), fetch=(10, 10)),
        profile("server", fetch=(5, 8)),
        profile("objects", up_ref=(2, 20)),
        profile("busiest", fetch=(4, 4), decode=(30, 30)),
    ]

    row = counted("openssl", "3.0.22", parts)

    assert (row.shared, row.busiest, row.every) == (47, 34, 78)
    assert row.functions == (("decode", 30), ("fetch", 4))
    assert row.speed_up == 3.2


def test_the_fewest_shared_operations_come_first() -> None:
    versions = [
        Counted("openssl", version, shared, 1, shared, ())
        for version, shared in (("3.0.22", 8120), ("1.1.1w", 128), ("3.5.9", 1200))
    ]

    rows = table(versions).splitlines()[2:]

    assert [row.split(" | ")[1] for row in rows] == ["1.1.1w", "3.5.9", "3.0.22"]
    assert [row.split(" | ")[5] for row in rows] == ["11.6", "9.0", "3.2"]


def test_whoever_takes_a_lock_is_named_and_not_the_lock() -> None:
    passing = INSTRUMENTS[Instrument.ATOMICS].passing
    assert passing is not None
    for name in (
        "pthread_rwlock_rdlock",
        "__pthread_mutex_lock",
        "CRYPTO_THREAD_read_lock",
        "CRYPTO_atomic_add",
        UNNAMED,
    ):
        assert passing.fullmatch(name)
    for name in ("OSSL_DECODER_is_a", "EVP_MD_fetch", "ossl_namemap_name2num", "CRYPTO_new_ex_data"):
        assert not passing.fullmatch(name)
