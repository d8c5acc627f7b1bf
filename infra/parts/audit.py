"""`make audit`: known vulnerabilities of what the locked files name, in Python, npm and Go.

The databases are those that the three tools ask by themselves: OSV, the npm registry and Go's. Options name mirrors.
"""

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from parts.files import FRONTEND, GO_MODULES, SERVICES, Findings, PartsError, output, report, required_modules


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
    """Of all required modules, used or not: a tool's module has no code of its own that could be followed."""
    modules = sorted({part for folder in GO_MODULES for part in required_modules(folder)})
    command: list[str | Path] = [govulncheck, "-mode", "query", "-format", "json", *database]
    text = output([*command, *(f"{part.name}@{part.version}" for part in modules)], GO_MODULES[0])
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        message, end = decoder.raw_decode(text)
        text = text[end:]
        if osv := message.get("osv"):
            names = ", ".join(sorted({each["package"]["name"] for each in osv["affected"]}))
            yield osv["id"], f"{names}: {osv['id']}, {osv['summary']}"


if __name__ == "__main__":
    sys.exit(main())
