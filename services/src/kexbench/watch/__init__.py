"""Watches git repositories and requests the runs of their commits.

It keeps only a copy of each repository. The API knows the last handled commit of each branch, and every request can be
repeated, so the watcher can stop and restart at any time. Start at `loop.py` (docs/adr/0012).

- `loop.py`: polls branches and requests the runs of new commits; `proposals.py`: plans proposals (docs/adr/0013).
- `git.py`, `gitcopy.py`: a watched repository, and the copy that is kept of it.
- `history.py`, `following.py`: the history of a library's branch, and its commits, one after the other (docs/adr/0015).
- `announcing.py`, `telling.py`: reports results to forges, and what they show.
- `errors.py`, `wiring.py`: its errors, and how it is created.
"""
