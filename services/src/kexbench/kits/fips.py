"""OpenSSL's FIPS module in a kit: the suite's file, and a configuration that enables it.

OpenSSL loads the module only if the configuration contains the HMAC-SHA-256 of its file. Usually `openssl fipsinstall`
writes it during the installation. A kit installs nothing, so it is computed here. The key is no secret, since the HMAC
only detects damaged files.

OpenSSL ignores a provider that does not start. After loading the configuration, check `fips` with
OSSL_PROVIDER_available.
"""

import hashlib
import hmac
import shutil
from pathlib import Path

MODULES_FOLDER = "ossl-modules"
_INTEGRITY_KEY = bytes.fromhex("f4556650ac31d35461610bac4ed81b1a181b2d8a43ea2854cbae22ca74560813")
"""The default of OpenSSL's build option `-fips-key`, which Debian keeps."""
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
    """Copies the module to `ossl-modules/fips.so` in the folder `kit`, and writes `fips.cnf` next to it."""
    folder = kit / MODULES_FOLDER
    folder.mkdir()
    shutil.copyfile(module, folder / "fips.so")
    mac = hmac.new(_INTEGRITY_KEY, module.read_bytes(), hashlib.sha256).digest()
    (folder / "fips.cnf").write_text(_CONFIGURATION.format(mac=mac.hex(":").upper()), encoding="ascii")
    (folder / "fips.so").chmod(0o555)
    (folder / "fips.cnf").chmod(0o444)
