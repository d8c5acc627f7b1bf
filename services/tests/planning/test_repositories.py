"""The watched repositories as they are written: what is left out, and every fault at its place."""

import json
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from kexbench.planning.documents import DocumentError
from kexbench.planning.repositories import read_repositories
from tests.builders import BENCH_SPECS

HEAD = "apiVersion: kexbench.dev/v1\nkind: Repositories\nrepositories:\n"
ROOT = BENCH_SPECS.parent
URL = "https://forge.example/crypto/benchmarks.git"


def faults(entry: str) -> str:
    with pytest.raises(DocumentError) as found:
        read_repositories(HEAD + entry, "repositories.yaml")
    return str(found.value)


def complaints(document: Any) -> list[str]:
    schema = json.loads((BENCH_SPECS / "schema" / "repositories.schema.json").read_text())
    return [error.message for error in Draft202012Validator(schema).iter_errors(document)]


def test_what_is_left_out_is_usual() -> None:
    (found,) = read_repositories(f"{HEAD}  - {{name: benchmarks, url: {URL}}}\n", "repositories.yaml")
    assert found.branches == ("main",)
    assert (found.specs, found.catalogue) == ("bench-specs", "bench-specs/libraries.yaml")
    assert (found.username, found.password_file) == (None, None)


def test_the_catalogue_lies_beside_the_specs_unless_it_is_said_where() -> None:
    entries = (
        f"  - {{name: a, url: {URL}, specs: tls/}}\n  - {{name: b, url: {URL}, specs: ., catalogue: tls/c.yaml}}\n"
    )
    first, second = read_repositories(HEAD + entries, "repositories.yaml")
    assert (first.specs, first.catalogue) == ("tls", "tls/libraries.yaml")
    assert (second.specs, second.catalogue) == (".", "tls/c.yaml")


@pytest.mark.parametrize(
    "url", [URL, "ssh://git@forge.example/a.git", "git@forge.example:a/b.git", "/srv/git/a.git", "http://u@h:8080/a"]
)
def test_whatever_git_clones_can_be_watched(url: str) -> None:
    assert read_repositories(f"{HEAD}  - {{name: a, url: '{url}'}}\n", "f")[0].url == url


def test_a_forge_is_said_with_its_repository_and_the_file_of_a_token() -> None:
    forge = "{kind: github, repository: crypto/benchmarks, tokenFile: /etc/token}"
    (found,) = read_repositories(f"{HEAD}  - {{name: a, url: {URL}, forge: {forge}}}\n", "repositories.yaml")
    assert found.forge is not None
    assert (found.forge.kind, found.forge.api, str(found.forge.token_file)) == (
        "github",
        "https://api.github.com",
        "/etc/token",
    )


def test_pull_requests_are_planned_where_a_forge_is_named_unless_it_is_said_otherwise() -> None:
    forge = "forge: {kind: github, repository: crypto/benchmarks, tokenFile: /etc/token}"
    for more, expected in (("", "ignore"), (f", {forge}", "plan"), (f", {forge}, pullRequests: measure", "measure")):
        (found,) = read_repositories(f"{HEAD}  - {{name: a, url: {URL}{more}}}\n", "repositories.yaml")
        assert found.pull_requests == expected


def test_branches_may_be_planned_by_patterns() -> None:
    (found,) = read_repositories(f"{HEAD}  - {{name: a, url: {URL}, plannedBranches: ['feature/*', next]}}\n", "f")
    assert (found.branches, found.planned_branches) == (("main",), ("feature/*", "next"))


@pytest.mark.parametrize(
    ("entry", "line", "reason"),
    [
        (
            f"  - name: a\n    url: {URL}\n    forge: {{kind: gitea, repository: a/b, tokenFile: /t}}\n",
            6,
            "gitea needs the url of its API",
        ),
        (
            f"  - name: a\n    url: {URL}\n    forge: {{kind: github, repository: a, tokenFile: /t}}\n",
            6,
            "must be of the form owner/name",
        ),
        ("  - {name: a, url: forge.example}\n", 4, "git cannot clone"),
        ("  - {name: a, url: ext::sh}\n", 4, "git cannot clone"),
        ("  - {name: a, url: 'https://me:secret@forge.example/a.git'}\n", 4, "passwordFile"),
        (f"  - {{name: a, url: {URL}}}\n  - {{name: a, url: {URL}}}\n", 5, "'a' is given twice"),
        (f"  - {{name: a, url: {URL}, specs: ../other}}\n", 4, "is not a path within the repository"),
        (f"  - {{name: a, url: {URL}, specs: /etc}}\n", 4, "is not a path within the repository"),
        (f"  - {{name: a, url: {URL}, branches: []}}\n", 4, "must have at least 1 entry"),
        (f"  - {{name: a, url: {URL}, branches: ['a b']}}\n", 4, "must match pattern"),
        (f"  - {{name: a, url: {URL}, branch: main}}\n", 4, "did you mean 'branches'"),
        (f"  - {{name: a, url: {URL}, plannedBranches: ['a?b']}}\n", 4, "must match pattern"),
        (f"  - {{name: a, url: {URL}, pullRequests: plan}}\n", 4, "plan needs a forge"),
        (f"  - {{name: a, url: {URL}, pullRequests: all}}\n", 4, "'all' is not one of ignore, plan, measure"),
    ],
)
def test_faults_name_their_line(entry: str, line: int, reason: str) -> None:
    text = faults(entry)
    assert text.startswith(f"repositories.yaml:{line}:")
    assert reason in text


@pytest.mark.parametrize(
    "file", [Path("docs/use/benchmark-on-commits.md"), Path("frontend/src/pages/commits.tsx")], ids=str
)
def test_what_people_are_shown_as_an_example_is_right_for_us_and_for_editors(file: Path) -> None:
    (example,) = re.findall(r" *apiVersion: [^`]*kind: Repositories[^`]*", (ROOT / file).read_text())
    (found,) = read_repositories(dedent(example), "repositories.yaml")
    assert found.branches[0] == "main"
    assert complaints(yaml.safe_load(dedent(example))) == []


def test_an_editor_that_follows_the_schema_finds_what_is_wrong() -> None:
    def of(**entry: object) -> Any:
        entries = [{"name": "a", "url": URL, **entry}]
        return {"apiVersion": "kexbench.dev/v1", "kind": "Repositories", "repositories": entries}

    assert complaints(of()) == []
    for wrong in (of(name="A"), of(branches=[]), of(branch="main"), of(branches=["main", "main"])):
        assert complaints(wrong) != []
