"""Specs that follow a branch: what they plan, and what is wrong with them."""

import pytest
import yaml

from kexbench.domain.commits import Reason
from kexbench.domain.following import LibraryBranch
from kexbench.domain.plans import Plan
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.commits import Files, Wanted, wanted
from kexbench.planning.documents import DocumentError
from kexbench.planning.follow import Follow, follow_in, follow_of, following_text
from kexbench.planning.plan import make_plan
from tests.builders import SPEC
from tests.planning.test_bench_specs import complaints

ADDRESS = "https://example.org/openssl.git"
CATALOGUE = f"""\
apiVersion: kexbench.dev/v1
kind: Catalogue
sentinel: openssl@system
libraries: {{}}
repositories:
  openssl: [{ADDRESS}, /src/openssl]
"""
FOLLOW = f"follow: {{ library: openssl, repository: {ADDRESS}, branch: master, every: 10 }}"
FOLLOWS = SPEC.replace("subjects:\n  - fake: [1.0, 1.1]", FOLLOW)
COMMITS = tuple(f"openssl@git:{ADDRESS}#{digit * 40}" for digit in "ab")


def plan(text: str, only: tuple[str, ...] = (), *, anywhere: bool = False) -> Plan:
    catalogue = read_catalogue(CATALOGUE, "libraries.yaml")
    return make_plan(text, "spec.yaml", catalogue, only=only, anywhere=anywhere)


def faults(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        plan(text)
    return str(caught.value).splitlines()


def test_a_spec_that_follows_a_branch_plans_the_branch_or_the_commits_that_are_asked_for() -> None:
    assert [one.reference for one in plan(FOLLOWS).subjects] == [f"openssl@git:{ADDRESS}#master"]
    found = plan(FOLLOWS, COMMITS)
    assert tuple(one.reference for one in found.subjects) == COMMITS
    assert (found.sentinel, found.plan_id) == ("openssl@system", plan(FOLLOWS, COMMITS).plan_id)
    assert found.plan_id != plan(FOLLOWS, COMMITS[:1]).plan_id


def test_what_it_follows_is_known_without_planning() -> None:
    catalogue = read_catalogue(CATALOGUE, "libraries.yaml")
    branch = LibraryBranch(library="openssl", address=ADDRESS, branch="master")
    assert follow_of(FOLLOWS, "spec.yaml", catalogue) == Follow(branch, 10)
    assert follow_of(FOLLOWS.replace(", every: 10", ""), "spec.yaml", catalogue) == Follow(branch, 1)
    assert follow_of(SPEC, "spec.yaml", catalogue) is None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("every: 10", "every: 0", "spec.yaml:4:97: follow.every: must be greater than or equal to 1"),
        ("every: 10", "evry: 10", "follow.evry: unknown field (did you mean 'every'?)"),
        ("branch: master, ", "", "follow.branch: is required"),
        ("branch: master", 'branch: "-x"', "follow.branch: is not the name of a branch"),
        ("branch: master", "branch: a+relink=3", "follow.branch: is not the name of a branch"),
        (ADDRESS, "ssh://example.org/openssl.git", "follow.repository: must be an absolute path or an https"),
        (ADDRESS, "../openssl", "follow.repository: must be an absolute path or an https"),
        (ADDRESS, "/elsewhere", "'/elsewhere' is not among the catalogue's repositories of openssl ("),
        ("library: openssl", "library: gnutls", "repositories of gnutls (none)"),
        ("library: openssl", "library: nss", "follow.library: 'nss' is not one of openssl, gnutls"),
        (FOLLOW, "follow: master", "spec.yaml:4:9: follow: must be a mapping"),
        (FOLLOW, f"{FOLLOW}\nsubjects: [{{ fake: 1.0 }}]", "spec.yaml:4:1: follow: a spec cannot have both"),
        (f"{FOLLOW}\n", "", "spec.yaml:1:1: subjects: is required, unless the spec has follow"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_what_it_follows_is_reported_at_its_place(old: str, new: str, reason: str) -> None:
    text = FOLLOWS.replace(old, new)
    assert text != FOLLOWS
    (found,) = faults(text)
    assert reason in found


def test_all_its_faults_are_reported_at_once() -> None:
    found = faults(FOLLOWS.replace(ADDRESS, "/elsewhere").replace("[TLSv1.2]", "[SSLv3]"))
    assert [line.split(": ")[1] for line in found] == ["follow.repository", "matrix.0.protocol.0"]


def test_editors_know_what_may_be_followed() -> None:
    assert complaints(yaml.safe_load(FOLLOWS)) == []
    assert complaints(yaml.safe_load(CATALOGUE), "Catalogue") == []
    assert complaints(yaml.safe_load(FOLLOWS + "subjects: [{ fake: 1.0 }]\n")) != []
    assert complaints(yaml.safe_load(FOLLOWS.replace(FOLLOW, ""))) != []


def test_a_person_may_have_commits_measured_of_repositories_that_the_catalogue_does_not_name() -> None:
    branch = LibraryBranch(library="openssl", address="/home/me/openssl", branch="topic")
    for text in (SPEC, FOLLOWS):
        made = following_text(text, "spec.yaml", branch, 5)
        assert follow_in(made, "spec.yaml") == branch
        commit = branch.reference("c" * 40)
        found = plan(made, (commit,), anywhere=True)
        assert [one.reference for one in found.subjects] == [commit]
        assert found.cases == plan(FOLLOWS).cases
        assert found.measure == plan(FOLLOWS).measure
    with pytest.raises(DocumentError, match="must have library, repository and branch"):
        follow_in(SPEC, "spec.yaml")


def test_a_commit_that_adds_a_spec_which_follows_has_nothing_measured_but_its_faults_reported() -> None:
    before = Files({}, CATALOGUE)
    assert wanted(Files({"a.yaml": FOLLOWS}, CATALOGUE), before, "libraries.yaml") == ()
    broken = FOLLOWS.replace("every: 10", "every: none")
    found = wanted(Files({"a.yaml": broken}, CATALOGUE), before, "libraries.yaml")
    assert found == (Wanted("a.yaml", broken, Reason.SPEC),)
