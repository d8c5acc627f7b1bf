"""OpenSSL's FIPS module in a kit: the file as its suite ships it, and a configuration that switches it on.

A module is loaded only with the HMAC-SHA-256 of its file in the configuration. `openssl fipsinstall` would write
it on the machine where the module is installed; here nothing is installed and the key is no secret, since all that
it guards against is a damaged file.

OpenSSL passes over a provider that does not start: whoever loads the configuration has to ask
OSSL_PROVIDER_available for `fips` afterwards.
"""

import hashlib
import hmac
import shutil
from pathlib import Path

MODULES_FOLDER = "ossl-modules"
_INTEGRITY_KEY = bytes.fromhex("f4556650ac31d35461610bac4ed81b1a181b2d8a43ea2854cbae22ca74560813")
"""The default of OpenSSL's build option `-fips-key`, which Debian doesn't change."""
_CONFIGURATION = """\
# For OSSL_LIB_CTX_load_config, with this folder in OPENSSL_MODULES.
config_diagnostics = 1
openssl_conf = start
[start]
providers = providers
alg_section = algorithms
[providers]
fips = fips
base = base
[base]
activate = 1
[fips]
activate = 1
conditional-errors = 1
security-checks = 1
module-mac = {mac}
[algorithms]
default_properties = fips=yes
"""


def add_fips_module(module: Path, kit: Path) -> None:
    """Copies the module to `ossl-modules/fips.so` in the folder `kit`, with its `fips.cnf` beside it."""
    folder = kit / MODULES_FOLDER
    folder.mkdir()
    shutil.copyfile(module, folder / "fips.so")
    mac = hmac.new(_INTEGRITY_KEY, module.read_bytes(), hashlib.sha256).digest()
    (folder / "fips.cnf").write_text(_CONFIGURATION.format(mac=mac.hex(":").upper()), encoding="ascii")
    (folder / "fips.so").chmod(0o555)
    (folder / "fips.cnf").chmod(0o444)
