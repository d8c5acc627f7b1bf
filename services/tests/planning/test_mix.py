"""Mixes of connections: what they mean, their faults as people read them, and those to copy."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kexbench.domain.cases import Case
from kexbench.domain.mixes import CostOf
from kexbench.planning.compose import chosen
from kexbench.planning.documents import DocumentError, parse_document
from kexbench.planning.mix import MOST_PARTS, CaseOfMix, read_mix
from kexbench.planning.plan import read_matrices
from kexbench.planning.spec import Matrix
from tests.builders import BENCH_SPECS
from tests.golden import assert_golden

MIXES = sorted((BENCH_SPECS / "mixes").glob("*.yaml"))
FAULTS = sorted((Path(__file__).parent / "mixes").glob("*.yaml"))
MIX = """\
apiVersion: kexbench.dev/v1
kind: TrafficMix
connectionsPerSecond: 2000
utilisation: 0.6
parts:
  - share: 0.7
    case: { protocol: TLSv1.3, keyExchange: ECDHE-ECDSA, group: X25519 }
  - share: 0.2
    case: { protocol: TLSv1.3, keyExchange: ECDHE-ECDSA, group: X25519, resumption: psk-dhe }
  - share: 0.1
    caseId: tlsv1.2_rsa_rsa-2048_aes-128-gcm
"""
QUICKSTART = chosen(read_matrices((BENCH_SPECS / "quickstart.yaml").read_text(), "quickstart.yaml"), ())


def complaints(document: Any) -> list[str]:
    found = json.loads((BENCH_SPECS / "schema" / "trafficmix.schema.json").read_text())
    Draft202012Validator.check_schema(found)
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(found).iter_errors(document)]


def faults_of(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        read_mix(text, "mix.yaml")
    return str(caught.value).splitlines()


def test_a_mix_has_cases_with_the_defaults_of_a_matrix() -> None:
    mix = read_mix(MIX, "mix.yaml")
    assert (mix.connections_per_s, mix.utilisation, mix.cores_per_machine) == (2000, 0.6, None)
    assert (mix.cost, mix.against) == (CostOf.CONNECTION, ())
    assert [(part.share, part.case_id) for part in mix.parts] == [
        (0.7, "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"),
        (0.2, "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm_psk-dhe"),
        (0.1, "tlsv1.2_rsa_rsa-2048_aes-128-gcm"),
    ]
    assert [part.case is None for part in mix.parts] == [False, False, True]


@pytest.mark.parametrize("mix", FAULTS, ids=lambda path: path.stem)
def test_the_faults_of_a_wrong_mix_read_as_they_should(mix: Path) -> None:
    assert_golden(mix.with_suffix(".txt"), "\n".join(faults_of(mix.read_text())) + "\n")


@pytest.mark.parametrize("name", ["fields", "kind"])
def test_what_is_wrong_with_a_field_the_schema_finds_as_well(name: str) -> None:
    assert complaints(yaml.safe_load((Path(__file__).parent / "mixes" / f"{name}.yaml").read_text()))


def test_a_mix_has_few_parts() -> None:
    part = "  - share: 0.01\n    caseId: x{}\n"
    (fault,) = faults_of(MIX + "".join(part.format(number) for number in range(MOST_PARTS)))
    assert fault == "mix.yaml:6:3: parts: must have at most 50 entries"


def test_rounded_shares_are_shares_of_all() -> None:
    text = MIX.replace("0.7", "0.333").replace("0.2", "0.333").replace("0.1", "0.333")
    assert [part.share for part in read_mix(text, "mix.yaml").parts] == [pytest.approx(1 / 3)] * 3


def test_a_case_has_the_fields_of_a_matrix() -> None:
    of_levels = {"security_bits", "security_model"}
    assert set(CaseOfMix.model_fields) == set(Matrix.model_fields) - of_levels


@given(case=st.sampled_from(QUICKSTART))
def test_every_case_of_a_spec_can_be_written(case: Case) -> None:
    fields: dict[str, str | int] = {
        "protocol": case.protocol,
        "keyExchange": case.key_exchange,
        "cipher": case.cipher,
    }
    fields |= {"rsaBits": case.rsa_bits} if case.rsa_bits else {}
    fields |= {"dhGroup" if case.group.startswith("ff") else "group": case.group} if case.group != "-" else {}
    document = yaml.safe_load(MIX) | {
        "parts": [{"share": 1, "case": {name: str(value) for name, value in fields.items()}}]
    }
    (part,) = read_mix(json.dumps(document), "mix.json").parts
    assert part.case == case


@pytest.mark.parametrize("mix", MIXES, ids=lambda path: path.stem)
def test_a_mix_to_copy_satisfies_its_schema_and_the_quickstart_measures_it(mix: Path) -> None:
    text = mix.read_text()
    assert text.startswith("# yaml-language-server: $schema=../schema/trafficmix.schema.json\n")
    assert complaints(yaml.safe_load(text)) == []
    assert complaints(parse_document(text, mix.name).value) == []
    assert {part.case for part in read_mix(text, mix.name).all_parts} <= set(QUICKSTART)


def test_there_are_mixes_to_copy() -> None:
    listed = (BENCH_SPECS / "README.md").read_text()
    assert len(MIXES) >= 4
    assert all(f"(mixes/{path.name})" in listed for path in MIXES)
