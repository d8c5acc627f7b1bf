"""Runs jobs as pods of Argo Workflows: submits workflows, observes them, and decides what to do next.

Start at `decide.py`. Everything except the adapter `lightkube_cluster.py` is pure.

- `cluster.py`, `lightkube_cluster.py`: the cluster as a port, and its adapter; `views.py`: reads the adapter's JSON.
- `workflows.py`, `pods.py`, `schedules.py`, `names.py`: what is submitted.
- `decide.py`: the next action; `turns.py`: which runs wait for the nodes of others.
- `words.py`: what people read about a run on a cluster.
"""
