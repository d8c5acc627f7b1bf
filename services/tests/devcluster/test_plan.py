"""How the nodes of the devcluster share a machine."""

import re

import pytest

from devcluster.binaries import ARGO_LINES
from devcluster.cache import HERE
from devcluster.node import VOLUME_COUNT, VOLUMES
from devcluster.plan import CpuShare, cpu_share, nodes


def test_of_two_cpus_each_node_keeps_back_the_one_that_the_other_hands_out() -> None:
    assert [cpu_share(n, 2, 2) for n in range(2)] == [CpuShare(None, 1), CpuShare(None, 0)]


@pytest.mark.parametrize("cpus", [4, 5, 8, 64])
def test_of_many_cpus_none_is_handed_out_by_two_nodes(cpus: int) -> None:
    handed_out = []
    for n in range(2):
        reserved = cpu_share(n, 2, cpus).reserved
        assert reserved is not None
        handed_out.append(set(range(cpus)) - {int(cpu) for cpu in reserved.split(",")})
    assert not handed_out[0] & handed_out[1]
    assert all(len(each) >= 2 for each in handed_out)


def test_a_single_node_keeps_back_what_the_kubelet_chooses() -> None:
    assert cpu_share(0, 1, 8) == CpuShare(None, 0)


def test_only_the_second_node_is_tainted() -> None:
    first, second = nodes(2, 2)
    assert (first.taints, second.taints) == ("", "kexbench.dev/pool=pool-b:NoSchedule")


def test_the_argo_that_is_compiled_is_the_one_whose_definitions_are_applied() -> None:
    argo = ARGO_LINES["3.7"]
    compiled, applied = (
        re.findall(rf"{argo} (v\S+)", (HERE / folder / "go.mod").read_text()) for folder in ("programs", "crds")
    )
    assert compiled == applied
    assert len(applied) == 1


def test_the_volumes_to_claim_are_those_that_a_node_makes() -> None:
    manifest = (HERE / "manifests" / "storage.yaml").read_text()
    assert [f"{VOLUMES}/{n + 1} " in manifest for n in range(VOLUME_COUNT + 1)] == [True] * VOLUME_COUNT + [False]
