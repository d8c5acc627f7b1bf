"""What a library's own CI uses: the script with a stub of kexbench, the action and the template as text."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kexbench import __version__
from kexbench.cli.statuses import OWN
from tests.infra.conftest import Tools
from tests.infra.pools import ROOT
from tests.watch.repositories import git

CI = ROOT / "infra" / "ci"
SCRIPT = CI / "compare-builds"
SCRIPTS = [SCRIPT, *sorted(CI.glob("examples/*.sh")), CI / "examples/debian/tests/handshake-costs"]
ACTION = yaml.safe_load((CI / "github" / "action.yml").read_text())
TEMPLATE = list(yaml.safe_load_all((CI / "gitlab" / "compare-builds.yml").read_text()))
PAGE = (ROOT / "docs" / "use" / "in-your-ci.md").read_text()


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder with a stub that writes its words to `calls`, and the comment that a comparison leaves."""
    stub = tmp_path / "bin" / "kexbench"
    stub.parent.mkdir()
    stub.write_text(
        "#!/bin/sh\n"
        f'for word; do printf "<%s>" "$word"; done >>{tmp_path}/calls; echo >>{tmp_path}/calls\n'
        'if [ "$COMPARED" != 2 ]; then mkdir -p kexbench-report && echo "a comment" >kexbench-report/comment.md; fi\n'
        'exit "$COMPARED"\n'
    )
    stub.chmod(0o755)
    return tmp_path


def run(
    script: Path | str, workplace: Path, *words: str, compared: int | str = 0, **variables: str
) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": f"{workplace / 'bin'}:/usr/bin:/bin", "COMPARED": str(compared), **variables}
    return subprocess.run([script, *words], cwd=workplace, env=environment, capture_output=True, text=True, check=False)


def compare(
    workplace: Path, *words: str, compared: int | str = 0, **variables: str
) -> "subprocess.CompletedProcess[str]":
    return run(SCRIPT, workplace, *words, compared=compared, **variables)


def calls(workplace: Path) -> list[list[str]]:
    lines = (workplace / "calls").read_text().splitlines()
    return [re.findall(r"<(.*?)>", line) for line in lines]


@pytest.mark.parametrize("status", [0, 1, 2, 3, 4, 5, 130])
def test_the_status_is_that_of_the_comparison(workplace: Path, status: int) -> None:
    summary = workplace / "summary"
    done = compare(workplace, "openssl", "system", "/src", compared=status, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == status
    assert summary.exists() == (status != 2)


def test_a_comparison_that_could_not_begin_says_nothing_of_an_earlier_one(workplace: Path) -> None:
    summary = workplace / "summary"
    compare(workplace, "openssl", "system", "/src", GITHUB_STEP_SUMMARY=str(summary))
    done = compare(workplace, "openssl", "system", "/src", compared=2, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 2
    assert summary.read_text() == "a comment\n"


def test_the_options_are_those_of_the_comparison_and_patterns_stay_whole(workplace: Path) -> None:
    options = ("--case", "*", "--relevant", "0.2%", "--case", "a b", "--output", "kexbench-report")
    compare(workplace, "--instrument", "both", "openssl", "system", *options, "git:.#HEAD")
    ends = ["openssl@system", "openssl@git:.#HEAD"]
    said = ["--count", "--time", "--case", "*", "--relevant", "0.2%", "--case", "a b"]
    assert calls(workplace) == [["compare", *ends, "--output", "kexbench-report", *said]]


@pytest.mark.parametrize(
    ("word", "source"),
    [
        ("tree", "prefix:tree"),
        ("builds/absent", "prefix:builds/absent"),
        ("./absent", "prefix:./absent"),
        ("/absent", "prefix:/absent"),
        ("system", "system"),
        ("debian/bookworm", "debian/bookworm"),
        ("deb-source/bookworm", "deb-source/bookworm"),
        ("crate/3.5.5", "crate/3.5.5"),
        ("git:.#HEAD", "git:.#HEAD"),
        ("deb:debs#sid", "deb:debs#sid"),
    ],
)
def test_a_folder_is_a_built_tree_and_other_words_are_sources(workplace: Path, word: str, source: str) -> None:
    (workplace / "tree").mkdir()
    compare(workplace, "gnutls", "system", word)
    assert calls(workplace)[0][2] == f"gnutls@{source}"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["openssl", "system"], "a library and two builds are needed"),
        (["openssl", "system", "/a", "/b"], "/b is one word too many"),
        (["openssl", "system", "/a", "--case"], "--case needs a value"),
        (["openssl", "system", "/a", "--instrument", "clock"], "--instrument is counted, time or both, not clock"),
        (["openssl", "system", "/a", "--quick"], "there is no option --quick"),
    ],
)
def test_wrong_usage_is_said_in_one_line_and_nothing_is_compared(workplace: Path, words: list[str], says: str) -> None:
    done = compare(workplace, *words)
    assert (done.returncode, done.stderr) == (2, f"compare-builds: {says}; see compare-builds --help\n")
    assert not (workplace / "calls").exists()


