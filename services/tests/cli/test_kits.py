"""`kexbench kits`: what people see of the kit store."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from kexbench.domain.dimensions import Server
from kexbench.kits.servers import ServerManifest, server_builds
from tests.builders import CATALOGUE, HOST, a_kit
from tests.cli.conftest import Cli


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "libraries.yaml"
    path.write_text(CATALOGUE.replace("libraries:", "sentinel: fake@1.0\nlibraries:"))
    monkeypatch.setenv("KEXBENCH_CATALOGUE", str(path))
    return path


def test_the_sentinel_is_frozen_once_and_shown_after_that(catalogue: Path, cli: Cli) -> None:
    first, second = cli("kits", "sentinel"), cli("kits", "sentinel")
    assert first.status == 0, first.err
    assert "freezing a sentinel" in first.err
    assert first.out.startswith("fake@1.0  1.0  ")
    assert (second.out, second.err) == (first.out, "")
    assert cli("kits", "sentinel", "--json").json()["reference"] == "fake@1.0"


@pytest.mark.thorough
def test_a_sentinel_is_frozen_again_when_asked(catalogue: Path, cli: Cli) -> None:
    cli("kits", "sentinel")
    assert "freezing a sentinel: as requested" in cli("kits", "sentinel", "--freeze-again").err


def test_a_catalogue_without_a_sentinel_is_named(catalogue: Path, cli: Cli) -> None:
    catalogue.write_text(CATALOGUE)
    done = cli("kits", "sentinel")
    assert done.status == 1
    assert done.err == f"{catalogue}:1:1: sentinel: is missing: name one, such as sentinel: openssl@system\n"


def put(cli: Cli, reference: str, flags: str = "none", architecture: str = HOST.architecture) -> str:
    """A kit that can be listed, of which there is nothing but the manifest. Returns its id."""
    kit = a_kit(reference, version="3.0.19", flags=flags, architecture=architecture)
    folder = cli.folder / "home/kits" / kit.folder_name
    folder.mkdir(parents=True)
    (folder / "kit.json").write_text(kit.model_dump_json())
    return kit.kit_id


def test_variants_are_listed_behind_their_source_in_the_order_of_their_numbers(cli: Cli) -> None:
    sources = ("system", "system+burn=3000", "system+relink=2", "system+relink=10")
    kits = [put(cli, f"openssl@{source}") for source in reversed(sources)]
    rows = [line.split() for line in cli("kits", "list").out.splitlines()[1:]]
    assert [row[2] for row in rows] == list(sources)
    assert [row[-1] for row in rows] == kits[::-1]


def test_kits_for_other_architectures_are_distinguished(cli: Cli) -> None:
    here, there = put(cli, "openssl@system"), put(cli, "openssl@crate/3.0.19", architecture="aarch64")
    rows = {line.split()[-1]: line.split()[3] for line in cli("kits", "list").out.splitlines()[1:]}
    assert rows == {here: "x86_64", there: "aarch64"}


def test_the_web_servers_of_each_kit_are_listed(cli: Cli) -> None:
    served, other = put(cli, "openssl@crate/3.5.5"), put(cli, "openssl@system")
    builds = server_builds(cli.folder, 1)
    for server in (Server.NGINX, Server.HTTPD):
        version = builds[server].package.version
        folder = cli.folder / "home/kits/servers" / f"{server}-{version}-{served}"
        folder.mkdir(parents=True)
        (folder / server).write_bytes(b"a program")
        digest = hashlib.sha256(b"a program").hexdigest()
        manifest = ServerManifest(server=server, version=version, kit_id=served, configure=(), sha256=digest)
        (folder / "server.json").write_text(manifest.model_dump_json())
    printed = cli("kits", "list").out
    assert [printed.count(server) for server in ("nginx", "httpd", "haproxy")] == [1, 1, 0]
    row = next(line for line in printed.splitlines() if served in line)
    assert "nginx" in row
    listed = {kit["kit_id"]: kit["servers"] for kit in cli("kits", "list", "--json").json()}
    assert listed == {served: ["nginx", "httpd"], other: []}
    next(cli.folder.glob("home/kits/servers/nginx-*/nginx")).write_bytes(b"a damaged program")
    listed = {kit["kit_id"]: kit["servers"] for kit in cli("kits", "list", "--json").json()}
    assert listed[served] == ["httpd"]


def test_a_kit_for_an_architecture_that_nobody_knows_is_refused(cli: Cli) -> None:
    done = cli("kits", "add", "--architecture", "sparc", "fake@1.0")
    assert done.status == 1
    assert "kits can't be made for sparc yet" in done.err


def test_long_build_flags_are_cut_and_ids_never(cli: Cli) -> None:
    kit = put(cli, "openssl@system", flags=" ".join(f"-flag-{number}" for number in range(20)))
    done = cli("kits", "list")
    assert "-flag-2 …" in done.out
    assert "-flag-3" not in done.out
    assert done.out.rstrip().endswith(kit)


def edit_probe(cli: Cli, version: str, **fields: Any) -> None:
    """Make the kept probe of a fake kit say that its first X25519 handshake went otherwise."""
    path = next((cli.folder / "home/kits").glob(f"fake-{version}-*/probe.json"))
    probe = json.loads(path.read_text())
    next(found for found in probe["features"] if found["value"] == "X25519").update(fields)
    path.unlink()
    path.write_text(json.dumps(probe))


@pytest.mark.long
def test_kits_that_do_the_same_differ_in_their_build_alone(cli: Cli) -> None:
    assert cli("kits", "add", "fake@1.0", "fake@1.1").status == 0
    done = cli("kits", "diff", "fake@1.0", "fake@1.1")
    assert done.status == 0, done.err
    assert "version" in done.out
    assert "features" not in done.out
    assert "not a benchmark" in done.out

    edit_probe(cli, "1.0", result="unsupported", reason="no such group")
    done = cli("kits", "diff", "fake@1.0", "fake@1.1")
    assert done.status == 3
    assert "features gained\n  X25519" in done.out
    found = cli("kits", "diff", "fake@1.1", "fake@1.0", "--json")
    assert found.status == 3
    assert [feature["reason"] for feature in found.json()["probe"]["lost"]] == ["no such group"]

    (probe,) = (cli.folder / "home/kits").glob("fake-1.1-*/probe.json")
    features = len(json.loads(probe.read_text())["features"])
    assert f"{features} of {features}" in cli("kits", "list").out
    shown = cli("kits", "show", "fake@1.0")
    assert shown.json()["licence"]["library"] == "Apache-2.0"
    assert "not supported: X25519: no such group" in shown.err
    assert "Default settings, RSA 2048: TLSv1.3, X25519, AES-128-GCM, ed25519" in shown.err


@pytest.mark.long
def test_verifying_tells_sound_changed_and_damaged_kits_apart(cli: Cli) -> None:
    cli("kits", "add", "fake@1.0", "fake@1.1")
    done = cli("kits", "verify")
    assert done.status == 0, done.err
    assert [line.split()[1] for line in done.out.splitlines()] == ["sound", "sound"]

    edit_probe(cli, "1.0", result="unsupported", reason="no such group")
    done = cli("kits", "verify", "fake@1.0", "fake@1.1")
    assert done.status == 1
    assert "gained X25519" in done.out
    assert "fake-1.1" in done.out

    next((cli.folder / "home/kits").glob("fake-1.1-*/lib/heap.so")).unlink()
    checks = cli("kits", "verify", "--json")
    assert checks.status == 1
    assert [(check["verdict"], check["lines"]) for check in checks.json()] == [
        ("changed", ["gained X25519"]),
        ("damaged", ["lib/heap.so is missing"]),
    ]


def test_a_kit_that_was_never_probed_cannot_be_compared_and_the_remedy_is_named(cli: Cli) -> None:
    kit = put(cli, "openssl@system")
    done = cli("kits", "diff", kit, kit)
    assert done.status == 1
    assert f"kexbench kits verify {kit}" in done.err


@pytest.mark.parametrize("verb", [("diff", "fake@9.9", "fake@9.9"), ("verify", "fake@9.9"), ("show", "fake@9.9")])
def test_a_kit_that_is_not_there_is_a_mistake_of_the_command_line(cli: Cli, verb: tuple[str, ...]) -> None:
    done = cli("kits", *verb)
    assert done.status == 2
    assert "there is no kit fake@9.9" in done.err
