"""`make images` builds the images and brings them to a cluster, with whichever program builds images here."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

IMAGES = Path(__file__).parents[3] / "infra" / "images"
NAMES = ["runner", "builder", "service"]


@dataclass(frozen=True)
class Desk:
    """A checkout whose dashboard is built, and a PATH with little on it. What the programs are asked to do is written
    down."""

    folder: Path

    @property
    def calls(self) -> list[str]:
        log = self.folder / "calls"
        calls = log.read_text().splitlines() if log.exists() else []
        return [call for call in calls if not call.endswith(" info") and not call.startswith("mktemp ")]

    def program(self, name: str, body: str = "exit 0") -> None:
        path = self.folder / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.folder}/calls\n{body}\n')
        path.chmod(0o755)

    def make(self, *options: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        script = self.folder / "checkout" / "infra" / "images" / "make.sh"
        environment = {"PATH": str(self.folder / "bin"), **settings}
        return subprocess.run([script, *options], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    checkout = tmp_path / "checkout"
    (checkout / "infra" / "images").mkdir(parents=True)
    shutil.copy(IMAGES / "make.sh", checkout / "infra" / "images" / "make.sh")
    (checkout / "frontend" / "dist").mkdir(parents=True)
    (checkout / "frontend" / "dist" / "index.html").touch()
    (tmp_path / "bin").mkdir()
    for name in ("sh", "cat", "dirname", "basename", "readlink", "rm"):
        found = shutil.which(name)
        assert found
        (tmp_path / "bin" / name).symlink_to(found)
    made = Desk(tmp_path)
    made.program("mktemp", f"echo {tmp_path}/scratch")
    return made


def calls_of(desk: Desk, program: str) -> list[str]:
    return [call.removeprefix(f"{program} ") for call in desk.calls if call.startswith(f"{program} ")]


def builds(prefix: str, tag: str, more: str = "", names: Sequence[str] = NAMES) -> list[str]:
    return [
        f"build --file infra/images/Dockerfile --target {name}{more} --tag {prefix}/{name}:{tag} ." for name in names
    ]


def test_what_is_built_is_what_the_dockerfile_has(desk: Desk) -> None:
    desk.program("docker")
    assert desk.make().returncode == 0
    targets = re.findall(r"--target (\w+)", "\n".join(desk.calls))
    stages = re.findall(
        r"^FROM \S+ AS (\S+)\n(?:(?!FROM)[^\n]*\n)*CMD", (IMAGES / "Dockerfile").read_text(), re.MULTILINE
    )
    assert sorted(targets) == sorted(stages)


@pytest.mark.parametrize("engine", ["docker", "podman", "nerdctl"])
def test_images_are_built_under_the_names_that_the_devcluster_has_too(desk: Desk, engine: str) -> None:
    desk.program(engine)
    done = desk.make()
    assert calls_of(desk, engine) == builds("local.test/kexbench", "dev")
    assert done.stdout == "helm takes them with: --set image.prefix=local.test/kexbench --set image.tag=dev\n"


def test_of_several_engines_the_first_is_taken_unless_another_is_named(desk: Desk) -> None:
    desk.program("docker")
    desk.program("podman")
    desk.make()
    assert calls_of(desk, "podman") == []
    desk.make(ENGINE="podman")
    assert calls_of(desk, "podman") == calls_of(desk, "docker")


def test_without_an_engine_it_says_what_to_install_and_what_needs_none(desk: Desk) -> None:
    done = desk.make()
    assert done.returncode == 1
    assert "docker, podman or nerdctl" in done.stderr
    assert "make devcluster" in done.stderr


def test_an_engine_that_does_not_answer_is_reported(desk: Desk) -> None:
    desk.program("docker", "exit 1")
    done = desk.make()
    assert done.returncode == 1
    assert "docker is in PATH and does not work" in done.stderr
    assert desk.calls == []


def test_a_kind_cluster_is_given_each_image_as_an_archive(desk: Desk) -> None:
    desk.program("podman")
    desk.program("kind")
    assert desk.make(KIND_CLUSTER="try").returncode == 0
    assert calls_of(desk, "podman")[3:] == [
        f"save --output {desk.folder}/scratch/{name}.tar local.test/kexbench/{name}:dev" for name in NAMES
    ]
    assert calls_of(desk, "kind") == [
        f"load image-archive {desk.folder}/scratch/{name}.tar --name try" for name in NAMES
    ]


def test_a_registry_is_pushed_to_with_the_commit_as_the_tag(desk: Desk) -> None:
    desk.program("docker")
    desk.program("git", 'case "$1" in rev-parse) echo 0123456789ab ;; esac')
    done = desk.make(REGISTRY="registry.example/us")
    assert calls_of(desk, "docker")[::2] == builds("registry.example/us/kexbench", "0123456789ab")
    assert calls_of(desk, "docker")[1::2] == [
        f"push registry.example/us/kexbench/{name}:0123456789ab" for name in NAMES
    ]
    assert done.stdout.endswith("--set image.prefix=registry.example/us/kexbench --set image.tag=0123456789ab\n")


def test_no_tag_is_made_of_a_commit_that_the_checkout_differs_from(desk: Desk) -> None:
    desk.program("docker")
    desk.program("git", 'case "$1" in status) echo " M Makefile" ;; esac')
    done = desk.make(REGISTRY="registry.example")
    assert done.returncode == 1
    assert "TAG" in done.stderr
    assert calls_of(desk, "docker") == []
    assert desk.make(REGISTRY="registry.example", TAG="mine").returncode == 0
    assert calls_of(desk, "docker")[::2] == builds("registry.example/kexbench", "mine")


@pytest.mark.parametrize(
    ("engine", "first", "then"),
    [
        ("docker", "buildx build F{} --sbom=true --provenance=mode=max --tag {} --push .", None),
        ("podman", "build F{} --manifest {} .", "manifest push --all {}"),
        ("nerdctl", "build F{} --tag {} .", "push --all-platforms {}"),
    ],
)
def test_for_several_platforms_each_engine_is_called_in_its_own_way(
    desk: Desk, engine: str, first: str, then: str | None
) -> None:
    desk.program(engine)
    assert desk.make(REGISTRY="r.example", TAG="1", PLATFORMS="linux/amd64,linux/arm64").returncode == 0
    expected = []
    for name in NAMES:
        image = f"r.example/kexbench/{name}:1"
        how = f"--file infra/images/Dockerfile --target {name} --platform linux/amd64,linux/arm64"
        expected += [first.replace("F{}", how).format(image)] + ([then.format(image)] if then else [])
    assert calls_of(desk, engine) == expected


@pytest.mark.parametrize(
    "settings", [{}, {"KIND_CLUSTER": "try"}, {"REGISTRY": "r.example", "TAG": "1"}], ids=["here", "kind", "registry"]
)
def test_a_dry_run_prints_what_a_real_one_does_and_does_nothing(desk: Desk, settings: dict[str, str]) -> None:
    desk.program("docker")
    desk.program("kind")
    printed = desk.make("--dry-run", **settings).stdout.splitlines()[:-1]
    assert desk.calls == []
    desk.make(**settings)
    assert printed == desk.calls != []


def test_an_image_that_can_not_be_built_is_not_pushed_and_ends_it(desk: Desk) -> None:
    desk.program("docker", '[ "$1" = info ] || exit 7')
    assert desk.make(REGISTRY="r.example", TAG="1").returncode == 7
    assert len(calls_of(desk, "docker")) == 1


@pytest.mark.parametrize(
    ("options", "settings", "said"),
    [
        (["--quick"], {}, "--quick is not an option"),
        ([], {"REGISTRY": "r.example", "KIND_CLUSTER": "try"}, "two places"),
        ([], {"PLATFORMS": "linux/arm64"}, "give REGISTRY too"),
    ],
)
def test_what_makes_no_sense_is_refused(desk: Desk, options: list[str], settings: dict[str, str], said: str) -> None:
    desk.program("docker")
    done = desk.make(*options, **settings)
    assert done.returncode == 2
    assert said in done.stderr
    assert calls_of(desk, "docker") == []


def test_without_kind_or_a_dashboard_nothing_is_built(desk: Desk) -> None:
    desk.program("docker")
    assert "no kind in PATH" in desk.make(KIND_CLUSTER="try").stderr
    (desk.folder / "checkout" / "frontend" / "dist" / "index.html").unlink()
    assert "make frontend" in desk.make().stderr
    assert calls_of(desk, "docker") == []


def test_help_names_every_setting(desk: Desk) -> None:
    done = desk.make("--help")
    assert done.returncode == 0
    read = set(re.findall(r"\$\{([A-Z_]+)-\}", (IMAGES / "make.sh").read_text()))
    assert read
    assert all(f"{setting}=" in done.stdout for setting in read)
