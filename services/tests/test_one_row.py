"""A dimension is one row, a metric a row and what the worker counts, a library three places: added to a copy of the
sources, they are everywhere at once."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kits.sources import write_archive

pytestmark = pytest.mark.thorough
CHECKOUT = Path(__file__).parents[2]
COPIED = ("services/src/kexbench", "workers/handshake")
TIMEOUT_S = 120
NO_LIBRARIES = {"apiVersion": "kexbench.dev/v1", "kind": "Catalogue", "libraries": {}}


@dataclass(frozen=True)
class Sources:
    """A copy of the sources, and what runs with it."""

    root: Path

    def put(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")

    def insert(self, path: str, text: str, *, before: str) -> None:
        old = (self.root / path).read_text(encoding="utf-8")
        assert old.count(before) == 1, f"{path} has {before!r} {old.count(before)} times"
        self.put(path, old.replace(before, text + before))

    def touched(self) -> list[str]:
        """The files that are not as in the checkout."""
        files = [
            path for part in COPIED for path in (self.root / part).rglob("*") if path.suffix in (".py", ".c", ".mk")
        ]
        places = sorted(path.relative_to(self.root) for path in files)
        return [
            str(place)
            for place in places
            if not (original := CHECKOUT / place).is_file() or original.read_bytes() != (self.root / place).read_bytes()
        ]

    def run(self, *arguments: str) -> str:
        """What Python prints that has this copy of kexbench, and a home of its own."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.root / "services/src"),
            "KEXBENCH_HOME": str(self.root / "home"),
            "KEXBENCH_CACHE": str(self.root / "cache"),
        }
        done = subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    for part in COPIED:
        shutil.copytree(
            CHECKOUT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__", "build", "tests")
        )
    (tmp_path / "bench-specs").mkdir()
    return Sources(tmp_path)


DIMENSION = """\
    record_bytes: Annotated[
        int, Dimension("record size", "record-{}", "records of {:,} bytes", "smaller records", rank=11)
    ] = Field(16_384, ge=512, le=16_384, description="the most that a record carries")

"""
DERIVED = """
import json
from kexbench.analysis.traits import shared_traits
from kexbench.answers.shapes import CaseView
from kexbench.domain.cases import Case, case_order
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Catalogue
from kexbench.schemas import generated_files
from kexbench.store.rows import case_of

SPEC = '''
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {name: records}
subjects: [{fake: ["1.0"]}]
matrix: {protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], recordBytes: [512, 16384, 1024]}
'''
CATALOGUE = {"apiVersion": "kexbench.dev/v1", "kind": "Catalogue", "libraries": {}}
plan = make_plan(SPEC, "spec.yaml", Catalogue.model_validate(CATALOGUE))
cases = plan.cases
schemas = {name: json.loads(text) for name, text in generated_files().items()}
case = cases[0]
row = {**case.model_dump(mode="json"), "variation": json.dumps(case.variation)}
print(json.dumps({
    "ids": [case.case_id for case in cases],
    "labels": [case.label for case in cases],
    "order": [case.record_bytes for case in sorted(cases, key=case_order)],
    "setup": [case.setup_fields()["record_bytes"] for case in cases],
    "traits": [shared.trait.words for shared in shared_traits(cases, ["host"] * 3)],
    "kinds": [CaseView.of(case).kinds for case in cases],
    "stored": case_of(row) == case,
    "spec": schemas["benchmark.schema.json"]["$defs"]["Matrix"]["properties"]["recordBytes"],
    "api": schemas["openapi.json"]["components"]["schemas"]["CaseView"]["properties"]["record_bytes"],
}))
"""


def test_a_new_dimension_is_one_row(sources: Sources) -> None:
    sources.insert("services/src/kexbench/domain/cases.py", DIMENSION, before='    @model_validator(mode="after")\n')
    assert sources.touched() == ["services/src/kexbench/domain/cases.py"]
    derived: dict[str, Any] = json.loads(sources.run("-c", DERIVED))
    plain = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_p-256_aes-128-gcm"
    assert derived.pop("ids") == [f"{plain}_record-512", plain, f"{plain}_record-1024"]
    usual = "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, P-256"
    assert derived.pop("labels") == [f"{usual}, records of 512 bytes", usual, f"{usual}, records of 1,024 bytes"]
    assert derived.pop("order") == [512, 1024, 16384]
    assert derived.pop("setup") == ["512", "16384", "1024"]
    assert "smaller records" in derived.pop("traits")
    assert derived.pop("kinds") == [["other"], ["plain"], ["other"]]
    assert derived.pop("stored") is True
    assert derived["spec"]["items"]["minimum"] == derived["api"]["minimum"] == 512
    assert derived["spec"]["description"] == derived["api"]["description"] == "the most that a record carries"
    assert derived["spec"]["default"] == [derived["api"]["default"]] == [16384]


