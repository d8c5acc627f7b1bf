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
from tests.infra.conftest import Tools
from tests.infra.pools import ROOT

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
        'case $1 in comment) exit "$COMMENTED" ;; esac\n'
        'if [ "$COMPARED" != 2 ]; then mkdir -p kexbench-report && echo "a comment" >kexbench-report/comment.md; fi\n'
        'exit "$COMPARED"\n'
    )
    stub.chmod(0o755)
    return tmp_path


def compare(
    workplace: Path, *words: str, compared: int = 0, commented: int = 0, **variables: str
) -> "subprocess.CompletedProcess[str]":
    environment = {
        "PATH": f"{workplace / 'bin'}:/usr/bin:/bin",
        "COMPARED": str(compared),
        "COMMENTED": str(commented),
        **variables,
    }
    return subprocess.run([SCRIPT, *words], cwd=workplace, env=environment, capture_output=True, text=True, check=False)


def calls(workplace: Path) -> list[list[str]]:
    lines = (workplace / "calls").read_text().splitlines()
    return [re.findall(r"<(.*?)>", line) for line in lines]


@pytest.mark.parametrize("status", [0, 1, 2, 3, 4, 5, 130])
@pytest.mark.parametrize("commented", [0, 1, 2])
def test_the_status_is_that_of_the_comparison_whatever_became_of_the_comment(
    workplace: Path, status: int, commented: int
) -> None:
    done = compare(workplace, "openssl", "system", "/src", "--comment", compared=status, commented=commented)
    assert done.returncode == status
    assert ("could not comment" in done.stderr) == (commented != 0 and status != 2)


def test_a_refused_comment_is_a_warning_in_the_form_of_github(workplace: Path) -> None:
    done = compare(workplace, "openssl", "system", "/src", "--comment", commented=1, GITHUB_ACTIONS="true")
    assert done.stdout.startswith("::warning::kexbench could not comment")


def test_a_comparison_that_could_not_begin_says_nothing_of_an_earlier_one(workplace: Path) -> None:
    summary = workplace / "summary"
    compare(workplace, "openssl", "system", "/src", GITHUB_STEP_SUMMARY=str(summary))
    done = compare(workplace, "openssl", "system", "/src", "--comment", compared=2, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 2
    assert summary.read_text() == "a comment\n"
    assert [words[0] for words in calls(workplace)] == ["compare", "compare"]


def test_nothing_is_commented_unless_asked_for(workplace: Path) -> None:
    compare(workplace, "openssl", "system", "/src", compared=3)
    assert [words[0] for words in calls(workplace)] == ["compare"]


def test_the_options_are_those_of_the_comparison_and_patterns_stay_whole(workplace: Path) -> None:
    options = ("--case", "*", "--relevant", "0.2%", "--case", "a b", "--output", "kexbench-report", "--comment")
    compare(workplace, "--instrument", "both", "openssl", "system", *options, "git:.#HEAD")
    ends = ["openssl@system", "openssl@git:.#HEAD"]
    said = ["--count", "--time", "--case", "*", "--relevant", "0.2%", "--case", "a b"]
    assert calls(workplace) == [
        ["compare", *ends, "--output", "kexbench-report", *said],
        ["comment", "kexbench-report"],
    ]


@pytest.mark.parametrize(
    ("word", "source"),
    [
        ("tree", "prefix:tree"),
        ("./absent", "prefix:./absent"),
        ("/absent", "prefix:/absent"),
        ("system", "system"),
        ("debian/bookworm", "debian/bookworm"),
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
    own = {"--help", "--instrument", "--comment"}
    lines = [
        line for file in files for line in file.read_text().splitlines() if re.search(r"kexbench comp|set --", line)
    ]
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
    (job,) = TEMPLATE[1].values()
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
        assert f"inputs.{name} }}}}" in action, name
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


def test_actions_of_others_are_pinned_by_a_commit() -> None:
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert used
    for name in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name), name


def test_the_version_is_that_of_this_release() -> None:
    assert ACTION["inputs"]["version"]["default"] == __version__
    assert TEMPLATE[0]["spec"]["inputs"]["version"]["default"] == __version__


def test_the_job_of_a_merge_request_ends_with_the_status_and_shows_the_report() -> None:
    (job,) = TEMPLATE[1].values()
    assert job["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert job["artifacts"]["expose_as"]
    assert job["artifacts"]["when"] == "always"
    assert job["script"][-1].rstrip().endswith('exit "$status"')


@pytest.mark.infra
def test_the_workflows_of_the_page_have_no_fault_that_a_linter_finds(tools: Tools, tmp_path: Path) -> None:
    """The linter reads the action too, and so knows its inputs."""
    blocks = [block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "\non: pull_request" in block]
    assert len(blocks) == 2
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
