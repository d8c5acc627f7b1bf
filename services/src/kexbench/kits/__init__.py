"""How kits are made: a provider resolves a version, the worker is linked to it, and the kit store keeps the kit.

Start at `recipe.py`: from a reference to a finished folder.

Sources of versions, one provider each (`provider.py` is their interface)
- `system.py`, `prefix.py`: installed libraries, and your own builds.
- `debian.py`, `deb_files.py`: packages of Debian suites, and .deb files of your own.
- `crate.py`, `deb_source.py`, `tarball.py`, `git.py`, `bundled.py`: sources to build; `fake.py`: the fake backend.
- `apt.py`, `private_apt.py`, `source_packages.py`, `mirrors.py`: Debian's packages without installing them.
- `gitmirror.py`, `githistory.py`: mirrors of git repositories, and their commit ranges.
- `download.py`, `extraction.py`, `unbuilt.py`: verified downloads, untrusted archives, and sources before the build.

Builds
- `source.py`, `builds.py`: libraries built from source, and the cache of builds.
- `build_openssl.py`, `build_gnutls.py`, `build_awslc.py`, `build_boringssl.py`, `build_s2n.py`, `build_wolfssl.py`,
  `build_nettle.py`, `autotools.py`, `cmake.py`: how each library is built.
- `build_rustls.py`, `cargo.py`, `build_go.py`: libraries that are not in C, with the worker's part in their language.
- `server_builds.py`, `nginx.py`, `httpd.py`, `haproxy.py`, `servers.py`: web servers built against a kit's library, and
  where they are kept.
- `process.py`, `attempts.py`: build tools, and attempts to make kits.

From a library to a kit
- `tree.py`, `buildwords.py`, `archives.py`, `target.py`: finding a library, how it was compiled, and for which machine.
- `worker.py`, `closure.py`: the worker is compiled, and the libraries that it needs are copied.
- `relink.py`, `fips.py`, `sentinel.py`: kits of another layout, with the FIPS module, and the frozen kit.
- `probe.py`, `verify.py`, `licences.py`: what a kit can do, whether it is unchanged, and the licences of its files.
- `store.py`, `shared_store.py`, `transport.py`: finished kits on this machine, of a cluster, and between machines.
- `errors.py`: the error that users see when a kit cannot be made.
"""

from kexbench.kits.errors import KitError, KitErrors, raise_all
from kexbench.kits.probe import read_probe
from kexbench.kits.process import Progress
from kexbench.kits.recipe import Workshop, default_providers
from kexbench.kits.store import KitStore
from kexbench.kits.verify import KitCheck, kit_ids, verify_kit
from kexbench.kits.worker import WorkerSource

__all__ = [
    "KitCheck",
    "KitError",
    "KitErrors",
    "KitStore",
    "Progress",
    "WorkerSource",
    "Workshop",
    "default_providers",
    "kit_ids",
    "raise_all",
    "read_probe",
    "verify_kit",
]
