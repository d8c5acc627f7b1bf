"""Stacks of a worker, named and folded into profiles."""

import pytest

from kexbench.domain.instruments import Instrument
from kexbench.domain.profiles import UNNAMED, Profile
from kexbench.runner import symbols
from kexbench.runner.records import MappedObject, Profiled, Stack
from kexbench.runner.symbols import demangled, profiles_of
from tests.conftest import FakeKit

WORKER, LIBRARY = "/kit/bin/worker", "/kit/lib/libssl.so.3"
FUNCTIONS = {
    WORKER: ["main", "make_objects", "client_turn", "open_side", "send_turn"],
    LIBRARY: ["SSL_new", "CRYPTO_malloc", "CRYPTO_zalloc", "SSL_write", "0x500"],
}
BASES = {WORKER: 0x1000, LIBRARY: 0x9000}


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    class Known:
        def __init__(self, path: str) -> None:
            self._path = path

        def name(self, address: int) -> str:
            return FUNCTIONS[self._path][address >> 8]

    monkeypatch.setattr(symbols, "symbols_of", Known)


def stack(part: str, count: int, amount: int, *functions: str) -> Stack:
    """`functions`: innermost first."""
    places = {
        name: BASES[path] + (place << 8) + 7 for path, names in FUNCTIONS.items() for place, name in enumerate(names)
    }
    return Stack(part=part, count=count, amount=amount, addresses=tuple(f"{places[name]:x}" for name in functions))


def folded(*stacks: Stack) -> dict[str, Profile]:
    objects = tuple(MappedObject(path=path, base=f"{base:x}") for path, base in BASES.items())
    record = Profiled(type="profile", id="a", handshakes=2, objects=objects, stacks=stacks)
    return {profile.side: profile for profile in profiles_of(record, Instrument.ALLOCATIONS, None)}


def own(profile: Profile) -> dict[tuple[str, str], tuple[float, float]]:
    return {(cost.name, cost.library): (cost.amount, cost.calls) for cost in profile.functions}


def edges(profile: Profile) -> dict[tuple[str, str], float]:
    return {(call.caller[0], call.callee[0]): call.inclusive for call in profile.calls}


def test_the_function_that_asks_for_memory_has_it_and_not_the_library_s_allocator() -> None:
    making = ("SSL_new", "open_side", "make_objects", "main")
    profile = folded(
        stack("objects", 4, 320, "CRYPTO_malloc", *making),
        stack("objects", 2, 64, "CRYPTO_malloc", "CRYPTO_zalloc", *making),
    )["objects"]
    assert profile.amount == 192
    assert own(profile) == {("SSL_new", "libssl"): (192, 3)}
    assert edges(profile) == {
        ("objects", "make_objects"): 192,
        ("make_objects", "open_side"): 192,
        ("open_side", "SSL_new"): 192,
    }


def test_a_part_with_one_root_begins_with_it() -> None:
    profile = folded(stack("client", 2, 20, "CRYPTO_malloc", "SSL_write", "client_turn", "main"))["client"]
    assert edges(profile) == {("client_turn", "SSL_write"): 10}


def test_what_is_below_no_root_is_what_the_worker_called() -> None:
    profile = folded(stack("kept", 2, 32, "CRYPTO_malloc", "SSL_write", "send_turn", "main"))["kept"]
    assert own(profile) == {("SSL_write", "libssl"): (16, 1)}
    assert edges(profile) == {("kept", "SSL_write"): 16}


def test_a_function_that_calls_itself_counts_once() -> None:
    profile = folded(stack("client", 2, 20, "SSL_new", "SSL_write", "SSL_new", "SSL_write", "client_turn"))["client"]
    assert edges(profile)["SSL_write", "SSL_new"] == 10


def test_an_address_without_a_symbol_is_unnamed_and_a_part_without_stacks_empty() -> None:
    profiles = folded(stack("server_held", 2, 20, "0x500", "make_objects"))
    assert own(profiles["server_held"]) == {(UNNAMED, "libssl"): (10, 1)}
    assert (profiles["client"].amount, profiles["client"].functions) == (0, ())


def test_real_symbols_end_where_their_functions_do(fake_kit: FakeKit) -> None:
    folder, _ = fake_kit("fake@1.0")
    fake_worker = folder / "bin" / "worker"
    real = symbols.Symbols(str(fake_worker))
    starts = {name: start for start, _, name in symbols._functions_of(str(fake_worker))}
    ends = {name: end for _, end, name in symbols._functions_of(str(fake_worker))}
    start, end = starts["make_objects"], ends["make_objects"]
    assert {real.name(start), real.name(end - 1)} == {"make_objects"}
    assert real.name(end) != "make_objects"
    assert real.name(1) == "0x1"
    assert symbols.Symbols("linux-vdso.so.1").name(16) == "0x10"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("SSL_new", "SSL_new"),
        ("_ZN4bssl17ssl_run_handshakeEPNS_13SSL_HANDSHAKEEPb", "bssl::ssl_run_handshake"),
        ("_ZN6rustls4conn10ConnectionE", "rustls::conn::Connection"),
        ("_ZN5alloc5alloc8box_free17h0123456789abcdefE", "alloc::alloc::box_free"),
        ("_Z9top_levelv", "top_level"),
        ("_Z", "_Z"),
    ],
)
def test_names_of_other_languages_are_readable(name: str, wanted: str) -> None:
    assert demangled(name) == wanted