def test_help_names_every_option_that_the_script_takes() -> None:
    done = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True, check=True)
    taken = set(re.findall(r"--[a-z]+(?=[ )|])", (SCRIPT.read_text().partition("while [")[2]).partition("esac")[0]))
    assert taken - {"--help"} == set(re.findall(r"^ *(--[a-z]+)", done.stdout, re.MULTILINE))
    assert [f"{status}: " in done.stdout for status in OWN["compare"]] == [True] * len(OWN["compare"])


def test_what_the_files_hand_on_are_options_of_the_comparison() -> None:
    words = [str(ROOT / "services/.venv/bin/kexbench"), "compare", "--help"]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    text = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
    options = handed_on()
    assert {"--count", "--time", "--case", "--relevant", "--output"} <= options
    assert options <= set(re.findall(r"--[a-z]+", text))


def handed_on() -> set[str]:
    """The options of `kexbench compare` that files of infra/ci have."""
    files = [*SCRIPTS, CI / "gitlab/compare-builds.yml", CI / "examples/rpm/handshake-costs.inc"]
    own = {"--help", "--instrument"}
    texts = [file.read_text().replace("\\\n", " ") for file in files]
    lines = [line for text in texts for line in text.splitlines() if re.search(r"kexbench comp|set --", line)]
    return set(re.findall(r"(?<=\s)--[a-z]{3,}", "\n".join(lines))) - own


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_has_no_fault_that_a_linter_finds(script: Path) -> None:
    done = subprocess.run(["shellcheck", script], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert os.access(script, os.X_OK)


def runs() -> Iterator[tuple[dict[str, Any], str]]:
    for step in ACTION["runs"]["steps"]:
        if "run" in step:
            yield step, step["run"]


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
def test_the_scripts_of_the_action_and_of_the_template_have_no_fault() -> None:
    scripts = [run for _, run in runs()]
    texts = [("bash", run) for run in scripts] + [("sh", "\n".join(part)) for part in template_scripts()]
    for shell, text in texts:
        words = ["shellcheck", f"--shell={shell}", "--exclude=SC2086,SC2154", "-"]
        done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
        assert done.stdout == ""


def template_scripts() -> Iterator[list[str]]:
    for job in TEMPLATE[1].values():
        yield [*job["before_script"], *job["script"]]


def test_inputs_reach_scripts_as_variables_alone() -> None:
    """Text that an expression puts into a script would be run."""
    for _, run in runs():
        assert "${{" not in run
    for lines in template_scripts():
        assert "$[[" not in "\n".join(lines)


def test_every_input_is_described_used_and_on_the_page() -> None:
    action, template = (CI / "github/action.yml").read_text(), (CI / "gitlab/compare-builds.yml").read_text()
    for name, field in ACTION["inputs"].items():
        assert field["description"], name
        assert "default" in field, name
        assert re.search(rf"(\$\{{\{{|if:) .*\binputs\.{name}\b", action), name
        assert f"`{name}`" in PAGE, name
    for name, field in TEMPLATE[0]["spec"]["inputs"].items():
        assert field["description"], name
        assert f"$[[ inputs.{name} ]]" in template, name
        assert f"`{name}`" in PAGE, name


def test_the_variables_of_a_step_are_those_that_its_script_reads() -> None:
    for step, run in runs():
        kept = {"KEXBENCH_HOME", "GITHUB_TOKEN"}  # kexbench reads them
        read = set(re.findall(r"\$\{?([A-Z_]+)", run)) - {"GITHUB_ACTION_PATH", "GITHUB_OUTPUT"}
        assert read == set(step.get("env", {})) - kept, step["name"]


def script_of(name: str) -> str:
    (script,) = (run for step, run in runs() if step["name"] == name)
    return script


def step(workplace: Path, name: str, compared: str = "0", **variables: str) -> "subprocess.CompletedProcess[str]":
    """What the action runs, as GitHub does."""
    script = workplace / "step"
    script.write_text(f"set -eo pipefail\n{script_of(name)}")
    output = {"GITHUB_OUTPUT": str(workplace / "output"), "GITHUB_ACTION_PATH": str(CI / "github")}
    return run("bash", workplace, str(script), compared=compared, **output, **variables)


COMPARISON = {
    "LIBRARY": "gnutls",
    "CHANGE": "git:.#HEAD",
    "CASES": "*rsa* b",
    "INSTRUMENT": "counted",
    "RELEVANT": "1%",
}


def test_only_what_comments_has_the_token() -> None:
    """Any process around the code of a pull request may be read by it."""
    holders = [run for step, run in runs() if "GITHUB_TOKEN" in step.get("env", {})]
    assert [run.split()[:2] for run in holders] == [["kexbench", "comment"]]
    builds, comments = TEMPLATE[1].values()
    assert "environment" not in builds
    assert comments["environment"] == {"name": "kexbench", "action": "access"}
    assert comments["variables"]["GIT_STRATEGY"] == "none"
    assert "comment" not in "\n".join(builds["script"])


@pytest.mark.parametrize(("key", "words"), [("", []), ("fips build", ["--key", "fips build"])])
def test_the_action_comments_with_the_key(workplace: Path, key: str, words: list[str]) -> None:
    done = step(workplace, "Comment", REPORT="a report", KEY=key, GITHUB_TOKEN="secret")
    assert (done.returncode, done.stdout) == (0, "")
    assert calls(workplace) == [["comment", "a report", *words]]


def test_a_refused_comment_is_a_warning_in_the_form_of_github(workplace: Path) -> None:
    done = step(workplace, "Comment", compared="1", REPORT="report", KEY="")
    assert done.returncode == 0
    assert done.stdout.startswith("::warning::kexbench could not comment")


@pytest.mark.parametrize(
    ("status", "there", "shown"), [("0", True, True), ("3", True, True), ("1", False, False), ("2", True, False)]
)
def test_the_action_compares_what_a_merge_adds_and_shows_a_report_of_it(
    workplace: Path, status: str, there: bool, shown: bool
) -> None:
    """With status 2, the report that is there is an older one."""
    repository(workplace)
    if there:
        (workplace / "kexbench-report").mkdir()
        (workplace / "kexbench-report" / "report.json").touch()
    base = git(workplace, "rev-parse", "HEAD^1").strip()
    report = str(workplace / "kexbench-report")
    done = step(workplace, "Compare", compared=status, BASE="", REPORT=report, **COMPARISON)
    assert done.returncode == 0
    said = ["--output", report, "--count", "--relevant", "1%", "--case", "*rsa*", "--case", "b"]
    assert calls(workplace) == [["compare", f"gnutls@git:.#{base}", "gnutls@git:.#HEAD", *said]]
    outputs = [f"status={status}", *([f"report={report}"] if shown else [])]
    assert (workplace / "output").read_text().splitlines() == outputs


def test_the_action_says_how_to_check_out_where_there_is_no_merge(workplace: Path) -> None:
    repository(workplace)
    git(workplace, "reset", "--quiet", "--hard", "HEAD^2")
    done = step(workplace, "Compare", BASE="", REPORT="kexbench-report", **COMPARISON)
    assert done.returncode == 2
    assert re.match(r"::error::.*fetch-depth: 0.*base", done.stdout)
    assert (workplace / "output").read_text() == "status=2\n"
    assert not (workplace / "calls").exists()


def repository(folder: Path) -> None:
    """Checked out as for a pull request: a merge."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    for words in (["commit"], ["checkout", "-b", "change"], ["commit"], ["checkout", "main"], ["merge", "change"]):
        options = {"commit": ["--allow-empty", "-m", "one"], "merge": ["--no-ff", "-m", "two"]}.get(words[0], [])
        git(folder, words[0], "--quiet", *options, *words[1:])


EXAMPLES = sorted(CI.glob("examples/*.sh"))


@pytest.fixture
def sources(workplace: Path) -> Path:
    """A repository whose build leaves the words that it was configured with."""
    for name in ("Configure", "configure"):
        (workplace / name).write_text('#!/bin/sh\necho "$@" >>configured\n')
        (workplace / name).chmod(0o755)
    (workplace / "Makefile").write_text("all build_libs:\n")
    git(workplace, "init", "--quiet", "--initial-branch=main")
    git(workplace, "add", "Makefile", "Configure", "configure")
    git(workplace, "commit", "--quiet", "-m", "one")
    return workplace


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_compares_the_trees_that_it_built(sources: Path, example: Path) -> None:
    done = run(example, sources, "HEAD", "HEAD", "--case", "a b", compared=3, RELEVANT="1%", BUILDS="trees")
    assert done.returncode == 3
    ends = [f"{example.stem}@prefix:trees/base", f"{example.stem}@prefix:trees/change"]
    said = ["--count", "--relevant", "1%", "--output", "kexbench-report", "--case", "a b"]
    assert calls(sources) == [["compare", *ends, *said]]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_builds_again_only_with_other_options(sources: Path, example: Path) -> None:
    built = []
    for configure in ("no-x", "no-x", "no-y"):
        run(example, sources, "HEAD", "HEAD", CONFIGURE=configure)
        built.append((sources / "kexbench-builds/change/configured").read_text().split()[-1])
        (sources / "kexbench-builds/change/configured").write_text("kept\n")
    assert built == ["no-x", "kept", "no-y"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_without_kexbench_only_builds(sources: Path, example: Path) -> None:
    (sources / "bin/kexbench").unlink()
    done = run(example, sources, "HEAD", "HEAD")
    assert (done.returncode, "BUILD_ONLY=1" in done.stderr) == (127, True)
    assert not (sources / "kexbench-builds").exists()
    assert run(example, sources, "HEAD", "HEAD", BUILD_ONLY="1").returncode == 0
    assert (sources / "kexbench-builds/base/.built").exists()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_how_it_is_used(workplace: Path, example: Path) -> None:
    usage = f"usage: {example.name} BASE HEAD [OPTIONS OF kexbench compare]\n"
    asked, wrong = run(example, workplace, "--help"), run(example, workplace, "HEAD")
    assert (asked.returncode, asked.stdout) == (0, usage)
    assert (wrong.returncode, wrong.stderr) == (2, usage)


def test_actions_of_others_are_pinned_by_a_commit() -> None:
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert used
    for name in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name), name


def test_the_version_is_that_of_this_release() -> None:
    assert ACTION["inputs"]["version"]["default"] == __version__
    assert TEMPLATE[0]["spec"]["inputs"]["version"]["default"] == __version__


def test_the_job_of_a_merge_request_ends_with_the_status_and_shows_the_report() -> None:
    job, _ = TEMPLATE[1].values()
    assert job["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert job["artifacts"]["expose_as"]
    assert job["artifacts"]["when"] == "always"
    assert job["script"][-1].rstrip().endswith('exit "$status"')


@pytest.mark.infra
def test_the_workflows_of_the_page_have_no_fault_that_a_linter_finds(tools: Tools, tmp_path: Path) -> None:
    """The linter reads the action too, and so knows its inputs."""
    blocks = [block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "\non: pull_request" in block]
    assert len(blocks) == 2
    # Otherwise the token is in a file that the code of the pull request can read.
    assert all("persist-credentials: false" in block for block in blocks)
    (tmp_path / ".git").mkdir()
    shutil.copytree(CI, tmp_path / "infra" / "ci")
    for block in blocks:
        workflow = tmp_path / ".github" / "workflows" / "costs.yaml"
        workflow.parent.mkdir(parents=True, exist_ok=True)
        workflow.write_text(re.sub(r"kexbench/kexbench/(\S+)@\S+", r"./\1", block))
        done = subprocess.run(
            [tools.folder / "actionlint", workflow], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.stdout + done.stderr == ""