METRIC_ROWS = """\
    WIRE_BYTES = MetricRow("wire_bytes", _WIRE, "Bytes sent by both", "bytes of a handshake", Timed("valid"))
    FLIGHTS = MetricRow("flights", _STRUCTURE, "Flights", "flights of a handshake", Examined())
"""
WORKER_WIRE_BYTES = """\
    json_number(&json, "wire_bytes", batch->bytes[ROLE_CLIENT] + batch->bytes[ROLE_SERVER]);
"""
WORKER_FLIGHTS = """\
    json_number(&json, "flights", 5 * examined->handshakes);
"""
FAKE_SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: counted }
subjects: [{ fake: ["1.0"] }]
matrix: { protocol: [TLSv1.3], keyExchange: [ECDHE-RSA] }
measure: { invocations: 2, batches: 2 }
"""
ASKED = """
import json
from kexbench.answers.filters import Filters
from kexbench.answers.matrix import Matrix
from kexbench.cli.reaching import reach_api
from kexbench.schemas import generated_files

def value(metric):
    (cell,) = api.get(Matrix, f"/matrix?metric={metric}").cells
    return cell.estimate.value

with reach_api() as api:
    listed = api.get(Filters, "/filters").metrics
    costs = {name: value(name) for name in ("wire_bytes", "client_bytes", "server_bytes", "flights")}
schemas = {name: json.loads(text) for name, text in generated_files().items()}
print(json.dumps({
    "listed": {each.metric: [each.group, each.title, each.unit, each.stored] for each in listed},
    "order": [each.metric for each in listed],
    "costs": costs,
    "openapi": schemas["openapi.json"]["components"]["schemas"]["Metric"]["enum"],
    "pages": schemas["vocabulary.json"]["metrics"],
}))
"""


@pytest.mark.long
def test_a_new_metric_is_one_row_and_what_the_worker_counts(sources: Sources) -> None:
    rows, worker = "services/src/kexbench/domain/metrics.py", "workers/handshake/record.c"
    sources.insert(rows, METRIC_ROWS, before="    CLIENT_INSTRUCTIONS = MetricRow(\n")
    sources.insert(worker, WORKER_WIRE_BYTES, before='    by_role(&json, "objects_cpu_ns"')
    sources.insert(worker, WORKER_FLIGHTS, before='    json_text(&json, "counters_absent"')
    assert sources.touched() == [rows, worker]
    sources.put("bench-specs/libraries.yaml", json.dumps(NO_LIBRARIES))
    sources.put("spec.yaml", FAKE_SPEC)

    run = json.loads(sources.run("-m", "kexbench.cli", "run", "spec.yaml", "--json"))
    found: dict[str, Any] = json.loads(sources.run("-c", ASKED))
    listed, order, costs = found["listed"], found["order"], found["costs"]
    assert listed["wire_bytes"] == ["Bytes on the wire", "Bytes sent by both", "bytes", True]
    assert listed["flights"] == ["Structure", "Flights", "count", True]
    assert order.index("server_bytes") < order.index("wire_bytes") < order.index("client_records")
    assert order.index("round_trips") < order.index("flights") < order.index("client_allocations")
    assert costs["wire_bytes"] == costs["client_bytes"] + costs["server_bytes"] > 0
    assert costs["flights"] == 5
    assert {"wire_bytes", "flights"} < set(found["openapi"])
    assert found["pages"]["flights"] == "flights of a handshake"
    table = sources.run("-m", "kexbench.cli", "runs", "show", run["summary"]["run_id"], "--metric", "wire_bytes")
    assert "counted: Bytes sent by both" in table
    assert f"{costs['wire_bytes']:,.0f} B" in table


ROW = """\
    "mocktls": LibraryRow(
        title="MockTLS",
        licence="MIT",
        layout=Layout(
            main_header="mocktls/mocktls.h",
            version=re.compile(r'MOCKTLS_VERSION\\s+"(\\S+)"'),
            names=("libmocktls",),
        ),
        version_files={"mocktls.h": re.compile(r'MOCKTLS_VERSION\\s+"(\\S+)"')},
    ),
