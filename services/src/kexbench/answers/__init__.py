"""Questions that people ask of results: the shape of each answer, how it is made from the store, and the sentence that
says it. Whoever asks gets the same answer: page, command, status, comment, feed.

Start at `matrix.py`.

- `matrix.py`, `cells.py`: the newest numbers of each case and version; the cells of a matrix and of a run.
- `runs.py`, `run.py`, `run_verdict.py`: runs in brief, one run, and its verdict; `environment.py`, `host_moves.py`,
  `mixed_pools.py`: what differed on its machines; `spread.py`: its nodes; `reference.py`, `connection.py`: published
  figures beside its own, and what its connections cost; `articles.py`: the newest runs of the articles' specs.
- `fleet.py`: all machines side by side, and which one is off.
- `comparison.py`, `ends.py`, `two_ends.py`, `two_cases.py`: any two ends, case by case; `history.py`: their small
  histories; `pair.py`: two subjects of a run. `upgrade.py`, `missing.py`, `server_costs.py`: what an upgrade's changes
  have in common, what has no number, and what servers need; `change.py`: a change beside a number.
- `judging.py`: the only way to the verdict of a compared cell, kept by its evidence (docs/adr/0036); `numbers.py`,
  `comparing.py`: which numbers are compared, and how; `exact.py`: what upgrades changed in exact metrics.
- `trends.py`, `levels.py`: costs over versions and the changes of their level; `cpus.py`: one case on all CPUs;
  `batches.py`: the batches behind a number.
- `capacity.py`, `capacity_shapes.py`, `capacity_words.py`: what a traffic mix needs;
  `mix_costs.py`: what it costs one version relative to another; `scaling.py`, `loads.py`: curves
  over threads, and over connections at once; `security.py`, `security_shapes.py`, `security_words.py`: handshakes by
  their strength; `why.py`: the functions that a change, or the difference of two libraries, is in;
  `qualifications.py`, `resolving.py`: A/A runs, and the invocations that a spec needs.
- `stacks.py`: libraries side by side on one machine kind; `stacks_table.py`, `stacks_columns.py`, `stacks_shapes.py`,
  `stacks_words.py`: its table; `stacks_workload.py`: a mix of full and resumed handshakes; `ranking.py`: the cheapest.
- `paths.py`, `paths_shapes.py`, `paths_words.py`: what a user waits for over emulated paths, measured and predicted;
  `waits.py`, `waits_words.py`: what an upgrade changes of it, and why.
- `life.py`, `life_variations.py`, `ages.py`: start, age, memory and shared atomic operations, from
  version to version.
- `overview.py`, `badge.py`, `search.py`, `queued.py`: what is new, as a picture, by words, and what is measured next.
- `filters.py`, `choices.py`, `meaning.py`: what can be chosen, and what people mean by a name.
- `shapes.py`, `subjects.py`: what several answers have in common. `pruning.py`: removes old batches in steps.
"""
