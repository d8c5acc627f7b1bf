"""`kexbench compare --output` and `kexbench comment`: what a job of CI keeps, and the one comment that it edits."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from kexbench.cli.change_report import page_of, unbuilt_ends, write_report
from kexbench.domain.kits import SubjectRef
from kexbench.domain.pairs import ChangeReport
from kexbench.kits import KitError, KitErrors
from tests.cli.conftest import Cli
from tests.cli.test_compare import EQUAL, FEW, ONE, SLOWER
from tests.forges.fake_github import FakeGitHub
from tests.serving import serving

ENDS = SubjectRef.parse("openssl@prefix:/base"), SubjectRef.parse("openssl@prefix:/change")
GITHUB = "GITHUB_ACTIONS", "GITHUB_REPOSITORY", "GITHUB_API_URL", "GITHUB_REF", "GITHUB_JOB", "GITHUB_TOKEN"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """One home for all, so that kits are made once."""
    return Cli(tmp_path_factory.mktemp("report"))


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    """A job of its pull request 28, and nothing else of a job that these tests may run in."""
    for name in ("GITLAB_CI", "GITEA_ACTIONS", "FORGEJO_ACTIONS", "GITHUB_EVENT_PATH", "KEXBENCH_FORGE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    fake = FakeGitHub()
    with serving(fake.app()) as address:
        values = ("true", fake.repository, address + fake.prefix, "refs/pull/28/merge", "cost", fake.token)
        for name, value in zip(GITHUB, values, strict=True):
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield fake


def report_in(folder: Path) -> ChangeReport:
    return ChangeReport.model_validate_json((folder / "report.json").read_bytes())


def test_a_pull_request_has_one_comment_which_the_next_push_corrects(
    cli: Cli, tmp_path: Path, github: FakeGitHub
) -> None:
    folder = tmp_path / "report"
    slower = cli("compare", ONE, SLOWER, *FEW, "--output", str(folder), "--relevant", "1%")
    assert slower.status == 3, slower.err
    report = report_in(folder)
    assert (report.base, report.change, report.pairs[0].relevant, report.exit_status) == (ONE, SLOWER, 0.01, 3)
    assert [cell.verdict for cell in report.pairs[0].cells] == ["more", "more"]
    assert cli("comment", str(folder)).status == 0
    ((said,),) = github.comments.values()
    assert "slower in both comparisons (up to +2.1%)" in said.body
    assert f"`{SLOWER}` (`1.1`)" in said.body
    assert said.body.endswith((folder / "comment.md").read_text().rstrip())

    equal = cli("compare", ONE, EQUAL, *FEW, "--output", str(folder))
    assert equal.status == 0, equal.err
    assert cli("comment", str(folder)).status == 0
    ((corrected,),) = github.comments.values()
    assert corrected.id == said.id
    assert "no significant change in 2 comparisons" in corrected.body

    github.comments.clear()
    quiet = cli("comment", str(folder))
    assert (quiet.status, github.comments.get(28, [])) == (0, [])
    assert "nothing changed" in quiet.err


@pytest.mark.long
def test_a_relevant_change_is_a_matter_of_what_was_asked(cli: Cli, tmp_path: Path) -> None:
    assert cli("compare", ONE, SLOWER, *FEW, "--relevant", "10%").status == 0
    (run, *_) = cli("runs", "list", "--json").json()["runs"]
    again = cli("compare", ONE, SLOWER, "--run", run["run_id"], "--output", str(tmp_path))
    assert again.status == 0, "the run keeps it"
    assert "Changes below 10.00% do not count" in (tmp_path / "comment.md").read_text()
    assert cli("compare", ONE, SLOWER, "--run", run["run_id"], "--relevant", "1%").status == 2
    assert cli("alerts", "list", "--json").json()["alerts"] == []


def test_what_cannot_be_built_is_reported_apart_from_what_is_slower(
    cli: Cli, tmp_path: Path, github: FakeGitHub
) -> None:
    (tmp_path / "unbuilt").mkdir()
    (tmp_path / "unbuilt" / "Configure").touch()
    folder = tmp_path / "report"
    broken = f"openssl@prefix:{tmp_path / 'unbuilt'}"
    change = cli("compare", "openssl@system", broken, *FEW, "--output", str(folder))
    assert change.status == 4, change.err
    assert [each.which for each in report_in(folder).unbuilt] == ["change"]
    assert cli("comment", str(folder)).status == 0
    ((said,),) = github.comments.values()
    assert "### kexbench: this change cannot be built" in said.body
    assert "openssl is not built yet" in said.body
    base = cli("compare", broken, "openssl@system", *FEW, "--output", str(folder))
    assert (base.status, report_in(folder).unbuilt[0].which) == (5, "base")
    assert cli("compare", broken, "openssl@system", *FEW, "--json").json() == []


def test_a_report_of_an_earlier_command_is_never_taken_for_that_of_a_later_one(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")
    done = cli("compare", ONE, ONE, "--output", str(tmp_path))
    assert done.status == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_measured(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = cli("compare", ONE, EQUAL, *FEW, "--output", str(tmp_path / "file"))
    assert (done.status, "--output" in done.err, "measuring" in done.err) == (2, True, False)


def test_a_report_that_cannot_be_written_hides_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    report = ChangeReport.of(ENDS, 3)
    with pytest.raises(typer.Exit) as ended:
        write_report(Path("/proc/nowhere"), report)
    assert ended.value.exit_code == 3
    assert "the report in /proc/nowhere cannot be written" in capsys.readouterr().err


def test_a_change_that_fails_everywhere_is_worse(cli: Cli, tmp_path: Path) -> None:
    arguments = ("--case", "tlsv1.2*ecdhe-rsa*", "--invocations", "3", "--output", str(tmp_path))
    done = cli("compare", ONE, "fake@2.0+unsupported=1", *arguments)
    assert done.status == 3, done.err
    assert "### kexbench: 1 case failed with this change alone" in (tmp_path / "comment.md").read_text()


def test_a_machine_that_lacks_something_says_nothing_about_a_change() -> None:
    base, change = ENDS
    broken = KitError(change, "compile", "it does not compile")
    offline = KitError(base, "fetch", "no network", lack="network")
    assert [each.which for each in unbuilt_ends(broken, ENDS)] == ["change"]
    assert unbuilt_ends(KitErrors([offline, broken]), ENDS) == ()
    assert unbuilt_ends(KitError(change, "compile", "ended", cut_short=True), ENDS) == ()


def test_the_end_of_a_log_comes_along(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "$ make\nof an earlier command\n\n$ make install\n"
        + "".join(f"line {number}\n" for number in range(100))
        + "\n# failed: no\n"
    )
    (unbuilt,) = unbuilt_ends(KitError(ENDS[1], "compile", "no", log_path=log), ENDS)
    assert (unbuilt.log[0], unbuilt.log[-1], len(unbuilt.log)) == ("line 70", "line 99", 30)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("GITHUB_ACTIONS", "", "no job of GitHub, Gitea, Forgejo or GitLab"),
        ("GITHUB_REF", "refs/heads/main", "runs for no pull request"),
        ("GITHUB_TOKEN", "", "there is no token"),
        ("GITHUB_API_URL", "http://127.0.0.1:9", "the variables of this job name no forge"),
    ],
)
def test_where_nobody_can_be_told_the_remedy_is(
    name: str, value: str, says: str, cli: Cli, tmp_path: Path, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = ChangeReport(base=str(ENDS[0]), change=str(ENDS[1]), exit_status=0)
    (tmp_path / "report.json").write_text(report.model_dump_json())
    monkeypatch.setenv(name, value)
    done = cli("comment", str(tmp_path))
    assert (done.status, says in done.err, "remedy: " in done.err) == (2, True, True)
    assert github.asked == []


def test_a_token_that_may_not_comment_is_refused_and_never_shown(
    cli: Cli, tmp_path: Path, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = ChangeReport(base=str(ENDS[0]), change=str(ENDS[1]), exit_status=0)
    (tmp_path / "report.json").write_text(report.model_dump_json())
    monkeypatch.setenv("GITHUB_TOKEN", "of-somebody-else")
    done = cli("comment", str(tmp_path))
    assert done.status == 1
    assert "write a valid token into the variable GITHUB_TOKEN" in done.err
    assert "of-somebody-else" not in done.out + done.err


def test_a_folder_without_a_report_is_named(cli: Cli, tmp_path: Path) -> None:
    done = cli("comment", str(tmp_path))
    assert (done.status, "kexbench compare --output" in done.err) == (2, True)
    (tmp_path / "report.json").write_text(json.dumps({"format_version": 9}))
    assert cli("comment", str(tmp_path)).status == 2


def test_the_page_is_whole_and_shows_text_as_text() -> None:
    page = page_of("### kexbench: 1 < 2\n\n| a | b: |\n| --- | ---: |\n| `<script>` | <b>x</b> |\n")
    assert "<title>kexbench: 1 &lt; 2</title>" in page
    assert "<td><code>&lt;script&gt;</code></td>" in page
    assert "<b>x" not in page
    assert "http" not in page
