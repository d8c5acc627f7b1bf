"""Bad input: an error that fits one screen, names the place and the remedy, and loses nothing."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from kexbench.cli.failing import words_of
from kexbench.planning.documents import DocumentError, read_spec
from tests.cli.conftest import SPEC, Cli

GOOD = SPEC.format(name="good", subjects="1.0", invocations=4)
SCREEN_LINES = 24


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("measure:", "mesure:", "bad.yaml:9:1: mesure: unknown field (did you mean 'measure'?)"),
        ("invocations: 4", "invocations: -4", "bad.yaml:9:25: measure.invocations: must be greater than or equal to 2"),
        ("fake: [1.0]", "openssl: [9.9]", "bad.yaml:5:15: subjects.0.openssl.0: unknown version '9.9' of openssl"),
        (
            "keyExchange: [RSA, ECDHE-ECDSA]",
            f"keyExchange: [DHE-RSA]\n  rsaBits: {[*range(1024, 8193, 8)]}\n  dhBits: {[*range(1024, 8193)]}",
            "bad.yaml:7:3: matrix: 6,430,593 cases, more than the 10,000 a spec may have: shorten the lists",
        ),
        ("kind: Benchmark", "kind: [", "bad.yaml:"),
    ],
    ids=["misspelt field", "negative invocations", "unknown version", "too many cases", "not YAML"],
)
def test_a_bad_spec_is_refused_with_its_place(old: str, new: str, expected: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(GOOD.replace(old, new))
    for verb in ("plan", "run"):
        done = cli(verb, str(path))
        assert done.status == 1
        assert expected in done.err
        assert done.out == ""
        assert len(done.err.splitlines()) <= SCREEN_LINES
    assert not (tmp_path / "home" / "runs").exists()


def test_a_missing_spec_is_named(cli: Cli) -> None:
    done = cli("plan", "nowhere.yaml")
    assert (done.status, done.err) == (1, "nowhere.yaml:1:1: cannot be read: No such file or directory\n")


def test_a_kit_that_cannot_be_made_says_why_and_where_its_log_is(cli: Cli) -> None:
    done = cli("kits", "add", "fake@1.0+speed=9")
    assert done.status == 1
    assert "unknown setting 'speed=9'" in done.err
    assert "remedy:" in done.err
    assert "log:" in done.err
    assert cli("kits", "list", "--json").json() == []


@pytest.mark.parametrize("reference", ["openssl", "opensl@system", "openssl@"])
def test_a_reference_that_is_none_is_a_usage_error(reference: str, cli: Cli) -> None:
    assert cli("kits", "add", reference).status == 2


def test_a_port_that_is_taken_is_named(cli: Cli) -> None:
    with cli.serving() as (_, url):
        other = Cli(cli.folder / "other")
        done = other("serve", "--port", url.rsplit(":", 1)[1])
    assert done.status == 1
    assert "choose another --port" in done.err


def test_an_unknown_run_is_a_problem_with_a_remedy(cli: Cli) -> None:
    done = cli("runs", "show", "nothing")
    assert done.status == 1
    assert "there is no run nothing" in done.err
    assert "remedy:" in done.err


def test_what_nobody_would_measure_is_not_queued(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    done = cli("submit", str(path))
    assert done.status == 1
    assert "start kexbench serve" in done.err
    assert "for a cluster set KEXBENCH_API_URL and KEXBENCH_TOKEN_FILE" in done.err


def test_a_cluster_is_not_asked_without_a_token(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEXBENCH_API_URL", "http://127.0.0.1:1")
    done = cli("schedules", "list")
    assert done.status == 2
    assert "set KEXBENCH_TOKEN_FILE" in done.err


@pytest.mark.parametrize(
    ("error", "says", "remedy"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device", "free some space"),
        (OSError(errno.EROFS, "Read-only file system", "/home/x/runs"), "/home/x/runs: Read-only", "KEXBENCH_HOME"),
        (PermissionError(errno.EACCES, "Permission denied", "/root/x"), "/root/x: Permission denied", "KEXBENCH_HOME"),
    ],
)
def test_a_disk_that_takes_nothing_is_reported_in_words(error: OSError, says: str, remedy: str) -> None:
    lines = words_of(error)
    assert lines is not None
    assert lines[0].startswith(says)
    assert lines[1].startswith("  remedy: ")
    assert remedy in lines[1]


def test_a_bug_in_the_use_of_files_is_none_of_these() -> None:
    assert words_of(FileNotFoundError(errno.ENOENT, "No such file or directory", "kit.json")) is None


@pytest.mark.parametrize("command", [["runs", "list"], ["serve", "--port", "0"], ["kits", "add", "fake@1.0"]])
def test_a_home_that_cannot_be_is_reported_with_the_remedy(cli: Cli, command: list[str]) -> None:
    (cli.folder / "home").write_text("a file stands in the place of the folder")
    done = cli(*command)
    assert done.status == 1
    assert "Traceback" not in done.err
    assert str(cli.folder / "home") in done.err
    assert "remedy: " in done.err


@pytest.mark.parametrize("command", [["runs", "list"], ["compare", "fake@1.0", "fake@1.1"], ["run", "quickstart"]])
def test_a_folder_that_is_deleted_is_reported_with_the_remedy(command: list[str], cli: Cli, tmp_path: Path) -> None:
    deleted = tmp_path / "deleted"
    deleted.mkdir()
    shell = ["sh", "-c", 'cd "$1"; rmdir "$1"; shift; exec "$@"', "sh", str(deleted), *cli.command(*command)]
    done = subprocess.run(shell, env=cli.environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-2:] == [
        "the folder that this command was started in is deleted",
        "  remedy: cd to a folder that exists",
    ]
    assert done.returncode == 1


def test_a_service_waits_for_a_server_that_does_not_answer_yet_and_other_commands_do_not(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEXBENCH_STORE_URL", "http://reader:s3cret@127.0.0.1:1")
    serving = cli.start("serve", "--port", "0")
    try:
        assert serving.stderr is not None
        assert any(line == "the ClickHouse server does not answer: waiting for it\n" for line in serving.stderr)
        assert serving.poll() is None
    finally:
        serving.kill()
        serving.communicate()
    done = cli("runs", "list")
    assert done.status == 1
    assert "the ClickHouse server does not answer" in done.err
    assert "s3cret" not in done.err


@pytest.mark.parametrize(
    ("error", "says", "remedy"),
    [
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "/proc/x"),
            "/proc/x: No such file",
            "KEXBENCH_HOME",
        ),
        (OSError(errno.ENAMETOOLONG, "File name too long", "/home"), "/home: File name too long", "KEXBENCH_HOME"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files", "ulimit -n"),
        (MemoryError(), "there is not enough memory", "end other programs"),
        (RuntimeError("can't start new thread"), "there is not enough memory", "end other programs"),
        (ImportError("x.so: failed to map segment from shared object"), "there is not enough memory", "end other"),
    ],
)
def test_what_the_system_refuses_is_said_with_its_remedy(error: Exception, says: str, remedy: str) -> None:
    lines = words_of(error)
    assert lines is not None
    assert lines[0].startswith(says)
    assert remedy in lines[1]


def test_other_errors_of_programs_are_unexpected() -> None:
    assert words_of(RuntimeError("a mistake")) is None
    assert words_of(ImportError("no module named kexbench.nothing")) is None


def test_a_spec_is_a_file_and_not_what_never_ends(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, Path("/dev/zero"), tmp_path):
        with pytest.raises(DocumentError, match=f"{path}:1:1: cannot be read: (not a file|Is a directory)"):
            read_spec(path)
    reading, writing = os.pipe()
    os.write(writing, b"kind: Benchmark")
    os.close(writing)
    assert read_spec(Path(f"/dev/fd/{reading}")) == "kind: Benchmark", "a shell's <(command) is a pipe too"
    os.close(reading)


def test_a_home_with_letters_outside_ascii_is_one_folder_in_every_locale(cli: Cli, tmp_path: Path) -> None:
    home = tmp_path / "höme"
    home.mkdir()
    locale = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    command = [cli.command()[0], "runs", "list"]
    environment = {**cli.environment, **locale, "KEXBENCH_HOME": str(home)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert (home / "store").is_dir()


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_takes_no_file_and_ends_nothing(closed: str, cli: Cli) -> None:
    """What is opened next would have its number, and get what is printed."""
    command = f'"$0" plan "$1" {closed}'
    script = ["sh", "-c", command, cli.command()[0], cli.spec("good", "1.0")]
    done = subprocess.run(script, capture_output=True, text=True, check=False, env=cli.environment, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
