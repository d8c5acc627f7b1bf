"""The HTTP interface, transport alone: a route checks who asks, and hands on what a room below answers.

Start at `app.py`.

- `app.py`, `document.py`: the application, and its OpenAPI document.
- `gate.py`, `access.py`, `cluster_access.py`: which requests are let in, and whose; `problems.py`: errors;
  `dependencies.py`: what routes are given; `caching.py`: kept answers; `calling.py`: what clients need.
- `reading.py`, `series.py`, `verdicts.py`, `upgrades.py`, `machine.py`, `reference.py`, `overview.py`: questions about
  results, which `answers` answers; `exporting.py`: samples as files; `monitoring.py`: the service itself.
- `control.py`, `scheduling.py`, `dry_runs.py`: runs that people ask for; `bisections.py`, `commits.py`, `alerts.py`,
  `notifications.py`: those that kexbench asks for; `webhooks.py`, `doorbell.py`: forges that ring.
- `uploading.py`, `supplying.py`: what pods and runners send and get.
- `models.py`, `run_models.py`, `alert_models.py`, `commit_models.py`: shapes of requests, and of what processes send.
"""
