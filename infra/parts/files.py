"""Where parts are named: lock files, Go modules, images."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FRONTEND = ROOT / "frontend"
SERVICES = ROOT / "services"
GO_MODULES = (ROOT / "charts" / "tools", *sorted(path.parent for path in (ROOT / "infra").glob("*/*/go.mod")))
_DOWNLOADED = re.compile(r"^[A-Z]+=(?P<path>\S+)@(?P<version>v\S+)$", re.MULTILINE)
"""Modules that scripts download for their files."""
_IMAGE = re.compile(r"(?:^FROM |\bimage: (?:&\w+ )?)(?P<name>[a-z0-9./-]+):(?P<tag>[\w.-]+)", re.MULTILINE)
_IMAGES_IN = (
    "charts/kexbench/values.yaml",
    "infra/clickhouse/compose.yaml",
    "infra/compose/compose.yaml",
    "infra/images/Dockerfile",
    "infra/kind/cluster.yaml",
)

Findings = Iterator[tuple[str, str]]
"""Lines, each with the name that an exception to it has."""


class PartsError(Exception):
    """A source of versions or vulnerabilities did not answer."""


@dataclass(frozen=True, order=True)
class Part:
    name: str
    version: str


def images() -> set[Part]:
    texts = [(ROOT / name).read_text() for name in _IMAGES_IN]
    return {Part(match["name"], match["tag"]) for text in texts for match in _IMAGE.finditer(text)}


def downloaded_modules() -> set[Part]:
    text = (ROOT / "charts" / "tools" / "build.sh").read_text()
    return {Part(match["path"], match["version"]) for match in _DOWNLOADED.finditer(text)}


def required_modules(folder: Path, *, direct: bool = False) -> Iterator[Part]:
    """The modules that a go.mod requires, at the versions that replace them; `direct` leaves out what those require."""
    module = json.loads(output(["go", "mod", "edit", "-json"], folder))
    replaced = {each["Old"]["Path"]: each["New"].get("Version") for each in module.get("Replace") or ()}
    tools = tuple(each["Path"] for each in module.get("Tool") or ())
    for each in module.get("Require") or ():
        path = each["Path"]
        named = not each.get("Indirect") or any(f"{tool}/".startswith(f"{path}/") for tool in tools)
        if not direct or (named and path not in replaced):
            yield Part(path, replaced.get(path) or each["Version"])


def output(command: Sequence[str | Path], folder: Path, statuses: Collection[int] = (0,)) -> str:
    """Raises PartsError if the command ends with another status, with what it said."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in statuses:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[:8]
        raise PartsError(f"{Path(command[0]).name} {command[1]}: " + "\n  ".join(said))
    return done.stdout


def excepted(section: str) -> dict[str, str]:
    """The reasons by name."""
    document: dict[str, list[dict[str, Any]]] = yaml.safe_load((Path(__file__).parent / "exceptions.yaml").read_text())
    return {each["name"]: each["reason"] for each in document[section]}


def report(sources: Sequence[Callable[[], Findings]], section: str) -> int:
    """Prints what the sources find and returns the exit status: 1 with findings, 2 without any if a source did not
    answer."""
    lines: dict[str, str] = {}
    unanswered = []
    for source in sources:
        try:
            lines |= dict(source())
        except PartsError as fault:
            unanswered.append(fault)
    exceptions = excepted(section)
    findings = [line for name, line in lines.items() if name not in exceptions]
    accepted = sorted(lines.keys() & exceptions.keys())
    for name in accepted:
        print(f"accepted: {lines[name]}. {exceptions[name]}")
    if not unanswered:
        unneeded = sorted(exceptions.keys() - lines.keys())
        findings += [f"{name}: nothing needs this exception any more" for name in unneeded]
    for line in findings:
        print(line)
    for each in unanswered:
        print(f"no answer: {each}", file=sys.stderr)
    if not findings and not unanswered:
        print(f"{len(accepted)} accepted, each with its reason")
    return 1 if findings else 2 if unanswered else 0
