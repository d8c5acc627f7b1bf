"""Selectors of a spec: what names a subject, and what is told where nothing does."""

import pytest

from kexbench.planning.documents import DocumentError
from tests.builders import SPEC, a_catalogue, a_plan


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
def test_a_selector_that_names_nothing_is_told_what_there_is(selector: str) -> None:
    with pytest.raises(DocumentError) as caught:
        a_plan(SPEC.replace("fake: [1.0, 1.1]", f"openssl: ['{selector}']"))
    assert f"'{selector}'" in str(caught.value)
    assert "debian/trixie" in str(caught.value)


def test_a_library_the_catalogue_does_not_have_tracks_nothing() -> None:
    with pytest.raises(DocumentError, match="the catalogue tracks no version of gnutls"):
        a_plan(SPEC.replace("fake: [1.0, 1.1]", "gnutls: tracked"))
    assert "gnutls" not in a_catalogue().libraries
