"""The manual page: checked in as generated, readable by man, with every command and setting."""

import re
import subprocess
from functools import cache

import pytest

from kexbench.cli.main import VERBS
from kexbench.cli.statuses import EVERYWHERE
from sitemaker.man_page import man_page
from tests.cli.test_help import ALL, COMMANDS
from tests.test_documents import ROOT

CHECKED_IN = ROOT / "services/kexbench.1"


@cache
def shown() -> str:
    """The page on a terminal of 80 columns, without bold and underlined letters."""
    command = ["groff", "-man", "-ww", "-Tutf8", "-Kutf8", "-P-cbou", "-rLL=80n", str(CHECKED_IN)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_the_page_that_is_checked_in_is_the_one_of_the_commands() -> None:
    assert CHECKED_IN.read_text("utf-8") == man_page(), "run `make generate`"


def test_the_page_is_shown_without_warnings_and_can_be_found_by_its_purpose() -> None:
    begin = "kexbench(1) User Commands kexbench(1) Name kexbench - Benchmark TLS key exchange across libraries"
    assert " ".join(shown().split()).startswith(begin)
    assert "‐\n" not in shown(), "a word is hyphenated"
    assert not re.search(r"`|\]\(", shown()), "Markdown is left"


@pytest.mark.parametrize("path", [path for path in COMMANDS if not ALL[path].hidden], ids=" ".join)
def test_the_page_has_every_command_with_its_options_and_examples(path: tuple[str, ...]) -> None:
    _, heading, after = shown().partition(f"\n   kexbench {' '.join(path)}")
    assert heading
    text = after.partition("\n   kexbench ")[0]
    command = ALL[path]
    options = [name for each in command.params if not getattr(each, "hidden", False) for name in each.opts]
    assert [name for name in options if name.startswith("-") and f"\n       {name}" not in text] == []
    examples = command.help.rpartition("Example")[2].splitlines()[1:]
    assert [line for line in examples if line.strip() not in text] == []


def test_the_page_has_every_verb_exit_status_and_setting() -> None:
    named = set(re.findall(r"^   kexbench (\w+)", shown(), re.MULTILINE))
    assert named == {verb for verb in VERBS if not ALL[verb,].hidden}
    for status, meaning in EVERYWHERE.items():
        assert f"{status} {meaning}" in " ".join(shown().split())
    settings = (ROOT / "docs/reference/settings.md").read_text("utf-8")
    variables = re.findall(r"^\| `(KEXBENCH_\w+)`", settings, re.MULTILINE)
    assert variables == re.findall(r"^       (KEXBENCH_\w+)$", shown(), re.MULTILINE)
