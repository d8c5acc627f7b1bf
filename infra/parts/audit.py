"""`make audit`: known vulnerabilities of what the locked files name, in Python, npm and Go.

The databases are those that the three tools ask by themselves: OSV, the npm registry and Go's. Options name mirrors.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from parts.files import FRONTEND, GO_MODULES, ROOT, SERVICES, Findings, PartsError, output, report

_ARGO = "github.com/argoproj/argo-workflows/v3"
_DEFINITIONS = ROOT / "infra" / "devcluster" / "crds"
"""Nothing of this module is compiled. It has the checksum of Argo."""
_PROGRAMS = ROOT / "infra" / "devcluster" / "programs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make audit", description="Reports known vulnerabilities.")
    parser.add_argument("--uv", type=Path, required=True)
    parser.add_argument("--tools", type=Path, required=True, help="folder with govulncheck")
    parser.add_argument("--osv", help="address of a mirror of OSV")
    parser.add_argument("--npm", help="address of an npm registry with advisories")
    parser.add_argument("--go", help="address of a mirror of Go's database, also file://")
    asked = parser.parse_args()
    sources: list[Callable[[], Findings]] = [
        partial(of_python, asked.uv, ["--service-url", asked.osv] if asked.osv else []),
        partial(of_npm, ["--registry", asked.npm] if asked.npm else []),
        partial(of_go, asked.tools / "govulncheck", ["-db", asked.go] if asked.go else []),
    ]
    return report(sources, "audit")


def of_python(uv: Path, service: list[str]) -> Findings:
    preview = "audit-command,json-output"
    command: list[str | Path] = [
        uv,
        "audit",
        "--locked",
        "--system-certs",
        "--preview-features",
        preview,
        "--output-format",
        "json",
    ]
    answer = json.loads(output([*command, *service], SERVICES, (0, 1)) or "null")
    if answer is None:
        raise PartsError("uv audit: it ended without an answer")
    for each in answer["vulnerabilities"]:
        part = each["dependency"]
        fixed = " or ".join(each["fix_versions"]) or "no version yet"
        yield each["id"], f"{part['name']} {part['version']}: {each['id']}, {each['summary']}; fixed in {fixed}"


def of_npm(registry: list[str]) -> Findings:
    answer = json.loads(output(["npm", "audit", "--json", *registry], FRONTEND, (0, 1)))
    if "vulnerabilities" not in answer:
        raise PartsError(f"npm audit: {answer.get('message') or answer}")
    for name, each in answer["vulnerabilities"].items():
        for advisory in each["via"]:
            if isinstance(advisory, dict):  # a name is that of the dependency that has it
                identifier = advisory["url"].rpartition("/")[2]
                yield identifier, f"{name} {advisory['range']}: {identifier}, {advisory['title']}"


def of_go(govulncheck: Path, database: list[str]) -> Findings:
    """Where a vulnerable package is compiled: much of what a go.mod requires is not. Nothing that was withdrawn."""
    command: list[str | Path] = [govulncheck, "-scan", "package", "-format", "json", *database, "tool", "./..."]
    for folder in GO_MODULES:
        if folder == _DEFINITIONS:
            continue
        with TemporaryDirectory() as scratch:
            text = output(command, with_argo(Path(scratch)) if folder == _PROGRAMS else folder)
        yield from _of_module(text, str(folder.relative_to(ROOT)))


def with_argo(scratch: Path) -> Path:
    """The devcluster's programs with Argo as a module: advisories know no version of the copy that is compiled."""
    module = shutil.copytree(_PROGRAMS, scratch / "programs")
    output(["go", "mod", "edit", f"-dropreplace={_ARGO}"], module)
    with (module / "go.sum").open("a") as sums:
        sums.write((_DEFINITIONS / "go.sum").read_text())
    return module


def _of_module(text: str, place: str) -> Findings:
    summaries: dict[str, str] = {}
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        message, end = decoder.raw_decode(text)
        text = text[end:]
        if osv := message.get("osv"):
            summaries[osv["id"]] = osv["summary"]
        elif (finding := message.get("finding")) and "package" in (part := finding["trace"][0]):
            name, fixed = finding["osv"], finding.get("fixed_version", "no version yet")
            line = f"{part['module']} {part['version']}: {name}, {summaries[name]}; fixed in {fixed} ({place})"
            yield f"{name} {place}", line


if __name__ == "__main__":
    sys.exit(main())
