"""Web servers of kits: built once, found by the kit's id, built again where they were damaged, and refused where they
could not be the library's."""

import subprocess
from pathlib import Path

import pytest

from kexbench.domain.dimensions import Server
from kexbench.domain.kits import KitManifest, SubjectRef
from kexbench.kits import KitError
from kexbench.kits.servers import MANIFEST, ServerManifest, ServerStore
from tests.runner.real import EACH_SERVER, GNUTLS, OPENSSL, RealKits, real_kits, real_servers

__all__ = ["real_kits", "real_servers"]
pytestmark = [pytest.mark.real, pytest.mark.builds]
REF = SubjectRef.parse(OPENSSL)
each_server = pytest.mark.parametrize("server", EACH_SERVER)


@each_server
def test_a_kit_gets_its_server_once_in_a_folder_of_its_own(
    server: Server, real_servers: ServerStore, real_kits: RealKits
) -> None:
    kit = real_kits[OPENSSL]
    before = real_servers.kit_store.verify(kit.manifest.kit_id)
    program = real_servers.add(server, REF, kit.manifest)
    manifest = ServerManifest.model_validate_json((program.parent / MANIFEST).read_bytes())
    assert (manifest.server, manifest.kit_id) == (server, kit.manifest.kit_id)
    assert program.parent.name == f"{server}-{manifest.version}-{kit.manifest.kit_id}"
    assert program.parent.parent.name == "servers"
    assert real_servers.of_kit(kit.manifest.kit_id)[server] == program
    assert real_servers.kit_store.verify(kit.manifest.kit_id) == before == ()
    steps: list[str] = []
    assert real_servers.add(server, REF, kit.manifest, steps.append) == program
    assert steps == []


@each_server
def test_a_server_uses_the_kits_own_library(server: Server, real_servers: ServerStore, real_kits: RealKits) -> None:
    """It is linked to OpenSSL in files of the kit, and to no file of this machine."""
    kit = real_kits[OPENSSL]
    program = real_servers.add(server, REF, kit.manifest)
    launch = kit.manifest.launch_program(kit.folder, Path("--list"), str(program))
    listed = subprocess.run(
        launch.arguments, env=launch.environment, cwd=launch.folder, capture_output=True, text=True, check=True
    ).stdout
    assert "libssl" in listed
    loaded = [line.split(" => ")[1] for line in listed.splitlines() if " => " in line]
    assert loaded
    assert [path for path in loaded if not path.startswith(("lib/", str(kit.folder)))] == []


@each_server
def test_a_damaged_server_is_built_again(server: Server, real_servers: ServerStore, real_kits: RealKits) -> None:
    kit = real_kits[OPENSSL].manifest
    program = real_servers.add(server, REF, kit)
    whole = program.read_bytes()
    program.chmod(0o755)
    program.write_bytes(whole[:1000])
    assert real_servers.find(server, kit.kit_id) is None
    assert real_servers.add(server, REF, kit).read_bytes() == whole


@pytest.mark.parametrize("server", [each.values[0] for each in EACH_SERVER])
def test_another_library_gets_no_server(server: Server, real_servers: ServerStore, real_kits: RealKits) -> None:
    with pytest.raises(KitError, match=f"{server} can't be built with gnutls"):
        real_servers.add(server, SubjectRef.parse(GNUTLS), real_kits[GNUTLS].manifest)
    assert real_servers.of_kit(real_kits[GNUTLS].manifest.kit_id) == {}


def test_a_version_that_a_server_does_not_compile_with_is_refused(
    real_servers: ServerStore, real_kits: RealKits
) -> None:
    newer = _changed(real_kits[OPENSSL].manifest, version="4.0.0")
    with pytest.raises(KitError, match=r"haproxy can't be built with OpenSSL 4\.0\.0, only with versions before 4\.0"):
        real_servers.add(Server.HAPROXY, REF, newer)


def test_a_kit_whose_source_means_other_files_by_now_gets_no_server(
    real_servers: ServerStore, real_kits: RealKits
) -> None:
    kit = real_kits[OPENSSL].manifest
    older = _changed(kit, worker_flags="-O0")
    with pytest.raises(KitError, match="has changed since kit") as caught:
        real_servers.add(Server.NGINX, REF, older)
    assert caught.value.remedy == f"kexbench kits add {OPENSSL}"


def _changed(kit: KitManifest, **changed: str) -> KitManifest:
    fields = {name: getattr(kit, name) for name in KitManifest.model_fields if name not in ("kit_id", "version_key")}
    return KitManifest.sealed(**{**fields, **changed})
