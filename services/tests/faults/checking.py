"""What must hold at the end of a scene, whatever happened in it."""

import csv
import json
from collections import Counter
from collections.abc import Mapping

from tests.faults.scene import Scene, Service

Costs = Mapping[tuple[str, str], str]
"""The batch values of each case and version, as the export writes them. The fake library repeats the same ones."""


def exported(service: Service) -> list[dict[str, str]]:
    answer = service.http.get("/export").raise_for_status()
    return list(csv.DictReader(answer.text.splitlines()))


def costs(rows: list[dict[str, str]]) -> Costs:
    return {(row["case_id"], row["version"]): row["values"] for row in rows}


def violations(scene: Scene, service: Service, expected: Costs) -> list[str]:
    """What was lost, is there twice, or is false, in words."""
    rows = exported(service)
    return [
        *_runs(scene, service, rows),
        *_doubled(rows),
        *_false(rows, expected),
        *_remarks(scene, service),
        *_pages(service, expected),
    ]


def _runs(scene: Scene, service: Service, rows: list[dict[str, str]]) -> list[str]:
    """Every acknowledged run is there, and is complete or says why not."""
    wrong = []
    known = {run["run_id"]: run for run in service.ask("GET", "/runs")["runs"]}
    stored = Counter(row["run_id"] for row in rows)
    for run_id, invocations in scene.submitted.items():
        run = known.get(run_id)
        if run is None:
            wrong.append(f"run {run_id} was accepted and is lost")
        elif run["state"] != "finished":
            if not run["detail"]:
                wrong.append(f"run {run_id} is {run['state']} without a reason")
            elif not scene.damaged:
                wrong.append(f"run {run_id} is {run['state']} although no file was damaged: {run['detail']}")
        elif (run["invocations_stored"], stored[run_id]) != (invocations, 2 * invocations):
            wrong.append(
                f"run {run_id} is finished with {run['invocations_stored']} of {invocations} invocations and "
                f"{stored[run_id]} of {2 * invocations} samples"
            )
    return wrong


def _doubled(rows: list[dict[str, str]]) -> list[str]:
    counts = Counter((row["run_id"], row["case_id"], row["version"], row["job_id"], row["invocation"]) for row in rows)
    return [f"sample {key} is exported {count} times" for key, count in counts.items() if count > 1]


def _false(rows: list[dict[str, str]], expected: Costs) -> list[str]:
    return [
        f"{row['case_id']} of {row['version']} in run {row['run_id']} is {row['values']}, not {wanted}"
        for row in rows
        if row["values"] != (wanted := expected.get((row["case_id"], row["version"])))
    ]


def _remarks(scene: Scene, service: Service) -> list[str]:
    """Every remark that was acknowledged stands once, and no change became two alerts."""
    alerts = service.ask("GET", "/alerts")["alerts"]
    noted = Counter(
        (alert["alert_id"], event["note"])
        for alert in alerts
        for event in service.ask("GET", f"/alerts/{alert['alert_id']}")["events"]
    )
    causes = Counter(json.dumps(alert["cause"], sort_keys=True) for alert in alerts)
    return [f"the remark {remark} stands {noted[remark]} times" for remark in scene.notes if noted[remark] != 1] + [
        f"the change {cause} has {count} alerts" for cause, count in causes.items() if count > 1
    ]


def _pages(service: Service, expected: Costs) -> list[str]:
    """What the pages show of the cells is what was measured."""
    for path in ("/filters", "/upgrades", "/queue"):
        service.ask("GET", path)
    matrix = service.ask("GET", "/matrix")
    versions = {subject["subject"]: subject["version"] for subject in matrix["subjects"]}
    wrong = []
    for cell in matrix["cells"]:
        wanted = float(expected[cell["case_id"], versions[cell["subject"]]].split()[0])
        if cell["estimate"] is None or cell["estimate"]["value"] != wanted:
            wrong.append(f"the matrix shows {cell['estimate']} for a cell of {wanted:g} ns")
    return wrong
