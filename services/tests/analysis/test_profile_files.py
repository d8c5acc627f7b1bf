"""Profiles as files of other programs."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kexbench.analysis.profile_files import file_name, profile_file
from kexbench.domain.profiles import UNNAMED, CallCost, FunctionCost, Profile

TURN = ("server_turn", "kexbench-worker")
SIGN, HASH, OTHERS = ("sign", "libssl"), ("hash", "libcrypto"), (UNNAMED, "libcrypto")
PROFILE = Profile(
    side="server",
    handshakes=20,
    amount=1000.05,
    functions=(
        FunctionCost(name="sign", library="libssl", amount=299.6, calls=2),
        FunctionCost(name="hash", library="libcrypto", amount=590.45, calls=11.95),
        FunctionCost(name="slight", library="libc", amount=10, calls=1),
        FunctionCost(name=UNNAMED, library="libcrypto", amount=100, calls=3),
    ),
    calls=(
        CallCost(caller=("main", "kexbench-worker"), callee=TURN, inclusive=1000.05, calls=2),
        CallCost(caller=("below main", "libc"), callee=("main", "kexbench-worker"), inclusive=1000.05, calls=1),
        CallCost(caller=TURN, callee=SIGN, inclusive=900.05, calls=2),
        CallCost(caller=TURN, callee=OTHERS, inclusive=100, calls=3),
        CallCost(caller=SIGN, callee=HASH, inclusive=600.45, calls=11.95),
    ),
)


def annotated(path: Path, *options: str) -> dict[str, int]:
    """The instructions that callgrind_annotate shows, by function."""
    done = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--show-percs=no", *options, path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    words = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line[:3].strip(" 0123456789,") == ""]
    return {row[1].strip(): int(row[0].replace(",", "")) for row in words if len(row) == 2 and row[0][:1].isdigit()}


def test_callgrind_annotate_reads_what_was_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.callgrind"
    path.write_text(profile_file(PROFILE, "openssl-3.0.19", "callgrind"))
    assert annotated(path) == {
        "PROGRAM TOTALS": 1000,
        "???:hash [libcrypto]": 590,
        "???:slight [libc]": 10,
        "???:sign [libssl]": 300,
        f"???:{UNNAMED} [libcrypto]": 100,
        "???:server_turn [kexbench-worker]": 0,
    }
    inclusive = annotated(path, "--inclusive=yes")
    assert inclusive["???:server_turn [kexbench-worker]"] == 1000
    assert inclusive["???:sign [libssl]"] == 900
    assert max(inclusive.values()) == 1000


def test_speedscope_gets_each_stack_with_its_own_instructions() -> None:
    document = json.loads(profile_file(PROFILE, "openssl-3.0.19", "speedscope"))
    assert_valid(document)
    (profile,) = document["profiles"]
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    stacks = [[frames[number] for number in stack] for stack in profile["samples"]]
    assert dict(zip(map(tuple, stacks), profile["weights"], strict=True)) == {
        ("server_turn", "sign", "hash"): 600,
        ("server_turn", "sign"): 300,
        ("server_turn", f"{UNNAMED} of libcrypto"): 100,
    }
    assert "openssl-3.0.19" in profile["name"]


def assert_valid(document: dict[str, Any]) -> None:
    """What https://www.speedscope.app/file-format-schema.json demands of sampled profiles."""
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    assert all(isinstance(frame["name"], str) and isinstance(frame["file"], str) for frame in frames)
    for profile in document["profiles"]:
        assert profile.keys() == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "none", 0)
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] == sum(profile["weights"])
        assert {number for stack in profile["samples"] for number in stack} <= set(range(len(frames)))


@pytest.mark.parametrize(
    ("build", "name"),
    [
        ("openssl-3.0.19", "openssl-3.0.19-server.callgrind"),
        ("openssl-debian/bookworm", "openssl-debian-bookworm-server.callgrind"),
        ('a"b\r\nc', "a-b-c-server.callgrind"),
    ],
)
def test_a_file_is_named_by_what_was_counted(build: str, name: str) -> None:
    assert file_name(build, "server", "callgrind") == name
    assert file_name(build, "server", "speedscope") == name.replace("callgrind", "speedscope.json")
