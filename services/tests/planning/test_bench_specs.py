"""The specs that people copy: they plan, and an editor that follows their schema line finds nothing wrong."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError, parse_document
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Matrix, MeasureSpec
from tests.builders import BENCH_SPECS, CATALOGUE, REFERENCE, SPEC, a_plan

DOCUMENTS = sorted([*BENCH_SPECS.glob("*.yaml"), *BENCH_SPECS.glob("articles/*.yaml")])
SPECS = [path for path in DOCUMENTS if yaml.safe_load(path.read_text())["kind"] == "Benchmark"]
FAULTS = sorted((Path(__file__).parent / "faults").glob("*.yaml"))


def schema(kind: str) -> Draft202012Validator:
    found = json.loads((BENCH_SPECS / "schema" / f"{kind.lower()}.schema.json").read_text())
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def complaints(document: Any, kind: str = "Benchmark") -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in schema(kind).iter_errors(document)]


def test_there_are_specs_to_copy_and_a_list_of_them() -> None:
    assert len(SPECS) >= 6
    listed = (BENCH_SPECS / "README.md").read_text()
    names = [path.relative_to(BENCH_SPECS) for path in DOCUMENTS]
    assert [name for name in names if f"- [{name}]({name}): " not in listed] == []


@pytest.mark.parametrize("section", [Matrix, MeasureSpec])
def test_every_field_of_a_section_is_in_its_list(section: type[BaseModel]) -> None:
    title = section.__name__.removesuffix("Spec")
    listed = (BENCH_SPECS / "README.md").read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]
    assert [field.alias for field in section.model_fields.values() if f"`{field.alias}`" not in listed] == []


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_a_spec_to_copy_plans_with_the_catalogue_beside_it(spec: Path) -> None:
    catalogue = read_catalogue((BENCH_SPECS / "libraries.yaml").read_text(), "libraries.yaml")
    plan = make_plan(spec.read_text(), str(spec), catalogue)
    assert plan.spec_name == spec.stem
    assert plan.skipped == () or spec.parent != BENCH_SPECS, "a spec to copy has no combinations that do not exist"
    assert plan.description.endswith(("?", "."))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_names_the_schema_it_satisfies(document: Path) -> None:
    text = document.read_text()
    kind = yaml.safe_load(text)["kind"]
    schemas = os.path.relpath(BENCH_SPECS / "schema", document.parent)
    assert text.startswith(f"# yaml-language-server: $schema={schemas}/{kind.lower()}.schema.json\n")
    assert complaints(yaml.safe_load(text), kind) == []
    assert complaints(parse_document(text, document.name).value, kind) == []


@pytest.mark.parametrize(
    "change",
    [
        ("fake: [1.0, 1.1]", "openssl: [3.0, 1.1.1w, tracked]"),
        ("fake: [1.0, 1.1]", "openssl: 3.0"),
        ("fake: [1.0, 1.1]", 'openssl: "3.10"'),
        ("invocations: 6", 'invocations: "6"'),
        ("description: Two versions of a made-up library.", "description: 2026"),
        ("[RSA, ECDHE-ECDSA]", "[RSA, ECDHE-ECDSA]\n  dhBits: [1776]\n  dhGroup: [ffdhe2048]"),
        ("measure:", REFERENCE + "measure:"),
        ("[RSA, ECDHE-ECDSA]", "[RSA, default-RSA-PSS]\n  fips: [false, true]\n  threads: [1, 256]"),
        ("[RSA, ECDHE-ECDSA]", '[RSA]\n  peer: ["-", "server:openssl@3.0", client:openssl@debian/trixie]'),
        ("invocations: 6", "resolve: 0.5%, sentinel: no"),
    ],
    ids=lambda change: change[1][:25],
)
def test_what_plans_satisfies_the_schema_both_as_text_and_as_editors_read_it(change: tuple[str, str]) -> None:
    text = SPEC.replace(*change)
    assert text != SPEC
    a_plan(text.replace("1.1.1w, ", "").replace('"3.10"', '"3.5.4"'))
    assert complaints(yaml.safe_load(text)) == []
    assert complaints(parse_document(text, "spec.yaml").value) == []


ACROSS_FIELDS = {"reference", "impossible", "twice", "peers", "ocsp"}
"""Wrong specs of which each field alone is right, which no schema can tell."""


@pytest.mark.parametrize(
    "spec", [path for path in FAULTS if path.stem not in ACROSS_FIELDS], ids=lambda path: path.stem
)
def test_what_is_wrong_with_a_field_the_schema_finds_as_well(spec: Path) -> None:
    assert complaints(yaml.safe_load(spec.read_text())) != []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[RSA, ECDHE-ECDSA]", "[RSA, RSA]"),
        ("[RSA, ECDHE-ECDSA]", "[RSA]\n  dhBits: null"),
        ("[RSA, ECDHE-ECDSA]", "[RSA]\n  rsaBits: [1000]"),
        ("20m", "20"),
        ("20m", "0m"),
        ("fake: [1.0, 1.1]", "fake: []"),
        ("fake: [1.0, 1.1]", "nss: [1.0]"),
        ("  - fake: [1.0, 1.1]", "  - { fake: 1.0, openssl: system }"),
        ("batches: 4", "batches: 4.5"),
        ("batches: 4", "batches: -4"),
        ("invocations: 6", "invocations: 6, resolve: 1%"),
        ("invocations: 6", "resolve: 0.005"),
        ("invocations: 6", "sentinel: perhaps"),
        ("[RSA, ECDHE-ECDSA]", "[RSA]\n  peer: [openssl@system]"),
        ("[RSA, ECDHE-ECDSA]", "[RSA]\n  chainLength: [0]"),
    ],
)
def test_what_the_planner_refuses_the_schema_refuses_as_well(old: str, new: str) -> None:
    text = SPEC.replace(old, new)
    assert text != SPEC
    with pytest.raises(DocumentError):
        a_plan(text)
    assert complaints(yaml.safe_load(text)) != []


def test_the_catalogue_names_a_sentinel() -> None:
    catalogue = read_catalogue((BENCH_SPECS / "libraries.yaml").read_text(), "libraries.yaml")
    assert catalogue.sentinel == "openssl@system"


def test_a_catalogue_whose_version_was_not_quoted_satisfies_the_schema() -> None:
    text = CATALOGUE.replace('"3.0"', "3.0")
    assert text != CATALOGUE
    assert read_catalogue(text, "libraries.yaml").libraries["openssl"][1].version == "3.0"
    assert complaints(yaml.safe_load(text), "Catalogue") == []
