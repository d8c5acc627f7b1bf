"""GnuTLS built from a suite's sources with the real recipe; what was built before is taken from the machine's cache."""

import shutil
from pathlib import Path

import pytest

from kexbench.kits import KitError, KitStore, WorkerSource, Workshop, default_providers
from kexbench.settings import Settings

from .conftest import Kitchen
from .test_real_kits import hello_and_mapped_files

WORKER = Path(__file__).parents[3] / "workers/handshake"
TOOLS = ("apt-get", "cc", "m4", "make", "pkg-config")
pytestmark = [
    pytest.mark.builds,
    pytest.mark.long,
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"not all of {', '.join(TOOLS)} are on this machine"),
]


def test_gnutls_from_sources_is_a_kit_with_its_own_nettle_that_maps_no_file_from_outside(tmp_path: Path) -> None:
    cache = Settings().cache
    kitchen = Kitchen(
        KitStore(tmp_path / "kits", Workshop(WorkerSource(WORKER), default_providers(cache))), WORKER, cache
    )
    try:
        kit = kitchen.add("gnutls@deb-source/bookworm")
    except KitError as error:
        if "can't be reached" in error.reason or "no suite" in error.reason or "no sources" in error.reason:
            pytest.skip(error.reason)
        raise
    packages = {package.name: package.version for package in kit.packages}
    assert kit.version == packages["gnutls28"] == "3.7.9"
    assert kit.build_profile.flags == f"gmp-{packages['gmp']} nettle-{packages['nettle']}"
    folder = kitchen.kit_store.folder(kit.kit_id)
    hello, mapped = hello_and_mapped_files(kit.launch(folder, tmp_path))
    assert (hello["library"], hello["version"]) == ("gnutls", kit.version)
    assert {"libgnutls.so.30", "libnettle.so.8", "libhogweed.so.6"} <= {Path(path).name for path in mapped}
    assert not [path for path in mapped if not path.startswith(str(folder))]
    built = (cache / "builds").glob(f"nettle-{packages['nettle']}-*/kexbench/lib/libhogweed.so.6")
    assert (folder / "lib/libhogweed.so.6").read_bytes() in [path.read_bytes() for path in built]
