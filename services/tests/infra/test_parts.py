"""`make outdated` and `make audit` against databases and a registry of the tests, with the tools that users run."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote

import pytest

from devcluster.binaries import ARGO_LINES
from parts import audit, files, outdated
from tests.infra.conftest import Tools
from tests.infra.pools import ROOT

HCL = "github.com/hashicorp/hcl/v2"
MODIFIED = "2026-01-01T00:00:00Z"
PLACE = "infra/tools/evaluate"


class Databases(BaseHTTPRequestHandler):
    """OSV, and an npm registry that knows one package."""

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/querybatch":
            names = [query["package"]["name"] for query in json.loads(asked)["queries"]]
            found = {"vulns": [{"id": "PYSEC-1", "modified": "2026-01-01T00:00:00Z"}]}
            self._answer({"results": [found if name == "pyyaml" else {} for name in names]})
        else:
            advisory = {"id": 1, "url": "https://example.org/GHSA-1", "title": "A fault", "severity": "high"}
            self._answer({"vite": [{**advisory, "vulnerable_versions": "<99"}]})

    def do_GET(self) -> None:
        if self.path.startswith("/v1/vulns/"):
            dates = {"modified": "2026-01-01T00:00:00Z", "published": "2026-01-01T00:00:00Z"}
            self._answer({"id": "PYSEC-1", **dates, "summary": "Reads too much", "affected": []})
        else:  # what depends on it is asked for as well
            self._answer({"name": unquote(self.path[1:]), "versions": {}})

    def _answer(self, body: object) -> None:
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Tests print nothing."""


@pytest.fixture
def databases() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Databases) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def go_database(tmp_path: Path) -> str:
    """Advisories on a package that is compiled and on one that is not, and one that was withdrawn."""
    advisories = [
        advisory("GO-2026-0001", "hclwrite"),
        advisory("GO-2026-0002", "hcldec"),
        advisory("GO-2026-0003", "hclwrite") | {"withdrawn": MODIFIED},
    ]
    content: dict[str, object] = {f"ID/{each['id']}.json": each for each in advisories}
    content["index/db.json"] = {"modified": MODIFIED}
    listed = [{"id": each["id"], "modified": MODIFIED} for each in advisories]
    content["index/modules.json"] = [{"path": HCL, "vulns": listed}]
    for name, document in content.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(document))
    return tmp_path.as_uri()


def advisory(name: str, package: str) -> dict[str, object]:
    affected = {
        "package": {"name": HCL, "ecosystem": "Go"},
        "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "99.0.0"}]}],
        "ecosystem_specific": {"imports": [{"path": f"{HCL}/{package}"}]},
    }
    return {"id": name, "modified": MODIFIED, "summary": "Parses too much", "affected": [affected]}


