"""The commands of one invocation, as text: a shell that gets them starts the worker and tells it everything."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kexbench.domain.plans import THREADS_BATCH_NS, Measure
from kexbench.runner.cpus import Cpus
from kexbench.runner.job_input import JobInput
from kexbench.runner.order import Turn
from kexbench.runner.transcript import transcript
from tests.runner.conftest import ECDHE, RSA, UNPINNED, MakeJobInput

SUBJECT = "fake@1.0+noise=0+seed=7"
AWKWARD = ["plain", "with a blank", "it's quoted", 'a "b" $HOME `id`; exit 9 #', "-n", "ünï\\code"]


def moved(job_input: JobInput, home: Path) -> JobInput:
    """The same job input with its kit and its material in another folder."""
    kit = job_input.kits[SUBJECT]
    folder = home / kit.folder.name
    shutil.copytree(kit.folder, folder)
    (home / "material").mkdir()
    kits = {SUBJECT: kit.model_copy(update={"folder": folder})}
    return job_input.model_copy(update={"kits": kits, "material_folder": home / "material"})


def said(text: str, cwd: Path) -> list[dict[str, Any]]:
    """What the worker answers to the text of a transcript, run by a shell."""
    done = subprocess.run(["sh"], input=text, cwd=cwd, env={}, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", AWKWARD)
def test_a_shell_runs_it_wherever_the_kit_lies(name: str, make_job_input: MakeJobInput, tmp_path: Path) -> None:
    home = tmp_path / name
    home.mkdir()
    job_input = moved(make_job_input(SUBJECT, batches=3), home)
    text = transcript(job_input, Turn(RSA.case_id, (SUBJECT,), 0), SUBJECT, UNPINNED)
    records = said(text, tmp_path)
    assert [record["type"] for record in records] == ["hello", "ready", *["batch"] * (2 + 3), "bye"]


def test_its_batches_are_those_of_the_measurement(make_job_input: MakeJobInput, tmp_path: Path) -> None:
    job_input = make_job_input(SUBJECT, batches=4)
    job_input = job_input.model_copy(update={"measure": Measure(**{**vars(job_input.measure), "batch_ns": 8_000_000})})
    hello, ready, *batches, _ = said(
        transcript(job_input, Turn(ECDHE.case_id, (SUBJECT,), 0), SUBJECT, UNPINNED), tmp_path
    )
    assert hello["version"] == "1.0"
    assert (ready["id"], ready["negotiated"]["group"]) == (ECDHE.case_id, "X25519")
    assert len(batches) == 2 + 4
    assert {batch["handshakes"] for batch in batches} == {20}, "8 ms of 0.4 ms each"
    assert {batch["client_cpu_ns"] for batch in batches} == {20 * 100_000}


def test_several_threads_have_a_longer_batch_of_their_own(make_job_input: MakeJobInput) -> None:
    case = RSA.model_copy(update={"threads": 3})
    job_input = make_job_input(SUBJECT, cases=(case,))
    text = transcript(job_input, Turn(case.case_id, (SUBJECT,), 0), SUBJECT, UNPINNED)
    assert f" min_ns={THREADS_BATCH_NS} " in text


def test_nothing_of_the_shells_environment_reaches_the_worker(make_job_input: MakeJobInput) -> None:
    job_input = make_job_input(SUBJECT)
    words = transcript(job_input, Turn(RSA.case_id, (SUBJECT,), 0), SUBJECT, UNPINNED).splitlines()[1]
    assert words.startswith("env -i ")


def test_the_features_of_the_cpu_that_the_case_asks_for_are_in_the_environment(make_job_input: MakeJobInput) -> None:
    case = RSA.model_copy(update={"cpu_features": "no-aes"})
    job_input = make_job_input(SUBJECT, cases=(case,))
    text = transcript(job_input, Turn(case.case_id, (SUBJECT,), 0), SUBJECT, UNPINNED)
    for name, value in case.environment.items():
        assert f"{name}={value}" in text


def test_it_is_pinned_as_the_measurement_was(make_job_input: MakeJobInput) -> None:
    two = RSA.model_copy(update={"threads": 2})
    job_input = make_job_input(SUBJECT, cases=(RSA, two))
    cpus = Cpus(3, (0, 1, 2))
    for case, words in ((RSA, "--cpus 3 "), (two, "--cpus 2,3 ")):
        assert words in transcript(job_input, Turn(case.case_id, (SUBJECT,), 0), SUBJECT, cpus)
