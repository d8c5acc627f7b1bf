"""The program in the pods of a cluster: it fetches, measures and uploads a job, builds a kit, or requests a run.

- `__main__.py`: its verbs and exit statuses; `environment.py`: the settings that a pod gets.
- `fetch.py`, `measure.py`: fetch the inputs of a job, measure it and upload its results.
- `isolation.py`: whether the pod has exclusive CPUs.
- `build.py`, `send.py`: build a kit without a token, send it from another container (docs/adr/0023).
- `line.py`: the commit range of a bisection; `submit.py`: requests the run of a schedule that is due.
"""
