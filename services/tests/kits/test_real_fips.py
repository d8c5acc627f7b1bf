"""The FIPS module of a real suite, loaded through its kit by a program that is not the worker."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kexbench.domain.kits import KitManifest
from kexbench.kits import KitError, KitStore, WorkerSource, Workshop
from kexbench.kits.debian import DebianProvider

from .conftest import Kitchen

WORKER = Path(__file__).parents[3] / "workers/handshake"
pytestmark = [
    pytest.mark.builds,
    pytest.mark.skipif(not (shutil.which("apt-get") and shutil.which("dpkg-deb")), reason="no apt, no dpkg"),
]
PROGRAM = """
int OSSL_LIB_CTX_load_config(void *context, const char *file);
int OSSL_PROVIDER_available(void *context, const char *name);
int EVP_default_properties_is_fips_enabled(void *context);
void *EVP_MD_fetch(void *context, const char *name, const char *properties);

int main(void) {
    if (OSSL_LIB_CTX_load_config(0, "ossl-modules/fips.cnf") != 1)
        return 1;
    if (OSSL_PROVIDER_available(0, "fips") != 1 || OSSL_PROVIDER_available(0, "base") != 1)
        return 2;
    if (EVP_default_properties_is_fips_enabled(0) != 1)
        return 3;
    return EVP_MD_fetch(0, "SHA2-256", 0) != 0 && EVP_MD_fetch(0, "MD5", 0) == 0 ? 0 : 4;
}
"""


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Kitchen:
    folder = tmp_path_factory.mktemp("fips")
    workshop = Workshop(WorkerSource(WORKER), (DebianProvider(folder / "cache"),))
    return Kitchen(KitStore(folder / "kits", workshop), WORKER, folder / "cache")


@pytest.fixture(scope="module")
def kit(kitchen: Kitchen) -> KitManifest:
    try:
        return kitchen.add("openssl@debian/trixie")
    except KitError as error:
        if "can't be reached" in error.reason or "no suite" in error.reason:
            pytest.skip(error.reason)
        raise


def exit_status(kit: KitManifest, folder: Path, program: Path) -> int:
    (program.parent / "program.c").write_text(PROGRAM)
    subprocess.run(
        ["cc", "-o", program, program.parent / "program.c", folder / "lib/libcrypto.so.3",
         "-Wl,--allow-shlib-undefined"], check=True,
    )  # fmt: skip
    launch = kit.launch(folder, folder)
    loader = [*launch.arguments[: launch.arguments.index("bin/worker")], str(program)]
    return subprocess.run(loader, cwd=folder, env=launch.environment, check=False).returncode


def test_the_module_passes_its_integrity_check_and_is_what_algorithms_come_from(
    kitchen: Kitchen, kit: KitManifest, tmp_path: Path
) -> None:
    assert kit.fips
    assert exit_status(kit, kitchen.kit_store.folder(kit.kit_id), tmp_path / "program") == 0


def test_a_damaged_module_is_not_loaded(kitchen: Kitchen, kit: KitManifest, tmp_path: Path) -> None:
    copy = tmp_path / "kit"
    shutil.copytree(kitchen.kit_store.folder(kit.kit_id), copy)
    module = copy / "ossl-modules/fips.so"
    module.chmod(0o755)
    module.write_bytes(module.read_bytes() + b"?")
    assert exit_status(kit, copy, tmp_path / "program") == 2
