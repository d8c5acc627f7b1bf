"""From invocations to estimates and comparisons: pure functions over numbers.

Start at `verdict.py`, the only place that decides whether a cost changed.

Comparisons
- `rounds.py`, `pairs.py`: two subjects within an invocation, and their numbers from one run.
- `estimates.py`: the estimate of a cell, and the comparison of two.
- `moves.py`, `moderation.py`, `welch.py`: how far each cell of a matrix moved, its noise and its degrees of freedom.
- `compared.py`, `sides.py`: what a cell is judged by, and which side a change is in.
- `verdict.py`, `discovery.py`: the verdict, and the false discovery rate of cells that are judged together.
- `spread.py`: whether costs vary more than before; `lists.py`: two lists of invocations without a matrix.

What a measurement can detect
- `detectable.py`, `resampling.py`: the smallest detectable change, and how often tests find one.
- `qualification.py`, `sentinel.py`, `peers.py`: what A/A runs and the frozen subject say about a machine, and about the
  nodes of a pool.

Histories and commits
- `changepoints.py`: changes of level in a history, in the stages `changepoints_screen.py`, `changepoints_fit.py`,
  `changepoints_place.py` and `changepoints_transients.py`.
- `bisect.py`: what is known of a history of commits, and what to measure next. `bisect_readings.py` reads invocations,
  `bisect_notes.py` is the state, `bisect_answer.py` the answer.

Reasons
- `why.py`, `parts.py`, `stacks.py`, `profile_files.py`: which functions a difference is in, and which parts of two
  libraries, one tree of the calls of both versions, and files for other programs.
- `attribution.py`, `traits.py`, `sentences.py`: which traits of cases explain an upgrade, in one sentence.

Other questions
- `connection.py`: the parts of a connection; `capacity.py`: the cost of a mix of connections.
- `age.py`: whether a context gets slower with each connection.
- `forward_secrecy.py`: handshakes of equal strength; `scaling.py`: throughput by threads.
- `flights.py`: the round trips of a handshake on a path, from the sizes of its flights; `percentiles.py`: percentiles
  of pooled values, with exact intervals.
- `reference.py`: measured figures beside published ones; `removal.py`: what is kept of removed batches.
"""
