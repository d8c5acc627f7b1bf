"""YAML of any kind gives a document whose scalars are text, or faults; never anything else."""

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from yaml.nodes import Node

from kexbench.planning import documents
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError, parse_document
from tests.builders import CATALOGUE, REFERENCE, SPEC, a_plan

WHOLE_SPEC = SPEC + REFERENCE
TOKENS = [
    "{",
    "}",
    "[",
    "]",
    ":",
    "- ",
    "\n",
    "  ",
    "\t",
    "'",
    '"',
    "&a ",
    "*a",
    "!!int ",
    "? ",
    "---\n",
    "|",
    "%",
    "#",
]


def faults_of(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        parse_document(text, "x.yaml")
    return str(caught.value).splitlines()


def refused_or_planned(text: str) -> None:
    """Anything but a plan or a DocumentError leaves as the exception it is. A refusal has a place in the text."""
    refusal = plan = None
    try:
        plan = a_plan(text)
    except DocumentError as error:
        refusal = error
    if plan:
        assert plan.cases
        assert plan.subjects
        assert type(plan).model_validate_json(plan.model_dump_json()) == plan
    if refusal:
        assert refusal.faults
        assert all(1 <= fault.line <= len(text) + 1 for fault in refusal.faults)
        assert str(refusal).encode()


@pytest.mark.parametrize(
    "scalar", ["3.10", "1e3", "yes", "null", "~", "0x10", "2026-01-01", "1_000", "0o17", ".inf", "!!int 3", "=", "<<"]
)
def test_scalars_stay_the_text_that_was_written(scalar: str) -> None:
    assert parse_document(f"a: [{scalar}]", "x.yaml").value == {"a": [scalar.removeprefix("!!int ")]}


def test_a_version_that_looks_like_a_number_keeps_its_zero() -> None:
    assert [subject.source for subject in a_plan(SPEC.replace("1.1", "3.10")).subjects] == ["1.0", "3.10"]


def test_aliases_are_refused_where_they_stand() -> None:
    assert faults_of("a: &x [1]\nb: *x\n") == ["x.yaml:2:4: aliases are not allowed: repeat the value"]


def test_a_bomb_of_aliases_is_refused_before_it_expands() -> None:
    lines = ["a0: &a0 [1, 1]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 100)]
    assert faults_of("\n".join(lines)) == ["x.yaml:2:10: aliases are not allowed: repeat the value"]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "{? "])