def uv() -> str:
    return subprocess.run(
        [ROOT / "infra/bootstrap/uv.sh"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def made(
    monkeypatch: pytest.MonkeyPatch, tools: Tools, *options: str, accepted: Mapping[str, str] = MappingProxyType({})
) -> int:
    """The exit status of an audit with the Go of one module. Those of the devcluster take minutes to download."""
    monkeypatch.setattr(sys, "argv", ["audit", "--uv", uv(), "--tools", str(tools.folder), *options])
    monkeypatch.setattr(audit, "GO_MODULES", [ROOT / PLACE])
    monkeypatch.setattr(files, "excepted", lambda section: dict(accepted))
    return audit.main()


@pytest.mark.infra
def test_a_vulnerability_is_found_in_each_of_the_three_languages(
    tools: Tools,
    databases: str,
    go_database: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert made(monkeypatch, tools, "--osv", databases, "--npm", databases, "--go", go_database) == 1
    python, npm, go = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"pyyaml [\d.]+: PYSEC-1, Reads too much; fixed in no version yet", python)
    assert npm == "vite <99: GHSA-1, A fault"
    assert re.fullmatch(rf"{HCL} v[\d.]+: GO-2026-0001, Parses too much; fixed in v99.0.0 \({PLACE}\)", go)


@pytest.mark.infra
def test_an_audit_is_clean_when_each_finding_is_accepted_at_its_place(
    tools: Tools,
    databases: str,
    go_database: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ("--osv", databases, "--npm", databases, "--go", go_database)
    accepted = dict.fromkeys(["PYSEC-1", "GHSA-1", f"GO-2026-0001 {PLACE}"], "Nothing here parses that.")
    assert made(monkeypatch, tools, *options, accepted=accepted) == 0
    *lines, summary = capsys.readouterr().out.splitlines()
    assert [line.endswith(". Nothing here parses that.") for line in lines] == [True] * 3
    assert summary == "3 accepted, each with its reason"

    accepted["GO-2026-0001 infra/tools/rules"] = accepted.pop(f"GO-2026-0001 {PLACE}")
    assert made(monkeypatch, tools, *options, accepted=accepted) == 1
    new, unneeded = capsys.readouterr().out.splitlines()[-2:]
    assert "GO-2026-0001" in new
    assert unneeded == "GO-2026-0001 infra/tools/rules: nothing needs this exception any more"


@pytest.mark.infra
def test_each_module_of_the_devclusters_programs_has_a_version_and_argo_its_checksum(tmp_path: Path) -> None:
    folder = audit.with_argo(tmp_path)
    module = json.loads(files.output(["go", "mod", "edit", "-json"], folder))
    assert [each["Old"]["Path"] for each in module["Replace"] if not each["New"].get("Version")] == []
    (version,) = (each["Version"] for each in module["Require"] if each["Path"] == ARGO_LINES["3.7"])
    assert f"{ARGO_LINES['3.7']} {version} h1:" in (folder / "go.sum").read_text()


@pytest.mark.infra
def test_a_database_that_does_not_answer_is_no_clean_audit(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = "http://127.0.0.1:1/"
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    assert made(monkeypatch, tools, "--osv", nowhere, "--npm", nowhere, "--go", (tmp_path / "none").as_uri()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split()[2] for line in said.err.splitlines() if line.startswith("no answer")] == [
        "uv",
        "npm",
        "govulncheck",
    ]


def test_an_exception_needs_a_reason_and_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files, "excepted", lambda section: {"CVE-1": "Nothing here parses that.", "CVE-2": "Long ago."})
    assert files.report([lambda: iter([("CVE-1", "a 1.0: CVE-1")])], "audit") == 1
    assert capsys.readouterr().out.splitlines() == [
        "accepted: a 1.0: CVE-1. Nothing here parses that.",
        "CVE-2: nothing needs this exception any more",
    ]


@pytest.mark.parametrize("section", ["outdated", "audit"])
def test_each_exception_has_its_reason(section: str) -> None:
    assert all(len(reason.split()) > 3 for reason in files.excepted(section).values())


def test_all_go_modules_and_images_of_the_checkout_are_looked_at() -> None:
    ignored = {"node_modules", ".venv"}
    found = (path for path in ROOT.rglob("go.mod") if not ignored & set(path.parts))
    modules = {path.parent for path in found if "require" in path.read_text("utf-8")}
    assert modules == set(files.GO_MODULES)
    assert {part.name for part in files.images()} == {"clickhouse/clickhouse-server", "debian", "kindest/node"}
    assert {part.name for part in files.downloaded_modules()} >= {"k8s.io/kubernetes"}


@pytest.mark.infra
def test_of_a_module_of_tools_the_tools_are_its_own_parts() -> None:
    own = [part.name for part in files.required_modules(ROOT / "infra/tools/upkeep", direct=True)]
    assert own == ["github.com/google/go-containerregistry", "github.com/rhysd/actionlint", "golang.org/x/vuln"]


def test_an_image_of_a_line_with_long_term_support_stays_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crane = tmp_path / "crane"
    crane.write_text("#!/bin/sh\necho 26.3 26.8 27.3 27.10 27.8-alpine latest 13-slim 12-slim 12.1-slim\n")
    crane.chmod(0o755)
    parts = {files.Part("clickhouse/clickhouse-server", "26.8"), files.Part("debian", "12-slim")}
    monkeypatch.setattr(outdated, "images", lambda: parts)
    assert [line for _, line in outdated.of_images(crane, "mirror.example.org/")] == [
        "clickhouse/clickhouse-server 26.8: 27.3 (image)",
        "debian 12-slim: 13-slim (image)",
    ]
