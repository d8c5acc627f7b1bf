"""Selectors of a spec: what names a subject, and what is said where nothing does."""

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError
from kexbench.planning.plan import make_plan
from kexbench.planning.subjects import with_sources
from tests.builders import CATALOGUE, SPEC, a_catalogue, a_plan


def test_selectors_name_subjects_by_source_version_or_all_that_are_tracked() -> None:
    def subjects(selectors: str) -> list[tuple[str, str | None]]:
        plan = a_plan(SPEC.replace("fake: [1.0, 1.1]", f"openssl: {selectors}"))
        return [(subject.reference, subject.declared_version) for subject in plan.subjects]

    system, bookworm, trixie = (
        ("openssl@system", None),
        ("openssl@debian/bookworm", "3.0"),
        ("openssl@debian/trixie", "3.5.4"),
    )
    assert subjects("tracked") == [system, bookworm, trixie]
    assert subjects("[3.5, tracked]") == [trixie, system, bookworm]
    assert subjects("[3.5.4, debian/trixie]") == [trixie]
    assert subjects("debian/sid") == [("openssl@debian/sid", None)]


@pytest.mark.parametrize("selector", ["3", "3.5", "3.5.4"])
def test_a_version_selects_by_whole_numbers(selector: str) -> None:
    plan = a_plan(SPEC.replace("fake: [1.0, 1.1]", f"openssl: [{selector}]"))
    assert "openssl@debian/trixie" in [subject.reference for subject in plan.subjects]


@pytest.mark.parametrize("selector", ["3.50", "3.5.40", "3.", "5", "system2", "debian/", "debian", "debian/a b", ""])
def test_a_selector_that_names_nothing_is_reported_with_what_there_is(selector: str) -> None:
    with pytest.raises(DocumentError) as caught:
        a_plan(SPEC.replace("fake: [1.0, 1.1]", f"openssl: ['{selector}']"))
    assert f"'{selector}'" in str(caught.value)
    assert "debian/trixie" in str(caught.value)


def test_a_library_the_catalogue_does_not_have_tracks_nothing() -> None:
    with pytest.raises(DocumentError, match="the catalogue tracks no version of gnutls"):
        a_plan(SPEC.replace("fake: [1.0, 1.1]", "gnutls: tracked"))
    assert "gnutls" not in a_catalogue().libraries


ANYWHERE = (
    f"tarball:https://example.org/openssl.tar.gz#sha256={'0' * 64}",
    *("git:/src/openssl#master", "prefix:/etc", "deb:/build/debs#trixie"),
)


@pytest.mark.parametrize("source", ANYWHERE)
@pytest.mark.parametrize("place", ["openssl: ['{}']", "openssl: ['{}+no-asm']"])
def test_sources_from_anywhere_are_refused_unless_the_catalogue_has_them(source: str, place: str) -> None:
    with pytest.raises(DocumentError) as caught:
        a_plan(SPEC.replace("fake: [1.0, 1.1]", place.format(source)))
    assert (
        "is not in the catalogue; building runs code from such sources, so a spec can use only those in the catalogue"
    ) in str(caught.value)


@pytest.mark.parametrize("source", ANYWHERE)
def test_a_peer_from_anywhere_is_refused_too(source: str) -> None:
    with pytest.raises(DocumentError, match="so a spec can use only those in the catalogue"):
        a_plan(SPEC.replace("[RSA, ECDHE-ECDSA]", f"[RSA]\n  peer: ['server:openssl@{source}']"))


@pytest.mark.parametrize("source", ANYWHERE)
def test_sources_from_anywhere_that_the_catalogue_has_are_subjects(source: str) -> None:
    text = f"{CATALOGUE}    - {{ source: '{source}', version: '3.6' }}\n"
    for selector in (source, "3.6"):
        plan = make_plan(
            SPEC.replace("fake: [1.0, 1.1]", f"openssl: ['{selector}']"), "spec.yaml", read_catalogue(text, "l.yaml")
        )
        assert [subject.reference for subject in plan.subjects] == [f"openssl@{source}"]


def test_what_a_person_names_by_hand_is_planned_and_nothing_else_becomes_tracked() -> None:
    named = [SubjectRef.parse(f"openssl@{source}") for source in (*ANYWHERE, ANYWHERE[0], "debian/sid")]
    catalogue = with_sources(a_catalogue(), named)
    before = a_catalogue().libraries["openssl"]
    added = catalogue.libraries["openssl"][len(before) :]
    assert catalogue.libraries["openssl"][: len(before)] == before
    assert [(entry.source, entry.version) for entry in added] == [(source, None) for source in ANYWHERE]
