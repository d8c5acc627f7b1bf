"""What people read when the catalogue is wrong, and what it says of a version."""

from datetime import date

import pytest

from kexbench.planning.catalogue import read_catalogue, tracked
from kexbench.planning.documents import DocumentError
from kexbench.planning.spec import CatalogueEntry
from tests.builders import BENCH_SPECS

HEAD = "apiVersion: kexbench.dev/v1\nkind: Catalogue\nlibraries:\n  openssl:\n"
ENTRY = """\
    - source: crate/3.5.5
      version: "3.5.5"
      released: "2026-01-27"
      notes: a release
      security: [CVE-2026-0001, "CVE-2026-0002, one clause"]
      defaults: [another group is preferred]
"""


def entry(text: str) -> CatalogueEntry:
    ((_, only),) = tracked(read_catalogue(HEAD + text, "libraries.yaml"))
    return only


def faults(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        read_catalogue(HEAD + text, "libraries.yaml")
    return str(caught.value).splitlines()


def test_an_entry_tells_when_it_was_released_what_it_mends_and_what_it_changes() -> None:
    found = entry(ENTRY)
    assert found.released == date(2026, 1, 27)
    assert found.security == ["CVE-2026-0001", "CVE-2026-0002, one clause"]
    assert found.defaults == ["another group is preferred"]


@pytest.mark.parametrize("written", ["2026-01-27", '"2026-01-27"', "'2026-01-27'"])
def test_a_date_is_one_with_or_without_quotes(written: str) -> None:
    assert entry(ENTRY.replace('"2026-01-27"', written)).released == date(2026, 1, 27)


@pytest.mark.parametrize(
    "written", ["2026-02-30", "2026-1-27", "27 Jan 2026", "20260127", "1769472000", "[2026]", "''"]
)
def test_a_date_that_is_none_is_reported_with_its_place(written: str) -> None:
    (fault,) = faults(ENTRY.replace('"2026-01-27"', written))
    assert fault.startswith(
        "libraries.yaml:7:17: libraries.openssl.0.released: must be a date such as 2025-04-08, not "
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("notes:", "note:", "8:7: libraries.openssl.0.note: unknown field (did you mean 'notes'?); allowed: source, "),
        ("[CVE-2026-0001,", "[CVE-2026-0001, CVE-2026-0001,", "9:17: libraries.openssl.0.security: given twice"),
        ("[another", f"['{'x' * 201}', another", "10:18: libraries.openssl.0.defaults.0: must have at most 200 char"),
        ("[another group is preferred]", "[]", "10:17: libraries.openssl.0.defaults: must have at least 1 entry"),
        ("[another group is preferred]", "one", "10:17: libraries.openssl.0.defaults: must be a list"),
        ('"3.5.5"', '"3.5.4"', "6:16: libraries.openssl.0.version: '3.5.4' is not the source's version 3.5.5"),
        ('"3.5.5"', "three", "6:16: libraries.openssl.0.version: 'three' is not the source's version 3.5.5"),
        ("crate/3.5.5", "crate/../3.5.5", "5:15: libraries.openssl.0.source: "),
    ],
)
def test_what_is_wrong_with_an_entry_is_reported_with_its_place(old: str, new: str, says: str) -> None:
    text = ENTRY.replace(old, new)
    assert text != ENTRY
    assert f"libraries.yaml:{says}" in faults(text)[0]


def test_a_source_given_twice_is_reported_at_the_second() -> None:
    (fault,) = faults(ENTRY + "    - source: crate/3.5.5\n")
    assert fault == "libraries.yaml:11:15: libraries.openssl.1.source: 'crate/3.5.5' is given twice"


def listed(*versions: str) -> str:
    return "".join(f"    - {{ source: debian/s{chr(97 + at)}, version: '{v}' }}\n" for at, v in enumerate(versions))


@pytest.mark.parametrize("versions", [("1.1.1", "1.1.1k", "3.0"), ("3.9", "3.10"), ("3.5.1", "3.5"), ("3.5", "3.5.1")])
def test_versions_stand_from_the_oldest_to_the_newest(versions: tuple[str, ...]) -> None:
    assert len(list(tracked(read_catalogue(HEAD + listed(*versions), "libraries.yaml")))) == len(versions)


@pytest.mark.parametrize(
    "versions", [("3.0", "1.1.1w"), ("3.10", "3.9"), ("4.0.0", "4.0.0-beta1"), ("3.5.1", "3.5", "3.5.0")]
)
def test_a_version_behind_a_newer_one_is_reported_at_its_place(versions: tuple[str, ...]) -> None:
    (fault,) = faults(listed(*versions))
    assert fault.startswith(f"libraries.yaml:{3 + len(versions) + 1}:")
    assert f"'{versions[-1]}' comes after {versions[0]}: list the oldest version first" in fault


def test_every_fault_of_a_catalogue_is_reported_at_once() -> None:
    text = ENTRY.replace("notes:", "note:") + ENTRY.replace('"3.5.5"', "3.4").replace("2026-01", "2026-13")
    assert [fault.split(": ")[1] for fault in faults(text)] == [
        "libraries.openssl.0.note",
        "libraries.openssl.1.source",
        *["libraries.openssl.1.version"] * 2,
        "libraries.openssl.1.released",
    ]


def test_the_catalogue_tracks_a_long_history_of_which_every_version_has_its_date() -> None:
    catalogue = read_catalogue((BENCH_SPECS / "libraries.yaml").read_text(), "libraries.yaml")
    assert len(catalogue.libraries["openssl"]) >= 12
    assert len(catalogue.libraries["gnutls"]) >= 4
    assert all(found.version and found.released for _, found in tracked(catalogue))
    assert {found.source.partition("/")[0] for found in catalogue.libraries["openssl"]} == {"crate"}
    assert {found.source.partition("/")[0] for found in catalogue.libraries["gnutls"]} == {"deb-source"}


@pytest.mark.parametrize("spec", ["quickstart", "defaults", "threads"])
def test_what_people_try_first_builds_no_library(spec: str) -> None:
    assert "tracked" not in (BENCH_SPECS / f"{spec}.yaml").read_text()
