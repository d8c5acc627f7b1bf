"""What a commit has measured: changed specs whole, and of a new version that one and the one before."""

from typing import Any

from kexbench.domain.commits import Reason
from kexbench.planning.commits import Faulty, Files, Unusable, Wanted, at_most, wanted

PATH = "bench-specs/libraries.yaml"
TRACKING = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {name: tracking}
subjects: [{fake: tracked}]
matrix: {protocol: [TLSv1.3], keyExchange: [ECDHE-RSA]}
"""
PINNED = TRACKING.replace("tracked", '"1.0"')


def a_catalogue(*versions: str) -> str:
    entries = "".join(f'    - {{source: "{version}", version: "{version}"}}\n' for version in versions)
    return f"apiVersion: kexbench.dev/v1\nkind: Catalogue\nlibraries:\n  fake:\n{entries}"


def files(catalogue: str | Unusable | None = None, /, **specs: str | Unusable) -> Files:
    return Files({f"bench-specs/{name}.yaml": text for name, text in specs.items()}, catalogue)


def found(now: Files, before: Files) -> list[tuple[Any, ...]]:
    return [
        (one.path, tuple(map(str, one.faults)))
        if isinstance(one, Faulty)
        else (one.path.removeprefix("bench-specs/"), one.reason, one.subjects)
        for one in wanted(now, before, PATH)
    ]


def test_specs_that_are_new_or_changed_are_measured_whole_by_path() -> None:
    before, now = files(a="1", b="2", c="3"), files(d="4", a="1", b="20")
    assert wanted(now, before, PATH) == (
        Wanted("bench-specs/b.yaml", "20", Reason.SPEC),
        Wanted("bench-specs/d.yaml", "4", Reason.SPEC),
    )


def test_a_spec_that_is_no_text_is_a_fault_once() -> None:
    path = "bench-specs/a.yaml"
    for kind in Unusable:
        assert found(files(a=kind), files()) == [(path, (f"{path}:1:1: {kind.value}",))]
        assert found(files(a=kind), files(a=kind)) == []


def test_a_catalogue_that_is_no_text_is_a_fault_of_each_changed_spec_which_no_other_catalogue_replaces() -> None:
    text = f"the catalogue {PATH}: {Unusable.NO_FILE.value}"
    path = "bench-specs/a.yaml"
    changed = [(path, (f"{path}:1:1: {text}",)), (PATH, (f"{PATH}:1:1: {text}",))]
    assert found(files(Unusable.NO_FILE, a=TRACKING), files(a_catalogue("1.0"))) == changed
    assert found(files(Unusable.NO_FILE, a=TRACKING), files(Unusable.NO_FILE)) == changed[:1]
    assert found(files(Unusable.NO_FILE, a=TRACKING), files(Unusable.NO_FILE, a=TRACKING)) == []


def test_a_path_that_is_too_long_to_be_kept_is_a_fault() -> None:
    path = f"bench-specs/{'a' * 400}.yaml"
    (faulty,) = wanted(Files({path: "1"}, None), files(), PATH)
    assert isinstance(faulty, Faulty)
    assert len(faulty.path) == 400
    assert str(faulty.faults[0]).endswith("…:1:1: the path is longer than 400 characters")


def test_of_more_than_are_looked_at_the_next_one_says_so() -> None:
    changed = wanted(files(a="1", b="2", c="3"), files(), PATH)
    assert at_most(changed, 3) == changed
    first, last = at_most(changed, 1)
    assert first == changed[0]
    assert isinstance(last, Faulty)
    path = "bench-specs/b.yaml"
    assert (last.path, tuple(map(str, last.faults))) == (
        path,
        (f"{path}:1:1: only the first 1 of 3 changed specs are planned; this one and later ones are not",),
    )


def test_a_new_version_is_measured_against_the_one_before_by_the_specs_that_track_it_and_no_others() -> None:
    before, now = a_catalogue("1.0", "1.1"), a_catalogue("1.0", "1.1", "1.2")
    assert found(files(now, tracks=TRACKING, pins=PINNED), files(before, tracks=TRACKING, pins=PINNED)) == [
        ("tracks.yaml", Reason.LIBRARY, ("fake@1.1", "fake@1.2"))
    ]


def test_a_new_version_between_two_is_measured_against_the_older_one() -> None:
    before, now = a_catalogue("1.0", "1.2"), a_catalogue("1.0", "1.1", "1.2")
    assert found(files(now, tracks=TRACKING), files(before, tracks=TRACKING))[0][2] == ("fake@1.0", "fake@1.1")


def test_two_new_versions_are_each_measured_against_the_one_before() -> None:
    before, now = a_catalogue("1.0", "1.1"), a_catalogue("1.0", "1.1", "1.2", "1.3")
    expected = ("fake@1.1", "fake@1.2", "fake@1.3")
    assert found(files(now, tracks=TRACKING), files(before, tracks=TRACKING))[0][2] == expected


def test_a_spec_that_changes_with_the_catalogue_is_measured_whole_and_once() -> None:
    before, now = a_catalogue("1.0"), a_catalogue("1.0", "1.1")
    changed = TRACKING.replace("tracking", "renamed")
    assert found(files(now, tracks=changed), files(before, tracks=TRACKING)) == [("tracks.yaml", Reason.SPEC, ())]


def test_a_version_that_is_taken_out_or_described_anew_has_nothing_measured() -> None:
    before = a_catalogue("1.0", "1.1")
    for now in (a_catalogue("1.1"), before + "# a remark\n"):
        assert found(files(now, tracks=TRACKING), files(before, tracks=TRACKING)) == []


def test_a_catalogue_with_faults_tells_them_and_holds_up_no_changed_spec() -> None:
    now = a_catalogue("1.0") + "  nonsense: 1\n"
    faulty, *others = found(files(now, tracks=TRACKING, new=PINNED), files(a_catalogue("1.0"), tracks=TRACKING))
    assert faulty[0] == PATH
    assert faulty[1][0].startswith(f"{PATH}:6:3: ")
    assert others == [("new.yaml", Reason.SPEC, ())]


def test_after_a_catalogue_with_faults_its_versions_are_new() -> None:
    broken = a_catalogue("1.0") + "  nonsense: 1\n"
    assert found(files(a_catalogue("1.0", "1.1"), tracks=TRACKING), files(broken, tracks=TRACKING))[0][2] == (
        "fake@1.0",
        "fake@1.1",
    )


def test_with_the_first_catalogue_only_specs_that_track_it_have_new_versions() -> None:
    specs = {"pins": PINNED, "tracks": TRACKING}
    assert found(files(a_catalogue("1.0"), **specs), files(**specs)) == [("tracks.yaml", Reason.LIBRARY, ("fake@1.0",))]


def test_a_spec_with_faults_holds_up_no_other_when_the_catalogue_changes() -> None:
    before, now = a_catalogue("1.0"), a_catalogue("1.0", "1.1")
    specs = {"broken": "[", "tracks": TRACKING}
    assert [one[0] for one in found(files(now, **specs), files(before, **specs))] == ["tracks.yaml"]
