"""Peers: the fixed other side of a case, named like a subject."""

import pytest

from kexbench.planning.documents import DocumentError
from tests.builders import SPEC, a_plan


def spec_with_peers(*peers: str) -> str:
    written = ", ".join(f'"{peer}"' for peer in peers)
    return SPEC.replace("[RSA, ECDHE-ECDSA]", f"[RSA]\n  peer: [{written}]")


def test_a_peer_is_named_by_its_source_however_it_was_selected() -> None:
    plan = a_plan(spec_with_peers("-", "server:openssl@3.5", "client:fake@1.0"))
    assert [case.peer for case in plan.cases] == ["-", "server:openssl@debian/trixie", "client:fake@1.0"]
    assert [(peer.reference, peer.declared_version) for peer in plan.peers] == [
        ("openssl@debian/trixie", "3.5.4"),
        ("fake@1.0", None),
    ]


def test_two_names_of_one_peer_are_one_case_and_one_peer() -> None:
    plan = a_plan(spec_with_peers("server:openssl@3.5", "server:openssl@debian/trixie"))
    assert len(plan.cases) == len(plan.peers) == 1


def test_a_peer_in_both_roles_is_one_peer() -> None:
    plan = a_plan(spec_with_peers("server:fake@1.0", "client:fake@1.0"))
    assert len(plan.cases) == 2
    assert [peer.reference for peer in plan.peers] == ["fake@1.0"]


def test_a_peer_of_impossible_cases_only_is_not_needed() -> None:
    text = spec_with_peers("-", "server:fake@1.7").replace("  peer:", "  threads: [2]\n  peer:")
    assert a_plan(text).peers == ()


def test_without_peers_a_plan_needs_none() -> None:
    assert a_plan().peers == ()


def test_a_peer_that_names_several_versions_is_reported_with_each() -> None:
    with pytest.raises(DocumentError, match="names several versions of openssl, choose one: system, debian/book"):
        a_plan(spec_with_peers("server:openssl@tracked"))
