"""A run's folder, the start of its runner on this machine, and on a cluster the pods of jobs.

Start at `local.py`.

- `local.py`: one job on this machine; `folder.py`: a run's folder.
- `traced.py`: what was measured, as spans of the run's trace.
- `measuring.py`: the lock by which one process measures at a time.
- `restoring.py`: restores lost data of a store from the folders of runs.
- `adding.py`: folders of runs that were measured elsewhere.
- `backing_up.py`, `from_backup.py`: a backup of the store and the home, and back.
- `leases.py`, `lightkube_leases.py`: one of several processes holds a lease of Kubernetes; `lightkube_errors.py`: what
  its client says.
- `argo/`: jobs as pods of a cluster.
"""
