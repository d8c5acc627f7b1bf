"""What people read when the pools of a cluster are wrong, and what a spec may name of them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from kexbench.domain.pools import Pool, Toleration
from kexbench.planning.documents import DocumentError
from kexbench.planning.plan import make_plan
from kexbench.planning.pools import read_pools
from tests.builders import BENCH_SPECS, SPEC, a_catalogue
from tests.golden import assert_golden

POOLS = """\
apiVersion: kexbench.dev/v1
kind: Pools
pools:
  - name: amd-epyc
    architecture: x86_64
    nodeSelector: { kexbench.dev/pool: amd-epyc }
    tolerations: [ { key: kexbench.dev/pool, operator: Exists, effect: NoSchedule } ]
    cpus: 2
    memory: 1Gi
    notes: bought 2024
  - name: arm.n1
    architecture: aarch64
    nodeSelector: { kexbench.dev/pool: arm.n1, generation: 7 }
    tolerations: [ { key: only, value: benchmarks } ]
    cpus: 1
    memory: 512Mi
"""
WRONG = Path(__file__).parent / "faults" / "pools"


def faults(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        read_pools(text, "pools.yaml")
    return str(caught.value).splitlines()


def complaints(document: Any) -> list[str]:
    schema = json.loads((BENCH_SPECS / "schema" / "pools.schema.json").read_text())
    return [error.message for error in Draft202012Validator(schema).iter_errors(document)]


def test_pools_are_read_as_they_are_written() -> None:
    amd, arm = read_pools(POOLS, "pools.yaml")
    assert amd == Pool(
        name="amd-epyc",
        architecture="x86_64",
        node_selector={"kexbench.dev/pool": "amd-epyc"},
        tolerations=(Toleration(key="kexbench.dev/pool", operator="Exists", effect="NoSchedule"),),
        cpus=2,
        memory="1Gi",
        notes="bought 2024",
    )
    assert arm.node_selector == {"kexbench.dev/pool": "arm.n1", "generation": "7"}
    assert arm.tolerations == (Toleration(key="only", operator="Equal", value="benchmarks"),)


def test_an_editor_that_follows_the_schema_finds_nothing_wrong_with_right_pools() -> None:
    assert complaints(yaml.safe_load(POOLS)) == []
    assert complaints(yaml.safe_load(POOLS.replace("cpus: 1", "cpus: none"))) != []


def test_every_fault_of_wrong_pools_is_reported_at_once_with_its_place() -> None:
    assert_golden(WRONG.with_suffix(".txt"), "\n".join(faults(WRONG.with_suffix(".pools").read_text())) + "\n")


def test_a_spec_names_the_pools_that_there_are() -> None:
    plan = make_plan(SPEC + "pools: [b, a]\n", "spec.yaml", a_catalogue(), pools=("a", "b", "c"))
    assert plan.pools == ("b", "a")
    assert {job.pool for job in plan.jobs} == {"a", "b"}


def test_a_pool_that_there_is_not_is_reported_with_the_one_that_was_meant() -> None:
    with pytest.raises(DocumentError) as caught:
        make_plan(SPEC + "pools: [amd-epic, arm]\n", "spec.yaml", a_catalogue(), pools=("amd-epyc", "arm"))
    assert str(caught.value) == (
        "spec.yaml:10:9: pools.0: there is no pool 'amd-epic' (did you mean 'amd-epyc'?); there are amd-epyc, arm"
    )