"""
BUILDER = '''\
"""MockTLS from its sources."""

import shutil
from pathlib import Path

from kexbench.kits.source import INSTALLED


class MockRecipe:
    linkage = "shared"
    revision = 1

    def words(self, version, flags, target):
        return flags

    def distinctions(self, target):
        return ()

    def ingredients(self, attempt):
        return ()

    def decisive(self, attempt):
        return ()

    def build(self, source, words, installed, attempt):
        lib, include = (installed / INSTALLED / part for part in ("lib", "include/mocktls"))
        lib.mkdir(parents=True)
        include.mkdir(parents=True)
        shutil.copy(source / "mocktls.h", include)
        library = lib / "libmocktls.so"
        command = ["cc", "-shared", "-fPIC", "-Wl,-soname,libmocktls.so", "-o", str(library), "mocktls.c"]
        attempt.run(command, stage="compile", timeout_s=60, folder=source)


def recipe(cache: Path, jobs: int) -> MockRecipe:
    return MockRecipe()
'''
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: mock }
subjects: [{ mocktls: tracked }]
matrix: { protocol: [TLSv1.3], keyExchange: [ECDHE-RSA] }
measure: { invocations: 2, batches: 2 }
"""


@pytest.mark.long
def test_a_new_library_is_its_row_its_builder_and_its_backend(sources: Sources) -> None:
    rows = "services/src/kexbench/domain/libraries.py"
    sources.insert(rows, ROW, before='    "fake": LibraryRow(')
    sources.insert(rows, '"mocktls", ', before='"fake"]\n')
    sources.put("services/src/kexbench/kits/build_mocktls.py", BUILDER)
    backend = (CHECKOUT / "workers/handshake/backend_fake.c").read_text(encoding="utf-8")
    backend = backend.replace('.library = "fake"', '.library = "mocktls"').replace('"fake %s', '"MockTLS %s')
    backend = backend.replace("settings.version", "mocktls_version()")
    sources.put("workers/handshake/backend_mocktls.c", f"#include <mocktls/mocktls.h>\n{backend}")
    makefile = "SOURCES_mocktls := backend_mocktls fake_settings\nLIBS_mocktls := -lmocktls\n"
    sources.put("workers/handshake/backend_mocktls.mk", makefile)
    places = {re.sub(r"\.(c|mk)$", "", place) for place in sources.touched()}
    assert places == {rows, "services/src/kexbench/kits/build_mocktls.py", "workers/handshake/backend_mocktls"}

    header = '#define MOCKTLS_VERSION "2.3.4"\nconst char *mocktls_version(void);\n'
    code = '#include "mocktls.h"\nconst char *mocktls_version(void) { return MOCKTLS_VERSION; }\n'
    archive = sources.root / "mocktls.tar.gz"
    sha256 = write_archive(archive, {"mocktls-2.3.4/mocktls.h": header, "mocktls-2.3.4/mocktls.c": code})
    entry = {"source": f"tarball:{archive}#sha256={sha256}", "version": "2.3"}
    catalogue = {"apiVersion": "kexbench.dev/v1", "kind": "Catalogue", "libraries": {"mocktls": [entry]}}
    sources.put("bench-specs/libraries.yaml", json.dumps(catalogue))
    sources.put("spec.yaml", SPEC)

    run = json.loads(sources.run("-m", "kexbench.cli", "run", "spec.yaml", "--json"))
    (subject,) = run["subjects"]
    assert (subject["library"], subject["version"]) == ("mocktls", "2.3.4")
    assert run["summary"]["state"] == "finished"
    assert [cell["estimate"]["invocations"] for cell in run["cells"]] == [2]
    sources.run("-m", "kexbench.cli", "schema", "bench-specs/schema")
    vocabulary = json.loads((sources.root / "bench-specs/schema/vocabulary.json").read_text())
    assert vocabulary["libraries"]["mocktls"] == "MockTLS"
