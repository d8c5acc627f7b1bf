"""Which versions are newer than the tracked ones, and the change of the catalogue's text that tracks them."""

import subprocess
from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.documents import DocumentError
from kexbench.planning.edits import edited, patch
from kexbench.planning.newer import Newer, newer, places_to_ask

CATALOGUE = """\
# Kept by hand.
apiVersion: kexbench.dev/v1
kind: Catalogue
libraries:
  openssl:
    - source: system
    - source: crate/1.1.1w
      version: "1.1.1w"   # the last
      notes: |
        several

        lines
    # of another age
    - { source: crate/3.0.8, version: "3.0.8" }
    - source: crate/3.5.4
      version: "3.5.4"
    - source: crate/3.5.4+burn=3000
      version: "3.5.4"

  # beside it
  gnutls:
  - source: deb-source/bookworm
    version: "3.7.9"
    notes: old
  - source: deb-source/sid
    version: "3.8"
  - source: debian/forky
"""
FILE = "libraries.yaml"
CRATES, BOOKWORM, SID = (
    SubjectRef.parse(text)
    for text in ("openssl@crate/1.1.1w", "gnutls@deb-source/bookworm", "gnutls@deb-source/sid")
)  # fmt: skip


def found(having: dict[SubjectRef, tuple[str, ...]], text: str = CATALOGUE) -> list[tuple[str, str]]:
    return [(one.source, one.version) for one in newer(read_catalogue(text, FILE), having)]


def test_each_place_is_asked_once_but_not_for_variants_or_what_has_no_version() -> None:
    assert places_to_ask(read_catalogue(CATALOGUE, FILE)) == (CRATES, BOOKWORM, SID)


@pytest.mark.parametrize(
    ("offered", "newest"),
    [
        (("1.1.1w", "3.0.8", "3.5.4"), []),
        (("3.0.7", "3.5.0", "1.1.1k", "1.1.0i", "0.9.8"), []),
        (("3.5.5", "3.5.6"), ["3.5.6"]),
        (("3.0.9", "3.5.5", "1.1.1x"), ["1.1.1x", "3.0.9", "3.5.5"]),
        (("3.10.0", "3.10.1", "4.0.0"), ["3.10.1", "4.0.0"]),
        (("3.1.0",), ["3.1.0"]),
        (("1.0.2u",), []),
        (("3.5.5-beta1", "4.0.0-alpha1"), []),
        (("nonsense", "3.5.5"), ["3.5.5"]),
    ],
)
def test_the_newest_of_each_series_is_named_where_it_is_ahead(offered: tuple[str, ...], newest: list[str]) -> None:
    assert found({CRATES: offered}) == [(f"crate/{version}", version) for version in newest]


@pytest.mark.parametrize(
    ("offered", "newest"), [(("3.5.5-beta2",), ["3.5.5-beta2"]), (("3.5.5-beta2", "3.5.5"), ["3.5.5"])]
)
def test_pre_releases_are_named_where_one_of_their_series_is_tracked(
    offered: tuple[str, ...], newest: list[str]
) -> None:
    text = CATALOGUE.replace(
        '      version: "3.5.4"\n\n',
        '      version: "3.5.4"\n    - source: crate/3.5.5-beta1\n      version: "3.5.5-beta1"\n\n',
    )
    assert found({CRATES: (*offered, "4.0.0-alpha1")}, text) == [(f"crate/{version}", version) for version in newest]


@pytest.mark.parametrize(
    ("now", "newest"), [("3.7.9", []), ("3.7.10", ["3.7.10"]), ("3.7.8", []), ("3.8.0", ["3.8.0"])]
)
def test_a_suite_that_has_moved_on_replaces_what_it_had(now: str, newest: list[str]) -> None:
    changes = newer(read_catalogue(CATALOGUE, FILE), {BOOKWORM: (now,)})
    assert [(one.version, one.replaces) for one in changes] == [(version, "3.7.9") for version in newest]


def test_a_suite_tracked_by_its_series_moves_on_with_the_next_series_only() -> None:
    assert found({SID: ("3.8.13",)}) == []
    assert found({SID: ("3.9.0",)}) == [("deb-source/sid", "3.9.0")]


