"""The service as one process. A command uses the process that serves the store, or becomes it.

- `serving.py`: the process that holds the store and serves the API. Start here.
- `reach.py`: finds that process, or becomes it.
- `replicas.py`: one of several such processes writes (docs/adr/0050).
- `connections.py`: limits of connections; `pruning.py`: removes old batches.
"""

from kexbench.service.reach import ServiceUnavailable, lasting_service, own_store, reach_service

__all__ = ["ServiceUnavailable", "lasting_service", "own_store", "reach_service"]
