"""From a spec's text to a plan: pure functions, no clock, no randomness, no network.

Start at `plan.py`: from the text of a spec and a catalogue to a plan, or to all their faults at once.

What people write
- `documents.py`, `written.py`: YAML that knows the line of every value, and building blocks of its models.
- `spec.py`, `catalogue.py`, `rules.py`, `schedule.py`, `follow.py`: a spec, the catalogue, and the parts of a spec.
- `mix.py`, `channels.py`, `repositories.py`, `pools.py`, `job_pods.py`, `views.py`: all other documents.
- `edits.py`, `newer.py`: edits of the catalogue's text, and versions that it could add.

From a spec to a plan
- `plan.py`, `expand.py`, `subjects.py`, `security.py`: cases, subjects, and sizes by level of security.
- `pack.py`, `estimate.py`: jobs and blocks, and how long they take.

Specs that nobody writes
- `compose.py`, `bisection.py`, `confirmation.py`, `explanation.py`: runs of commands, bisections and alerts.
- `commits.py`, `neighbours.py`: the specs that a commit wants measured, and the commit that the next is compared with.

Which run is next
- `queue.py`: of those that wait; `cron.py`: the times of a schedule.
"""
