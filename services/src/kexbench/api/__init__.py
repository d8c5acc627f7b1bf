"""The HTTP interface, transport alone: a route checks who asks, and hands on what a room below answers.

Start at `app.py`.

- `app.py`, `document.py`: the application, and its OpenAPI document.
- `gate.py`, `access.py`, `cluster_access.py`, `stored_tokens.py`: which requests are let in, and whose; `rights.py`:
  what each role may do; `audit.py`: what was done, and `people.py`: who reads it;
  `login.py`, `oidc.py`, `sessions.py`, `readers.py`: people who log in; `problems.py`: errors;
  `dependencies.py`: what routes are given; `caching.py`: kept answers; `calling.py`: what clients need;
  `handing_on.py`: what another process answers (docs/adr/0050).
- Questions about results, which `answers` answers: `reading.py` (`/filters`, `/matrix`, `/runs`),
  `series.py` (`/trends`, `/cpus`, `/distribution`, `/security`), `verdicts.py` (`/compare`, what a run changed),
  `upgrades.py` (`/upgrades`, `/capacity`, badges), `stacks.py` (`/stacks`), `paths.py` (`/paths`),
  `life.py` (`/life`),
  `fleet.py` (`/fleet`), `machine.py` (`/scaling`, `/qualifications`, `/scorecard`),
  `reference.py` (`/articles`), `overview.py` (`/overview`, `/queue`, progress).
- `exporting.py`: samples as files; `monitoring.py`: the service itself; `metrics.py`: what Prometheus reads of it;
  `refusals.py`: refused writes.
- `control.py`, `scheduling.py`, `dry_runs.py`: runs that people ask for; `bisections.py`, `commits.py`, `alerts.py`,
  `notifications.py`: those that kexbench asks for; `webhooks.py`, `doorbell.py`: forges that ring.
- `uploading.py`, `supplying.py`: what pods and runners send and get.
- `models.py`, `run_models.py`, `alert_models.py`, `commit_models.py`, `people_models.py`: shapes of
  requests, and of what processes send.
"""
