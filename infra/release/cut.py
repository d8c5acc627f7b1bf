"""Cuts a version: writes it to every file that names it, and makes what is unreleased in the change log its section.

    python infra/release/cut.py 1.2.3

Then `make generate`, `make test-all test-long`, a commit and a tag v1.2.3. `tests/infra/test_release.py` checks that
the files agree.
"""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"\d+\.\d+\.\d+"
PLACES = {
    "services/pyproject.toml": rf'(?m)^(version = "){NUMBER}(")$',
    "services/uv.lock": rf'(name = "kexbench"\nversion = "){NUMBER}(")',
    "services/src/kexbench/__init__.py": rf'(__version__ = "){NUMBER}(")',
    "infra/ci/github/action.yml": rf"(description: the version of kexbench\n    default: ){NUMBER}()",
    "infra/ci/gitlab/compare-builds.yml": rf"(description: the version of kexbench\n      default: ){NUMBER}()",
    "infra/ci/examples/debian/tests/handshake-costs": rf"(?m)^(kexbench=){NUMBER}()$",
    "charts/kexbench/Chart.yaml": rf'(?m)^((?:v|appV)ersion: "?){NUMBER}("?)$',
    "frontend/package.json": rf'(?m)^(  "version": "){NUMBER}(")',
    "frontend/package-lock.json": rf'("name": "kexbench-frontend",\n *"version": "){NUMBER}(")',
}
"""Each file with the text around the version."""


def main(version: str) -> None:
    if not re.fullmatch(NUMBER, version):
        raise SystemExit(f"{version} is not like 1.2.3")
    for name, pattern in PLACES.items():
        replace(ROOT / name, pattern, rf"\g<1>{version}\g<2>")
    title = f"## {version} ({datetime.now(UTC).date()})"
    replace(ROOT / "CHANGELOG.md", r"(?m)^## Unreleased$", title)


def replace(file: Path, pattern: str, text: str) -> None:
    before = file.read_text(encoding="utf-8")
    after, times = re.subn(pattern, text, before)
    if not times:
        raise SystemExit(f"{file.relative_to(ROOT)} does not name what is to be replaced")
    file.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
