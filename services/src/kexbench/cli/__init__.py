"""The command line: one file a verb; it judges nothing, and prints what the API answers.

Start at `main.py`: the verbs, and how errors end a command. A verb `kexbench NAME` is in the
file of that name, those of a cluster in `cluster.py`.

Measuring
- `specs.py`, `plan.py`, `run.py`, `compare.py`, `interop.py`, `qualify.py`, `reproduce.py`, `bisect.py`, `backfill.py`,
  `doctor.py`.
- `compose.py`: from a plan to its results; `two_cases.py`: `compare --with`; `references.py`: references as people type
  them.

Results
- `runs.py`, `upgrade.py`, `why.py`, `alerts.py`, `bisections.py`, `commits.py`, `capacity.py`, `stacks.py`,
  `paths.py`, `life.py`, `security.py`, `export.py`, `publish.py`.
- `adding.py`: `runs add`.
- `change_report.py`, `comment.py`: the files of `compare --output`, and the comment on a pull request.
- `analyze.py`: the detectors as filters.

Kits, the queue and the service
- `kits.py`, `kit_checks.py`, `catalogue.py`: kits of this machine, and tracked versions.
- `queue.py`, `schedules.py`, `cluster.py`, `fleet.py`: the queue, schedules, requests to a cluster or this machine, and
  its nodes.
- `tokens.py`: tokens of people and programs, and the audit trail.
- `serve.py`, `dispatch.py`, `notify.py`, `backup.py`, `prune.py`, `schema.py`.

Shared by verbs
- `statuses.py`: what commands end with.
- `options.py`, `narrowing.py`: options of several verbs; `reaching.py`: the API that a command uses; `failing.py`:
  expected errors; `console.py`: where output goes.
- `report.py`, `tables.py`, `step_tables.py`, `metric_table.py`, `connection_tables.py`: the tables of a run.
- `words.py`, `alert_words.py`, `bisect_words.py`, `change_tables.py`: numbers and results as text.
- `__main__.py`: `python -m kexbench.cli`, for processes that start `kexbench`.
"""