def test_a_place_that_tells_nothing_has_nothing_newer() -> None:
    assert found({}) == []
    assert found({CRATES: ()}) == []


def crate(version: str) -> Newer:
    return Newer("openssl", f"crate/{version}", version)


def difference(*changes: Newer, text: str = CATALOGUE) -> list[str]:
    lines = patch(text, edited(text, FILE, changes), FILE).splitlines()
    return [line for line in lines[2:] if line[0] in "+-"]


def added_behind(line: str, *changes: Newer) -> bool:
    lines = edited(CATALOGUE, FILE, changes).splitlines()
    return lines[lines.index(line) + 1 :][: 2 * len(changes)] == [
        part for one in changes for part in (f"    - source: {one.source}", f'      version: "{one.version}"')
    ]


def test_a_version_is_put_behind_the_last_older_one_and_nothing_else_changes() -> None:
    assert difference(crate("3.5.5")) == ["+    - source: crate/3.5.5", '+      version: "3.5.5"']
    assert added_behind('    - { source: crate/3.0.8, version: "3.0.8" }', crate("3.0.9"))
    assert added_behind("        lines", crate("1.1.1x"))


def test_several_versions_at_one_place_stand_in_their_order() -> None:
    lines = edited(CATALOGUE, FILE, [crate("4.0.0"), crate("3.10.0")]).splitlines()
    assert lines.index("    - source: crate/3.10.0") + 2 == lines.index("    - source: crate/4.0.0")


def test_a_replaced_entry_keeps_nothing_of_the_older_version() -> None:
    assert difference(Newer("gnutls", "deb-source/bookworm", "3.7.10", replaces="3.7.9")) == [
        '-    version: "3.7.9"', "-    notes: old", '+    version: "3.7.10"'
    ]  # fmt: skip


def test_a_suite_that_overtook_another_moves_behind_it() -> None:
    text = edited(CATALOGUE, FILE, [Newer("gnutls", "deb-source/bookworm", "3.9.0", replaces="3.7.9")])
    assert [entry.source for entry in read_catalogue(text, FILE).libraries["gnutls"]] == [
        "deb-source/sid", "deb-source/bookworm", "debian/forky"
    ]  # fmt: skip


def test_a_suite_that_is_all_there_is_stays_where_it_was() -> None:
    text = CATALOGUE[: CATALOGUE.index("  - source: deb-source/sid")]
    changed = edited(text, FILE, [Newer("gnutls", "deb-source/bookworm", "3.8.1", replaces="3.7.9")])
    assert changed.endswith('  gnutls:\n  - source: deb-source/bookworm\n    version: "3.8.1"\n')


def test_a_list_in_one_line_is_refused_with_its_place() -> None:
    head = CATALOGUE[CATALOGUE.index("apiVersion") : CATALOGUE.index("    - source: system")]
    text = head.rstrip() + ' [{ source: crate/3.0.8, version: "3.0.8" }]\n'
    with pytest.raises(DocumentError, match=r"libraries\.yaml:4:12: libraries\.openssl: is written in one line"):
        edited(text, FILE, [crate("3.0.9")])


@pytest.mark.parametrize("ending", ["\n", "", "\n\n# the end"])
def test_git_takes_the_patch(ending: str, tmp_path: Path) -> None:
    text = CATALOGUE.rstrip("\n") + ending
    moved = Newer("gnutls", "deb-source/sid", "3.9.0", replaces="3.8")
    changes = [crate("1.1.1x"), crate("3.5.5"), crate("4.0.0"), moved]
    new = edited(text, FILE, changes)
    (tmp_path / FILE).write_text(text)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    subprocess.run(["git", "apply", "-"], input=patch(text, new, FILE), text=True, cwd=tmp_path, check=True)
    assert (tmp_path / FILE).read_text() == new
    assert newer(read_catalogue(new, FILE), {CRATES: ("1.1.1x", "3.5.5", "4.0.0"), SID: ("3.9.0",)}) == ()


def test_nothing_new_is_an_empty_patch() -> None:
    assert patch(CATALOGUE, edited(CATALOGUE, FILE, []), FILE) == ""