def test_deep_nesting_is_refused_at_once_however_deep(opening: str, monkeypatch: pytest.MonkeyPatch) -> None:
    composed: list[Node | None] = []
    compose_node = yaml.SafeLoader.compose_node

    def counted(loader: yaml.SafeLoader, parent: Node | None, index: int) -> Node | None:
        composed.append(parent)
        return compose_node(loader, parent, index)

    monkeypatch.setattr(yaml.SafeLoader, "compose_node", counted)
    (fault,) = faults_of(opening * (documents.MAX_DOCUMENT_BYTES // len(opening)))
    assert "nested deeper than 16 levels" in fault
    assert len(composed) < 100, "the whole text was read although its beginning says enough"


def test_sixteen_levels_are_read() -> None:
    value = parse_document("a: " + "[" * 14 + "x" + "]" * 14, "x.yaml").value["a"]
    for _ in range(14):
        (value,) = value
    assert value == "x"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "x.yaml:1:1: the document must be a mapping of fields"),
        ("# nothing but a comment\n", "x.yaml:1:1: the document must be a mapping of fields"),
        ("- a\n- b\n", "x.yaml:1:1: the document must be a mapping of fields"),
        ("just text", "x.yaml:1:1: the document must be a mapping of fields"),
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3:1: a: the field is given twice"),
        ("a: 1\n? [b]\n: 2\n", "x.yaml:2:3: a field's name must be plain text"),
        ('a: "\\ud800"', "x.yaml:1:4: half a surrogate pair is not a character"),
        ('"\\ud800": a', "x.yaml:1:1: half a surrogate pair is not a character"),
        ('a: "\\UFFFFFFFF"', "x.yaml:1:7: not YAML: no such character or number"),
        ('a: "\\U00110000"', "x.yaml:1:7: not YAML: no such character or number"),
        (f"%YAML {'9' * 5000}.1\n--- {{}}", "x.yaml:1:7: not YAML: no such character or number"),
        ("a: 1\nb: \x00", "x.yaml:2:4: not YAML: U+0000 is not allowed"),
        ("a: 1\nb: \ud800", "x.yaml:2:4: not YAML: U+D800 is not allowed"),
    ],
)
def test_what_is_no_mapping_of_text_is_refused_with_its_place(text: str, fault: str) -> None:
    assert faults_of(text) == [fault]


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("a:\n\tb: 1\n", "x.yaml:2:1: not YAML:", "'\\t'"),
        ("a: 1\n---\nb: 2\n", "x.yaml:2:1: not YAML:", "expected a single document"),
        ("a: [1\nb: 2\n", "x.yaml:2:2: not YAML:", "while parsing a flow sequence"),
        ("a: 'x\n", "x.yaml:2:1: not YAML:", "quoted scalar"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_place_and_what_was_being_read(text: str, place: str, says: str) -> None:
    (fault,) = faults_of(text)
    assert fault.startswith(place)
    assert says in fault


def test_a_large_file_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_compose", None)
    assert faults_of("ä" * (documents.MAX_DOCUMENT_BYTES // 2 + 1)) == ["x.yaml:1:1: the file is larger than 256 KiB"]


@pytest.mark.parametrize(
    "token", ["{", "[ ", '"', "'", "!", "&a ", "%", "#", "\n", "? ", "a: ", "*", "|\n", "a: [", "\r"]
)
def test_thousands_of_any_token_are_plain_text_or_a_fault(token: str) -> None:
    refused_or_planned(token * 2000)


@given(st.text())
def test_any_text_gives_a_plan_or_faults(text: str) -> None:
    refused_or_planned(text)


@given(st.lists(st.sampled_from([*TOKENS, "a", "matrix", "kind", "1", "é"]), max_size=60).map("".join))
def test_any_heap_of_yaml_tokens_gives_a_plan_or_faults(text: str) -> None:
    refused_or_planned(text)


@given(
    st.integers(0, len(WHOLE_SPEC)),
    st.integers(0, 12),
    st.sampled_from([*TOKENS, "", "[[RSA]]", "null", "-1", "[]", "{}", '"\\ud800"', "9" * 5000, "é"])
    | st.text(max_size=4),
)
@example(WHOLE_SPEC.index("[RSA,"), 0, "[")
def test_any_change_of_a_good_spec_gives_a_plan_or_faults(start: int, length: int, inserted: str) -> None:
    refused_or_planned(WHOLE_SPEC[:start] + inserted + WHOLE_SPEC[start + length :])


yaml_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["RSA", "TLSv1.2"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
fields = st.sampled_from(list(yaml.safe_load(WHOLE_SPEC)))


@given(fields, yaml_values)
def test_any_value_of_any_field_gives_a_plan_or_faults(field: str, value: object) -> None:
    refused_or_planned(yaml.safe_dump({**yaml.safe_load(WHOLE_SPEC), field: value}))


@given(st.sampled_from(list(yaml.safe_load(WHOLE_SPEC)["matrix"])), yaml_values)
def test_any_value_of_a_dimension_gives_a_plan_or_faults(dimension: str, value: object) -> None:
    spec = yaml.safe_load(WHOLE_SPEC)
    refused_or_planned(yaml.safe_dump({**spec, "matrix": {**spec["matrix"], dimension: value}}))


def test_a_wrong_catalogue_is_refused_with_its_place() -> None:
    with pytest.raises(DocumentError, match=r"libraries.yaml:5:7: libraries.openssl.0.sourse: unknown field"):
        read_catalogue(CATALOGUE.replace("source: system", "sourse: system"), "libraries.yaml")


def test_a_catalogue_with_an_unknown_variant_is_refused() -> None:
    with pytest.raises(DocumentError, match="unknown variant 'burn=50001'"):
        read_catalogue(CATALOGUE.replace("source: system", "source: system+burn=50001"), "libraries.yaml")


@pytest.mark.parametrize(("sentinel", "says"), [("openssl", "has no source"), ("nss@system", "unknown library 'nss'")])
def test_a_sentinel_that_is_no_reference_is_refused_with_its_place(sentinel: str, says: str) -> None:
    text = CATALOGUE.replace("libraries:", f"sentinel: {sentinel}\nlibraries:")
    with pytest.raises(DocumentError, match=rf"libraries.yaml:3:11: sentinel: .*{says}"):
        read_catalogue(text, "libraries.yaml")
