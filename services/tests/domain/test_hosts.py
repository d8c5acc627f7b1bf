"""What makes hosts comparable: the CPU and how it is set, not the kernel, the memory or the node."""

import pytest

from kexbench.domain.hosts import HostFacts, HostTrait, differing, kind_of, meant_by, trait_of
from tests.builders import HOST

KNOWN = HOST.model_copy(
    update={
        "cpu_family": "25/17",
        "cpu_stepping": "1",
        "microcode": "0xa101154",
        "governor": "performance",
        "turbo": False,
        "smt": False,
        "virtualisation": "none",
    }
)


@pytest.mark.parametrize("field", ["kernel", "memory_bytes", "cpu_flags", "cpus", "architecture"])
def test_a_recycled_node_is_the_same_kind_of_host(field: str) -> None:
    others = {"kernel": "6.1.1", "memory_bytes": 8_000_004_096, "cpu_flags": ("later",), "cpus": 4}
    assert kind_of(KNOWN.model_copy(update={field: others.get(field, "other")})) == kind_of(KNOWN)


@pytest.mark.parametrize(
    ("field", "other", "trait"),
    [
        ("cpu_model", "Other CPU", HostTrait.CPU),
        ("microcode", "0xa101158", HostTrait.MICROCODE),
        ("cpu_family", "25/97", HostTrait.FAMILY),
        ("cpu_stepping", "2", HostTrait.STEPPING),
        ("smt", True, HostTrait.SMT),
        ("smt", None, HostTrait.SMT),
        ("governor", "powersave", HostTrait.GOVERNOR),
        ("turbo", True, HostTrait.TURBO),
        ("virtualisation", "QEMU", HostTrait.VIRTUALISATION),
    ],
)
def test_hosts_that_run_code_at_another_speed_are_distinguished_by_what_differs(
    field: str, other: object, trait: HostTrait
) -> None:
    unlike = KNOWN.model_copy(update={field: other})
    assert kind_of(unlike) != kind_of(KNOWN)
    assert differing([KNOWN, unlike, KNOWN]) == (trait,)


def test_what_is_not_known_of_a_host_is_named_as_such() -> None:
    assert trait_of(KNOWN, HostTrait.TURBO) == "turbo off"
    assert trait_of(HOST, HostTrait.TURBO) == "turbo not known"
    assert differing([KNOWN, KNOWN]) == ()


def test_a_kind_is_meant_by_its_first_traits_where_none_is_meant_in_full() -> None:
    kind, other = kind_of(KNOWN), kind_of(KNOWN.model_copy(update={"governor": "powersave"}))
    kinds = ("Example CPU 90000", kind, other)
    assert meant_by(kind, kinds) == (kind,)
    for text in ("Example CPU 9000", "Example CPU 9000, microcode 0xa101154"):
        assert meant_by(text, kinds) == (kind, other)
        assert meant_by(text, (*kinds, text)) == (text,)
    for text in ("Example CPU 900", "Example CPU 9000, microcode 0xa10115", f"{kind}, more", ""):
        assert meant_by(text, kinds) == ()


def test_an_arm_machine_recorded_without_its_core_is_not_taken_for_bare_metal() -> None:
    """Releases that did not read the core said `none` of every Arm machine."""
    before = HostFacts(
        cpu_model="aarch64", architecture="aarch64", virtualisation="none", cpus=2, kernel="6.1.0", memory_bytes=1
    )
    assert kind_of(before) == "aarch64"
    core = {"cpu_model": "Neoverse-V1", "cpu_family": "0x41/0xd40", "cpu_stepping": "r1p1"}
    assert kind_of(before.model_copy(update=core)) == "Neoverse-V1, bare metal, family 0x41/0xd40, stepping r1p1"
