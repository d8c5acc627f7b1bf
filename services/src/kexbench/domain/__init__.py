"""The terms of kexbench as types: pure values without input or output, independent of all other packages.

Start at `cases.py`. A dimension of cases is a row there, a library one in `libraries.py`, a metric one in `metrics.py`
(docs/use/adding-a-library.md).

Cases and their strength
- `cases.py`, `dimensions.py`, `possible.py`: a case, the values of its dimensions, and which cases are possible.
- `paths.py`: an emulated path, its presets and its one text.
- `security.py`, `strength.py`, `security_levels.py`: what each authority says of sizes, what a handshake protects, and
  the weakest sizes of each level.
- `mixes.py`: a mix of connections; `material.py`: the files of key material of a case.

Libraries and kits
- `libraries.py`, `versions.py`, `library_commits.py`: the libraries, and the order of their versions and commits;
  `subjects.py`: a library in a version and build, as measured.
- `kits.py`, `variants.py`, `components.py`, `kit_changes.py`: kits, what is in them and how two differ.
- `probes.py`, `cpu_features.py`: what a kit's worker can do, and masks of CPU features.

Runs and results
- `fitting.py`: whether invocations belong to a run; `backups.py`: the manifest of a backup.
- `ages.py`: at which points a context is young and old.
- `plans.py`, `runs.py`, `schedules.py`, `refusals.py`: plans, runs, schedules, and why a request is refused.
- `hosts.py`, `pools.py`, `fleet.py`: machines, nodes of one hardware type, and nodes that are set aside.
- `metrics.py`, `samples.py`, `batches.py`: what is measured, results of an invocation, and its batches;
  `instruments.py`, `profiles.py`: what counts by function, and its counts.
- `intervals.py`: the two shapes of a number with its interval; `spreads.py`: how much values vary.
- `upgrades.py`, `verdicts.py`: compared versions, and the result of a run in one sentence.
- `pairs.py`: two subjects of a run, and the report of a change; `waits.py`: what an upgrade changes for a user
  who waits over paths.

What follows from results
- `screenings.py`, `alerts.py`, `notifications.py`, `bisections.py`.
- `repositories.py`, `commits.py`, `following.py`, `forges.py`: watched repositories, followed branches, and forges.
- `articles.py`, `scorecard.py`, `views.py`: repeated articles, how good detection is, and named views of the dashboard.

People
- `people.py`: their roles and tokens, and what they did.

Below all
- `frozen.py`, `canonical.py`: the base of formats, and the content hash of a value for ids.
- `differences.py`: what differs between two things.
- `numbers.py`, `moments.py`, `addresses.py`: numbers, points in time and addresses of servers, as in formats.
"""
